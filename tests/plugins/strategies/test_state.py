"""A strategy that was handed the state of another one goes on as that does, and is the same in every attribute."""

import contextlib
import copy
import time
import warnings

import numpy as np
import pytest

import mfopt
from mfopt.hooks import KeepsState
from mfopt.run.plain import from_text, to_text
from mfopt.testing._reopened import reopen, restore_strategist
from mfopt_plugins.method.softening import AsinhSoftening
from tests.plugins.graphs import differences
from tests.plugins.runs import FUNCTIONS, SQUARE, quick, run
from tests.plugins.strategies.test_every_strategy import NAMES
from tests.traces.configurations import CONFIGURATIONS, SCRIPTS, Trace

# Runs that together pass through every part that has a state.
RUNS = [
    "default-2",
    "default-failing-3",
    "default-peak",
    "default-noise",
    "default-noiseless",
    "default-pending",
    "default-finite",
    "default-shifted",
    "alone-pending",
    "affine-3",
    "gamma-shrink",
    "zetas-some",
    "mixed-surrogates",
    "theory-3",
    "theory-finite",
    "gp-ucb-failing",
    "gp-ei-noise",
    "gp-pi-finite",
    "direct-constrained",
    "direct-finite",
    "random-finite",
    "mf-naive-pending",
    "mf-naive-random-finite",
    "mf-sko",
    "co-kriging-3",
]
EVERY = 7  # asks between two states
CALLS = 36  # of ask, at most


class Ended(Exception):
    """The run was long enough."""


class Short(Trace):
    """A run that ends early."""

    calls = 0

    def ask(self, n=None):
        if self.calls == CALLS:
            raise Ended
        self.calls += 1
        return super().ask(n)


def complete(strategy):
    """A copy whose process in doubt has the rows that wait for its first use."""
    strategy = copy.deepcopy(strategy)
    learning = getattr(getattr(strategy, "_models", None), "_learning", None)
    doubted = getattr(getattr(learning, "joint", None), "_doubted", None)
    if doubted is not None:
        doubted.process._stop_waiting()
    return strategy


class Reopened(Short):
    """A run that goes on from the state of its strategy, again and again."""

    told = 0

    def ask(self, n=None):
        trials = super().ask(n)
        if self.calls % EVERY == 0:
            other = reopen(self.optimizer)
            if other is not None:
                self.told += 1
                found = differences(complete(self.optimizer.strategy), complete(other.strategy))
                assert found == [], "a state must hold all that asks change"
                self.optimizer = other
        return trials


@pytest.mark.parametrize("name", RUNS)
def test_a_run_goes_on_from_its_states_to_the_bit(name, tmp_path):
    traces = []
    for kind in (Short, Reopened):
        trace = kind(CONFIGURATIONS[name], 12, tmp_path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", mfopt.ZetaWarning)
            with contextlib.suppress(Ended):
                SCRIPTS[CONFIGURATIONS[name].script](trace)
        traces.append(trace)
    plain, reopened = traces
    assert reopened.told >= 2
    assert plain.lines == reopened.lines


@pytest.mark.parametrize("name", NAMES)
def test_every_strategy_has_a_small_state(name):
    opt = mfopt.Optimizer(SQUARE, [1.0, 5.0], strategy=name, capital=200.0, rng=0, maximiser=quick())
    run(opt, FUNCTIONS, most=25)
    opt.ask()
    assert isinstance(opt.strategy, KeepsState)
    state = opt._session.strategist().tell_state()
    assert len(state) < 5000


def test_a_value_known_to_be_no_better_is_softened_once():
    opt = mfopt.Optimizer(SQUARE, [1.0, 5.0], rng=3, maximiser=quick())
    run(opt, FUNCTIONS, most=30)
    trial, strategy, soft = opt.ask(), opt.strategy, AsinhSoftening(0.0, 0.2, 2.0)
    strategy._softener.softening, strategy._softener.active = soft, True
    strategy._observations.soften(soft)
    k, observations = trial.fidelity, strategy._observations
    values = observations._told[k][: observations._size[k]]
    bound = 0.5 * float(values.min() + values.max())
    opt.tell(trial, bound, status="failed")
    row = observations._size[k] - 1
    assert observations._told[k][row] == bound
    assert observations._y[k][row] == soft.value(bound)


def changes(value):
    """Every value with one of its parts replaced by something hostile."""
    hostile = [None, True, -1, 2**70, 0.5, float("nan"), float("inf"), 1e308, "text", [], {}, [[[]]], np.zeros((3, 3))]
    if isinstance(value, dict):
        for key in value:
            yield {name: one for name, one in value.items() if name != key}
            for other in changes(value[key]):
                yield {**value, key: other}
        yield {**value, "more": 1}
    elif isinstance(value, list):
        for k in range(min(len(value), 2)):
            for other in changes(value[k]):
                yield [*value[:k], other, *value[k + 1 :]]
        yield [*value, *value]
    if isinstance(value, np.ndarray) and value.size:
        yield np.full(value.shape, np.nan)
        yield -1e300 * np.abs(value)
        yield value[:-1] if value.ndim else value
        yield np.broadcast_to(value, (2, *value.shape)).copy()
    yield from hostile


@pytest.mark.parametrize("name", ["default-failing-3", "alone-pending", "direct", "mf-naive", "co-kriging", "ar1"])
def test_a_hostile_state_leads_to_an_ordinary_error_or_to_nothing(name, tmp_path):
    """Whatever a state says, reading it takes no second, and what happens is an error that the session can take."""
    trace = Trace(CONFIGURATIONS[name], 12, tmp_path)
    while len(trace.lines) < 40:
        trial = trace.ask()[0]
        (trace.fail if trial.id % 6 == 3 else trace.tell)(trial)
    trace.ask()
    state = from_text(trace.optimizer._session.strategist().tell_state())
    strategist = restore_strategist(trace.optimizer)
    view, refused = trace.optimizer._session.ledger.view(), 0
    every = list(changes(state))
    for value in every[:: max(1, len(every) // 150)]:
        start = time.process_time()
        try:
            strategist.strategy.restore(from_text(to_text(value)))
        except Exception:  # of any kind: the run is then replayed
            refused += 1
        assert time.process_time() - start < 1.0
    assert refused > 50
    strategist.strategy.restore(state)  # nothing has broken what does not come from a state
    assert strategist.suggest(view) is not None
