"""What a strategy must do on every kind of domain."""

from __future__ import annotations

from typing import Any

import numpy as np

from mfopt.domains.box import Box
from mfopt.domains.dimensions import Real
from mfopt.domains.discrete import Categorical, Integer
from mfopt.domains.finite import FiniteSet
from mfopt.domains.space import Space
from mfopt.errors import Exhausted
from mfopt.optimizer import Optimizer
from mfopt.protocols import Array
from mfopt.testing._limit import limit_calls
from mfopt.testing._runs import Runs


@limit_calls
class OnDomains(Runs):
    """Every kind of domain."""

    def test_candidates_of_a_finite_set_are_asked_for(self) -> None:
        rows = np.random.default_rng(0).random((30, 2))
        opt = self._optimizer(FiniteSet(rows))
        while not opt.done:
            try:
                trial = opt.ask()
            except Exhausted:
                break
            assert trial.index is not None, f"a trial on a finite set must know its row, got {trial}"
            assert np.array_equal(rows[trial.index], trial.x), f"row {rows[trial.index]} was asked for as {trial.x}"
            opt.tell(trial, self._f(trial, len(opt.costs)))
        assert len(opt.history) > 0, "something must be asked for"

    def _run_space(self, opt: Optimizer) -> list[tuple[bytes, int]]:
        """Ask, evaluate and tell until done; checks that points lie in X, and returns them with their fidelity."""
        domain, asked = opt.domain, []
        while not opt.done:
            try:
                trial = opt.ask()
            except Exhausted:
                break
            u = domain.encode(trial.x[None])
            assert domain.contains(u)[0], f"the point must lie in X, got {trial.x}"
            asked.append((u.tobytes(), trial.fidelity))
            opt.tell(trial, 1.0 - float(np.square(u - 0.3).sum()) + 0.05 * trial.fidelity * float(u[0, -1]))
            assert len(asked) < 500, "the run must end"
        return asked

    def test_a_mixed_space_is_searched_and_nothing_noiseless_is_asked_twice(self) -> None:
        space = Space(
            {
                "kind": Categorical(["a", "b", "c"]),
                "depth": Integer(1, 5),
                "rate": Real(1e-3, 1.0, log=True, when={"kind": ["a", "b"]}),
            },
            constraints=lambda p: p["kind"] != "b" or p["depth"] < 4,
        )
        opt = self._optimizer(space, noise=0.0)
        asked = self._run_space(opt)
        assert len(set(asked)) == len(asked), "no noiseless point needs a second look at a fidelity"
        assert opt.best is not None, "a run must query the target"

    def test_a_discrete_space_is_exhausted_in_the_end(self) -> None:
        space = Space({"kind": Categorical(["a", "b", "c"]), "on": [False, True], "depth": Integer(1, 2)})
        opt = self._optimizer(space, capital=None, noise=0.0)
        asked = self._run_space(opt)
        assert len(set(asked)) == len(asked), "no noiseless point needs a second look at a fidelity"
        assert sum(m == len(self.costs) - 1 for _, m in asked) == 12, "every point is worth a target query"

    def test_a_noiseless_finite_set_is_exhausted_in_the_end(self) -> None:
        opt = self._optimizer(FiniteSet(np.linspace(0.0, 1.0, 6)), capital=None, noise=0.0)
        self._run(opt)
        target = opt.history.x[opt.history.fidelity == len(self.costs) - 1]
        assert len(opt.history) <= 6 * len(self.costs), "no noiseless point needs a second look at a fidelity"
        assert opt.best is not None, "a run must query the target"
        assert len(np.unique(target)) == len(target), f"no noiseless point needs a second look, got {target.ravel()}"

    def test_constraints_hold_from_the_first_point_on(self) -> None:
        def above_the_diagonal(x: Array) -> Any:
            return x[:, 1] >= x[:, 0] + 0.5

        opt = self._optimizer(Box([(-1.0, 1.0)] * 2, constraints=above_the_diagonal), capital=20.0)
        self._run(opt)
        outside = opt.history.x[~above_the_diagonal(opt.history.x)]
        assert len(outside) == 0, f"points must meet the constraint, got {outside.tolist()}"
