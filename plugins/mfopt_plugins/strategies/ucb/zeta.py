"""The bounds ζ_m ≥ ‖f⁽ᴹ⁾ − f⁽ᵐ⁾‖∞: given, or one ζ for neighbouring fidelities that grows from violations.

Where a bound is not given, ζ_m = (M − m) ζ (section "Choice of ζ_m's"). ζ starts at 1 % of the range of the initial
values; whenever |f_m − f_{m−1}| > ζ at a point where both are known, ζ becomes twice the violation. Where values are
noisy, three standard deviations of the noise are taken off a difference before it counts.

A bound that was given is a contract (mfopt.theory.contract): every pair of values tests it, and after the first
violation the theorems promise nothing more. mfopt.analysis.report tells the violations of a run one by one.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from mfopt.errors import ZetaWarning
from mfopt.protocols import Array
from mfopt.theory.contract import allowed, excess

__all__ = ["START", "ZetaRule", "excess"]

START = 0.01  # of the range of the initial values


class ZetaRule:
    """ζ_m for the positions 0..K−1, the last one being the target with ζ = 0."""

    def __init__(self, given: Sequence[float | None], fidelities: Sequence[int]) -> None:
        self._given = [*given[:-1], 0.0]
        self._fidelities = tuple(fidelities)
        self._zeta: float | None = None
        self._largest = 0.0  # difference of neighbours seen before ζ had its start value
        self.violations: dict[int, float] = {}  # largest violation of a given ζ_m, by fidelity

    @property
    def started(self) -> bool:
        """Whether ζ has its start value."""
        return self._zeta is not None

    def start(self, spread: float) -> None:
        """Set ζ from the range of the initial values, and let it grow by what was seen before."""
        self._zeta = START * spread
        if self._largest > self._zeta:
            self._zeta = 2 * self._largest

    def learnt(self, k: int) -> bool:
        """Whether ζ at position k grows from data."""
        return self._given[k] is None

    @property
    def neighbour(self) -> float:
        """ζ, the bound between neighbouring fidelities."""
        return self._zeta or 0.0

    def values(self) -> Array:
        """ζ_m of every position."""
        top = len(self._given) - 1
        return np.array([(top - k) * self.neighbour if z is None else z for k, z in enumerate(self._given)])

    def violated(self, difference: float) -> None:
        """Take a difference of neighbours: ζ becomes twice one that it does not allow."""
        if self._zeta is None:
            self._largest = max(self._largest, difference)
        elif difference > self._zeta:
            self._zeta = 2 * difference

    def compare(self, k: int, y: float, other: int, y_other: float, noise: float) -> None:
        """Take the values of one point at two positions; `noise` is the variance of their difference by noise alone."""
        low, high = min(k, other), max(k, other)
        difference = excess(y - y_other, noise)
        if self.learnt(low):
            if high - low == 1:
                self.violated(difference)
            return
        if self.learnt(high):
            return
        bound = allowed(float(self._given[low] or 0.0), float(self._given[high] or 0.0))
        if difference > bound:
            fidelity = self._fidelities[low]
            if fidelity not in self.violations:
                warnings.warn(
                    f"the zetas given let fidelities {fidelity} and {self._fidelities[high]} differ by at most "
                    f"{bound:.6g} at a point, got {difference:.6g}; the run goes on with them, the guarantee is void",
                    ZetaWarning,
                    stacklevel=2,
                )
            self.violations[fidelity] = max(self.violations.get(fidelity, 0.0), difference)
