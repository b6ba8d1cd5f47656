"""One fidelity whose values bring no gain: whose turn it is, and where the gaps are."""

from types import SimpleNamespace

import numpy as np
import pytest

import mfopt
from mfopt_plugins.method.observations import Observations
from mfopt_plugins.strategies.base.stall import PATIENCE, Turn, count_in_vain, find_away, find_turn

QUIET = SimpleNamespace(excess=None)  # a model of failures that nobody asks, since nothing failed


def test_values_are_in_vain_since_the_best_one_rose_by_more_than_a_refinement():
    assert count_in_vain(np.array([1.0]), 1.0) == 0
    assert count_in_vain(np.array([1.0, 2.0, 1.5, 2.0 + 1e-6]), 1.0) == 2
    assert count_in_vain(np.array([1.0, 2.0, 1.5, 2.1]), 1.0) == 0


def test_three_of_four_queries_of_a_stall_are_taken_from_the_bounds():
    values = np.zeros(1 + PATIENCE)
    turns = [find_turn(np.append(values, np.zeros(n)), 1.0, 0) for n in range(4)]
    assert sorted(turn.name for turn in turns) == ["BEST", "CROSSED", "GAP", "OWN"]
    assert find_turn(values[:-1], 1.0, 0) is Turn.OWN
    assert find_turn(np.empty(0), 0.0, 0) is Turn.OWN


def test_trials_that_are_asked_for_together_take_turns_too():
    turns = [find_turn(np.zeros(9), 1.0, waiting) for waiting in range(4)]
    assert sorted(turn.name for turn in turns) == ["BEST", "CROSSED", "GAP", "OWN"]


def test_a_gap_is_far_from_what_was_queried_and_from_what_is_pending():
    box = mfopt.Box([(0, 1)])
    known = Observations((0,), box)
    for u in np.linspace(0.0, 0.7, 15):
        known.add(np.array([u]), 0, 0.0, None)
    found = [find_away(Turn.GAP, box, known, QUIET, [], np.random.default_rng(seed)) for seed in range(20)]
    assert sum(one is not None and one[0][0] > 0.75 for one in found) >= 18


def test_a_finite_set_without_a_fresh_point_has_no_gap():
    points = mfopt.FiniteSet([[0.0], [1.0]])
    known = Observations((0,), points)
    for u in points.points:
        known.add(u, 0, 0.0, None)
    assert find_away(Turn.GAP, points, known, QUIET, [], np.random.default_rng(0)) is None


def test_gaps_are_neither_at_the_edges_alone_nor_in_the_middle_alone():
    box = mfopt.Box([(0, 1)] * 4)
    known, rng = Observations((0,), box), np.random.default_rng(0)
    for _ in range(80):
        found = find_away(Turn.GAP, box, known, QUIET, [], rng)
        known.add(found[0], 0, 0.0, None)
    middle = (np.abs(known.rows(0)[0] - 0.5) < 0.25).mean(axis=0)
    assert (middle > 0.4).all()
    assert (middle < 0.6).all()


def test_a_crossed_point_has_the_parameters_of_two_good_ones():
    space = mfopt.Space({"x": (0.0, 1.0), "k": ["a", "b", "c"], "n": mfopt.Integer(0, 9)})
    known = Observations((0,), space)
    for x, y in (((0.1, 0, 3), 5.0), ((0.8, 1, 3), 4.0), *(((0.5, 2, n), -1.0) for n in range(4))):
        known.add(space.encode(np.array([x]))[0], 0, y, None)
    found = find_away(Turn.CROSSED, space, known, QUIET, [], np.random.default_rng(0))
    child = space.params(space.decode(found[0][None])[0])
    assert child["n"] == 3
    assert (child["x"], child["k"]) in ((pytest.approx(0.1), "b"), (pytest.approx(0.8), "a"))


def test_one_parameter_has_nothing_to_cross():
    box = mfopt.Box([(0, 1)])
    known = Observations((0,), box)
    for u in np.linspace(0.0, 1.0, 9):
        known.add(np.array([u]), 0, u, None)
    assert find_away(Turn.CROSSED, box, known, QUIET, [], np.random.default_rng(0)) is None
    assert find_away(Turn.OWN, box, known, QUIET, [], np.random.default_rng(0)) is None


def test_a_separable_function_with_many_maxima_is_solved_by_crossing():
    def schwefel(x):
        return float((x * np.sin(np.sqrt(np.abs(x)))).sum())

    for seed in range(820, 824):
        opt = mfopt.Optimizer([(-500, 500)] * 2, [1.0], strategy="gp-ucb", capital=60, rng=seed)
        while not opt.done:
            trial = opt.ask()
            opt.tell(trial, schwefel(trial.x))
        assert opt.best.y > 837.97 - 220  # what half of all random searches reach


@pytest.mark.parametrize("strategy", ["gp-ucb", "gp-pi", "mf-gp-ucb"])
def test_a_function_without_gains_is_looked_at_everywhere(strategy):
    opt = mfopt.Optimizer([(0, 1)] * 2, [1.0], strategy=strategy, capital=40, rng=0)
    kinds = []
    while not opt.done:
        trial = opt.ask()
        kinds.append(trial.reason.kind)
        opt.tell(trial, -float(((trial.x - 0.3) ** 2).sum()))
    assert "stall" in kinds
    others = np.array([r for r, kind in zip(opt.history.x, kinds, strict=True) if kind == "stall"])
    assert np.abs(others - 0.3).max() > 0.4


def test_failures_keep_gaps_away():
    opt = mfopt.Optimizer([(0, 1)] * 2, [1.0], strategy="gp-ucb", capital=60, rng=1)
    kinds = []
    while not opt.done:
        trial = opt.ask()
        fails = trial.x[0] > 0.5
        kinds.append((trial.reason.kind, fails))
        if fails:
            opt.tell(trial, status="failed")
        else:
            opt.tell(trial, -float(((trial.x - 0.2) ** 2).sum()))
    gaps = [fails for kind, fails in kinds if kind == "stall"]
    assert len(gaps) >= 4
    assert sum(gaps) <= len(gaps) / 3
