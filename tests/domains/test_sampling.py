"""Points of small and thin sets: polytopes, and sets of which the user knows a point."""

import numpy as np
import pytest
from scipy.optimize import LinearConstraint

from mfopt import Box, Categorical, EmptyDomain, InputError, Integer, Optimizer, Real, Space


def rng(seed=0):
    return np.random.default_rng(seed)


def slab(**options):
    return Box([(0, 1)] * 5, constraints=LinearConstraint(np.ones(5), 0.999, 1.0), **options)


def test_a_slab_is_sampled_uniformly():
    box = slab()
    u = np.concatenate([box.sample(100, rng(seed)) for seed in range(20)])
    assert box.contains(u).all()
    # On the simplex a coordinate is Beta(1, 4): P(x < q) = 1 − (1 − q)^4.
    for q in (0.05, 0.1, 0.2, 0.4):
        assert np.mean(u < q, axis=0) == pytest.approx([1 - (1 - q) ** 4] * 5, abs=0.045)
    assert np.mean((u.sum(axis=1) - 0.999) / 0.001) == pytest.approx(0.5, abs=0.03)
    assert np.abs(np.corrcoef(u.T) - np.where(np.eye(5), 1.0, -0.25)).max() < 0.1


@pytest.mark.parametrize("d", [8, 20])
def test_no_corner_of_a_slab_is_forgotten(d):
    # Few random directions see all corners of a simplex of many dimensions: walks must not stay in a face of it.
    box = Box([(0, 1)] * d, constraints=LinearConstraint(np.ones(d), 0.999, 1.0))
    u = box.sample(1000, rng())
    assert box.contains(u).all()
    assert u.mean(axis=0) == pytest.approx([1 / d] * d, rel=0.25)  # one deviation is 3 %
    assert np.median(u, axis=0) == pytest.approx([1 - 0.5 ** (1 / (d - 1))] * d, rel=0.3)


def test_a_slab_is_looked_at_once_and_never_searched_by_rejection(monkeypatch):
    drawn = []
    box = slab()
    draw = box.draw
    monkeypatch.setattr(box, "draw", lambda n, rng: drawn.append(n) or draw(n, rng))
    for seed in range(5):
        box.sample(10, rng(seed))
    assert drawn == [4096]


def test_points_depend_on_the_generator_alone():
    fresh, used = slab(), slab()
    for seed in range(3):
        used.sample(7 + seed, rng(seed))
    assert np.array_equal(fresh.sample(20, rng(9)), used.sample(20, rng(9)))


def test_a_log_polytope_is_sampled_log_uniformly():
    # In x the set is a small triangle, which one draw in 1300 hits: walks must agree with patient rejection.
    def box(width):
        limits = LinearConstraint([[1.0, 1.0]], -np.inf, width)
        return Box([(1e-3, 10.0), (1e-3, 10.0)], log=True, constraints=limits)

    expected = rng().random((1_500_000, 2))
    expected = expected[box(2.4e-3).contains(expected)]
    u = box(2.4e-3).sample(3000, rng())
    assert box(2.4e-3).contains(u).all()
    for q in (0.25, 0.5, 0.75):
        assert np.mean(u[:, 0] < np.quantile(expected[:, 0], q)) == pytest.approx(q, abs=0.06)


def test_a_predicate_on_a_slab_is_respected():
    box = Box(
        [(0, 1)] * 5,
        constraints=[LinearConstraint(np.ones(5), 0.999, 1.0), lambda x: (x[:, 0] > 0.5) | (x[:, 1] > 0.9)],
    )
    u = box.sample(300, rng())
    assert box.contains(u).all()
    assert np.mean(u[:, 0]) == pytest.approx(0.6, abs=0.03)  # 0.5 and a tenth: the rest is a smaller simplex


def test_integers_within_linear_constraints():
    space = Space(
        {f"n{j}": Integer(0, 1000) for j in range(4)}, constraints=LinearConstraint(np.ones(4), 1999.5, 2000.5)
    )
    u = space.sample(50, rng())
    assert space.contains(u).all()
    assert len(np.unique(u, axis=0)) > 25


def test_integers_and_real_numbers_of_a_thin_sum_are_sampled_uniformly():
    # Next to no rounded point of the polytope lies in X: the real numbers must make up for the integers.
    parameters = {f"n{j}": Integer(0, 10) for j in range(3)} | {f"r{j}": (0, 10) for j in range(3)}
    space = Space(parameters, constraints=LinearConstraint(np.ones(6), 9.99, 10))
    u = space.sample(1000, rng())
    assert space.contains(u).all()
    x = space.decode(u)
    # Given the integers the real numbers lie on a triangle: its area says how often.
    n = np.stack(np.meshgrid(*[np.arange(11)] * 3), axis=-1).reshape(-1, 3)
    area = np.maximum(10.0 - n.sum(axis=1), 0.0) ** 2
    assert x[:, :3].mean(axis=0) == pytest.approx(area @ n / area.sum(), rel=0.2)
    assert x[:, 3:].mean(axis=0) == pytest.approx([area @ (10 - n.sum(axis=1)) / area.sum() / 3] * 3, rel=0.2)


def test_integers_of_an_equation_that_few_solve():
    space = Space(
        {f"n{j}": Integer(0, 100) for j in range(6)}, constraints=LinearConstraint([3, 5, 7, 11, 13, 17], 1000, 1000)
    )
    x = space.decode(space.sample(300, rng()))
    assert (x @ [3, 5, 7, 11, 13, 17] == 1000).all()
    assert len(np.unique(x, axis=0)) > 200


def tiny(x):
    return (np.abs(x - [0.3, 0.7, 0.2]) < [1e-4, 1e-3, 1e-4]).all(axis=1)


@pytest.mark.parametrize(
    "known", [[0.3, 0.7, 0.2], {"x0": 0.3, "x1": 0.7, "x2": 0.2}, [[0.3, 0.7, 0.2]], np.full((1, 3), [0.3, 0.7, 0.2])]
)
def test_a_known_point_opens_a_set_that_no_draw_finds(known):
    with pytest.raises(EmptyDomain, match="feasible="):
        Box([(0, 1)] * 3, constraints=tiny).sample(1, rng())
    box = Box([(0, 1)] * 3, constraints=tiny, feasible=known)
    u = box.sample(300, rng())
    assert box.contains(u).all()
    assert u.mean(axis=0) == pytest.approx([0.3, 0.7, 0.2], abs=2e-4)
    assert u.std(axis=0) == pytest.approx(np.array([1e-4, 1e-3, 1e-4]) / np.sqrt(3), rel=0.2)


def test_an_x_of_known_points_alone_is_not_walked_for_ever():
    calls = []

    def only(p):
        calls.append(p)
        return (p["a"], p["b"]) in ((0.25, 0.5), (0.75, 0.5))

    known = [{"a": 0.25, "b": 0.5}, {"a": 0.75, "b": 0.5}]
    space = Space({"a": (0, 1), "b": (0, 1)}, constraints=only, feasible=known)
    for seed in range(3):
        u = space.sample(200, rng(seed))
        assert sorted({tuple(point) for point in u.tolist()}) == [(0.25, 0.5), (0.75, 0.5)]
    assert len(calls) < 50_000  # four millions where every step of every walk cut its line to nothing


def test_a_known_point_of_a_space():
    space = Space(
        {"a": Real(0, 1), "n": Integer(1, 10**6), "c": Categorical(["x", "y", "z"])},
        constraints=lambda p: abs(p["a"] - 0.5) < 1e-3 and abs(p["n"] - 777) < 20 and p["c"] == "y",
        feasible={"a": 0.5, "n": 777, "c": "y"},
    )
    u = space.sample(20, rng())
    assert space.contains(u).all()
    opt = Optimizer(space, [1.0], capital=5.0, strategy="random", rng=0)
    while not opt.done:
        trial = opt.ask()
        assert trial.params["c"] == "y"
        opt.tell(trial, trial.params["a"])


@pytest.mark.parametrize(
    ("known", "rule"),
    [
        ([0.5, 0.5, 0.5], "feasible must be points of X: x must satisfy constraint 0"),
        ([], "at least one point"),
        ([0.3, 0.7], r"feasible must be points of X: x must have shape \(3,\)"),
        ({"x0": 0.3}, "feasible must be points of X: x must have exactly the keys"),
    ],
)
def test_what_is_not_feasible_is_refused(known, rule):
    with pytest.raises(InputError, match=rule):
        Box([(0, 1)] * 3, constraints=tiny, feasible=known)
