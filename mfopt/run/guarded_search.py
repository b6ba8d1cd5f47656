"""Guarded maximisers and acquisitions: a search that goes wrong names the one at fault.

The acquisition belongs to the strategy (or to the surrogate that fused it), the points at which it is asked to the
maximiser. Where one of them is not built in, the other is handed a guard: NaN, a point outside X or an exception is
then a PluginError that names its author.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from mfopt.checks import show
from mfopt.hooks import CountsRows, FindsArgmax, HasPieces, KeepsRecurring
from mfopt.protocols import Acquisition, Array, BoolArray, Domain, Maximiser
from mfopt.run.blame import Culprit
from mfopt.run.copies import Accountable


class Delegate(Accountable):
    """Stands for `inner`, which `culprit` answers for and `caller` asks; other attributes are those of `inner`."""

    def __init__(self, inner: Any, culprit: Culprit, caller: Culprit) -> None:
        self._inner = inner
        self._culprit = culprit
        self._caller = caller

    @property
    def _names(self) -> tuple[str, object]:
        """The plugin that answers, as errors look it up."""
        return self._culprit.group, self._culprit.given

    def _held(self) -> object:
        return self._inner

    def __eq__(self, other: object) -> bool:
        """A guard is equal to what it guards."""
        return bool(self._inner == (other._inner if isinstance(other, Delegate) else other))

    def __hash__(self) -> int:
        return hash(self._inner)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # also what copying and pickling look for before there is an inner
            raise AttributeError(name)
        return getattr(self._inner, name)


class GuardedMaximiser(Delegate):
    """A maximiser; the acquisitions are those of `caller`."""

    def __reduce__(self) -> tuple[Any, ...]:
        return GuardedMaximiser, (self._inner, self._culprit, self._caller)

    def maximise(self, acquisition: Acquisition, domain: Domain, rng: np.random.Generator, t: int) -> Array:
        """The best point found, (dim,), in X."""
        asked = guard_acquisition(acquisition, self._caller, self._culprit, domain.dim)
        found = self._culprit.call("maximise", self._inner.maximise, asked, domain, rng, t)
        u = self._culprit.numbers("the point that maximise returns", found, (domain.dim,))
        if not domain.contains(u[None])[0]:
            raise self._culprit.error(
                f"the point that maximise returns must lie in X, got {show(u.tolist())} in unit coordinates"
            )
        return u


class _Guarded(Delegate):
    """An acquisition; what it offers beyond its protocol is added below. `dim` is None where it is not known."""

    def __init__(self, inner: Any, culprit: Culprit, caller: Culprit, dim: int | None) -> None:
        super().__init__(inner, culprit, caller)
        self._dim = dim

    def __reduce__(self) -> tuple[Any, ...]:
        return guard_acquisition, (self._inner, self._culprit, self._caller, self._dim)

    def __call__(self, u: Array) -> Array:
        """Values at the rows of u."""
        return self._ask("an acquisition", self._inner, u)

    def gradient(self, u: Array) -> tuple[Array, Array]:
        """Values and gradients at the rows of u."""
        u = self._points(u)
        answer = self._culprit.call("the gradient of an acquisition", self._inner.gradient, u)
        values, slopes = self._culprit.parts("the gradient of an acquisition", answer, 2)
        return self._values(values, (len(u),)), self._values(slopes, u.shape)

    def _ask(self, what: str, function: Any, u: Array) -> Array:
        u = self._points(u)
        return self._values(self._culprit.call(what, function, u), (len(u),))

    def _points(self, u: Array) -> Array:
        """The points, or the fault of whoever asks."""
        return self._caller.points("points at which an acquisition is asked", u, self._dim)

    def _values(self, values: object, shape: tuple[int, ...]) -> Array:
        """Values of an acquisition: numbers, or infinite."""
        array = self._culprit.shaped("values of an acquisition", values, shape)
        if np.isnan(array).any():
            count = int(np.isnan(array).sum())
            raise self._culprit.error(f"values of an acquisition must be numbers, got NaN ({count} of {array.size})")
        return array


class _Pieces(_Guarded):
    def pieces(self, u: Array) -> tuple[Array, Array]:
        u = self._points(u)
        answer = self._culprit.call("pieces", self._inner.pieces, u)
        values, slopes = self._culprit.parts("the pieces of an acquisition", answer, 2)
        count = len(values)
        return self._values(values, (count, len(u))), self._values(slopes, (count, *u.shape))


class _Recurring(_Guarded):
    def recurring(self, u: Array) -> Array:
        return self._ask("recurring", self._inner.recurring, u)


class _Counts(_Guarded):
    @property
    def rows(self) -> int:
        return self._culprit.count("rows of an acquisition", self._culprit.call("rows", lambda: self._inner.rows))


class _Argmax(_Guarded):
    def argmax(self, points: Array, avoid: BoolArray | None) -> int:
        found = self._culprit.count("argmax", self._culprit.call("argmax", self._inner.argmax, points, avoid))
        if found >= len(points):
            raise self._culprit.error(f"argmax must be a row from 0 to {len(points) - 1}, got {found}")
        return found


_ABILITIES = ((HasPieces, _Pieces), (KeepsRecurring, _Recurring), (CountsRows, _Counts), (FindsArgmax, _Argmax))


@cache
def _class_for(abilities: tuple[type, ...]) -> type[_Guarded]:
    return type("GuardedAcquisition", (*abilities, _Guarded), {})


def guard_acquisition(acquisition: Any, culprit: Culprit, caller: Culprit, dim: int | None) -> Acquisition:
    """An acquisition with the same abilities: its values are the culprit's affair, its points the caller's."""
    abilities = tuple(mixin for hook, mixin in _ABILITIES if isinstance(acquisition, hook))
    return _class_for(abilities)(acquisition, culprit, caller, dim)


def guard_maximiser(maximiser: Maximiser, culprit: Culprit, caller: Culprit) -> Maximiser:
    """A maximiser that names `culprit` when it goes wrong, and `caller` when the acquisition does."""
    return GuardedMaximiser(maximiser, culprit, caller)
