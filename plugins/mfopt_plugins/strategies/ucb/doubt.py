"""Doubt: what to ask where the bounds promise nothing; not in the paper, measured in benchmarks/experiments.md.

Where φ(x_t) exceeds the best target value by at most SETTLED of the spread (with one fidelity by a little more), or by
at most a standard deviation of the noise that target values are known to have, the bounds say that nothing is left to
find. If they are right, a target query at x_t gains next to nothing; if one of them is wrong, it gains nothing at all.
So the target is asked by turns

    to refine, where its own mean is best, and
    elsewhere, at the maximum of φ under models that are less sure of what they have learnt (hooks.DoubtsFit), and with
    β multiplied by 4, up to three times, until it promises something.

With one fidelity there is no refinement where that mean promises less than SETTLED of the spread: the last query of the
capital is one. With several there is none beside a target query that is pending there: its value says where to refine
next.

A refinement that gains nothing calls for more queries elsewhere before the next: one, two, four... with one fidelity.
With several the cheap ones look, CHEAP times at first; a target query elsewhere ends the look.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mfopt_plugins.method.kept import Kept, count, fields, maybe, number

SETTLED = 1e-4  # of the spread: gains below it are refinements
_ALONE = 3e-3  # the same for one fidelity, whose looks cost as much as refinements: those that gain little can wait
FACTOR, STEPS = 4.0, 3  # by which doubt raises β, and how often at most
CHEAP = 10  # queries elsewhere before the next refinement, with several fidelities
DOUBLED = 4  # how often that number is doubled at most: every row makes all later asks slower


def settled(fidelities: int) -> float:
    """The part of the spread below which gains are refinements."""
    return SETTLED if fidelities > 1 else _ALONE


@dataclass
class Doubt(Kept):
    """Whose turn it is."""

    kept = fields(looks=count, _vain=count, _before=maybe(number))

    looks: int = 0  # queries elsewhere before the next refinement
    _vain: int = 0  # refinements in a row before which the best value had not risen
    _before: float | None = None  # the best value when a refinement was last asked for

    def refine(self, best: float, spread: float, costs: Sequence[float]) -> None:
        """Note a refinement of this best value, and how many queries elsewhere are to follow.

        With several fidelities these cost no more than the refinement where they are the cheapest.
        """
        gained = self._before is None or best - self._before > settled(len(costs)) * spread
        self._vain = 0 if gained else self._vain + 1
        self._before = best
        if len(costs) == 1:
            self.looks = 2**self._vain
        else:
            self.looks = max(CHEAP, min(CHEAP * 2 ** min(self._vain, DOUBLED), int(costs[-1] / costs[0])))
