"""Maximisers: they find the maximum, stay in X, and repeat themselves."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import LinearConstraint

from mfopt.domains.box import Box
from mfopt.errors import InputError
from mfopt.hooks import with_defaults
from mfopt.protocols import Maximiser
from mfopt_plugins.maximisers.direct import Direct
from mfopt_plugins.maximisers.multistart import Multistart
from mfopt_plugins.maximisers.nlopt_direct import NloptDirect
from mfopt_plugins.maximisers.polish import polish

ALL = [Direct, NloptDirect, Multistart]


class Peak:
    """−‖u − c‖² at any scale and offset."""

    def __init__(self, centre, scale=1.0, offset=0.0):
        self.centre, self.scale, self.offset = np.asarray(centre), scale, offset

    def __call__(self, u):
        return self.offset - self.scale * np.sum((u - self.centre) ** 2, axis=1)

    def gradient(self, u):
        return self(u), -2 * self.scale * (u - self.centre)


class Ridge:
    """min of two slopes: the maximum lies on the kink u_0 = u_1, at the corner (1, 1) of the box."""

    def __call__(self, u):
        return np.minimum(3 * u[:, 0] - u[:, 1], 3 * u[:, 1] - u[:, 0])

    def gradient(self, u):
        first = (3 * u[:, 0] - u[:, 1] <= 3 * u[:, 1] - u[:, 0])[:, None]
        return self(u), np.where(first, [3.0, -1.0], [-1.0, 3.0])


@pytest.mark.parametrize("make", ALL)
def test_every_maximiser_follows_the_protocol(make):
    assert isinstance(make(), Maximiser)


@pytest.mark.parametrize("make", ALL)
@pytest.mark.parametrize(("scale", "offset"), [(1.0, 0.0), (1e-8, 0.0), (1e12, 1e12)])
def test_a_smooth_maximum_is_found_at_any_scale(make, scale, offset):
    centre = [0.1234, 0.777, 0.5]
    u = make().maximise(Peak(centre, scale, offset), Box([(0.0, 1.0)] * 3), np.random.default_rng(0), 1)
    assert np.allclose(u, centre, atol=1e-5)


@pytest.mark.parametrize("make", ALL)
def test_a_maximum_on_a_kink_is_found(make):
    u = make().maximise(Ridge(), Box([(0.0, 1.0)] * 2), np.random.default_rng(0), 1)
    assert Ridge()(u[None])[0] > 2 - 1e-3


@pytest.mark.parametrize("make", ALL)
@pytest.mark.parametrize("width", [0.5, 0.02])
def test_the_answer_lies_in_a_constrained_x(make, width):
    """The peak is outside; the best point of the diagonal band is (0.5, 0.5 + width)."""
    box = Box([(0.0, 1.0)] * 2, constraints=LinearConstraint([[-1.0, 1.0]], -width, width))
    peak = Peak([0.5 - 0.25, 0.5 + width + 0.25])
    u = make().maximise(peak, box, np.random.default_rng(0), 1)
    assert box.contains(u[None])[0]
    assert peak(u[None])[0] > -(2 * 0.25**2) - 0.01


@pytest.mark.parametrize("make", ALL)
def test_an_x_that_direct_never_hits_still_gets_an_answer(make):
    box = Box([(0.0, 1.0)] * 2, constraints=lambda x: np.abs(x - 0.7123).max(axis=1) < 0.003)
    u = make().maximise(Peak([0.0, 0.0]), box, np.random.default_rng(0), 1)
    assert box.contains(u[None])[0]


@pytest.mark.parametrize("make", ALL)
def test_a_flat_acquisition_has_an_answer(make):
    u = make().maximise(Peak([0.5], 0.0), Box([(0.0, 1.0)]), np.random.default_rng(0), 1)
    assert 0.0 <= u[0] <= 1.0


@pytest.mark.parametrize("make", ALL)
def test_the_same_generator_gives_the_same_answer_without_touching_the_global_one(make):
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    found = [make().maximise(Ridge(), Box([(0.0, 1.0)] * 2), np.random.default_rng(4), 3) for _ in range(2)]
    assert np.array_equal(*found)
    assert np.array_equal(np.random.get_state()[1], state)  # noqa: NPY002


@pytest.mark.parametrize("make", ALL)
def test_an_error_in_the_acquisition_is_not_swallowed(make):
    class Broken:
        def __call__(self, u):
            raise ArithmeticError("broken")

    with pytest.raises(ArithmeticError, match="broken"):
        make().maximise(Broken(), Box([(0.0, 1.0)]), np.random.default_rng(0), 1)


def test_errors_in_the_acquisition_never_crash_nlopt():
    """NLopt's ORIG_DIRECT crashed in one of some ten calls that an error ended at the first points."""
    for error in [KeyboardInterrupt, ArithmeticError] * 50:
        with pytest.raises(error):
            NloptDirect().maximise(_raise(error), Box([(0.0, 1.0)] * 2), np.random.default_rng(0), 1)


def _raise(error):
    def acquisition(u):
        raise error

    return acquisition


def test_the_budget_limits_the_evaluations():
    class Counting(Peak):
        rows = 0

        def __call__(self, u):
            Counting.rows += len(u)
            return super().__call__(u)

    counts = []
    for budget in (50, 500):
        Counting.rows = 0
        NloptDirect(budget).maximise(Counting([0.3, 0.4]), Box([(0.0, 1.0)] * 2), np.random.default_rng(0), 1)
        counts.append(Counting.rows)
    assert 350 < counts[1] - counts[0] < 550


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), count=st.integers(1, 5), climbs=st.integers(1, 3))
def test_polishing_never_makes_a_point_worse_or_leaves_x(seed, count, climbs):
    rng = np.random.default_rng(seed)
    box = Box([(0.0, 1.0)] * 2, constraints=lambda x: x[:, 0] + x[:, 1] < 1.2)
    candidates = box.sample(count, rng)
    acquisition = Ridge() if seed % 2 else Peak(rng.random(2) * 1.4 - 0.2)
    u = polish(with_defaults(acquisition), box.contains, candidates, acquisition(candidates), climbs)
    assert box.contains(u[None])[0]
    assert acquisition(u[None])[0] >= acquisition(candidates).max()


@pytest.mark.parametrize(
    "call",
    [
        lambda: Direct(budget=0),
        lambda: Direct(climbs=0),
        lambda: NloptDirect(0),
        lambda: Multistart(samples=0),
        lambda: Multistart(climbs=0),
    ],
)
def test_a_bad_option_is_named(call):
    with pytest.raises(InputError, match="must be at least 1, got 0"):
        call()
