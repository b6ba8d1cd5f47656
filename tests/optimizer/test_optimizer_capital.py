"""The capital of an Optimizer: what it pays for, and when it is used up."""

import numpy as np
import pytest

from mfopt import Exhausted, FiniteSet, InputError
from mfopt.protocols import Suggestion
from tests.optimizer.optimizers import Scripted, make, state


def test_the_run_is_done_when_no_target_query_can_be_paid():
    opt = make(capital=25.0)
    while not opt.done:
        trial = opt.ask()
        assert opt.remaining >= 0.0
        opt.tell(trial, 1.0)
    assert opt.spent <= 25.0
    assert opt.remaining < 10.0
    before = state(opt)
    with pytest.raises(Exhausted, match=r"costs 10.0 and .* of the capital 25.0 remains") as caught:
        opt.ask()
    assert caught.value.which == "capital"
    assert state(opt) == before


def test_pending_trials_count_as_spent_for_asking():
    target = Suggestion(np.array([0.5, 0.5]), 1, None)
    opt = make(strategy=Scripted(target, target), capital=20.0)
    opt.ask()
    assert opt.spent == 0.0
    assert opt.remaining == 10.0
    assert not opt.done
    opt.ask()
    assert opt.done
    assert len(opt.pending) == 2


def test_a_list_is_as_long_as_the_capital_allows():
    opt = make(costs=(2.0,), capital=7.0)
    assert len(opt.ask(10)) == 3
    with pytest.raises(Exhausted):
        opt.ask(2)


@pytest.mark.parametrize("n", [0, -1, 1.5, "2", True])
def test_a_bad_number_of_trials_is_refused(n):
    opt = make()
    with pytest.raises(InputError, match="n must be"):
        opt.ask(n)
    assert opt.pending == []


def test_a_noiseless_finite_set_is_used_up():
    opt = make(FiniteSet(np.arange(4.0)), noise=0.0)
    while not opt.done:
        trial = opt.ask()
        opt.tell(trial, float(trial.x[0]))
    assert opt.best.y == 3.0
    assert set(opt.history.x[opt.history.fidelity == 1][:, 0]) == {0.0, 1.0, 2.0, 3.0}
    with pytest.raises(Exhausted, match="all 4 points of X") as caught:
        opt.ask()
    assert caught.value.which == "points"


def test_a_noisy_finite_set_is_not():
    opt = make(FiniteSet([1.0]), costs=(1.0,), noise=0.1, capital=5.0)
    assert len(opt.ask(100)) == 5


def test_a_strategy_that_has_no_more_ends_the_run_until_something_is_told():
    opt = make(strategy=Scripted(Suggestion(np.array([0.5, 0.5]), 0, None), Exhausted("nothing"), Exhausted("still")))
    trial = opt.ask()
    with pytest.raises(Exhausted, match="nothing"):
        opt.ask()
    assert opt.done
    with pytest.raises(Exhausted, match="nothing"):
        opt.ask()
    opt.tell(trial, 1.0)
    assert not opt.done
    with pytest.raises(Exhausted, match="still"):
        opt.ask()
