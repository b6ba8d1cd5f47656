"""Runs in memory under Ctrl-C; those in a storage are in tests/storage/test_faults.py."""

import pickle

import pytest

from mfopt import Optimizer, PluginError
from tests.optimizer.optimizers import make, state
from tests.run.interrupts import PLUGINS, Interrupt

CALLS = {
    "ask": lambda opt: opt.ask(2),
    "tell": lambda opt: opt.tell_many([(trial, float(trial.id)) for trial in opt.pending[:2]]),
    "add": lambda opt: opt.add([[0.5, 0.5], [0.25, 0.5]], 0, [1.0, 2.0]),
}


@pytest.mark.parametrize("call", sorted(CALLS))
def test_an_interruption_between_any_two_lines_loses_nothing(call):
    lines, interrupted = 0, True
    while interrupted:
        lines += 1
        opt = make(capital=1e6)
        opt.ask(3)
        opt.tell(2, 1.0)
        try:
            with Interrupt(lines):
                CALLS[call](opt)
            interrupted = False
        except KeyboardInterrupt:
            pass
        opt.refresh()
        ids = sorted([*opt.history.id.tolist(), *(trial.id for trial in opt.pending)])
        assert ids == list(range(len(ids))), lines
        assert len(opt.history) in (1, 3), lines  # both values or none
        assert opt.spent == opt.history.cost.sum()
        assert opt.remaining == 1e6 - opt.spent - sum(trial.cost for trial in opt.pending)
        assert opt.ask().id == len(ids)
        assert [record.id for record in opt.strategy.records] == opt.history.id.tolist(), lines
    assert lines > 20


def run(strategy, n, interrupted_at=None, lines=0):
    """The trials of a run of n trials, the one of this number interrupted in its ask or its tell."""
    opt = Optimizer([(0.0, 1.0), (-5.0, 5.0)], (1.0, 10.0), capital=200.0, rng=0, strategy=strategy)
    trials = []
    while len(trials) < n:
        try:
            with Interrupt(lines if len(trials) == interrupted_at else 0, PLUGINS):
                trial = next(iter(opt.pending), None) or opt.ask()
                opt.tell(trial, float(trial.x[0] - trial.x[1] ** 2))
        except KeyboardInterrupt:
            interrupted_at = None
            if not opt.pending and len(opt.history) > len(trials):  # it was told
                trials.append(opt.history.x[-1].tolist())
            continue
        trials.append(trial.x.tolist())
    return trials, interrupted_at is None


@pytest.mark.parametrize("strategy", ["random", "gp-ei", "mf-gp-ucb"])
def test_a_strategy_that_is_interrupted_goes_on_as_if_it_had_not_been(strategy):
    """Ctrl-C between two lines of the strategy in memory: whatever it was at, the run is the same."""
    n, which, interruptions = 19, 16, 0
    expected, _ = run(strategy, n)
    for lines in [*range(1, 30), *(int(1.5**k) for k in range(9, 30))]:
        trials, was_interrupted = run(strategy, n, which, lines)
        assert trials == expected, lines
        interruptions += was_interrupted
        if not was_interrupted:
            break
    assert interruptions >= 20


def test_a_block_that_ctrl_c_kept_from_beginning_undoes_nothing_when_it_is_left():
    """Ctrl-C as a transaction is entered leaves its generator behind, which ends with the traceback: maybe later."""
    opt = make(capital=1e6)
    session = opt._session
    left_behind = [session.log.transaction(), session.ask_transaction()]
    for block in left_behind:
        block.__enter__()
    opt.tell(opt.ask(), 1.0)
    left_behind.clear()
    opt.tell(opt.ask(), 2.0)
    session._torn = True  # have the ledger made again from the log
    opt.refresh()
    assert opt.history.y.tolist() == [1.0, 2.0]


def test_a_failed_ask_in_memory_leaves_the_history_that_the_user_holds_alive():
    opt = make()
    history, trial = opt.history, opt.ask()
    opt.strategy.ask = None
    with pytest.raises(PluginError, match="TypeError"):
        opt.ask(2)
    del opt.strategy.ask
    opt.tell(trial, 1.0)
    assert len(history) == 1


def test_a_run_in_memory_is_pickled_with_what_its_strategy_has_not_been_shown_yet():
    opt = make()
    opt.tell_many([(trial, 1.0) for trial in opt.ask(3)[:2]])
    again = pickle.loads(pickle.dumps(opt))
    assert state(again) == state(opt)
    assert [record.id for record in again.strategy.records] == [0, 1]
    assert again.ask().x.tolist() == opt.ask().x.tolist()
