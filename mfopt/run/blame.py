"""Blame: whose fault it is when a plugin is called and something goes wrong.

A plugin calls others: a strategy asks models and a maximiser, and the maximiser asks the strategy's acquisition. The
one at fault is the innermost whose code it was, so each call across a border goes through the Culprit that is called.
What the user's own code raises within, a function as constraint or a domain of theirs, is nobody's fault here and is
left as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, TypeVar

import numpy as np

from mfopt import registry
from mfopt.checks import real_array, show
from mfopt.errors import EmptyDomain, Exhausted, InputError, MfoptError, PluginError
from mfopt.protocols import Array, Domain

Result = TypeVar("Result")

_CONSTRAINTS = "mfopt.domains.constraints"  # the module that calls users' functions
_MAY_REFUSE = ("start", "model", "tied", "coupled", "joint")  # with an InputError: what the user asks cannot be done


@dataclass(frozen=True, eq=False)
class Culprit:
    """A plugin, by its name or by its class where an instance was given, that may turn out to be at fault."""

    group: str
    given: str | type
    domain: Domain

    @classmethod
    def of(cls, group: str, given: object, domain: Domain) -> Culprit:
        """The plugin as the user gave it."""
        return cls(group, given if isinstance(given, str) else type(given), domain)

    def call(self, method: str, function: Callable[..., Result], *arguments: Any) -> Result:
        """What the plugin's function returns; what it raises is a PluginError that names the plugin."""
        try:
            return function(*arguments)
        except BaseException as error:
            self.accuse(method, error)
            raise

    def accuse(self, method: str, error: BaseException) -> None:
        """Raise a PluginError for what the method has raised; return where that is to be left as it is."""
        if not self._is_to_pass(method, error):
            raise self.error(f"{method} raised {type(error).__name__}: {error}") from error

    def error(self, reason: str) -> PluginError:
        """The error that names this plugin, its distribution and the reason."""
        return PluginError(reason, *registry.name_of(self.group, self.given))

    def _is_to_pass(self, method: str, error: BaseException) -> bool:
        if isinstance(error, PluginError | EmptyDomain | Warning | KeyboardInterrupt | GeneratorExit):
            return True
        if isinstance(error, Exhausted):
            return method == "ask"
        if isinstance(error, InputError) and method in _MAY_REFUSE:
            return True
        if isinstance(error, MfoptError) and registry.is_built_in(self.given, self.group):
            return True  # an error of mfopt's own
        return _is_users(error.__traceback__, self.domain)

    # ------------------------------------------------------------------------------------- what it returns

    def numbers(self, what: str, value: object, shape: tuple[int, ...], lowest: float = -np.inf) -> Array:
        """`value` as float64 numbers of this shape, all finite and none below `lowest`."""
        array = self.shaped(what, value, shape)
        if not np.isfinite(array).all():
            bad = array[~np.isfinite(array)]
            raise self.error(f"{what} must be finite, got {bad[0]} ({bad.size} of {array.size} values)")
        if array.size and array.min() < lowest:
            raise self.error(f"{what} must not be below {lowest:g}, got {array.min()}")
        return array

    def shaped(self, what: str, value: object, shape: tuple[int, ...]) -> Array:
        """`value` as float64 numbers of this shape, finite or not."""
        try:
            array = real_array(value, what)
        except InputError as error:
            raise self.error(str(error)) from error
        if array.shape != shape:
            raise self.error(f"{what} must have shape {shape}, got {array.shape}")
        return array

    def points(self, what: str, value: Any, dim: int | None) -> Array:
        """`value` as points (q, dim), all finite; in as many dimensions as they have where `dim` is None."""
        shape = np.shape(value)
        if len(shape) != 2:
            raise self.error(f"{what} must have shape (q, {'dim' if dim is None else dim}), got {shape}")
        return self.numbers(what, value, (shape[0], shape[1] if dim is None else dim))

    def parts(self, what: str, value: object, count: int) -> tuple[Any, ...]:
        """`value` as a tuple of so many things."""
        if not isinstance(value, tuple | list) or len(value) != count:
            raise self.error(f"{what} must be a tuple of {count}, got {show(value)}")
        return tuple(value)

    def count(self, what: str, value: object) -> int:
        """`value` as an integer, not negative."""
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
            raise self.error(f"{what} must be an integer from 0, got {show(value)}")
        return int(value)


def _is_users(traceback: TracebackType | None, domain: Domain) -> bool:
    """Whether an error comes out of a function of the user's, or out of a domain that is not one of mfopt's."""
    foreign = type(domain).__module__.partition(".")[0] != "mfopt"
    while traceback is not None:
        frame = traceback.tb_frame
        if frame.f_globals.get("__name__") == _CONSTRAINTS or (foreign and frame.f_locals.get("self") is domain):
            return True
        traceback = traceback.tb_next
    return False
