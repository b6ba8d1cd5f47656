"""Random sequences of calls, good and bad: a refused call changes nothing, and the ledger always balances."""

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from mfopt import AlreadyTold, Box, Exhausted, FiniteSet, InputError, Optimizer, UnknownTrial
from tests.optimizer.optimizers import state
from tests.optimizer.toys import toys

DOMAINS = {
    "box": lambda: Box([(0.0, 1.0), (-5.0, 5.0)]),
    "log": lambda: Box([(1e-3, 1e3), (1.0, 2.0)], log=True),
    "constrained": lambda: Box([(0.0, 1.0), (0.0, 1.0)], constraints=lambda x: x.sum(axis=1) <= 1.0),
    "finite": lambda: FiniteSet([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0]]),
}
BAD_VALUES = [np.nan, np.inf, "y", None, True, 1j, [1.0, 2.0], [[0.0], []]]
BAD_POINTS = [[0.0], [np.nan, 0.0], [1e9, 1e9], "x", None, {"x0": 0.0}, np.zeros((2, 2))]
BAD_FIDELITIES = [-1, 7, 0.5, "0", None, True]


class Calls(RuleBasedStateMachine):
    @initialize(
        name=st.sampled_from(sorted(DOMAINS)),
        costs=st.sampled_from([(1.0,), (1.0, 10.0), (0.1, 0.7, 3.0)]),
        capital=st.sampled_from([None, 10.0, 30.3]),
        direction=st.sampled_from(["maximize", "minimize"]),
        noise=st.sampled_from([None, 0.0]),
    )
    def start(self, name, costs, capital, direction, noise):
        self.opt = Optimizer(DOMAINS[name](), costs, capital=capital, direction=direction, noise=noise, rng=1, **toys())
        self.told = []
        self.ids = set()

    def refused(self, error, call):
        before = state(self.opt)
        with pytest.raises(error):
            call()
        assert repr(state(self.opt)) == repr(before)

    def take(self, trial):
        assert trial.id not in self.ids
        self.ids.add(trial.id)

    @rule(n=st.none() | st.integers(1, 4))
    def ask(self, n):
        if self.opt.done:
            self.refused(Exhausted, lambda: self.opt.ask(n))
            return
        before = state(self.opt)
        try:
            trials = self.opt.ask(n)
        except Exhausted:
            assert state(self.opt)[:-1] == before[:-1]
            return
        for trial in trials if isinstance(trials, list) else [trials]:
            self.take(trial)

    @precondition(lambda self: self.opt.pending)
    @rule(data=st.data(), y=st.floats(-1e6, 1e6), failed=st.booleans(), by_id=st.booleans())
    def tell(self, data, y, failed, by_id):
        trial = data.draw(st.sampled_from(self.opt.pending))
        spent = self.opt.spent
        if failed:
            self.opt.tell(trial.id if by_id else trial, status="failed")
        else:
            self.opt.tell(trial.id if by_id else trial, y)
        assert self.opt.spent == pytest.approx(spent + trial.cost)
        self.told.append(trial)

    @rule(data=st.data(), m=st.integers(0, 2), y=st.floats(-1e6, 1e6))
    def add(self, data, m, y):
        m = min(m, len(self.opt.costs) - 1)
        u = self.opt.domain.sample(2, np.random.default_rng(data.draw(st.integers(0, 99))))
        x = self.opt.domain.decode(u)
        self.opt.add(x, m, [y, y + 1.0])
        new = self.opt.history.id[-2:].tolist()
        assert not self.ids & set(new)
        self.ids |= set(new)

    @precondition(lambda self: self.opt.pending)
    @rule(bad=st.sampled_from(BAD_VALUES), data=st.data())
    def tell_nonsense(self, bad, data):
        trial = data.draw(st.sampled_from(self.opt.pending))
        self.refused(InputError, lambda: self.opt.tell(trial, bad))
        self.refused(InputError, lambda: self.opt.tell(trial, np.nan, status="failed"))
        self.refused(InputError, lambda: self.opt.tell(trial, 1.0, status="fine"))

    @precondition(lambda self: self.told)
    @rule(data=st.data())
    def tell_again(self, data):
        trial = data.draw(st.sampled_from(self.told))
        self.refused(AlreadyTold, lambda: self.opt.tell(trial, 1.0))

    @rule(unknown=st.sampled_from([-1, 10**6]))
    def tell_unknown(self, unknown):
        self.refused(UnknownTrial, lambda: self.opt.tell(unknown, 1.0))

    @rule(
        x=st.sampled_from(BAD_POINTS),
        y=st.sampled_from(BAD_VALUES),
        m=st.sampled_from(BAD_FIDELITIES),
        seed=st.integers(0, 9),
    )
    def add_nonsense(self, x, y, m, seed):
        good = self.opt.domain.decode(self.opt.domain.sample(1, np.random.default_rng(seed)))[0]
        self.refused(InputError, lambda: self.opt.add(x, 0, 1.0))
        self.refused(InputError, lambda: self.opt.add(good, m, 1.0))
        self.refused(InputError, lambda: self.opt.add(good, 0, y))
        self.refused(InputError, lambda: self.opt.add([good, x], 0, [1.0, 2.0]))
        self.refused(InputError, lambda: self.opt.add([good, good], 0, [1.0, 2.0], cost=[0.0, -1.0]))
        if self.opt.capital is not None:
            self.refused(InputError, lambda: self.opt.add(good, 0, 1.0, cost=self.opt.remaining + 1.0))
        self.refused(InputError, lambda: self.opt.ask(0))

    @invariant()
    def the_books_balance(self):
        if not hasattr(self, "opt"):
            return
        opt, history = self.opt, self.opt.history
        promised = sum(trial.cost for trial in opt.pending)
        if opt.capital is not None:
            assert opt.spent <= opt.capital
            assert opt.spent + promised <= opt.capital * (1 + 1e-9)
            assert opt.remaining == pytest.approx(opt.capital - opt.spent - promised, abs=1e-9)
        assert opt.spent == pytest.approx(history.cost.sum())
        assert len(set(history.id.tolist())) == len(history)
        assert not {trial.id for trial in opt.pending} & set(history.id.tolist())
        at_target = history.y[(history.fidelity == len(opt.costs) - 1) & (history.status == "ok")]
        if len(at_target):
            assert opt.best.y == (at_target.max() if opt.direction == "maximize" else at_target.min())
        else:
            assert opt.best is None
        for x in history.x:
            opt.domain.validate(x)


TestCalls = Calls.TestCase
TestCalls.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)
