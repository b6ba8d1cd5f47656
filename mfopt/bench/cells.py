"""A cell: one run of a method on a problem with a seed, the unit in which experiments are run and kept."""

from __future__ import annotations

import hashlib
import time
import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from mfopt import problems
from mfopt.bench.methods import Method
from mfopt.hooks import TellsKind
from mfopt.loop import Status
from mfopt.loop import run as run_loop
from mfopt.optimizer import Optimizer
from mfopt.registry import plugins
from mfopt.regret import best_observed, simple_regret
from mfopt.run.trial import Trial

Report = Callable[[float], None]
# What only displays or organises, by the beginnings of paths below mfopt/.
_ASIDE = ("analysis/", "bench/", "cli/", "parallel/progress", "plots/", "sklearn/", "testing/")


@dataclass(frozen=True)
class Task:
    """What defines a cell."""

    problem: str
    method: str
    seed: int
    capital: float  # in target queries, λ_M
    version: str  # of mfopt
    code: str  # a digest of the code that a run depends on


@dataclass(frozen=True)
class Cell:
    """A finished cell, as it stands in the file of results.

    status   "done"; "cut", when the time limit ended it; "failed"
    queries  how many at each fidelity
    spent    capital, in λ_M, at each target query that lowered the simple regret, and at the end
    regret   the simple regret from then on; before spent[0] it is +∞
    history  x, fidelity, y and kind (of the reason) of every query, when they were asked for
    """

    task: Task
    label: str
    status: str
    seconds: float  # of CPU time; of the clock where the process died, whose CPU time is not known
    limit: float | None  # on the seconds
    queries: tuple[int, ...] = ()
    spent: tuple[float, ...] = ()
    regret: tuple[float, ...] = ()
    error: str = ""
    history: dict[str, list[Any]] | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain values, the task's beside the others."""
        values = asdict(self)
        return {**values.pop("task"), **values}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Cell:
        """The cell that `to_json` made these values of."""
        values = dict(values)
        task = Task(**{name: values.pop(name) for name in Task.__dataclass_fields__})
        for name in ("queries", "spent", "regret"):
            values[name] = tuple(values[name])
        return cls(task=task, **values)

    def answers(self, limit: float | None, history: bool) -> bool:
        """Whether this cell need not be run (again) under the time limit, with the history wanted or not."""
        if self.status == "cut" and (limit is None or self.limit is None or limit > self.limit):
            return False
        return self.status != "failed" and (self.history is not None or not history)


def run_cell(
    task: Task, label: str, limit: float | None = None, history: bool = False, report: Report | None = None
) -> Cell:
    """Run it here; an exception becomes a failed cell. `report` is told the share of the capital that is spent."""
    start = time.process_time()  # what a cell has done when it is cut must not depend on other programs
    kinds: list[str] = []
    try:
        problem = problems.get(task.problem)
        optimizer = Method(task.method, label).optimizer(problem, task.capital * problem.costs[-1], task.seed)

        def watch(optimizer: Optimizer, trial: Trial, y: object) -> bool:
            kinds.append(trial.reason.kind if isinstance(trial.reason, TellsKind) else "")
            if report is not None:
                report(optimizer.spent / (task.capital * problem.costs[-1]))
            return limit is not None and time.process_time() - start > limit

        result = run_loop(optimizer, problem.functions, progress=False, callback=watch, cost=problem.cost)
    except Exception as error:
        seconds = time.process_time() - start
        return Cell(task, label, "failed", seconds, limit, error=_trace(error))
    target = len(problem.costs) - 1
    if problem.cost is None:
        exact = problem.functions[target]
        capital, regret = simple_regret(optimizer.history, problem.optimum, target=target, function=exact)
    else:  # real values are what they are
        capital, best = best_observed(optimizer.history, target=target)
        regret = problem.optimum - best
    fell = regret < np.append(np.inf, regret[:-1])
    fell[-1:] |= np.isfinite(regret[-1:])  # the end of the curve
    steps = np.flatnonzero(fell)
    return Cell(
        task,
        label,
        "cut" if result.status == Status.CALLBACK and not optimizer.done else "done",
        time.process_time() - start,
        limit,
        tuple(result.nfev_at),
        tuple((capital[steps] / problem.costs[-1]).tolist()),
        tuple(regret[steps].tolist()),
        history=_list_queries(optimizer, kinds) if history else None,
    )


def _trace(error: Exception) -> str:
    """Its traceback, which ends with what was raised: notes are advice for those who call the loop themselves."""
    told = traceback.TracebackException.from_exception(error)
    told.__notes__ = []
    return "".join(told.format())


def _list_queries(optimizer: Optimizer, kinds: list[str]) -> dict[str, list[Any]]:
    history = optimizer.history
    return {"x": history.x.tolist(), "fidelity": history.fidelity.tolist(), "y": history.y.tolist(), "kind": kinds}


@lru_cache
def code_digest() -> str:
    """A digest of the code that decides a run: mfopt, its core and every package with plugins.

    Code that only displays or organises is left out.
    """
    packages = {"mfopt", "mfopt_core"} | {plugin.origin.partition(":")[0].partition(".")[0] for plugin in plugins()}
    digest = hashlib.sha256()
    for package in sorted(packages):
        spec = find_spec(package)
        for root in map(Path, (spec and spec.submodule_search_locations) or []):
            for path in sorted(path for path in root.rglob("*") if path.suffix in (".py", ".so", ".pyd")):
                inside = path.relative_to(root).as_posix()
                if package != "mfopt" or not inside.startswith(_ASIDE):
                    digest.update(f"{package}/{inside}".encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:12]
