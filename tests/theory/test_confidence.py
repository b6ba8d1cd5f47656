"""β_t for many iterations at once."""

import numpy as np
import pytest

from mfopt import theory
from mfopt.errors import InputError

SCHEDULES = {
    "practical": lambda t: theory.beta_practical(t, 3),
    "gp-ucb, discrete": lambda t: theory.beta_gpucb_discrete(t, 50, 0.1),
    "gp-ucb, compact": lambda t: theory.beta_gpucb_compact(t, 2, 0.1, r=2.0, a=3.0, b=0.5),
    "mf-gp-ucb, discrete": lambda t: theory.beta_mf_discrete(t, 50, 3, 0.1, xi=0.2),
    "mf-gp-ucb, compact": lambda t: theory.beta_mf_compact(t, 2, 3, 0.1, r=2.0, a=3.0, b=0.5, xi=0.2),
}


@pytest.mark.parametrize("beta", SCHEDULES.values(), ids=SCHEDULES)
def test_an_array_of_iterations_gives_each_its_value_and_one_gives_a_plain_float(beta):
    t = np.array([1, 2, 7, 1000])
    one_by_one = [beta(int(i)) for i in t]
    assert all(type(value) is float for value in one_by_one)
    np.testing.assert_allclose(beta(t), one_by_one, rtol=1e-14)
    assert (np.diff(beta(t)) > 0).all()


def test_an_iteration_before_the_first_is_refused_in_an_array_too():
    with pytest.raises(InputError, match="t must be positive, got"):
        theory.beta_practical(np.array([1, 0]), 2)


def test_a_smaller_xi_asks_for_wider_bounds():
    assert theory.beta_mf_discrete(5, 50, 2, 0.1, xi=1e-6) > theory.beta_mf_discrete(5, 50, 2, 0.1, xi=1.0)
