"""Runs of the Optimizer with the strategy under test."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from mfopt.domains.box import Box
from mfopt.errors import Exhausted
from mfopt.optimizer import Optimizer
from mfopt.protocols import Strategy
from mfopt.run.trial import Trial

Trace = list[tuple[tuple[float, ...], int]]  # points in user units, each with its fidelity


class Runs:
    """How the suite runs the Optimizer with the strategy."""

    costs: tuple[float, ...] = (1.0, 5.0)
    surrogate: object = "se"
    maximiser: object = "direct"
    deterministic: bool = False
    learns: bool = True
    uses_added: bool = True
    sees_pending: bool = True
    picklable: bool = True
    remakeable: bool = True
    options: Mapping[str, Any] = {}
    time_limit: float = 10.0

    def strategy(self) -> Strategy:
        """The plugin under test, fresh at every call; override it."""
        raise NotImplementedError

    def _optimizer(
        self,
        domain: object = None,
        capital: float | None = 30.0,
        costs: tuple[float, ...] | None = None,
        direction: str = "maximize",
        noise: float | None = None,
        rng: int = 3,
        strategy: Strategy | None = None,
        surrogate: object = None,
    ) -> Optimizer:
        return Optimizer(
            Box([(-1.0, 1.0)] * 2) if domain is None else domain,
            self.costs if costs is None else costs,
            strategy=self.strategy() if strategy is None else strategy,
            surrogate=self.surrogate if surrogate is None else surrogate,
            maximiser=self.maximiser,
            direction=direction,
            capital=capital,
            noise=noise,
            rng=rng,
        )

    def _f(self, trial: Trial, costs: int) -> float:
        """Good approximations of a smooth function with its maximum 1 at 0.3."""
        peak = 1.0 - float(np.square(trial.x - 0.3).sum())
        return peak + 0.05 * (costs - 1 - trial.fidelity) * float(np.cos(5.0 * trial.x[0]))

    def _run(
        self,
        opt: Optimizer,
        fails: Callable[[Trial], bool] = lambda trial: False,
        sign: float = 1.0,
        level: float = 0.0,
    ) -> Trace:
        """Ask, evaluate and tell until done; which points were asked for, at which fidelity."""
        trace: Trace = []
        while not opt.done:
            try:
                trial = opt.ask()
            except Exhausted:
                break
            trace.append((tuple(trial.x.tolist()), trial.fidelity))
            if fails(trial):
                opt.tell(trial, status="failed")
            else:
                opt.tell(trial, sign * self._f(trial, len(opt.costs)) + level)
            assert len(trace) < 500, "the run must end"
        return trace
