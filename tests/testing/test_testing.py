"""The conformance suites pass what is right, and the one for domains fails what is wrong.

The built-in plugins are held to them in tests/plugins/test_conformance.py; mistakes of plugins are in test_mutants.py.
"""

import numpy as np
import pytest

from mfopt import Box
from mfopt.testing import DomainConformance, MaximiserConformance, StrategyConformance, SurrogateConformance
from tests.optimizer.toys import FixedGP, RandomMaximiser, RandomSearch
from tests.testing.mutants.strategies import SmallUCB


class TestToySurrogate(SurrogateConformance):
    def surrogate(self):
        return FixedGP()


class TestToyMaximiser(MaximiserConformance):
    def maximiser(self):
        return RandomMaximiser()


class TestToyStrategy(StrategyConformance):
    surrogate, maximiser = FixedGP(), RandomMaximiser()
    learns = uses_added = False

    def strategy(self):
        return RandomSearch()


def failing(suite):
    """Names of the tests of a suite that fail."""
    names = []
    for name in dir(suite):
        if name.startswith("test_"):
            try:
                getattr(suite, name)()
            except Exception:
                names.append(name)
    return names


# ---------------------------------------------------------------------------------------------------- domains


class Spoilt(Box):
    """A right domain, to be spoilt."""

    def __init__(self):
        super().__init__([(-1.0, 3.0), (2.0, 5.0)])


class LosesUnits(Spoilt):
    def decode(self, u):
        return u


class Boundless(Spoilt):
    def contains(self, u):
        return np.ones(len(u), dtype=bool)


class TakesAll(Spoilt):
    def validate(self, x):
        return np.zeros(2)


class Restless(Spoilt):
    def sample(self, n, rng):
        return np.random.default_rng().random((n, 2))


class Outside(Spoilt):
    def sample(self, n, rng):
        return 2.0 * super().sample(n, rng)


@pytest.mark.parametrize(
    ("domain", "caught_by"),
    [
        (LosesUnits, "test_user_units_survive_the_round_trip"),
        (Boundless, "test_points_outside_the_cube_are_outside"),
        (TakesAll, "test_what_is_no_point_is_refused"),
        (TakesAll, "test_decoded_points_are_valid"),
        (Restless, "test_the_same_rng_gives_the_same_sample"),
        (Outside, "test_samples_lie_in_the_domain"),
    ],
)
def test_a_wrong_domain_fails(domain, caught_by):
    class Suite(DomainConformance):
        def domain(self):
            return domain()

    assert caught_by in failing(Suite())


class Believer(SmallUCB):
    """Makes a model at every ask, and adds what failed with the model's own mean: right, if not the only way."""

    def condition(self, model, view):
        failed = [record.u for record in self.records if record.y is None]
        blind = np.array([*failed, *(query.u for query in view.pending)])
        if len(blind):
            model.extend(blind, model.posterior(blind)[0])


class TestBeliever(StrategyConformance):
    surrogate, maximiser = FixedGP(), RandomMaximiser()

    def strategy(self):
        return Believer()
