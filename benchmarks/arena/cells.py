"""Cells: a method on a problem with a seed, carried out here or in processes, and recorded."""

from __future__ import annotations

import math
import multiprocessing
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import NamedTuple

from arena import groups, ours, peers, results
from arena.problem import MARKS, Meter
from mfopt.bench.cells import code_digest


class Cell(NamedTuple):
    """What is to be run; `code` says with what (results.Run)."""

    problem: str
    method: str
    seed: int
    capital: float
    code: str


def plan(
    problems: Sequence[str], methods: Sequence[str], seeds: Iterable[int], capital: float, label: str | None
) -> list[Cell]:
    """Every method on every problem with every seed, seed by seed. A label stands in for the digest of our code."""
    code = label or code_digest()
    codes = {method: peers.version(method) if method in peers.METHODS else code for method in methods}
    return [
        Cell(problem, method, seed, capital, codes[method])
        for seed in seeds
        for problem in problems
        for method in methods
    ]


def carry_out(cell: Cell) -> results.Run:
    meter = Meter(groups.find(cell.problem), cell.capital, cell.seed)
    began = time.process_time()
    if cell.method in peers.METHODS:
        peers.METHODS[cell.method](meter, cell.seed)
    else:
        ours.run(meter, cell.seed, cell.method)
    meter.finish()
    seconds = time.process_time() - began
    best = {f"{mark:g}": meter.best_at(mark) for mark in MARKS if mark <= cell.capital}
    return {
        **cell._asdict(),
        "best": {mark: None if math.isinf(value) else value for mark, value in best.items()},
        "recommended": {f"{mark:g}": value for mark, value in meter.recommended.items()},
        "noisy": meter.problem.noise > 0,
        "first": meter.trace[0][0] if meter.trace else None,
        "optimum": meter.problem.optimum,
        "seconds": round(seconds, 2),
    }


def run(cells: Sequence[Cell], into: Path, jobs: int) -> None:
    """Carry out and record the cells that are not recorded yet."""
    done = {(one["problem"], one["method"], one["seed"], one["code"]): one["capital"] for one in results.load(into)}
    todo = [cell for cell in cells if done.get((cell.problem, cell.method, cell.seed, cell.code), 0) < cell.capital]
    for one in _each(todo, jobs):
        results.append(into, one)
        figures = " / ".join(f"{results.regret(one, float(mark)):.2g}" for mark in one["best"])
        print(f"{one['problem']:20} {one['method']:18} seed {one['seed']}: {figures}, {one['seconds']} s", flush=True)


def _each(cells: Sequence[Cell], jobs: int) -> Iterator[results.Run]:
    """The runs as they are completed."""
    if jobs == 1:
        yield from map(carry_out, cells)
        return
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=spawn) as pool:
        try:
            for future in as_completed([pool.submit(carry_out, cell) for cell in cells]):
                yield future.result()
        finally:
            pool.shutdown(cancel_futures=True)  # an error ends the rest
