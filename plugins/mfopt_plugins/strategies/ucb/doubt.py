"""Doubt: what to ask where the bounds promise nothing; not in the paper, measured in benchmarks/experiments.md.

Where φ(x_t) exceeds the best target value by at most SETTLED of the spread, the bounds say that nothing is left to
find. If they are right, a target query at x_t gains next to nothing; if one of them is wrong, it gains nothing at all.
So the target is asked by turns

    to refine, where its own mean is best, and
    elsewhere, at the maximum of φ with β multiplied by 4, up to three times, until it promises something.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

SETTLED = 1e-4  # of the spread: gains below it are refinements
_STEPS = 3  # factors of 4 by which doubt may raise β

Choice = TypeVar("Choice")


class Doubt:
    """Whose turn it is: `looks_elsewhere` is True when the last target query was a refinement."""

    def __init__(self) -> None:
        self.looks_elsewhere = False

    def raise_beta(
        self, beta: float, explore: Callable[[float], Choice], is_settled: Callable[[Choice], bool]
    ) -> tuple[float, Choice]:
        """A β so large that the bounds promise something, and what `explore` chooses with it."""
        for _ in range(_STEPS):
            beta *= 4
            choice = explore(beta)
            if not is_settled(choice):
                break
        return beta, choice
