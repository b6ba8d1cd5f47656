from mfopt_sklearn_gp import SklearnGP

import mfopt
from mfopt.testing import SurrogateConformance


class TestSklearnGP(SurrogateConformance):
    def surrogate(self):
        return SklearnGP()


def test_it_is_used_by_name():
    def target(x):
        return 1.0 - (x[0] - 0.3) ** 2

    def cheap(x):
        return target(x) + 0.02 * x[0]

    result = mfopt.maximize(
        [cheap, target], [(0.0, 1.0)], [1.0, 5.0], 40.0, surrogate="sklearn-gp", rng=0, progress=False
    )
    assert result.fun > 0.99
