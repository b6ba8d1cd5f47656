"""mfopt: the maximum of an expensive function that has cheap approximations, at the lowest total cost."""

from importlib.metadata import version

from mfopt import problems, regret
from mfopt.analysis.preflight import preflight
from mfopt.domains.box import Box
from mfopt.domains.dimensions import Real
from mfopt.domains.finite import FiniteSet
from mfopt.errors import (
    AlreadyTold,
    DomainError,
    EmptyDomain,
    EvaluationError,
    EvaluationTimeout,
    ExecutorError,
    Exhausted,
    InputError,
    MfoptError,
    NewerSchema,
    NotAStorage,
    PluginError,
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
from mfopt.loop import maximize, minimize
from mfopt.optimizer import Optimizer
from mfopt.parallel.simulator import Simulator
from mfopt.run.trial import Best, Trial
from mfopt.study import Study

__version__ = version("mfopt")

__all__ = [
    "AlreadyTold",
    "Best",
    "Box",
    "DomainError",
    "EmptyDomain",
    "EvaluationError",
    "EvaluationTimeout",
    "ExecutorError",
    "Exhausted",
    "Fidelity",
    "FiniteSet",
    "InputError",
    "MfoptError",
    "NewerSchema",
    "NotAStorage",
    "Optimizer",
    "PluginError",
    "Real",
    "ReplayWarning",
    "Simulator",
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
