"""Which abilities of mfopt/hooks/ the built-in surrogates offer; the type checker compares the signatures."""

import pytest

from mfopt.hooks import (
    CouplesFidelities,
    FusesBounds,
    ModelsJointly,
    SharesKernel,
    SoftensValues,
    TiesScales,
    UsesThreads,
    VariesLearning,
)
from mfopt_plugins.surrogates.ar1 import AR1
from mfopt_plugins.surrogates.matern import Matern
from mfopt_plugins.surrogates.se import SE
from mfopt_plugins.surrogates.se_python import SEPython

HOOKS = {
    FusesBounds,
    CouplesFidelities,
    ModelsJointly,
    SharesKernel,
    SoftensValues,
    TiesScales,
    UsesThreads,
    VariesLearning,
}
ONE_KERNEL = {CouplesFidelities, SharesKernel, SoftensValues, TiesScales, VariesLearning}


@pytest.mark.parametrize(
    ("surrogate", "offered"),
    [
        (SE(), ONE_KERNEL | {FusesBounds, UsesThreads}),
        (Matern(), ONE_KERNEL | {FusesBounds, UsesThreads}),
        (SEPython(), ONE_KERNEL),
        (AR1(), {ModelsJointly, TiesScales, UsesThreads}),
    ],
    ids=["se", "matern", "se-python", "ar1"],
)
def test_a_surrogate_offers_these_abilities_and_no_others(surrogate, offered):
    assert {hook for hook in HOOKS if isinstance(surrogate, hook)} == offered
