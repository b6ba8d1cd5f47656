"""Which abilities of mfopt/hooks/ the built-in surrogates offer; the type checker compares the signatures."""

import pytest

from mfopt import hooks
from mfopt_plugins.surrogates.ar1 import AR1
from mfopt_plugins.surrogates.matern import Matern
from mfopt_plugins.surrogates.se import SE
from mfopt_plugins.surrogates.se_python import SEPython

HOOKS = {
    hooks.FusesBounds,
    hooks.CouplesFidelities,
    hooks.ModelsJointly,
    hooks.SharesKernel,
    hooks.SoftensValues,
    hooks.TellsLearnt,
    hooks.TiesScales,
    hooks.UsesThreads,
    hooks.VariesLearning,
}
ONE_KERNEL = {
    hooks.CouplesFidelities,
    hooks.SharesKernel,
    hooks.SoftensValues,
    hooks.TellsLearnt,
    hooks.TiesScales,
    hooks.VariesLearning,
}


@pytest.mark.parametrize(
    ("surrogate", "offered"),
    [
        (SE(), ONE_KERNEL | {hooks.FusesBounds, hooks.UsesThreads}),
        (Matern(), ONE_KERNEL | {hooks.FusesBounds, hooks.UsesThreads}),
        (SEPython(), ONE_KERNEL),
        (AR1(), {hooks.ModelsJointly, hooks.TiesScales, hooks.UsesThreads}),
    ],
    ids=["se", "matern", "se-python", "ar1"],
)
def test_a_surrogate_offers_these_abilities_and_no_others(surrogate, offered):
    assert {hook for hook in HOOKS if isinstance(surrogate, hook)} == offered
