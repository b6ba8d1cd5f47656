"""The best point of an acquisition that is worth a query."""

import numpy as np
import pytest

from mfopt import Box, Exhausted, FiniteSet, hooks
from mfopt.protocols import SAME, Problem, View
from mfopt_plugins.method.failures import FailureModel
from mfopt_plugins.method.models import FidelityModels
from mfopt_plugins.method.observations import Observations
from mfopt_plugins.strategies.base.avoid import Avoiding, find_elsewhere
from mfopt_plugins.strategies.base.cycle import Search
from mfopt_plugins.surrogates.se_python import SEPython
from tests.plugins.runs import quick

VIEW = View(1, np.inf, (), np.random.default_rng(0), (1.0,))


class Column:
    """An acquisition that reads the first coordinate."""

    def __call__(self, u):
        return u[:, 0].copy()

    def gradient(self, u):
        return self(u), np.eye(u.shape[1])[[0] * len(u)]


def search(domain):
    surrogates = (SEPython(),)
    problem = Problem(domain, (1.0,), (0.0,), (0.0,), None, surrogates, quick(), 0)
    seen = Observations([0], domain)
    models = FidelityModels(surrogates, [0.0], seen, domain.dim, 0)
    return Search(problem, models, FailureModel(seen, [1.0], domain.dim)), seen


def test_on_a_finite_set_the_maximum_is_exact_the_first_of_equals_and_never_asked_twice():
    domain = FiniteSet([[0.0, 0.0], [3.0, 1.0], [3.0, 0.0], [1.0, 1.0]])
    finite, seen = search(domain)
    for row in (1, 2, 3, 0):
        u = finite.point(Column(), 0, VIEW, [], 1.0)
        assert np.array_equal(u, domain.points[row])
        seen.add(u, 0, 1.0)
    with pytest.raises(Exhausted):
        finite.point(Column(), 0, VIEW, [], 1.0)


@pytest.mark.parametrize("chunk", [1, 97, 5000])
def test_the_size_of_the_chunks_does_not_matter(chunk, monkeypatch):
    points = FiniteSet(np.random.default_rng(0).random((1001, 2))).points
    monkeypatch.setattr(hooks.acquisitions, "CHUNK", chunk)
    assert hooks.with_defaults(Column()).argmax(points, None) == np.argmax(points[:, 0])


def test_an_acquisition_of_minus_infinity_still_has_a_point():
    nowhere = hooks.with_defaults(Flat(-np.inf))
    assert nowhere.argmax(np.array([[0.0], [1.0]]), None) == 0


def test_on_a_box_a_known_point_gives_way_to_another_good_one():
    box, seen = search(Box([(0.0, 1.0)] * 2))
    first = box.point(Column(), 0, VIEW, [], 1.0)
    seen.add(first, 0, 1.0)
    other = box.find_fresh(Column(), first, 0, VIEW, [])
    assert box.is_needless(first, 0, [])
    assert not box.is_needless(other, 0, [])
    assert other[0] > 0.9


class Flat:
    def __init__(self, level=0.0):
        self.level = level

    def __call__(self, u):
        return np.full(len(u), self.level)

    def gradient(self, u):
        return self(u), np.zeros(u.shape)


def half_fails():
    """A model of 30 outcomes, failed where u₀ > 0.5."""
    seen = Observations([0], Box([(0.0, 1.0)] * 2))
    for u in np.random.default_rng(0).random((30, 2)):
        seen.add(u, 0, None if u[0] > 0.5 else 1.0)
    failures = FailureModel(seen, [1.0], 2)
    failures.update()
    return failures


def test_an_acquisition_is_lowered_around_a_fluke_and_less_so_later():
    centre = np.array([0.2, 0.5])
    fresh, old = (Avoiding(Flat(), half_fails(), [0], [(centre, age)], 2.0) for age in (0, 9))
    near = centre + np.array([0.02, 0.0])
    assert fresh(centre[None])[0] == -2.0
    assert fresh(near[None])[0] < -1.0
    assert old(near[None])[0] == 0.0
    check_gradient(fresh, near)


def test_an_acquisition_is_lowered_where_queries_fail_and_nowhere_else():
    lowered = Avoiding(Flat(), half_fails(), [0], [], 2.0)
    assert lowered(np.array([[0.9, 0.5]]))[0] < -1.0
    assert lowered(np.array([[0.1, 0.5]]))[0] == 0.0
    check_gradient(lowered, np.array([0.83, 0.41]))


class Counted(Column):
    """Counts the points that are evaluated one by one, not by its argmax."""

    evaluated = 0

    def __call__(self, u):
        self.evaluated += len(u)
        return super().__call__(u)

    def argmax(self, points, avoid):
        return int(np.argmax(np.where(avoid, -np.inf, points[:, 0])))


@pytest.mark.parametrize("depth", [0.001, 0.3, 1.0, 30.0])
def test_the_argmax_of_a_lowered_acquisition_is_exact_and_looks_at_few_points(depth):
    points, avoid = np.random.default_rng(1).random((2000, 2)), np.random.default_rng(2).random(2000) < 0.1
    flukes = [(np.array([0.45, 0.5]), 0)]
    acquisition = Counted()
    lowered = Avoiding(acquisition, half_fails(), [0], flukes, depth)
    best = lowered.argmax(points, avoid)
    assert acquisition.evaluated < 500
    assert best == np.argmax(np.where(avoid, -np.inf, lowered(points)))
    everywhere = Avoiding(acquisition, half_fails(), [0], flukes, depth, hope=-30.0)
    assert everywhere.argmax(points, None) == np.argmax(everywhere(points))


def check_gradient(acquisition, u):
    value, slope = acquisition.gradient(u[None])
    assert (
        value[0] == acquisition(u[None])[0] == acquisition.recurring(u[None])[0] == acquisition.pieces(u[None])[0][0, 0]
    )
    step = np.array([[1e-6, 0.0]])
    assert slope[0, 0] == pytest.approx((acquisition(u + step)[0] - acquisition(u - step)[0]) / 2e-6, rel=1e-4)


def test_elsewhere_is_the_best_point_apart_from_the_taken_ones():
    box = Box([(0.0, 1.0)] * 2)
    taken = np.array([[1.0, 0.5]])
    u = find_elsewhere(Column(), box, taken[0], taken, np.full(len(taken), SAME), np.random.default_rng(0))
    assert np.abs(u - taken[0]).max() > SAME
    assert u[0] > 0.95


def test_where_every_candidate_is_taken_the_farthest_is_the_least_useless():
    box = Box([(0.0, 1.0)] * 2)
    corner = np.zeros((1, 2))
    u = find_elsewhere(Column(), box, corner[0], corner, np.full(1, 2.0), np.random.default_rng(0))
    assert box.contains(u[None])[0]
    assert u.max() > 0.95
