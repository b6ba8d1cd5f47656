"""Maximisers on spaces with discrete parameters: known maxima are found, to the last digit where it matters."""

import numpy as np
import pytest

import mfopt
from mfopt_plugins.maximisers.direct import Direct
from mfopt_plugins.maximisers.grid import Grid
from mfopt_plugins.maximisers.multistart import Multistart
from mfopt_plugins.maximisers.nlopt_direct import NloptDirect

MAXIMISERS = [Direct, Multistart, NloptDirect]


class Bowl:
    """−Σ w_j (u_j − c_j)², largest at c where that is a point of X."""

    def __init__(self, centre, weights=1.0):
        self.centre, self.weights = np.asarray(centre), np.broadcast_to(weights, np.shape(centre))

    def __call__(self, u):
        return self.gradient(u)[0]

    def gradient(self, u):
        away = u - self.centre
        return -np.sum(self.weights * away**2, axis=1), -2.0 * self.weights * away


SPACE = mfopt.Space(
    {
        "kind": mfopt.Categorical(["a", "b", "c"]),
        "rate": mfopt.Real(0.0, 1.0),
        "depth": mfopt.Integer(1, 9),
        "units": mfopt.Integer(1, 300),
        "steps": mfopt.Integer(1, 100_000, log=True),
        "drop": mfopt.Real(0.0, 1.0, when={"kind": "b"}),
        "size": mfopt.Ordinal([1, 2, 4], when={"kind": ["a", "c"]}),
    }
)


def unit(space, **params):
    return space.encode(space.validate(params)[None])[0]


def find(maximiser, acquisition, space, seed=0):
    u = maximiser().maximise(acquisition, space, np.random.default_rng(seed), 30)
    assert space.contains(u[None])[0]
    return u


@pytest.mark.parametrize("maximiser", MAXIMISERS)
@pytest.mark.parametrize("seed", range(3))
def test_a_maximum_at_a_point_of_the_space_is_found(maximiser, seed):
    top = SPACE.sample(1, np.random.default_rng([seed, 1]))[0]
    u = find(maximiser, Bowl(top), SPACE)
    assert np.array_equal(u[Grid(SPACE).discrete], top[Grid(SPACE).discrete])
    assert np.abs(u - top).max() <= 1e-4


@pytest.mark.parametrize("maximiser", MAXIMISERS)
def test_a_parameter_that_wakes_up_gets_its_best_value(maximiser):
    """The best point has kind b, and there only with a good value of drop, which others do not have."""
    top = unit(SPACE, kind="b", rate=0.2, depth=3, units=100, steps=10, drop=0.9)
    weights = np.where(np.arange(SPACE.dim) == Grid(SPACE).blocks[5].start, 8.0, 1.0)
    assert np.abs(find(maximiser, Bowl(top, weights), SPACE) - top).max() <= 1e-4


@pytest.mark.parametrize("maximiser", MAXIMISERS)
def test_integers_with_many_values_are_rounded_to_the_best(maximiser):
    """Weights that tilt the bowl would make the nearest integers wrong if each were rounded by itself."""
    space = mfopt.Space({"a": mfopt.Integer(1, 200), "b": mfopt.Integer(1, 5000), "x": (0.0, 1.0)})

    class Tilted(Bowl):
        def gradient(self, u):
            a, b = u[:, 0] - 0.5012, u[:, 1] - 0.3003
            value = -((a + b) ** 2) - 0.01 * (a - b) ** 2 - (u[:, 2] - 0.4) ** 2
            slope = np.stack([-2 * (a + b) - 0.02 * (a - b), -2 * (a + b) + 0.02 * (a - b), -2 * (u[:, 2] - 0.4)], 1)
            return value, slope

    acquisition = Tilted([0.0])
    near = np.array([[a, b] for a in range(80, 121) for b in range(1000, 2001)], dtype=float)
    points = space.encode(np.column_stack([near, np.full(len(near), 0.4)]))
    u = find(maximiser, acquisition, space)
    assert acquisition(u[None])[0] >= acquisition(points).max() - 1e-9


@pytest.mark.parametrize("maximiser", MAXIMISERS)
def test_a_discrete_space_is_searched_exactly(maximiser):
    space = mfopt.Space(
        {"k": ["a", "b", "c", "d"], "n": mfopt.Integer(1, 12), "o": mfopt.Ordinal([1, 2, 3], when={"k": ["a", "b"]})},
        constraints=lambda p: p["n"] != 7,
    )
    rng = np.random.default_rng(0)
    for _ in range(5):
        frequencies = rng.normal(0.0, 6.0, (space.dim, 8))

        class Waves:
            def __call__(self, u, frequencies=frequencies):
                return np.cos(u @ frequencies).sum(axis=1)

            def gradient(self, u, frequencies=frequencies):
                return self(u), -np.sin(u @ frequencies) @ frequencies.T

        best = space.points[int(np.argmax(Waves()(space.points)))]
        assert np.array_equal(find(maximiser, Waves(), space), best)


@pytest.mark.parametrize("maximiser", MAXIMISERS)
def test_an_ascent_goes_on_along_the_boundary_of_a_constraint(maximiser):
    """The best point of a bowl whose middle is forbidden lies on a circle; an ascent towards the middle stops anywhere
    on it."""
    space = mfopt.Space(
        {"x": (0.0, 1.0), "y": (0.0, 1.0), "on": [False, True]},
        constraints=lambda p: (p["x"] - 0.5) ** 2 + (p["y"] - 0.5) ** 2 <= 0.09,
    )
    target = np.array([1.0, 0.8, 1.0])
    u = find(maximiser, Bowl(target), space)
    outwards = (target - 0.5)[:2]
    best = np.append(0.5 + 0.3 * outwards / np.linalg.norm(outwards), 1.0)
    assert Bowl(target)(u[None])[0] >= Bowl(target)(best[None])[0] - 1e-6


@pytest.mark.parametrize("maximiser", MAXIMISERS)
def test_a_rare_forbidden_point_is_not_returned(maximiser):
    """Random points do not meet it, so that the search takes every point for one of X until it sees its result."""
    space = mfopt.Space(
        {"n": mfopt.Integer(0, 10_000), "x": (0.0, 1.0)},
        constraints=lambda p: p["n"] != 4321,
    )
    u = find(maximiser, Bowl([0.4321, 0.5]), space)
    assert space.decode(u[None])[0, 0] in (4320, 4322)


def test_the_kinds_of_parameters_are_told_apart():
    grid = Grid(SPACE)
    starts = [[block.start for block in kind] for kind in (grid.listed, grid.rounded, grid.real)]
    assert starts == [[0, 4, 8], [5, 6], [3, 7]]
    assert not Grid(mfopt.Box([(0, 1)] * 2)).mixed
    assert not Grid(mfopt.Space({"x": (0.0, 1.0)})).mixed


def test_points_of_the_grid_are_those_of_the_domain():
    grid, rng = Grid(SPACE), np.random.default_rng(0)
    u = grid.place(rng.random((300, len(grid.blocks))))
    assert np.array_equal(u, SPACE.snap(u))
    v = grid.fill(u, u[:50])
    assert np.array_equal(grid.point(v), u), "values of parameters at rest must not change the point"
    for moved in (grid.switch(v[:5]), grid.switch_pairs(v[:1], 100, 0)):
        there = grid.point(moved)
        assert np.array_equal(there, SPACE.snap(there))
        assert len(np.unique(there, axis=0)) > 20


def count_changes(grid, v, rows):
    """By row, how many parameters differ from those of the row v (1, dim)."""
    return sum((rows[:, block.coordinates] != v[:, block.coordinates]).any(axis=1).astype(int) for block in grid.blocks)


def test_two_parameters_are_changed_at_once_and_others_in_another_turn():
    grid = Grid(SPACE)
    v = grid.fill(SPACE.sample(1, np.random.default_rng(1)), SPACE.sample(50, np.random.default_rng(2)))
    turns = [grid.switch_pairs(v, 100, turn) for turn in (0, 1)]
    for rows in turns:
        changes = count_changes(grid, v, rows)
        assert changes.max() == 2
        assert (changes == 2).mean() > 0.4, "a change may be to the value that is there"
    assert not np.array_equal(*turns)


def test_the_neighbours_of_an_integer_are_the_next_ones():
    space = mfopt.Space({"m": mfopt.Integer(1, 300), "n": mfopt.Integer(1, 5000, log=True), "x": (0.0, 1.0)})
    grid = Grid(space)
    v = space.encode(np.array([[17.0, 40.0, 0.3]]))
    near = {tuple(np.rint(row[:2]).astype(int)) for row in space.decode(grid.neighbours(v))}
    assert near == {(m, n) for m in (16, 17, 18) for n in (39, 40, 41)} - {(17, 40)}
    end = space.encode(np.array([[1.0, 5000.0, 0.0]]))
    first = {tuple(np.rint(row[:2]).astype(int)) for row in space.decode(grid.neighbours(end))}
    assert first == {(2, 5000), (1, 4999), (2, 4999)}


def test_a_search_moves_only_numbers_that_count():
    grid = Grid(SPACE)
    u = np.array(
        [
            unit(SPACE, kind="a", rate=0.2, depth=3, units=100, steps=10, size=2),
            unit(SPACE, kind="b", rate=0.2, depth=3, units=100, steps=10, drop=0.5),
        ]
    )
    assert [np.flatnonzero(row).tolist() for row in grid.movable(u, relaxed=False)] == [[3], [3, 7]]
    assert [np.flatnonzero(row).tolist() for row in grid.movable(u, relaxed=True)] == [[3, 5, 6], [3, 5, 6, 7]]


def test_pairs_begin_with_a_parameter_and_what_it_wakes():
    space = mfopt.Space(
        {
            "a": mfopt.Ordinal(list(range(12))),
            "b": mfopt.Ordinal(list(range(12))),
            "kind": ["p", "q"],
            "of_q": mfopt.Integer(1, 300, when={"kind": "q"}),
        }
    )
    grid = Grid(space)
    v = grid.fill(space.sample(1, np.random.default_rng(0)), space.sample(50, np.random.default_rng(1)))
    moved = grid.point(grid.switch_pairs(v, 20, 0))
    named = [space.params(x) for x in space.decode(moved)]
    before = space.params(space.decode(grid.point(v))[0])
    assert {(one["a"], one["b"]) for one in named} == {(before["a"], before["b"])}
    assert len({one.get("of_q") for one in named}) > 5
