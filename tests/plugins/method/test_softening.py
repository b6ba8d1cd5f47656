"""Softened values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mfopt_plugins.method.softening import AsinhSoftening

NUMBERS = st.floats(-1e6, 1e6)
SOFTENINGS = st.builds(AsinhSoftening, NUMBERS, st.floats(1e-3, 1e3), st.floats(0.1, 2.0))


@given(SOFTENINGS, NUMBERS, NUMBERS)
def test_order_and_everything_below_the_location_stay(softening, one, other):
    low, high = sorted([one, other])
    assert softening.value(low) <= softening.value(high)
    assert softening.value(min(low, softening.location)) == min(low, softening.location)
    rounding = 4 * np.finfo(float).eps * abs(softening.location)  # of high − location, where both nearly cancel
    assert softening.value(high) <= high + 1e-9 * abs(high) + rounding


@given(SOFTENINGS, st.floats(-50.0, 50.0))
def test_the_inverse_takes_it_back(softening, t):
    y = softening.location + t * softening.unit
    assert softening.inverse(softening(np.array(y))) == pytest.approx(y, rel=1e-9, abs=1e-9 * softening.unit)


@given(st.builds(AsinhSoftening, st.floats(-10, 10), st.floats(0.5, 2.0), st.floats(0.1, 2.0)), st.floats(-20.0, 20.0))
def test_the_slope_is_that_of_differences(softening, y):
    step = 1e-4
    central = (softening.value(y + step) - softening.value(y - step)) / (2 * step)
    assert np.exp(softening.log_slope(np.array(y))) == pytest.approx(central, abs=1e-3)


def test_without_strength_nothing_changes():
    y = np.array([-3.0, 0.0, 7.5, np.inf])
    for same in (AsinhSoftening()(y), AsinhSoftening().inverse(y)):
        np.testing.assert_array_equal(same, y)
    np.testing.assert_array_equal(AsinhSoftening().log_slope(y[:3]), np.zeros(3))


def test_what_is_infinite_stays_infinite():
    softening = AsinhSoftening(1.0, 2.0, 1.0)
    assert softening.inverse(np.array([np.inf, 1e9])).tolist() == [np.inf, np.inf]
