"""What an Optimizer refuses: answers of broken strategies, and arguments."""

import numpy as np
import pytest

from mfopt import (
    Box,
    EmptyDomain,
    Fidelity,
    InputError,
    PluginError,
)
from mfopt.protocols import Suggestion
from tests.optimizer.optimizers import Scripted, make, state
from tests.optimizer.toys import FixedGP, RandomMaximiser, RandomSearch

# ------------------------------------------------------------------------------------------- broken strategies


@pytest.mark.parametrize(
    ("answer", "rule"),
    [
        (None, "must return a Suggestion"),
        (Suggestion(np.array([0.5]), 0, None), r"shape \(2,\)"),
        (Suggestion("middle", 0, None), "real numbers"),
        (Suggestion(np.array([0.5, 1.5]), 0, None), "lie in X"),
        (Suggestion(np.array([0.5, np.nan]), 0, None), "lie in X"),
        (Suggestion(np.array([0.5, 0.5]), 2, None), "fidelity must be from 0 to 1, got 2"),
        (Suggestion(np.array([0.5, 0.5]), 1.0, None), "integer"),
    ],
)
def test_a_strategy_that_breaks_its_contract_is_named(answer, rule):
    opt = make(strategy=Scripted(answer))
    before = state(opt)
    with pytest.raises(PluginError, match=f"Scripted.*{rule}"):
        opt.ask()
    assert state(opt) == before


def test_an_exception_in_the_strategy_registers_nothing():
    good = Suggestion(np.array([0.5, 0.5]), 0, None)
    opt = make(strategy=Scripted(RuntimeError("first"), good, good, RuntimeError("third"), good), capital=50.0)
    before = state(opt)
    with pytest.raises(PluginError, match="Scripted: ask raised RuntimeError: first"):
        opt.ask()
    assert state(opt) == before
    with pytest.raises(PluginError, match="RuntimeError: third"):
        opt.ask(3)
    assert state(opt) == before
    assert opt.ask().id == 0


def test_a_value_is_kept_when_the_strategy_fails_to_take_it():
    class Moody(RandomSearch):
        moods = 3  # once when the value is told, then at two asks

        def tell(self, record):
            if record.y == 2.0 and self.moods:
                self.moods -= 1
                raise RuntimeError("not now")
            super().tell(record)

    opt = make(strategy=Moody())
    opt.tell_many([(trial, float(trial.id + 1)) for trial in opt.ask(3)])
    before = state(opt)
    assert opt.history.y.tolist() == [1.0, 2.0, 3.0]
    for _ in range(2):
        with pytest.raises(PluginError, match="Moody: tell raised RuntimeError: not now"):
            opt.ask()
        assert state(opt) == before
    assert opt.ask().id == 3
    assert [record.y for record in opt.strategy.records] == [1.0, 2.0, 3.0]


# --------------------------------------------------------------------------------------------------- arguments


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        ({"costs": [10.0, 1.0]}, r"costs must be strictly increasing, got \[10.0, 1.0\]"),
        ({"costs": [1.0, 1.0]}, "strictly increasing"),
        ({"costs": [0.0, 1.0]}, "positive"),
        ({"costs": []}, "at least one"),
        ({"costs": 1.0}, "list"),
        ({"costs": ["a"]}, "real number"),
        ({"costs": [1.0, np.inf]}, "finite"),
        ({"costs": None}, "one of costs and fidelities must be given, got none"),
        ({"fidelities": [Fidelity("a", 1.0)]}, "got both"),
        ({"costs": None, "fidelities": [1.0]}, "mfopt.Fidelity"),
        ({"costs": None, "fidelities": [Fidelity("a", 1.0), Fidelity("a", 2.0)]}, "unique"),
        ({"costs": None, "fidelities": [Fidelity("a", 1.0, zeta=0.5)]}, "target must be 0"),
        ({"direction": "max"}, "maximize"),
        ({"capital": 9.0}, "must pay for a target query, which costs 10.0, got 9.0"),
        ({"capital": np.nan}, "finite"),
        ({"capital": "all"}, "real number"),
        ({"noise": -1.0}, "not be negative"),
        ({"noise": [0.0]}, "2 entries"),
        ({"rng": -1}, "non-negative"),
        ({"rng": 1.5}, "integer"),
        ({"rng": "seed"}, "integer"),
        ({"surrogate": [FixedGP()]}, "2 entries"),
        ({"domain": None}, "domain must be"),
    ],
)
def test_bad_arguments_are_refused(options, rule):
    with pytest.raises(InputError, match=rule):
        make(**options)


def test_an_empty_domain_is_reported_when_the_optimiser_is_made():
    with pytest.raises(EmptyDomain):
        make(Box([(0, 1)], constraints=lambda x: x[:, 0] > 2))


def test_what_is_known_reaches_the_strategy():
    strategy, surrogates, maximiser = RandomSearch(), [FixedGP(), FixedGP()], RandomMaximiser()
    opt = make(
        costs=None,
        fidelities=[Fidelity("coarse", 1.0, zeta=0.3, noise=0.01), Fidelity("fine", 5.0)],
        strategy=strategy,
        surrogate=surrogates,
        maximiser=maximiser,
        capital=50,
    )
    problem = strategy.problem
    assert problem.costs == opt.costs == (1.0, 5.0)
    assert problem.zetas == (0.3, 0.0)
    assert problem.noises == (0.01, None)
    assert problem.capital == opt.capital == 50.0
    assert problem.surrogates == tuple(surrogates)
    assert problem.maximiser == maximiser
    assert [f.name for f in opt.fidelities] == ["coarse", "fine"]
    assert opt.strategy is strategy


def test_one_surrogate_serves_all_fidelities_and_noise_may_be_one_number():
    strategy, surrogate = RandomSearch(), FixedGP()
    make(strategy=strategy, surrogate=surrogate, noise=0.5)
    assert strategy.problem.surrogates == (surrogate, surrogate)
    assert strategy.problem.noises == (0.5, 0.5)


def test_noise_given_twice_is_refused():
    with pytest.raises(InputError, match="once"):
        make(costs=None, fidelities=[Fidelity("a", 1.0, noise=0.1)], noise=0.1)
