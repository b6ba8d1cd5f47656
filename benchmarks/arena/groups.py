"""The problems of the arena, by group."""

from __future__ import annotations

from collections.abc import Callable

from arena import models, yahpo
from arena.problem import Problem

GROUPS: dict[str, dict[str, Callable[[], Problem]]] = {
    "rpart": {f"rpart-{task}": lambda task=task: yahpo.rpart(task) for task in yahpo.RPART_TASKS},
    "lcbench": {f"lcbench-{task}": lambda task=task: yahpo.lcbench(task) for task in yahpo.LCBENCH_TASKS},
    "models": {name: lambda name=name: models.model(name) for name in models.MAKERS},
}


def find(name: str) -> Problem:
    """The problem of this name, freshly made."""
    for problems in GROUPS.values():
        if name in problems:
            return problems[name]()
    raise SystemExit(f"a problem must be one of {[name for group in GROUPS.values() for name in group]}, got {name!r}")
