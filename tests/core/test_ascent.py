"""Ascents on a minimum of smooth pieces: they climb, stay in the cube, and find maxima at kinks."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from mfopt_core import Ascent


def climb(pieces, starts, spread=1.0, rounds=100):
    ascent = Ascent(starts, spread)
    for _ in range(rounds):
        points = ascent.points()
        if len(points) == 0:
            break
        assert points.min() >= 0
        assert points.max() <= 1
        ascent.tell(*pieces(points))
    return ascent.result()


def concave(centres, curvatures, heights):
    """Pieces h_m − Σ a_mc (x_c − c_mc)²."""
    centres, curvatures, heights = np.asarray(centres), np.asarray(curvatures), np.asarray(heights)

    def pieces(x):
        step = x[None] - centres[:, None]
        values = heights[:, None] - (curvatures[:, None] * step**2).sum(axis=2)
        return values, -2 * curvatures[:, None] * step

    return pieces


@pytest.mark.parametrize("d", [1, 2, 5, 12])
def test_one_smooth_piece_is_climbed_to_its_maximum(d):
    rng = np.random.default_rng(d)
    centre = rng.random((1, d))
    pieces = concave(centre, rng.uniform(0.5, 50, (1, d)), [3.0])
    ends, values, settled = climb(pieces, rng.random((6, d)))
    assert values.max() == pytest.approx(3.0, abs=1e-7)
    np.testing.assert_allclose(ends[values.argmax()], centre[0], atol=1e-3)
    assert settled[values.argmax()]


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize(("d", "count"), [(1, 2), (2, 2), (2, 3), (3, 3)])
def test_the_maximum_of_a_minimum_of_planes_is_that_of_the_linear_programme(seed, d, count):
    """Planes have no curvature at all: every maximum is a kink or on the border."""
    rng = np.random.default_rng(seed)
    slopes, heights = rng.normal(size=(count, d)), rng.normal(size=count)

    def pieces(x):
        return heights[:, None] + slopes @ x.T, np.repeat(slopes[:, None], len(x), axis=1)

    cost = np.append(np.zeros(d), -1.0)  # max τ with τ ≤ h + g·x
    below = np.column_stack([-slopes, np.ones(count)])
    exact = -linprog(cost, below, heights, bounds=[*[(0, 1)] * d, (None, None)]).fun
    spread = np.ptp(pieces(rng.random((1000, d)))[0].min(axis=0))
    _, values, _ = climb(pieces, rng.random((4, d)), spread=spread, rounds=300)
    assert values.max() <= exact + 1e-9
    assert values.max() >= exact - 1e-3 * spread


@given(seed=st.integers(0, 10**6), d=st.integers(1, 6), count=st.integers(1, 4))
@settings(max_examples=60, deadline=None)
def test_concave_pieces_are_climbed_to_their_common_maximum(seed, d, count):
    rng = np.random.default_rng(seed)
    pieces = concave(rng.uniform(-0.3, 1.3, (count, d)), rng.uniform(0.5, 5, (count, d)), rng.normal(size=count))
    one, first, _ = climb(pieces, rng.random((5, d)))
    _, again, _ = climb(pieces, one[[first.argmax()]])
    samples = rng.random((3000, d))
    near = np.clip(one[first.argmax()] + 1e-3 * rng.normal(size=(3000, d)), 0, 1)
    best = max(pieces(samples)[0].min(axis=0).max(), pieces(near)[0].min(axis=0).max())
    assert max(first.max(), again.max()) >= best - 1e-5


def test_values_never_fall_below_the_start_and_infeasible_points_are_not_taken():
    pieces = concave([[0.9, 0.9]], [[1.0, 1.0]], [0.0])

    def limited(x):
        values, slopes = pieces(x)
        return np.where(x.sum(axis=1) <= 1.0, values, -np.inf), slopes

    starts = np.array([[0.1, 0.2], [0.4, 0.5], [0.9, 0.9]])
    ends, values, _ = climb(limited, starts)
    assert (ends[:2].sum(axis=1) <= 1.0).all()
    assert (values[:2] >= pieces(starts[:2])[0][0]).all()
    assert values[2] == -np.inf  # a start outside has no value


def test_ascents_that_meet_go_on_as_one():
    ascent = Ascent(np.random.default_rng(0).random((30, 2)), 1.0)
    pieces = concave([[0.5, 0.5]], [[1.0, 40.0]], [0.0])
    counts = []
    while len(points := ascent.points()):
        counts.append(len(points))
        ascent.tell(*pieces(points))
    assert counts[0] == 30
    assert counts[-1] <= 3


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Ascent([[0.5]], 0.0), "spread must be positive"),
        (lambda: Ascent([0.5], 1.0), "starts must have shape"),
        (lambda: Ascent(np.empty((0, 2)), 1.0), "starts must hold at least one point"),
        (lambda: Ascent([[0.5]], 1.0).tell([[np.nan]], [[[1.0]]]), "heights must be finite"),
        (lambda: Ascent([[0.5]], 1.0).tell([[1.0]], [[[np.inf]]]), "slopes finite where heights are"),
        (lambda: Ascent([[0.5]], 1.0).tell(np.empty((0, 1)), np.empty((0, 1, 1))), "heights must have shape"),
        (lambda: Ascent([[0.5]], 1.0).tell([[1.0, 2.0]], [[[1.0]]]), r"heights must have shape \(M, 1\)"),
        (lambda: Ascent([[0.5]], 1.0).tell([[1.0]], [[1.0]]), r"slopes must have shape \(1, 1, 1\)"),
    ],
)
def test_bad_arguments_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_kink_next_to_a_bound_is_reached_by_a_step_that_would_cross_the_bound():
    """The step of the lower piece leads beyond y = 0, where the other piece is lower; x is at its bound already."""
    start, heights, slopes = np.array([1.0, 0.03]), np.array([2.46, 2.45]), np.array([[1.6, 0.44], [0.45, -0.63]])

    def pieces(x):
        return heights[:, None] + slopes @ (x - start).T, np.repeat(slopes[:, None], len(x), axis=1)

    kink = start - [0.0, (heights[0] - heights[1]) / (slopes[0, 1] - slopes[1, 1])]
    ends, _, _ = climb(pieces, start[None])
    np.testing.assert_allclose(ends[0], kink, atol=1e-6)
