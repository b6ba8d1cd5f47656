"""Hooks: what a plugin *may* offer beyond its protocol (mfopt/protocols.py says what it must).

Each hook is a protocol with one ability. A plugin offers it by having the method; nothing is registered or inherited.
Whoever can use an ability asks for it by isinstance, here and nowhere else by name, so that a type checker sees both
sides. docs/write-a-plugin.md lists all of them from this file.

    of a domain        HasBlocks, SnapsPoints, NamesValues, NamesArguments
    of a surrogate     TiesScales, VariesLearning, FusesBounds, SharesKernel, SoftensValues
    of a surrogate     CouplesFidelities, ModelsJointly
    of a model         CalibratesFidelities, TellsFactors, KeepsFit
    of an acquisition  HasPieces, KeepsRecurring, CountsRows, FindsArgmax; `with_defaults` adds what is missing
    of a strategy      KnowsExhaustion, PredictsValues, KeepsState, FollowsTheorem, PrefersSurrogate
    of any plugin      DescribesOptions
    of a reason        TellsKind, TurnsSign, ShowsCosts
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

from mfopt.protocols import (
    Acquisition,
    Array,
    Block,
    BoolArray,
    CovariantModel,
    Domain,
    JointModel,
    Model,
    Posterior,
    Query,
    Surrogate,
)

Rows: TypeAlias = tuple[Array, Array]  # points (n, dim) and their values (n,)
# Hyper-parameters by the maximum a posteriori, or by the marginal likelihood alone as in the paper.
HowToLearn: TypeAlias = Literal["map", "likelihood"]

CHUNK = 8192  # points of a finite X evaluated at once: bounds memory, results do not depend on it


# ---------------------------------------------------------------------------------------------------- domains


@runtime_checkable
class HasBlocks(Protocol):
    """A domain whose parameters are not all numbers from a continuum: it tells how each lies in the unit coordinates.

    The coordinates of one parameter share a length-scale where the surrogate can (TiesScales). A maximiser keeps
    parameters with levels on their levels.
    """

    @property
    def blocks(self) -> tuple[Block, ...]:
        """One per parameter, in the order of the unit coordinates."""


@runtime_checkable
class SnapsPoints(Protocol):
    """A domain that knows, for any point of the cube, the point of the grid of its discrete parameters it stands for.

    `contains` is True only for points that `snap` leaves as they are, so that models see what will be evaluated.
    """

    def snap(self, u: Array) -> Array:
        """Discrete parameters at their nearest level, inactive ones at rest; constraints are not looked at."""


@runtime_checkable
class NamesValues(Protocol):
    """A domain that knows its values as the user wrote them: integers, strings, booleans.

    Without it params are the floats of x by their names.
    """

    def params(self, x: Array) -> dict[str, Any]:
        """The values of a point (d,) in user units by name, as Python's own; only those that count."""


@runtime_checkable
class NamesArguments(Protocol):
    """A domain whose points may be given to users' functions as params. Without it they are given x."""

    @property
    def named(self) -> bool:
        """Whether they are, because x would not do."""


def blocks_of(domain: Domain) -> tuple[Block, ...]:
    """The blocks of a domain; one continuum per coordinate where it does not tell."""
    if isinstance(domain, HasBlocks):
        return domain.blocks
    return tuple(Block(j, j + 1, None) for j in range(domain.dim))


def place(domain: Domain, w: Array, blocks: Sequence[Block] | None = None) -> Array:
    """Points of the cube (q, dim) from one number in [0, 1] per parameter: its place among the values, where listed.

    `blocks` are those of the domain, from a caller that has kept them: a domain makes them anew each time.
    """
    u = np.empty((len(w), domain.dim))
    for k, block in enumerate(blocks_of(domain) if blocks is None else blocks):
        if block.levels is None:
            u[:, block.coordinates] = w[:, k : k + 1]
        else:
            count = len(block.levels)
            u[:, block.coordinates] = block.levels[np.minimum((w[:, k] * count).astype(np.intp), count - 1)]
    return u


def row_keys(u: Array, columns: npt.NDArray[np.intp] | None = None) -> list[bytes]:
    """One key per row, equal for rows that are equal bit by bit, in these columns or in all; to remember rows by."""
    if columns is not None:
        u = u[:, columns]
    if u.shape[1] == 0:
        return [b""] * len(u)
    keys: list[bytes] = np.ascontiguousarray(u).view(f"V{8 * u.shape[1]}").ravel().tolist()
    return keys


# ------------------------------------------------------------------------------------------------- surrogates


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
    tied: dict[int, Surrogate] = {}  # one that serves several fidelities is still one (shared_surrogate)
    for one in surrogates:
        if id(one) not in tied:
            tied[id(one)] = one.tied(groups) if isinstance(one, TiesScales) else one
    return tuple(tied[id(one)] for one in surrogates)


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
    varied: dict[int, Surrogate] = {}  # one that serves several fidelities is still one (shared_surrogate)
    for one in surrogates:
        if id(one) not in varied:
            varied[id(one)] = one.vary(isotropic, learning) if isinstance(one, VariesLearning) else one
    return tuple(varied[id(one)] for one in surrogates)


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
class CalibratesFidelities(Protocol):
    """A joint model whose cheap fidelities may each have a unit and a zero of their own."""

    def calibrate(self) -> None:
        """Learn these units and zeros, from the next fit on."""


@runtime_checkable
class TellsFactors(Protocol):
    """A joint model that has calibrated its fidelities and tells their units."""

    @property
    def factors(self) -> Array:
        """By how much each fidelity varies more than the target, (K,), negative for one that falls where it rises."""


@runtime_checkable
class KeepsFit(Protocol):
    """A model, or a joint model, that can be put back into the state in which it was, from its rows.

    Strategies of mfopt that offer KeepsState ask it of their models; rows are (u, y) per fidelity, one for a Model.
    """

    def state(self) -> Mapping[str, Any] | None:
        """What it has learnt, and in which steps it was given its rows where that matters; plain, without the rows.

        None where it cannot be told just now.
        """

    def restore(self, state: Mapping[str, Any], rows: Sequence[Rows]) -> None:
        """Be as the model was that told this state of itself, with these rows; a ValueError for what is no state."""


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


# ----------------------------------------------------------------------------------------------- acquisitions


@runtime_checkable
class HasPieces(Protocol):
    """A minimum of smooth functions that tells them one by one, so that a maximiser can treat its kinks exactly."""

    def pieces(self, u: Array) -> tuple[Array, Array]:
        """Values (K, q) and gradients (K, q, dim) of the K functions at the rows of u."""


@runtime_checkable
class KeepsRecurring(Protocol):
    """Remembers what it finds out about points that come back at later asks."""

    def recurring(self, u: Array) -> Array:
        """The same as a call, for points that will come back."""


@runtime_checkable
class CountsRows(Protocol):
    """Says what an evaluation costs."""

    @property
    def rows(self) -> int:
        """Number of rows of the largest model behind it."""


@runtime_checkable
class FindsArgmax(Protocol):
    """Finds its maximum over a finite set without evaluating all of it."""

    def argmax(self, points: Array, avoid: BoolArray | None) -> int:
        """The row of the largest value, the first among equals, without those that the mask `avoid` marks."""


@runtime_checkable
class FullAcquisition(Acquisition, HasPieces, KeepsRecurring, CountsRows, FindsArgmax, Protocol):
    """An acquisition with all abilities."""


class AcquisitionDefaults(ABC):
    """The abilities of an acquisition in terms of its values and gradients; a base class for those that have no better.

    One piece, nothing kept, cost unknown, every point of a finite set evaluated.
    """

    def __call__(self, u: Array) -> Array:
        """Values at the rows of u."""
        return self.gradient(u)[0]

    @abstractmethod
    def gradient(self, u: Array) -> tuple[Array, Array]:
        """Values and gradients at the rows of u."""

    def pieces(self, u: Array) -> tuple[Array, Array]:
        """The acquisition as its only piece."""
        value, slope = self.gradient(u)
        return np.array(value)[None], np.asarray(slope)[None]

    def recurring(self, u: Array) -> Array:
        """The same as a call."""
        return self(u)

    @property
    def rows(self) -> int:
        """1: not known."""
        return 1

    def argmax(self, points: Array, avoid: BoolArray | None) -> int:
        """The row of the largest value, by looking at all of them."""
        best, best_value = -1, -np.inf
        for start in range(0, len(points), CHUNK):
            values = self(points[start : start + CHUNK])
            if avoid is not None:
                values = np.where(avoid[start : start + CHUNK], -np.inf, values)
            i = int(np.argmax(values))
            if best < 0 or values[i] > best_value:
                best, best_value = start + i, float(values[i])
        return best


class _WithDefaults(AcquisitionDefaults):
    """Someone's acquisition, with what it does not offer filled in."""

    def __init__(self, acquisition: Acquisition) -> None:
        self._acquisition = acquisition
        # Asked once: isinstance with a protocol is slow, and these are called for every batch.
        self._pieces = acquisition.pieces if isinstance(acquisition, HasPieces) else super().pieces
        self._recurring = acquisition.recurring if isinstance(acquisition, KeepsRecurring) else acquisition
        self._argmax = acquisition.argmax if isinstance(acquisition, FindsArgmax) else super().argmax
        self._rows = acquisition.rows if isinstance(acquisition, CountsRows) else super().rows

    def __call__(self, u: Array) -> Array:
        return self._acquisition(u)

    def gradient(self, u: Array) -> tuple[Array, Array]:
        return self._acquisition.gradient(u)

    def pieces(self, u: Array) -> tuple[Array, Array]:
        return self._pieces(u)

    def recurring(self, u: Array) -> Array:
        return self._recurring(u)

    def argmax(self, points: Array, avoid: BoolArray | None) -> int:
        return self._argmax(points, avoid)

    @property
    def rows(self) -> int:
        return self._rows


def with_defaults(acquisition: Acquisition) -> FullAcquisition:
    """The acquisition itself where it has all abilities, otherwise one that adds those it lacks."""
    return acquisition if isinstance(acquisition, FullAcquisition) else _WithDefaults(acquisition)


# ------------------------------------------------------------------------------- strategies, plugins, reasons


@runtime_checkable
class KnowsExhaustion(Protocol):
    """A strategy that knows before the next ask that a finite X has no useful query left."""

    def exhausted(self, pending: Sequence[Query]) -> bool:
        """Whether no useful query is left while these are pending."""


@runtime_checkable
class PredictsValues(Protocol):
    """A strategy that tells what its models say of the functions; opt.predict and opt.recommend ask for it.

    Where a strategy does not, or not of a fidelity, models of the given surrogates are fitted to the history.
    """

    def posterior(self, fidelity: int) -> Posterior | None:
        """What is believed of this fidelity; None where it is not modelled. Later asks do not depend on the call."""


@runtime_checkable
class KeepsState(Protocol):
    """A strategy whose state can be written down. A study stores it with every ask.

    When the study is reopened, or another process has asked, the strategy is told the records and handed the state,
    instead of being asked everything again. A state of another version of a plugin, or of another CPU, is not used.
    """

    def state(self) -> Mapping[str, Any] | None:
        """All that later asks depend on and that tells alone do not bring about. The strategy does not change.

        Plain values: None, booleans, numbers, strings, lists, mappings by strings, and arrays of float64, int64 or
        booleans; at most a megabyte, best a few kilobytes. None where it cannot be told just now.
        """

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on as the strategy does that told this state of itself, to the bit.

        This one was started on the same problem and told the same records; what it was asked does not count. A
        ValueError, or any error, for what is no state: then it is made anew, and shown the whole run.
        """


@runtime_checkable
class FollowsTheorem(Protocol):
    """A strategy that may do exactly what a theorem on its regret is about; a report on the run then says so."""

    @property
    def theorem(self) -> str | None:
        """The theorem that holds for this run as long as its assumptions do; None where there is none."""


@runtime_checkable
class PrefersSurrogate(Protocol):
    """A strategy that names the surrogate to be used where the user names none."""

    def prefer_surrogate(self, fidelities: int) -> str:
        """A name, as of `mfopt plugins`, for a problem with so many fidelities."""


@runtime_checkable
class DescribesOptions(Protocol):
    """A plugin that tells how it was made, so that a study can make it again.

    It is not needed where each argument is kept as an attribute of its name, with or without an underscore.
    """

    def options(self) -> Mapping[str, Any]:
        """All keyword arguments with which the constructor makes it again."""


@runtime_checkable
class TellsKind(Protocol):
    """A reason that names the rule by which the query was chosen."""

    @property
    def kind(self) -> str:
        """A word or two, such as "initial design"."""


@runtime_checkable
class TurnsSign(Protocol):
    """A reason with values in it, which a user who minimises wants to read with their own sign."""

    def negated(self) -> Any:
        """The same reason with the signs of means and bounds changed."""


class Estimate(Protocol):
    """What a query is expected to cost: about `cost`, two in three times within a `factor` of it."""

    @property
    def cost(self) -> float:
        """The median."""

    @property
    def factor(self) -> float:
        """By which it may be off, upwards and downwards."""


@runtime_checkable
class ShowsCosts(Protocol):
    """A reason that shows what queries are expected to cost, where costs are learnt from those told."""

    def priced(self, estimates: Sequence[Estimate]) -> Any:
        """The same reason with these estimates, one per fidelity."""
