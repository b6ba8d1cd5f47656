"""mfopt: the maximum of an expensive function that has cheap approximations, at the lowest total cost."""

from importlib.metadata import version

from mfopt import problems, regret
from mfopt.box import Box
from mfopt.dimensions import Real
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
from mfopt.finite import FiniteSet
from mfopt.loop import maximize, minimize
from mfopt.optimizer import Optimizer
from mfopt.preflight import preflight
from mfopt.simulator import Simulator
from mfopt.study import Study
from mfopt.trial import Best, Trial

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
