"""The unit and the zero of each fidelity: a cheap one may be a scaled, shifted or negated target.

    y_k(u) = a_k f(u, k) + b_k,   with f the coupled process and a = 1, b = 0 for the target.

Without it a constant difference between two fidelities looks like two functions that have little in common, and the
cheap one tells nothing about the target. Learning epochs, sizes of training data or coarse grids mostly shift values.

A guess from values of neighbouring points brings all values into about the target's unit; what is left of a and b is
then learnt with the other hyper-parameters (learning.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mfopt.hooks import Rows
from mfopt.protocols import Array

MOST = 1e30  # units differ by less: values that vary so much less than others are as good as constant
SOME = 4  # rows of the target, and of a cheap fidelity, before more than a constant difference is believed


@dataclass(frozen=True)
class Calibration:
    """a_k and b_k of every fidelity."""

    a: Array
    b: Array

    @classmethod
    def none(cls, count: int) -> Calibration:
        """That of fidelities with one unit and one zero."""
        return cls(np.ones(count), np.zeros(count))

    @classmethod
    def guess(cls, rows: Sequence[Rows]) -> Calibration:
        """|a| and b from rows (u, y) per fidelity: each target value is held against the nearest point's of fidelity k.

        |a_k| is the ratio of the two deviations, 1 while there are few rows; b_k is the median of y_k − a_k y_K.
        """
        found = cls.none(len(rows))
        points, values = rows[-1]
        for k, (u, y) in enumerate(rows[:-1]):
            if len(y) == 0 or len(values) == 0:
                continue
            near = np.argmin(((points[:, None, :] - u[None, :, :]) ** 2).sum(axis=2), axis=1)
            spread, other = float(np.std(y[near])), float(np.std(values))
            if len(set(near.tolist())) >= SOME and other / MOST < spread < MOST * other:
                found.a[k] = spread / other
            found.b[k] = np.median(y[near] - found.a[k] * values)
        return found

    @property
    def is_plain(self) -> bool:
        """Whether all fidelities have the target's unit and zero."""
        return bool(np.all(self.a == 1.0) and np.all(self.b == 0.0))

    def restore(self, offset: float, unit: float) -> Calibration:
        """The same for values y that were learnt from as (y − offset)/unit."""
        return Calibration(self.a, unit * self.b + offset * (1.0 - self.a))

    def standardise(self, offset: float, unit: float) -> Calibration:
        """The same for values as (y − offset)/unit."""
        return Calibration(self.a, (self.b - offset * (1.0 - self.a)) / unit)

    def after(self, first: Calibration) -> Calibration:
        """What `first` and then this one make of the process."""
        return Calibration(self.a * first.a, self.a * first.b + self.b)

    def before(self, last: Calibration) -> Calibration:
        """What has to come before `last` so that both together are this one."""
        return Calibration(self.a / last.a, (self.b - last.b) / last.a)

    def undo(self, rows: Sequence[Rows]) -> list[Rows]:
        """The rows (u, y) per fidelity in the unit of the process."""
        return [(u, (y - self.b[k]) / self.a[k]) for k, (u, y) in enumerate(rows)]
