"""An experiment: which cells it consists of, which of them are there already, and running the others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import mfopt
from mfopt import problems as problems_
from mfopt.bench.cells import Cell, Task, code_digest
from mfopt.bench.display import Display
from mfopt.bench.methods import Method
from mfopt.bench.processes import run_in_processes
from mfopt.bench.store import Store, load
from mfopt.checks import integer, real_number
from mfopt.errors import InputError


def run(
    problems: Sequence[str],
    methods: Sequence[str | Method],
    seeds: Iterable[int] = range(20),
    capital: float = 100.0,
    out: str | PathLike[str] = "out/bench",
    *,
    jobs: int = 1,
    time_limit: float | None = None,
    history: bool = False,
    any_code: bool = False,
    progress: bool | None = None,
    finished: bool = False,
) -> list[Cell]:
    """Run every method on every problem with every seed, and give all these cells; finished ones are taken from `out`.

    problems    names that mfopt.problems.get knows, with options
    methods     as mfopt.bench.Method reads them, "gp-ucb" or "label=mf-gp-ucb:beta_factor=0.4"
    seeds       a method's run depends on its seed alone; methods with the same seed share their initial points
    capital     Λ in target queries (λ_M), initial points included
    out         a directory; results are appended to its cells.jsonl as they come
    jobs        processes, each with one BLAS thread
    time_limit  seconds of CPU time for one cell; what it has reached by then counts
    history     keep every query of a run, too
    any_code    also take finished cells that were run with different code of mfopt
    progress    True, False, or None: when stderr is a terminal
    finished    run nothing: give those of the cells that are in `out`

    A cell that fails is recorded with its traceback, does not stop the others, and is tried again by the next run.
    """
    wanted = _list_tasks(problems, methods, seeds, capital)
    if integer(jobs, "jobs") < 1:
        raise InputError(f"jobs must be at least 1, got {jobs}")
    if time_limit is not None and real_number(time_limit, "time_limit") <= 0:
        raise InputError(f"time_limit must be positive, got {time_limit}")
    found = {_key(cell.task, any_code): cell for cell in load(out) if cell.answers(time_limit, history)}
    if finished:
        wanted = [(task, label) for task, label in wanted if _key(task, any_code) in found]
    left = [(task, label) for task, label in wanted if _key(task, any_code) not in found]
    store = Store(out)
    display = Display(len(wanted), len(wanted) - len(left), progress)
    try:
        log = Path(out) / "workers.log"
        for cell in run_in_processes(left, min(jobs, len(left)), time_limit, history, log, display.advance):
            store.append(cell)
            found[_key(cell.task, any_code)] = cell
            display.finish(cell)
    finally:
        display.close()
        store.close()
    return [replace(found[_key(task, any_code)], label=label) for task, label in wanted]


def _list_tasks(
    problems: Sequence[str], methods: Sequence[str | Method], seeds: Iterable[int], capital: float
) -> list[tuple[Task, str]]:
    """Every cell with the method's label, seed by seed, so that an interrupted run has all methods at equal seeds."""
    names = [problems_.canonical(name) for name in problems]
    for name in dict.fromkeys(names):
        problems_.get(name)  # what cannot be built is refused here, not by every cell
    read = [Method.parse(method) if isinstance(method, str) else method for method in methods]
    numbers = [integer(seed, "a seed") for seed in seeds]
    for what, given in (("problems", names), ("methods", read), ("seeds", numbers)):
        if len(given) == 0:
            raise InputError(f"{what} must name at least one, got none")
    if min(numbers) < 0:
        raise InputError(f"seeds must not be negative, got {min(numbers)}")
    if real_number(capital, "capital") < 1:
        raise InputError(f"capital must be at least 1 target query, got {capital}")
    tasks = {
        Task(name, method.text, seed, float(capital), mfopt.__version__, code_digest()): method.label
        for seed in numbers
        for name in names
        for method in read
    }
    return list(tasks.items())


def _key(task: Task, any_code: bool) -> tuple[Any, ...]:
    """What makes two cells the same."""
    own = (task.problem, task.method, task.seed, task.capital)
    return own if any_code else (*own, task.version, task.code)
