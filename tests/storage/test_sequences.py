"""Random sequences of calls: a study, reopened and shared at any moment, is always what an optimiser in memory is."""

import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from mfopt import AlreadyTold, Box, Exhausted, FiniteSet, InputError, Optimizer, Study
from mfopt.run.events import CapitalSet
from tests.storage.runs import bits

DOMAINS = {
    "box": lambda: Box([(0.0, 1.0), (1e-3, 5.0)], log=[False, True]),
    "finite": lambda: FiniteSet([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]),
}


def state(opt):
    history = opt.history
    best = None if opt.best is None else (opt.best.x.tobytes(), opt.best.y, opt.best.trial_id)
    told = [history.id.tolist(), history.fidelity.tolist(), history.status.tolist(), history.cost.tolist()]
    pending = [bits(trial) for trial in opt.pending]
    return told, history.x.tobytes(), history.y.tobytes(), pending, best, opt.spent, opt.remaining, opt.capital


class Calls(RuleBasedStateMachine):
    @initialize(
        name=st.sampled_from(sorted(DOMAINS)),
        strategy=st.sampled_from(["random", "direct", "mf-naive-random"]),
        direction=st.sampled_from(["maximize", "minimize"]),
        noise=st.sampled_from([None, 0.0]),
    )
    def start(self, name, strategy, direction, noise):
        self.directory = Path(tempfile.mkdtemp())
        options = {"costs": [1.0, 4.0], "capital": 40.0, "rng": 1}
        options |= {"strategy": strategy, "direction": direction, "noise": noise}
        self.memory = Optimizer(DOMAINS[name](), **options)
        self.path = self.directory / "study.db"
        self.studies = [Optimizer(DOMAINS[name](), **options, storage=self.path) for _ in range(2)]

    def teardown(self):
        if hasattr(self, "directory"):
            for study in self.studies:
                study.close()
            shutil.rmtree(self.directory)

    @rule(n=st.integers(1, 3), who=st.integers(0, 1))
    def ask(self, n, who):
        said = []
        for opt in (self.memory, self.studies[who]):
            try:
                said.append([bits(trial) for trial in opt.ask(n)])
            except Exhausted as exhausted:
                said.append((str(exhausted), exhausted.which))
        assert said[0] == said[1]

    @precondition(lambda self: self.memory.pending)
    @rule(data=st.data(), y=st.none() | st.floats(-1e6, 1e6), who=st.integers(0, 1))
    def tell(self, data, y, who):
        k = data.draw(st.integers(0, len(self.memory.pending) - 1))
        outcome = (self.memory.pending[k].id, y, "failed" if y is None else "ok")
        self.memory.tell_many([outcome])
        self.studies[who].tell_many([outcome])
        with pytest.raises(AlreadyTold):
            self.studies[1 - who].tell_many([outcome])

    @precondition(lambda self: self.memory.pending)
    @rule(who=st.integers(0, 1))
    def tell_all(self, who):
        outcomes = [(trial.id, float(trial.id)) for trial in self.memory.pending]
        self.memory.tell_many(outcomes)
        self.studies[who].tell_many(outcomes)

    @rule(seed=st.integers(0, 9), m=st.integers(0, 1), y=st.floats(-1e6, 1e6), who=st.integers(0, 1))
    def add(self, seed, m, y, who):
        domain = self.memory.domain
        x = domain.decode(domain.sample(1, np.random.default_rng(seed)))[0]
        for opt in (self.memory, self.studies[who]):
            opt.add(x, m, y)

    @rule(who=st.integers(0, 1))
    def reopen(self, who):
        self.studies[who].close()
        self.studies[who] = Study.open(self.path)

    @rule(who=st.integers(0, 1))
    def refused(self, who):
        for bad in ([(10**6, 1.0)], [(0, "y")], [(-1, 1.0)]):
            with pytest.raises(InputError):
                self.studies[who].tell_many(bad)

    @rule(more=st.floats(0.0, 20.0), who=st.integers(0, 1))
    def raise_capital(self, more, who):
        """Compared with a study in memory whose Λ is raised in the same way."""
        total = self.memory.capital + more
        self.studies[who].close()
        self.studies[who] = Study.open(self.path, capital=total)
        if more > 0.0:
            self.memory._session.record(lambda ledger: [CapitalSet(total)])

    @invariant()
    def all_are_the_same(self):
        if hasattr(self, "memory"):
            for study in self.studies:
                study.refresh()
                assert state(study) == state(self.memory)
                assert study.done == self.memory.done


TestCalls = Calls.TestCase
TestCalls.settings = settings(max_examples=12, stateful_step_count=20, deadline=None)
