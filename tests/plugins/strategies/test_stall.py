"""One fidelity whose values bring no gain: whose turn it is, and where the gaps are."""

from types import SimpleNamespace

import numpy as np
import pytest

import mfopt
from mfopt_plugins.method.observations import Observations
from mfopt_plugins.strategies.base.stall import PATIENCE, Turn, count_in_vain, find_gap, find_turn

QUIET = SimpleNamespace(excess=None)  # a model of failures that nobody asks, since nothing failed


def test_values_are_in_vain_since_the_best_one_rose_by_more_than_a_refinement():
    assert count_in_vain(np.array([1.0]), 1.0) == 0
    assert count_in_vain(np.array([1.0, 2.0, 1.5, 2.0 + 1e-6]), 1.0) == 2
    assert count_in_vain(np.array([1.0, 2.0, 1.5, 2.1]), 1.0) == 0


def test_every_second_query_of_a_stall_is_taken_from_the_bounds():
    values = np.zeros(1 + PATIENCE)
    turns = [find_turn(np.append(values, np.zeros(n)), 1.0, 0) for n in range(4)]
    assert sorted(turn.name for turn in turns) == ["BEST", "GAP", "OWN", "OWN"]
    assert find_turn(values[:-1], 1.0, 0) is Turn.OWN
    assert find_turn(np.empty(0), 0.0, 0) is Turn.OWN


def test_trials_that_are_asked_for_together_take_turns_too():
    turns = [find_turn(np.zeros(9), 1.0, waiting) for waiting in range(4)]
    assert sorted(turn.name for turn in turns) == ["BEST", "GAP", "OWN", "OWN"]


def test_a_gap_is_far_from_what_was_queried_and_from_what_is_pending():
    box = mfopt.Box([(0, 1)])
    known = Observations((0,), box)
    for u in np.linspace(0.0, 0.7, 15):
        known.add(np.array([u]), 0, 0.0, None)
    found = [find_gap(box, known, QUIET, [], np.random.default_rng(seed)) for seed in range(20)]
    assert sum(u is not None and u[0] > 0.75 for u in found) >= 18


def test_a_finite_set_without_a_fresh_point_has_no_gap():
    points = mfopt.FiniteSet([[0.0], [1.0]])
    known = Observations((0,), points)
    for u in points.points:
        known.add(u, 0, 0.0, None)
    assert find_gap(points, known, QUIET, [], np.random.default_rng(0)) is None


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
