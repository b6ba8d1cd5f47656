"""Stopping: what else may end a loop when a trial has been told."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from mfopt.checks import direction_sign
from mfopt.optimizer import Optimizer
from mfopt.parallel.rules import Rules
from mfopt.parallel.status import Status
from mfopt.run.trial import Trial

Callback = Callable[[Optimizer, Trial, "float | None"], Any]

_TOLERANCE = 1e-3  # of the range of the target's values


class Stopping:
    """The callback, the value that is enough, and convergence; the last two are looked at after target queries.

    Both also before the first query: a run that is resumed may have the value, or have converged.

    `gain` is the last estimate of what the rest of the capital may still gain; None before there is one.
    """

    def __init__(self, rules: Rules, callback: Callback | None) -> None:
        self._rules = rules
        self._callback = callback
        self.gain: float | None = None

    def before(self, optimizer: Optimizer) -> tuple[Status, str] | None:
        """Why the loop ends before it begins; None where it does not.

        Convergence counts where the run would have ended for it: after a target query, and with none under way.
        """
        reached = self._has_enough(optimizer)
        levels = optimizer.history.fidelity
        if reached or optimizer.best is None or optimizer.pending or levels[-1] < len(optimizer.fidelities) - 1:
            return reached
        return self._check_convergence(optimizer) if self._rules.converges else None

    def after(self, optimizer: Optimizer, trial: Trial, y: float | None) -> tuple[Status, str] | None:
        """Why the loop ends now that this trial was told; None where it goes on."""
        if self._callback is not None and self._callback(optimizer, trial, y) is True:
            return Status.CALLBACK, "stopped by the callback"
        if optimizer.best is None or trial.fidelity < len(optimizer.fidelities) - 1:
            return None
        reached = self._has_enough(optimizer)
        return reached or (self._check_convergence(optimizer) if self._rules.converges else None)

    def _has_enough(self, optimizer: Optimizer) -> tuple[Status, str] | None:
        """That the best value is as good as the target value, where it is."""
        best, enough = optimizer.best, self._rules.target
        sign = direction_sign(optimizer.direction)
        if best is None or enough is None or sign * best.y < sign * enough:
            return None
        return Status.TARGET, f"the value {best.y} is as good as the target value {enough}"

    def _check_convergence(self, optimizer: Optimizer) -> tuple[Status, str] | None:
        tolerance = self._find_tolerance(optimizer)
        if tolerance == 0.0:  # one value, or equal ones: nothing is known of the range yet
            return None
        if optimizer.remaining < optimizer.costs[-1]:  # the capital, or what is promised of it, is another end
            return None
        self.gain = optimizer.expected_gain()
        if self.gain >= tolerance:
            return None
        return Status.CONVERGED, f"the rest of the capital is expected to gain {self.gain:.3g} < {tolerance:.3g}"

    def _find_tolerance(self, optimizer: Optimizer) -> float:
        if self._rules.tolerance is not None:
            return self._rules.tolerance
        history = optimizer.history.snapshot()
        values = history.y[(history.fidelity == len(optimizer.fidelities) - 1) & np.isfinite(history.y)]
        return _TOLERANCE * math.fabs(float(np.ptp(values)))
