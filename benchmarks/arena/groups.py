"""The problems of the arena, by group."""

from __future__ import annotations

from collections.abc import Callable

from arena import finite, models, noisy, simulators, synthetic, yahpo
from arena.problem import Problem
from mfopt import problems

GROUPS: dict[str, dict[str, Callable[[], Problem]]] = {
    "paper": {name: lambda name=name: synthetic.paper(name) for name in problems.SYNTHETIC},
    "families": {name: lambda name=name: synthetic.family(name) for name in synthetic.FAMILIES},
    "misleading": {name: lambda name=name: synthetic.misleading(name) for name in synthetic.MISLEADING},
    "simulators": {name: lambda name=name: simulators.simulator(name) for name in simulators.SIMULATORS},
    "noisy": {name: lambda name=name: noisy.noisy(name) for name in noisy.NAMES},
    "rpart": {f"rpart-{task}": lambda task=task: yahpo.rpart(task) for task in yahpo.RPART_TASKS},
    "xgboost": {f"xgboost-{task}": lambda task=task: yahpo.xgboost(task) for task in yahpo.XGBOOST_TASKS},
    "lcbench": {f"lcbench-{task}": lambda task=task: yahpo.lcbench(task) for task in yahpo.LCBENCH_TASKS},
    "lcbench-time": {
        f"lcbench-time-{task}": lambda task=task: yahpo.lcbench_timed(task) for task in yahpo.LCBENCH_TASKS
    },
    "finite": {name: lambda name=name: finite.cloud(name) for name in finite.NAMES},
    "models": {name: lambda name=name: models.model(name) for name in models.MAKERS},
}


def find(name: str) -> Problem:
    """The problem of this name, freshly made."""
    for group in GROUPS.values():
        if name in group:
            return group[name]()
    raise SystemExit(f"a problem must be one of {[name for group in GROUPS.values() for name in group]}, got {name!r}")
