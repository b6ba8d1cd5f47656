import pickle
from fractions import Fraction

import numpy as np
import pytest

from mfopt import (
    AlreadyTold,
    DomainError,
    FiniteSet,
    InputError,
    UnknownTrial,
)
from mfopt.protocols import Suggestion
from tests.optimizer.optimizers import COSTS, Scripted, make, state
from tests.optimizer.toys import RandomSearch

# ---------------------------------------------------------------------------------------------------- asking


def test_a_trial_is_a_point_in_user_units_at_a_fidelity():
    opt = make()
    trial = opt.ask()
    assert trial.x.shape == (2,)
    assert not trial.x.flags.writeable
    assert np.array_equal(opt.domain.validate(trial.x), trial.x)
    assert trial.cost == COSTS[trial.fidelity]
    assert trial.index is None
    assert [t.id for t in opt.pending] == [trial.id]


def test_many_trials_may_be_outstanding_and_are_told_in_any_order():
    opt = make(capital=1000.0)
    trials = opt.ask(6)
    assert len({trial.id for trial in trials}) == 6
    for trial in trials[::-1]:
        opt.tell(trial.id, float(trial.id))
    assert opt.pending == []
    assert opt.history.id.tolist() == [trial.id for trial in trials[::-1]]
    assert opt.spent == sum(trial.cost for trial in trials)


def test_the_strategy_sees_pending_queries_and_what_remains():
    strategy = RandomSearch()
    opt = make(strategy=strategy, capital=100.0)
    first = opt.ask()
    opt.ask()
    view = strategy.views[1]
    assert [query.id for query in view.pending] == [first.id]
    assert view.remaining == 100.0 - first.cost
    assert [v.t for v in strategy.views] == [1, 2]


def test_the_same_seed_gives_the_same_trials_whatever_the_user_draws():
    def trace(rng):
        opt = make(rng=rng)
        points = []
        for _ in range(5):
            trial = opt.ask()
            np.random.random()  # noqa: NPY002
            opt.tell(trial, 1.0)
            points.append((trial.x.tolist(), trial.fidelity))
        return points

    assert trace(7) == trace(7)
    assert trace(7) != trace(8)
    assert trace(np.random.default_rng(3)) == trace(np.random.default_rng(3))
    assert trace(None) != trace(None)


def test_a_generator_gives_different_runs_one_after_the_other():
    generator = np.random.default_rng(0)
    assert make(rng=generator).seed != make(rng=generator).seed


def test_candidates_carry_their_index():
    rows = np.random.default_rng(0).random((9, 3))
    opt = make(FiniteSet(rows))
    for trial in opt.ask(5):
        assert np.array_equal(rows[trial.index], trial.x)


def test_reasons_are_turned_round_for_minimisation():
    assert make().ask().reason.sign == 1
    assert make(direction="minimize").ask().reason.sign == -1


def test_a_reason_without_a_sign_is_passed_on():
    opt = make(strategy=Scripted(Suggestion(np.array([0.5, 0.5]), 0, "because")), direction="minimize")
    assert opt.ask().reason == "because"


# ---------------------------------------------------------------------------------------------------- telling


@pytest.mark.parametrize(
    "y", [1, 1.5, np.float32(1.5), np.int64(2), np.array(3.0), np.array([[4.0]]), [2.5], -0.0, 1e139]
)
def test_anything_that_is_one_real_number_is_a_value(y):
    opt = make()
    opt.tell(opt.ask(), y)
    assert opt.history.y[0] == float(np.asarray(y).reshape(()))


@pytest.mark.parametrize(
    "y", [np.nan, np.inf, -np.inf, "1", True, np.True_, 1j, None, [1.0, 2.0], [], object(), Fraction(1, 2)]
)
def test_anything_else_is_refused_with_a_hint_and_changes_nothing(y):
    opt = make()
    trial = opt.ask()
    before = state(opt)
    with pytest.raises(InputError, match=r'y must .*status="failed"'):
        opt.tell(trial, y)
    assert state(opt) == before
    opt.tell(trial, 1.0)


def test_a_failed_trial_costs_and_has_no_value():
    opt = make(capital=100.0)
    trial = opt.ask()
    opt.tell(trial, status="failed")
    assert opt.spent == trial.cost
    assert opt.history.status.tolist() == ["failed"]
    assert np.isnan(opt.history.y[0])
    assert opt.strategy.records[0].y is None
    assert opt.best is None


@pytest.mark.parametrize(("direction", "sign"), [("maximize", 1.0), ("minimize", -1.0)])
def test_a_failed_trial_may_have_a_bound(direction, sign):
    opt = make(capital=100.0, direction=direction)
    opt.tell(opt.ask(), 2.5, status="failed")
    assert opt.history.status.tolist() == ["failed"]
    assert np.isnan(opt.history.y[0])
    assert opt.history.bound.tolist() == [2.5]
    assert opt.strategy.records[0].y is None
    assert opt.strategy.records[0].bound == sign * 2.5
    assert opt.best is None


def test_status_and_value_must_fit():
    opt = make()
    trial = opt.ask()
    with pytest.raises(InputError, match=r'bound told with status="failed" must'):
        opt.tell(trial, np.nan, status="failed")
    with pytest.raises(InputError, match="status must be"):
        opt.tell(trial, 1.0, status="done")
    assert opt.pending


def test_a_trial_is_told_once():
    opt = make()
    trial = opt.ask()
    opt.tell(trial, 1.0)
    for again in (trial, trial.id):
        with pytest.raises(AlreadyTold, match="once"):
            opt.tell(again, 2.0)
    assert opt.history.y.tolist() == [1.0]


@pytest.mark.parametrize("unknown", [99, -1, np.int64(5)])
def test_unknown_trials_are_refused(unknown):
    opt = make()
    opt.ask()
    with pytest.raises(UnknownTrial, match=r"pending are \[0\]"):
        opt.tell(unknown, 1.0)


@pytest.mark.parametrize("nonsense", ["0", 0.0, None, True])
def test_what_is_no_trial_is_refused(nonsense):
    opt = make()
    opt.ask()
    with pytest.raises(InputError, match="integer"):
        opt.tell(nonsense, 1.0)


def test_another_optimisers_trial_is_refused_but_a_copy_of_ours_is_not():
    opt, other = make(rng=0), make(rng=1)
    trial, foreign = opt.ask(), other.ask()
    with pytest.raises(UnknownTrial, match="from this optimiser"):
        opt.tell(foreign, 1.0)
    opt.tell(pickle.loads(pickle.dumps(trial)), 1.0)
    assert len(opt.history) == 1


def test_ids_of_added_data_are_not_trials():
    opt = make()
    opt.add([0.5, 0.0], 0, 1.0)
    with pytest.raises(UnknownTrial):
        opt.tell(0, 1.0)


# ------------------------------------------------------------------------------------------------ added data


def test_added_data_reaches_the_strategy_and_costs_nothing():
    opt = make(capital=20.0)
    opt.add([0.25, 0.0], 1, 3.0)
    opt.add({"x0": 0.5, "x1": 5.0}, 0, 4.0)
    assert opt.spent == 0.0
    assert [(r.u.tolist(), r.fidelity, r.y, r.asked) for r in opt.strategy.records] == [
        ([0.25, 0.5], 1, 3.0, False),
        ([0.5, 1.0], 0, 4.0, False),
    ]
    assert opt.best.y == 3.0
    assert opt.best.trial_id == opt.history.id[0]


def test_arrays_are_a_warm_start():
    opt = make()
    x = np.random.default_rng(0).random((4, 2))
    opt.add(x, [0, 1, 1, 0], [1.0, 2.0, 4.0, 8.0])
    opt.add(x, 0, np.arange(4))
    assert opt.history.fidelity.tolist() == [0, 1, 1, 0, 0, 0, 0, 0]
    assert np.array_equal(opt.history.x[:4], x)
    assert opt.best.y == 4.0
    assert len(set(opt.history.id.tolist())) == 8


def test_a_given_cost_is_charged():
    opt = make(capital=30.0)
    opt.add([[0.5, 0.0], [0.6, 0.0]], 1, [3.0, 4.0], cost=[10.0, 10.0])
    assert opt.spent == 20.0
    assert opt.history.cost.tolist() == [10.0, 10.0]
    with pytest.raises(InputError, match=r"remaining 10\.0"):
        opt.add([0.5, 0.0], 1, 3.0, cost=11.0)
    with pytest.raises(InputError, match="cost must be from 0"):
        opt.add([0.5, 0.0], 1, 3.0, cost=-1.0)
    assert opt.spent == 20.0


@pytest.mark.parametrize(
    ("x", "fidelity", "y", "rule"),
    [
        ([0.5, 9.0], 0, 1.0, r"x1 must lie in \[-5.0, 5.0\], got 9.0"),
        ([0.5], 0, 1.0, r"shape \(2,\)"),
        ([0.5, 0.0], 2, 1.0, "fidelity must be from 0 to 1, got 2"),
        ([0.5, 0.0], -1, 1.0, "from 0 to 1, got -1"),
        ([0.5, 0.0], 0.0, 1.0, "integer"),
        ([0.5, 0.0], True, 1.0, "integer"),
        ([0.5, 0.0], "low", 1.0, "integer"),
        ([0.5, 0.0], 0, np.nan, "finite"),
        ([0.5, 0.0], 0, None, "real numbers"),
        ([[0.5, 0.0], [0.5, 9.0]], 0, [1.0, 2.0], "x1 must lie in"),
        ([[0.5, 0.0], [0.5, 1.0]], 0, [1.0, np.inf], "finite"),
        ([[0.5, 0.0], [0.5, 1.0]], [0, 5], [1.0, 2.0], "got 5"),
        ([[0.5, 0.0], [0.5, 1.0]], [0], [1.0, 2.0], "2 entries, got 1"),
        ([[0.5, 0.0]], 0, [1.0, 2.0], "x, one point per value of y, must have 2 entries, got 1"),
        ([0.5, 0.0], 0, [1.0], "x, one point per value of y, must have 1 entry, got 2"),
        ([[0.5, 0.0], [0.5, 1.0]], 0, 1.0, "y must have one value for each of the 2 points of x, got 1.0 alone"),
        (np.empty((0, 2)), 0, 1.0, "y must have one value for each of the 0 points of x, got 1.0 alone"),
        ([[0.5, 9.0]], 0, 1.0, r"x1 must lie in \[-5.0, 5.0\], got 9.0"),
        ([[0.5, 0.0]], 0, [[1.0]], "array"),
        ([], 0, [], "at least 1"),
    ],
)
def test_bad_data_changes_nothing(x, fidelity, y, rule):
    opt = make()
    opt.add([0.5, 0.5], 1, 2.0)
    before = state(opt)
    with pytest.raises(InputError, match=rule):
        opt.add(x, fidelity, y)
    assert state(opt) == before
    assert len(opt.strategy.records) == 1


def test_data_outside_the_domain_is_a_domain_error():
    with pytest.raises(DomainError):
        make().add([2.0, 0.0], 0, 1.0)


# ------------------------------------------------------------------------------------------------- the result


@pytest.mark.parametrize(("direction", "expected"), [("maximize", 7.0), ("minimize", -2.0)])
def test_best_is_the_best_value_of_the_target(direction, expected):
    opt = make(direction=direction)
    assert opt.best is None
    for m, y in [(0, 99.0), (0, -99.0), (1, 3.0), (1, 7.0), (1, -2.0), (1, 5.0)]:
        opt.add([0.5, y / 20.0], m, y)
    assert opt.best.y == expected
    assert opt.best.x[1] == expected / 20.0
    assert opt.history.id[opt.history.y == expected] == opt.best.trial_id


def test_the_strategy_always_maximises():
    opt = make(direction="minimize")
    opt.tell(opt.ask(), 3.0)
    assert opt.strategy.records[0].y == -3.0
    assert opt.history.y.tolist() == [3.0]


def test_cheap_values_are_never_the_best():
    opt = make()
    opt.add([0.5, 0.0], 0, 1e9)
    assert opt.best is None
