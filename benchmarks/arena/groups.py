"""The problems of the arena, by group."""

from __future__ import annotations

from collections.abc import Callable

from arena import models, synthetic, yahpo
from arena.problem import Problem
from mfopt import problems

GROUPS: dict[str, dict[str, Callable[[], Problem]]] = {
    "paper": {name: lambda name=name: synthetic.paper(name) for name in problems.SYNTHETIC},
    "families": {name: lambda name=name: synthetic.family(name) for name in synthetic.FAMILIES},
    "misleading": {name: lambda name=name: synthetic.misleading(name) for name in synthetic.MISLEADING},
    "rpart": {f"rpart-{task}": lambda task=task: yahpo.rpart(task) for task in yahpo.RPART_TASKS},
    "lcbench": {f"lcbench-{task}": lambda task=task: yahpo.lcbench(task) for task in yahpo.LCBENCH_TASKS},
    "models": {name: lambda name=name: models.model(name) for name in models.MAKERS},
}


def find(name: str) -> Problem:
    """The problem of this name, freshly made."""
    for group in GROUPS.values():
        if name in group:
            return group[name]()
    raise SystemExit(f"a problem must be one of {[name for group in GROUPS.values() for name in group]}, got {name!r}")
