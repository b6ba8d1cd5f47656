"""Runs of methods on problems, one after the other, each a line of JSON in a file; what is there is not run again."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

from arena import results

Cell = tuple[str, str, int]  # a problem, a method and a seed


def plan(problems: Sequence[str], methods: Sequence[str], seeds: str) -> list[Cell]:
    """Every run, seed by seed."""
    return [(problem, method, seed) for seed in parse_seeds(seeds) for problem in problems for method in methods]


def parse_seeds(text: str) -> list[int]:
    """The seeds that "3" or "0-9" stands for."""
    first, _, last = text.partition("-")
    return list(range(int(first), int(last or first) + 1))


def tell_range(counts: Collection[int]) -> str:
    """The least and the largest, "3 to 10"; where all are the same, that."""
    return " to ".join(map(str, dict.fromkeys([min(counts), max(counts)])))


def complete(
    wanted: Sequence[Cell],
    done: Collection[Cell],
    carry_out: Callable[[Cell], dict[str, Any]],
    warm_up: Callable[[str, str], object],
    describe: Callable[[dict[str, Any]], str],
    out: Path,
    minutes: float,
) -> None:
    """Carry out what is not done yet, until the minutes are over.

    `warm_up` is called with a problem and each method first, since imports and first calls are nobody's time.
    """
    left = [cell for cell in wanted if cell not in done]
    for method in dict.fromkeys(cell[1] for cell in left):
        warm_up(left[0][0], method)
    began = time.monotonic()
    for k, cell in enumerate(left):
        if time.monotonic() - began > 60 * minutes:
            print(f"{len(left) - k} of {len(wanted)} runs are left: the same command goes on", file=sys.stderr)
            return
        found = carry_out(cell)
        results.append(out, found)
        number = len(wanted) - len(left) + k + 1
        print(f"{number}/{len(wanted)} {' '.join(map(str, cell))}: {describe(found)}", flush=True)
