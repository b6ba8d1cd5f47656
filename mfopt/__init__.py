"""Find the best point of an expensive function with the help of cheaper versions of it, at a low total cost.

    Optimizer             ask where to evaluate next and at which fidelity, then tell the value
    maximize, minimize    the whole loop in one call, from functions to a result
    Space, Box, FiniteSet the points that may be evaluated
    Fidelity              one version of the function: its name, its cost, and what is known about it
    Study                 an Optimizer in a database, opened by its name
    Simulator             a program in any language, as a function
    preflight             which of the cheaper versions are worth using
    loop.run              the loop for an Optimizer or a Study of your own, with threads, processes or a cluster
    problems, regret      test problems whose optimum is known, and how far from it a run is

Every error that mfopt raises on purpose is an MfoptError; one about an argument is an InputError, which is also a
ValueError.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from mfopt.domains.box import Box
from mfopt.domains.dimensions import Real
from mfopt.domains.discrete import Categorical, Integer, Ordinal
from mfopt.domains.finite import FiniteSet
from mfopt.domains.space import Space
from mfopt.errors import (
    AlreadyTold,
    CopyRefused,
    CostWarning,
    DomainError,
    EmptyDomain,
    EvaluationError,
    EvaluationTimeout,
    ExecutorError,
    Exhausted,
    InputError,
    LeaseLost,
    MfoptError,
    NetworkFileSystemWarning,
    NewerSchema,
    NotAStorage,
    NoValue,
    PluginError,
    PluginWarning,
    ReplayWarning,
    StorageBusy,
    StorageDamaged,
    StorageError,
    StorageFull,
    StorageReadOnly,
    StudyMismatch,
    UnknownPlugin,
    UnknownStudy,
    UnknownTrial,
    WorkerLost,
    ZetaWarning,
)
from mfopt.fidelities import Fidelity
from mfopt.optimizer import Optimizer
from mfopt.run.prices import CostEstimate
from mfopt.run.trial import Best, Recommendation, Trial
from mfopt.study import Study

if TYPE_CHECKING:
    from mfopt import problems, regret
    from mfopt.analysis.fidelities import preflight
    from mfopt.loop import maximize, minimize
    from mfopt.parallel.simulator import Simulator

__version__ = version("mfopt")

# What not everybody needs is imported when it is asked for: a module, or a name in one.
_LATER = {
    "analysis": ("mfopt.analysis", None),
    "loop": ("mfopt.loop", None),
    "maximize": ("mfopt.loop", "maximize"),
    "minimize": ("mfopt.loop", "minimize"),
    "parallel": ("mfopt.parallel", None),
    "preflight": ("mfopt.analysis.fidelities", "preflight"),
    "problems": ("mfopt.problems", None),
    "regret": ("mfopt.regret", None),
    "Simulator": ("mfopt.parallel.simulator", "Simulator"),
    "theory": ("mfopt.theory", None),
}

__all__ = [
    "AlreadyTold",
    "Best",
    "Box",
    "Categorical",
    "CopyRefused",
    "CostEstimate",
    "CostWarning",
    "DomainError",
    "EmptyDomain",
    "EvaluationError",
    "EvaluationTimeout",
    "ExecutorError",
    "Exhausted",
    "Fidelity",
    "FiniteSet",
    "InputError",
    "Integer",
    "LeaseLost",
    "MfoptError",
    "NetworkFileSystemWarning",
    "NewerSchema",
    "NoValue",
    "NotAStorage",
    "Optimizer",
    "Ordinal",
    "PluginError",
    "PluginWarning",
    "Real",
    "Recommendation",
    "ReplayWarning",
    "Simulator",
    "Space",
    "StorageBusy",
    "StorageDamaged",
    "StorageError",
    "StorageFull",
    "StorageReadOnly",
    "Study",
    "StudyMismatch",
    "Trial",
    "UnknownPlugin",
    "UnknownStudy",
    "UnknownTrial",
    "WorkerLost",
    "ZetaWarning",
    "maximize",
    "minimize",
    "preflight",
    "problems",
    "regret",
]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, member = _LATER[name]
    found = import_module(module)
    globals()[name] = found if member is None else getattr(found, member)
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})
