"""Doubt: what to ask where the bounds promise nothing; not in the paper, measured in benchmarks/experiments.md.

Where φ(x_t) exceeds the best target value by at most SETTLED of the spread, the bounds say that nothing is left to
find. If they are right, a target query at x_t gains next to nothing; if one of them is wrong, it gains nothing at all.
So the target is asked by turns

    to refine, where its own mean is best, and
    elsewhere, at the maximum of φ with β multiplied by 4, up to three times, until it promises something.
"""

from __future__ import annotations

from dataclasses import dataclass

SETTLED = 1e-4  # of the spread: gains below it are refinements
FACTOR, STEPS = 4.0, 3  # by which doubt raises β, and how often at most


@dataclass
class Doubt:
    """Whose turn it is."""

    looks_elsewhere: bool = False  # the last target query was a refinement
