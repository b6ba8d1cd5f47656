"""The initial design."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mfopt.domains.box import Box
from mfopt.errors import InputError
from mfopt_plugins.method.design import FEWEST, initial_counts, initial_point


def test_half_of_the_initial_capital_goes_to_each_of_the_first_two_fidelities():
    assert initial_counts([1.0, 10.0], None, 100.0, 2) == (50, 5)
    assert initial_counts([1.0, 10.0, 100.0], None, 100.0, 2) == (50, 5, 0)


def test_one_fidelity_gets_all_of_it():
    assert initial_counts([10.0], None, 100.0, 2) == (10,)
    assert initial_counts([10.0], None, None, 2) == (5,)


def test_the_default_is_five_target_queries_capped_by_a_quarter_of_the_capital():
    assert initial_counts([1.0, 10.0], 1000.0, None, 4) == (25, FEWEST)
    assert initial_counts([1.0, 2.0], 1000.0, None, 4) == (5, FEWEST)
    assert initial_counts([1.0, 10.0], 80.0, None, 4) == (10, FEWEST)


def test_very_cheap_fidelities_get_no_more_points_than_chance_is_good_for():
    assert initial_counts([1e-6, 10.0], None, None, 2) == (100, FEWEST)


def test_a_small_finite_set_limits_the_points():
    assert initial_counts([1.0, 2.0], None, 100.0, 2, size=4) == (4, 4)


@given(st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=4, unique=True), st.floats(1e-3, 1e6), st.integers(1, 10))
def test_every_fidelity_that_has_initial_points_has_a_few_and_the_higher_ones_none(costs, capital, dim):
    counts = initial_counts(sorted(costs), capital, None, dim)
    assert all(FEWEST <= c <= 50 * dim for c in counts[:2])
    assert not any(counts[2:])


def test_a_point_depends_on_seed_fidelity_and_number_only():
    box = Box([(0.0, 1.0)] * 3)
    assert np.array_equal(initial_point(box, 7, 1, 4), initial_point(box, 7, 1, 4))
    others = [initial_point(box, 8, 1, 4), initial_point(box, 7, 0, 4), initial_point(box, 7, 1, 5)]
    assert not any(np.array_equal(initial_point(box, 7, 1, 4), other) for other in others)


@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf")])
def test_an_initial_capital_must_be_a_finite_amount(value):
    with pytest.raises(InputError, match="initial_capital must be finite and not negative"):
        initial_counts([1.0], None, value, 2)
