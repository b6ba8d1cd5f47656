"""Hooks: what a plugin *may* offer beyond its protocol (mfopt/protocols.py says what it must).

Each hook is a protocol with one ability. A plugin offers it by having the method; nothing is registered or inherited.
Whoever can use an ability asks for it by isinstance, here and nowhere else by name, so that a type checker sees both
sides. docs/write-a-plugin.md lists all of them from these files. The names are imported from mfopt.hooks itself.

    of a domain        HasBlocks, SnapsPoints, NamesValues, NamesArguments
    of a surrogate     TiesScales, VariesLearning, FusesBounds, SharesKernel, SoftensValues
    of a surrogate     CouplesFidelities, ModelsJointly, UsesThreads, TellsLearnt
    of a model         CalibratesFidelities, TellsFactors, DoubtsFit, FusesImprovement, KeepsFit
    of an acquisition  HasPieces, KeepsRecurring, CountsRows, FindsArgmax; `with_defaults` adds what is missing
    of a strategy      KnowsExhaustion, PredictsValues, KeepsState, FollowsTheorem, TakesBounds, PrefersSurrogate
    of any plugin      DescribesOptions
    of a reason        TellsKind, TurnsSign, ShowsCosts
"""

from __future__ import annotations

from mfopt.hooks.acquisitions import (
    CHUNK,
    AcquisitionDefaults,
    CountsRows,
    FindsArgmax,
    FullAcquisition,
    HasPieces,
    KeepsRecurring,
    with_defaults,
)
from mfopt.hooks.domains import (
    HasBlocks,
    NamesArguments,
    NamesValues,
    SnapsPoints,
    blocks_of,
    place,
    row_keys,
)
from mfopt.hooks.models import (
    CalibratesFidelities,
    DoubtsFit,
    FusesImprovement,
    KeepsFit,
    Rows,
    TellsFactors,
)
from mfopt.hooks.reasons import (
    Estimate,
    ShowsCosts,
    TellsKind,
    TurnsSign,
)
from mfopt.hooks.strategies import (
    DescribesOptions,
    FollowsTheorem,
    KeepsState,
    KnowsExhaustion,
    PredictsValues,
    PrefersSurrogate,
    TakesBounds,
)
from mfopt.hooks.surrogates import (
    CouplesFidelities,
    FusesBounds,
    HowToLearn,
    ModelsJointly,
    SharesKernel,
    Softening,
    SoftensValues,
    TellsLearnt,
    TiesScales,
    UsesThreads,
    VariesLearning,
    joint_model,
    shared_surrogate,
    tie_scales,
    use_threads,
    vary_learning,
)

__all__ = [
    "CHUNK",
    "AcquisitionDefaults",
    "CalibratesFidelities",
    "CountsRows",
    "CouplesFidelities",
    "DescribesOptions",
    "DoubtsFit",
    "Estimate",
    "FindsArgmax",
    "FollowsTheorem",
    "FullAcquisition",
    "FusesBounds",
    "FusesImprovement",
    "HasBlocks",
    "HasPieces",
    "HowToLearn",
    "KeepsFit",
    "KeepsRecurring",
    "KeepsState",
    "KnowsExhaustion",
    "ModelsJointly",
    "NamesArguments",
    "NamesValues",
    "PredictsValues",
    "PrefersSurrogate",
    "Rows",
    "SharesKernel",
    "ShowsCosts",
    "SnapsPoints",
    "Softening",
    "SoftensValues",
    "TakesBounds",
    "TellsFactors",
    "TellsKind",
    "TellsLearnt",
    "TiesScales",
    "TurnsSign",
    "UsesThreads",
    "VariesLearning",
    "blocks_of",
    "joint_model",
    "place",
    "row_keys",
    "shared_surrogate",
    "tie_scales",
    "use_threads",
    "vary_learning",
    "with_defaults",
]
