"""mfopt: the maximum of an expensive function that has cheap approximations, at the lowest total cost."""

from importlib.metadata import version

from mfopt import problems, regret
from mfopt.box import Box
from mfopt.dimensions import Real
from mfopt.errors import (
    AlreadyTold,
    DomainError,
    EmptyDomain,
    Exhausted,
    InputError,
    MfoptError,
    PluginError,
    UnknownPlugin,
    UnknownTrial,
    ZetaWarning,
)
from mfopt.fidelities import Fidelity
from mfopt.finite import FiniteSet
from mfopt.loop import maximize, minimize
from mfopt.optimizer import Optimizer
from mfopt.preflight import preflight
from mfopt.trial import Best, Trial

__version__ = version("mfopt")

__all__ = [
    "AlreadyTold",
    "Best",
    "Box",
    "DomainError",
    "EmptyDomain",
    "Exhausted",
    "Fidelity",
    "FiniteSet",
    "InputError",
    "MfoptError",
    "Optimizer",
    "PluginError",
    "Real",
    "Trial",
    "UnknownPlugin",
    "UnknownTrial",
    "ZetaWarning",
    "maximize",
    "minimize",
    "preflight",
    "problems",
    "regret",
]
