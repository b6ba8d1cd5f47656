"""The built-in surrogates.

se, matern, se_python   one kernel: the plugins; what they share is in base.py and compiled.py
ar1/                    an autoregressive process over fidelities
gp/                     one process per fidelity
coupled/                one process over points and fidelities
theta, priors, units, given, rows
                        how hyper-parameters are learnt, whatever the process
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # Which surrogate offers which ability of mfopt/hooks/: the type checker holds them to the signatures there.
    from mfopt.hooks import (
        CouplesFidelities,
        DescribesOptions,
        FusesBounds,
        ModelsJointly,
        SharesKernel,
        SoftensValues,
        TellsLearnt,
        TiesScales,
        VariesLearning,
    )
    from mfopt.protocols import Surrogate
    from mfopt_plugins.surrogates.ar1 import AR1
    from mfopt_plugins.surrogates.matern import Matern
    from mfopt_plugins.surrogates.se import SE
    from mfopt_plugins.surrogates.se_python import SEPython

    _surrogates: tuple[Surrogate, ...] = (SE(), Matern(), SEPython(), AR1())
    _fuse_bounds: tuple[FusesBounds, ...] = (SE(), Matern())
    _couple_fidelities: tuple[CouplesFidelities, ...] = (SE(), Matern(), SEPython())
    _model_jointly: tuple[ModelsJointly, ...] = (AR1(),)
    _share_a_kernel: tuple[SharesKernel, ...] = (SE(), Matern(), SEPython())
    _soften_values: tuple[SoftensValues, ...] = (SE(), Matern(), SEPython())
    _tie_scales: tuple[TiesScales, ...] = (SE(), Matern(), SEPython(), AR1())
    _tell_learnt: tuple[TellsLearnt, ...] = (SE(), Matern(), SEPython())
    _vary_learning: tuple[VariesLearning, ...] = (SE(), Matern(), SEPython())
    _describe_options: tuple[DescribesOptions, ...] = (SE(), Matern(), SEPython())
