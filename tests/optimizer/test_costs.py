"""Costs that are told with values: capital, estimates, reasons, strategies."""

import copy

import numpy as np
import pytest

import mfopt
from mfopt import InputError
from tests.optimizer.toys import toys

METHODS = ["mf-gp-ucb", "gp-ei", "mf-naive", "mf-naive-random", "mf-sko", "co-kriging", "random", "direct"]


def f(trial):
    return float(np.sin(7.0 * trial.x[0]) + 0.1 * (1 - trial.fidelity))


def make(costs=(1.0, 10.0), **options):
    return mfopt.Optimizer([(0.0, 1.0)], list(costs), **{"capital": 100.0, "rng": 0, **toys(), **options})


def test_the_real_cost_takes_the_place_of_the_promised_one():
    opt = make()
    trial = opt.ask()
    assert opt.remaining == 100.0 - trial.cost
    opt.tell(trial, 0.5, cost=0.25)
    assert (opt.spent, opt.remaining) == (0.25, 99.75)
    assert opt.history.cost.tolist() == [0.25]


def test_later_trials_cost_what_was_learnt():
    opt = make()
    for _ in range(12):
        trial = opt.ask()
        opt.tell(trial, f(trial), cost=(3.0, 6.0)[trial.fidelity])
    assert opt.costs == tuple(one.cost for one in opt.cost_estimates)
    assert opt.costs[0] == pytest.approx(3.0, rel=0.3)
    trial = opt.ask()
    assert trial.cost == opt.costs[trial.fidelity]
    assert opt.remaining == pytest.approx(opt.capital - opt.spent - trial.cost)


def test_without_told_costs_nothing_is_learnt():
    opt = make()
    for _ in range(5):
        trial = opt.ask()
        assert "expected costs" not in str(trial.reason)
        opt.tell(trial, f(trial))
    assert opt.costs == (1.0, 10.0)
    assert {one.factor for one in opt.cost_estimates} == {1.0}


def test_a_failure_is_charged_but_not_learnt_from():
    opt = make()
    trial = opt.ask()
    opt.tell(trial, status="failed", cost=0.001)
    assert opt.spent == 0.001
    assert opt.costs == (1.0, 10.0)


@pytest.mark.parametrize("cost", [-1.0, float("nan"), float("inf"), "much", 1e200, True])
def test_a_cost_that_is_none_is_refused_and_changes_nothing(cost):
    opt = make()
    trial = opt.ask()
    with pytest.raises(InputError, match="cost must be"):
        opt.tell(trial, 0.5, cost=cost)
    assert len(opt.history) == 0
    assert opt.remaining == 100.0 - trial.cost


def test_costs_come_with_many_outcomes_too():
    opt = make()
    one, other = opt.ask(2)
    opt.tell_many([(one, 0.1, "ok", 2.0), (other, None, "failed", 3.0)])
    assert opt.history.cost.tolist() == [2.0, 3.0]
    with pytest.raises(InputError, match="an outcome must be"):
        opt.tell_many([(opt.ask(), 0.1, "ok", 2.0, 5)])


def test_the_last_query_may_overdraw_the_capital():
    opt = make(capital=10.0)
    while not opt.done:
        trial = opt.ask()
        opt.tell(trial, f(trial), cost=25.0)
    assert opt.spent > opt.capital
    assert opt.remaining == 0.0
    with pytest.raises(mfopt.Exhausted, match="expected to cost"):
        opt.ask()


@pytest.mark.parametrize("strategy", METHODS)
@pytest.mark.parametrize("real", [(9.0, 12.0), (1.0, 10.0)])
def test_a_guess_of_the_targets_cost_does_not_end_a_run_before_its_first_target_query(strategy, real):
    opt = make((1.0, 10.0), capital=20.0, strategy=strategy)
    while not opt.done:
        trial = opt.ask()
        opt.tell(trial, f(trial), cost=real[trial.fidelity])
    assert opt.best is not None
    assert opt.spent < 20.0 + real[1]


def test_a_first_target_query_that_fails_or_is_under_way_is_not_asked_again_beyond_the_capital():
    opt = make((1.0, 10.0), capital=20.0, strategy="mf-naive")
    first = opt.ask()
    assert first.fidelity == 0
    opt.tell(first, 0.5, cost=9.0)
    trial = opt.ask()
    assert (trial.fidelity, trial.cost) == (1, 11.0)
    with pytest.raises(mfopt.Exhausted):
        opt.ask()
    opt.tell(trial, status="failed", cost=0.5)
    assert opt.done


def test_costs_must_be_given_for_all_fidelities_or_for_none():
    with pytest.raises(InputError, match="for every fidelity or for none"):
        make([None, 3.0])
    with pytest.raises(InputError, match="capital must be positive"):
        make([None, None], capital=-1.0)


@pytest.mark.parametrize("strategy", METHODS)
@pytest.mark.parametrize("costs", [(1.0, 10.0), (None, None)])
def test_every_method_goes_by_the_costs_learnt(strategy, costs):
    opt = make(costs, capital=60.0, strategy=strategy)
    real = (0.02, 4.0)
    while not opt.done:
        trial = opt.ask()
        opt.tell(trial, f(trial), cost=real[trial.fidelity])
    assert opt.best is not None
    assert 60.0 - 5.0 < opt.spent < 60.0 + 4.0
    assert opt.costs[-1] == pytest.approx(4.0, rel=0.2)
    assert np.bincount(opt.history.fidelity, minlength=2)[1] >= 5


def test_cheap_queries_that_turn_out_expensive_are_asked_less():
    def count(real):
        opt = make((1.0, 10.0), capital=150.0)
        while not opt.done:
            trial = opt.ask()
            opt.tell(trial, f(trial), cost=real[trial.fidelity])
        return np.bincount(opt.history.fidelity, minlength=2)

    assert count((9.0, 10.0))[0] < count((0.1, 10.0))[0]


def test_reasons_show_the_costs_with_their_uncertainty():
    opt = make(strategy="mf-gp-ucb")
    opt.tell(opt.ask(), 0.5, cost=2.0)
    assert "expected costs by fidelity: " in str(opt.ask().reason)
    assert "(×÷ " in str(opt.ask().reason)
    assert len(opt.ask().reason.costs) == 2


def test_a_copy_goes_on_with_the_costs_learnt():
    opt = make()
    for _ in range(6):
        trial = opt.ask()
        opt.tell(trial, f(trial), cost=2.0 + trial.x[0])
    again = copy.deepcopy(opt)
    assert again.cost_estimates == opt.cost_estimates
    assert again.remaining == opt.remaining
    assert again.ask().cost == opt.ask().cost


def test_odd_costs_are_told_not_refused():
    opt = make(capital=1000.0)
    for _ in range(40):
        trial = opt.ask()
        opt.tell(trial, f(trial), cost=(5.0, 1.0)[trial.fidelity])
    assert "fidelity 0 costs" in opt.cost_oddities[0]
