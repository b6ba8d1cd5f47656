"""Runs in memory under Ctrl-C; those in a storage are in tests/storage/test_faults.py."""

import pickle

import pytest

from tests.optimizer.optimizers import make, state
from tests.run.interrupts import Interrupt

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
        # A strategy that was interrupted may be told once more what it was being told, but never less than all.
        told = [record.id for record in opt.strategy.records]
        assert list(dict.fromkeys(told)) == opt.history.id.tolist(), lines
        assert len(told) <= len(opt.history) + 1
    assert lines > 20


def test_a_failed_ask_in_memory_leaves_the_history_that_the_user_holds_alive():
    opt = make()
    history, trial = opt.history, opt.ask()
    opt.strategy.ask = None
    with pytest.raises(TypeError):
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
