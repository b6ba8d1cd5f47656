"""What a strategy may offer, and the one thing that any plugin may: to tell how it was made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from mfopt.protocols import Posterior, Query


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
        """The theorem about the run so far, which holds as long as its assumptions do; None where there is none."""


@runtime_checkable
class TakesBounds(Protocol):
    """A strategy that may be given ζ and γ of its own. A report goes by them, not by the problem's."""

    @property
    def zetas(self) -> Sequence[float | None] | None:
        """One per fidelity below the target, or one each; None: those of the problem."""

    @property
    def gammas(self) -> Sequence[float] | None:
        """One per fidelity below the target; None: none were given."""


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
