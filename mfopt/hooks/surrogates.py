"""What a surrogate may offer, and the models that are made of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np

from mfopt.hooks.acquisitions import FullAcquisition
from mfopt.hooks.domains import blocks_of
from mfopt.hooks.models import CalibratesFidelities, Rows
from mfopt.protocols import Array, CovariantModel, Domain, JointModel, Model, Surrogate

# Hyper-parameters by the maximum a posteriori, or by the marginal likelihood alone as in the paper.
HowToLearn: TypeAlias = Literal["map", "likelihood"]


@runtime_checkable
class TiesScales(Protocol):
    """A surrogate whose models can have one length-scale for several coordinates.

    It is used where a parameter takes several unit coordinates: a category, one for each choice.
    """

    def tied(self, groups: Sequence[int]) -> Surrogate:
        """The same surrogate for points whose j-th coordinate belongs to group `groups[j]`, from 0 without gaps."""


def tie_scales(surrogates: Sequence[Surrogate], domain: Domain) -> tuple[Surrogate, ...]:
    """Surrogates with one length-scale per parameter of X; as they are where they cannot, or where it is so anyway."""
    blocks = blocks_of(domain)
    if len(blocks) == domain.dim:
        return tuple(surrogates)
    groups = [k for k, block in enumerate(blocks) for _ in range(block.start, block.stop)]
    return _change(surrogates, lambda one: one.tied(groups) if isinstance(one, TiesScales) else one)


def _change(surrogates: Sequence[Surrogate], change: Callable[[Surrogate], Surrogate]) -> tuple[Surrogate, ...]:
    """Each surrogate changed, once: one that serves several fidelities is still one (shared_surrogate)."""
    changed: dict[int, Surrogate] = {}
    for one in surrogates:
        if id(one) not in changed:
            changed[id(one)] = change(one)
    return tuple(changed[id(one)] for one in surrogates)


@runtime_checkable
class UsesThreads(Protocol):
    """A surrogate whose models can compute with several threads.

    It is used where the user allows more than one (Optimizer's `threads`). Results must not depend on it, to the bit.
    """

    def threaded(self, threads: int) -> Surrogate:
        """The same surrogate with models that may use so many threads at once."""


def use_threads(surrogates: Sequence[Surrogate], threads: int) -> tuple[Surrogate, ...]:
    """Surrogates that may use so many threads; as they are where they cannot, or where it is one."""
    if threads == 1:
        return tuple(surrogates)
    return _change(surrogates, lambda one: one.threaded(threads) if isinstance(one, UsesThreads) else one)


@runtime_checkable
class VariesLearning(Protocol):
    """A surrogate whose models can learn their kernel in several ways.

    It is used where a method is to run as the paper has it: with one length-scale, and by marginal likelihood alone.
    """

    def vary(self, isotropic: bool | None, learning: HowToLearn | None) -> Surrogate:
        """The same surrogate with one length-scale for all coordinates or not, and with this way of learning.

        "map" may have priors; "likelihood" has none, and the mean of the values for the prior mean. None: as it is.
        """


def vary_learning(
    surrogates: Sequence[Surrogate], isotropic: bool | None, learning: HowToLearn | None
) -> tuple[Surrogate, ...]:
    """Surrogates that learn in this way; as they are where they cannot."""
    return _change(surrogates, lambda one: one.vary(isotropic, learning) if isinstance(one, VariesLearning) else one)


@runtime_checkable
class TellsLearnt(Protocol):
    """A surrogate that tells which hyper-parameters of its prior are learnt.

    The theorems are about a prior that is known: in theory mode a strategy names one only where none is learnt.
    """

    @property
    def learnt(self) -> Sequence[str]:
        """The names of those that are learnt from values; none where the whole prior was given."""


@runtime_checkable
class FusesBounds(Protocol):
    """φ = min_m φ_m of eq. (mfgpucbDefn) over several models in one go, for speed.

    It is used where all fidelities are served by surrogates of this class.
    """

    def bound(self, models: Sequence[Model], beta: float, zetas: Sequence[float]) -> FullAcquisition:
        """φ over models that surrogates of this class made: φ_m = μ_m + β^½ σ_m + ζ_m."""


@runtime_checkable
class CouplesFidelities(Protocol):
    """One process over points and fidelities, for methods that can do with one model per fidelity as well.

    It is used where one surrogate serves all fidelities and the method wants them coupled (mf-gp-ucb does).
    """

    def coupled(self, dim: int, noises: Sequence[float | None]) -> JointModel:
        """A joint model without data, of as many fidelities as there are noises (None: to be learnt)."""


@runtime_checkable
class ModelsJointly(Protocol):
    """A joint model whose fidelities have a covariance, which mf-sko and co-kriging need.

    It is always used where one such surrogate serves all fidelities of a method.
    """

    def joint(self, dim: int, noises: Sequence[float | None]) -> CovariantModel:
        """A joint model without data, of as many fidelities as there are noises (None: to be learnt)."""


@runtime_checkable
class SharesKernel(Protocol):
    """One kernel for all fidelities, the paper's assumption, with one model each.

    It is used instead of the models' own `fit` where one surrogate serves several fidelities.
    """

    def fit_together(self, models: Sequence[Model], rows: Sequence[Rows], rng: np.random.Generator) -> None:
        """Learn one kernel for models of this surrogate from their rows; condition each on its own rows alone."""


class Softening(Protocol):
    """An increasing map of values that brings peaks closer to the rest, so that a maximum stays where it is."""

    @property
    def strength(self) -> float:
        """0 for the map that leaves everything as it is."""

    def __call__(self, y: Array) -> Array:
        """The values as the models are to see them."""

    def value(self, y: float) -> float:
        """The same for one number."""

    def inverse(self, w: Array) -> Array:
        """The way back; infinite where that is the only answer."""


@runtime_checkable
class SoftensValues(Protocol):
    """Says how values are to be transformed to suit its models; mf-gp-ucb asks for it with `softened`."""

    def softening(self, u: Array, y: Array, rng: np.random.Generator) -> Softening:
        """How these values are to be softened; of strength 0 where they suit as they are."""


def shared_surrogate(surrogates: Sequence[Surrogate]) -> object:
    """The one surrogate that serves several fidelities; None where there is one fidelity, or each has its own.

    What it offers is asked of it by isinstance, so that its type here is no more than object.
    """
    first = surrogates[0]
    return first if len(surrogates) > 1 and all(one is first for one in surrogates) else None


def joint_model(
    surrogates: Sequence[Surrogate], dim: int, noises: Sequence[float | None], coupled: bool, calibrated: bool
) -> JointModel | None:
    """The joint model that the one surrogate of several fidelities offers, if it does.

    A coupled one is made if asked for, and calibrated if that is asked for, too.
    """
    one = shared_surrogate(surrogates)
    if isinstance(one, ModelsJointly):
        return one.joint(dim, noises)
    if not coupled or not isinstance(one, CouplesFidelities):
        return None
    joint = one.coupled(dim, noises)
    if calibrated and isinstance(joint, CalibratesFidelities):
        joint.calibrate()
    return joint
