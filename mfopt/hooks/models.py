"""What a model, or a joint model of several fidelities, may offer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

from mfopt.protocols import Acquisition, Array

Rows: TypeAlias = tuple[Array, Array]  # points (n, dim) and their values (n,)


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
class DoubtsFit(Protocol):
    """A joint model that can be doubted: what it has learnt may be wrong where nobody has looked.

    mf-gp-ucb asks for it where the bounds promise nothing more.
    """

    def doubt(self, told: Sequence[int] | None = None) -> None:
        """From now on be less sure far from the rows. Rows may come and go meanwhile; `fit` is not called.

        The first told[k] rows of fidelity k are there to stay, the others are of pending queries; None: all stay.
        """

    def believe(self) -> None:
        """Be as without doubt again, to the bit."""


@runtime_checkable
class FusesImprovement(Protocol):
    """A joint model that computes mf-sko's acquisition of several fidelities in one go, for speed."""

    def improvement(
        self, best: float, unit: float, noises: Sequence[float], offsets: Sequence[float], tail: float
    ) -> Acquisition:
        """max_k log(EI/unit) + log |corr_k| + log(1 − η_k/√(σ_k² + η_k²)) + offset_k over the fidelities k.

        EI is the expected improvement of the last fidelity over `best`, corr_k its correlation with fidelity k at the
        same point, η_k² noises[k]; an offset of −∞ leaves a fidelity out. A value v below −tail becomes
        −tail (1 + log(−v/tail)).
        """


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
