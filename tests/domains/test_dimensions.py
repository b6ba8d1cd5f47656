import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mfopt import DomainError, InputError, Real

finite = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def reals(draw):
    is_log = draw(st.booleans())
    ends = st.floats(1e-300, 1e300) if is_log else finite
    lo, hi = sorted(draw(st.tuples(ends, ends)))
    assume(lo < hi)
    return Real(lo, hi, is_log)


@given(reals(), st.lists(st.floats(0.0, 1.0), min_size=1, max_size=20))
def test_decode_never_leaves_the_bounds(real, u):
    x = real.decode(np.array(u)[:, None])
    assert ((x >= real.lo) & (x <= real.hi)).all()


@given(reals(), st.lists(st.floats(0.0, 1.0), min_size=1, max_size=20))
def test_the_round_trip_is_exact_to_the_resolution_of_a_unit_coordinate(real, u):
    x = real.decode(np.array(u)[:, None])
    unit = real.encode(x)
    assert ((unit >= 0.0) & (unit <= 1.0)).all()
    again = real.decode(unit)
    eps = np.finfo(float).eps
    if real.log:
        assert (np.abs(again / x - 1.0) <= 8 * eps * (1.0 + np.log(real.hi) - np.log(real.lo))).all()
    else:
        size = max(abs(real.lo), abs(real.hi))
        assert (np.abs(again / 2 - x / 2) <= 4 * eps * size / 2 + 5e-324).all()


@given(reals())
def test_the_ends_are_exact(real):
    assert real.decode(np.array([[0.0], [1.0]])).tolist() == [real.lo, real.hi]
    assert real.encode(np.array([real.lo, real.hi])).tolist() == [[0.0], [1.0]]


def test_a_log_dimension_puts_equal_ratios_at_equal_distances():
    u = Real(1e-4, 1.0, log=True).encode(np.array([1e-4, 1e-3, 1e-2, 1e-1, 1.0]))
    assert u[:, 0] == pytest.approx([0.0, 0.25, 0.5, 0.75, 1.0], abs=1e-15)


def test_a_plain_dimension_is_linear():
    u = Real(-2.0, 6.0).encode(np.array([-2.0, 0.0, 2.0, 6.0]))
    assert u[:, 0].tolist() == [0.0, 0.25, 0.5, 1.0]


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        ((1.0, 1.0), r"lo < hi, got \(1.0, 1.0\)"),
        ((2.0, 1.0), "lo < hi"),
        ((0.0, np.inf), "finite"),
        ((np.nan, 1.0), "finite"),
        (("a", 1.0), "a real number, got 'a'"),
        ((0.0, 1.0, True), "lo > 0"),
        ((-1.0, 1.0, True), "lo > 0"),
        ((1.0, 2.0, "yes"), "True or False, got 'yes'"),
    ],
)
def test_bad_bounds_are_refused(arguments, rule):
    with pytest.raises(InputError, match=rule):
        Real(*arguments)


@pytest.mark.parametrize("bad", [np.nan, np.inf, True, 1j, "1", None, [0.1, 0.2]])
def test_what_is_no_number_is_refused(bad):
    with pytest.raises(InputError):
        Real(0.0, 1.0).validate(bad, "x")


def test_a_value_outside_is_a_domain_error():
    with pytest.raises(DomainError, match=r"x must lie in \[0.0, 1.0\], got 1.5"):
        Real(0, 1).validate(1.5, "x")
