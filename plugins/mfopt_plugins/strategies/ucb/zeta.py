"""The bounds ζ_m ≥ ‖f⁽ᴹ⁾ − f⁽ᵐ⁾‖∞: given, or one ζ for neighbouring fidelities that grows from violations.

Where a bound is not given, ζ_m = (M − m) ζ (section "Choice of ζ_m's"). ζ starts at 1 % of the range of the initial
values; whenever |f_m − f_{m−1}| > ζ at a point where both are known, ζ becomes twice the violation. Where values are
noisy, three standard deviations of the noise are taken off a difference before it counts.

A bound that was given is a contract (mfopt.theory.contract): the means of two fidelities at a point test it, and after
the first violation the theorems promise nothing more. mfopt.analysis.report tells the violations of a run one by one.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from mfopt.errors import ZetaWarning
from mfopt.protocols import Array
from mfopt.theory.contract import allowed_difference, excess
from mfopt_plugins.method.kept import Kept, array, count, fields, flag, number, table

START = 0.01  # of the range of the initial values


class ZetaRule(Kept):
    """ζ_m for the positions 0..K−1, the last one being the target with ζ = 0.

    values      ζ_m of every position
    neighbour   ζ, the bound between neighbouring fidelities; 0 until it is started
    started     whether ζ has its start value
    learnt      for each position, whether its ζ_m grows from data
    violations  the largest violation of a given ζ_m, by fidelity
    """

    kept = fields(
        values=array,
        neighbour=number,
        started=flag,
        violations=table(count, number),
        _largest=number,
        _comparisons=count,
    )

    values: Array
    neighbour: float

    def __init__(self, given: Sequence[float | None], fidelities: Sequence[int]) -> None:
        self._given = [*given[:-1], 0.0]
        self._fidelities = tuple(fidelities)
        self.learnt = [zeta is None for zeta in self._given]
        self.violations: dict[int, float] = {}
        self._comparisons = 0  # with bounds that were given
        self.restart()

    def restart(self) -> None:
        """Forget what was learnt; violations of what was given stay."""
        self.started = False
        self._largest = 0.0  # difference of neighbours seen before ζ had its start value
        self._set(0.0)

    def start(self, spread: float) -> None:
        """Set ζ from the range of the initial values, and let it grow by what was seen before."""
        self.started = True
        self._set(START * spread)
        if self._largest > self.neighbour:
            self._set(2 * self._largest)

    def compare(self, k: int, y: float, other: int, y_other: float, noise: float) -> None:
        """Take the values of one point at two positions; `noise` is the variance of their difference by noise alone.

        It matters where ζ of the lower position is learnt, and its neighbour is the other one.
        """
        low, high = min(k, other), max(k, other)
        if self.learnt[low] and high - low == 1:
            self._grow(excess(y - y_other, noise))

    def is_contract(self, k: int, other: int) -> bool:
        """Whether the bounds of both positions were given."""
        return not (self.learnt[k] or self.learnt[other])

    def hold_to_contract(self, k: int, mean: float, other: int, mean_other: float, noise: float) -> None:
        """Take the means of one point at two positions, with the variance of their difference by noise alone.

        Warn of the first difference that the given ζ do not allow; keep the largest.
        """
        self._comparisons += 1
        low, high = min(k, other), max(k, other)
        difference = excess(mean - mean_other, noise, self._comparisons)
        bound = allowed_difference(float(self._given[low] or 0.0), float(self._given[high] or 0.0))
        if difference <= bound:
            return
        fidelity = self._fidelities[low]
        if fidelity not in self.violations:
            warnings.warn(
                f"the zetas given let fidelities {fidelity} and {self._fidelities[high]} differ by at most "
                f"{bound:.6g} at a point, got {difference:.6g}; the run goes on with them: they may hide the maximum",
                ZetaWarning,
                stacklevel=2,
            )
        self.violations[fidelity] = max(self.violations.get(fidelity, 0.0), difference)

    def _grow(self, difference: float) -> None:
        """Take a difference of neighbours: ζ becomes twice one that it does not allow."""
        if not self.started:
            self._largest = max(self._largest, difference)
        elif difference > self.neighbour:
            self._set(2 * difference)

    def _set(self, zeta: float) -> None:
        top = len(self._given) - 1
        self.neighbour = zeta
        self.values = np.array([(top - k) * zeta if given is None else given for k, given in enumerate(self._given)])
