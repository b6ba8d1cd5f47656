"""Copies of a run in memory: where it cannot be pickled or copied, the error names the plugin that is at fault.

Pickle and deepcopy say what they choked on, not whose it is. So whatever holds something of a plugin's (a guard, the
strategist) tries that first. Constraints that cannot be pickled are told of, too; what else goes wrong because of the
user's own domain is left as it is.
"""

from __future__ import annotations

import copy
import pickle
import sys
from collections.abc import Callable
from typing import Any

from mfopt import registry
from mfopt.errors import InputError, PluginError
from mfopt.run.blame import Culprit

_ABLER = ("cloudpickle", "dill")  # libraries that pickle what pickle does not


class Accountable:
    """Something that holds what `_culprit` has made, and answers for it when it is pickled or copied."""

    _culprit: Culprit

    def _held(self) -> object:
        """What the plugin has made."""
        raise NotImplementedError

    def __reduce_ex__(self, protocol: Any) -> Any:
        culprit = self._culprit
        if not _is_abler_at_work():
            _check_constraints(culprit.domain)
            if not registry.is_built_in(culprit.given, culprit.group):
                _try(culprit, "pickled", pickle.dumps, self._held())
        return super().__reduce_ex__(protocol)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        _try(self._culprit, "copied", lambda one: copy.deepcopy(one, memo), self._held())  # memo keeps the copy
        reduced: Any = super().__reduce_ex__(4)
        rebuild, arguments, *rest = reduced
        made = memo[id(self)] = rebuild(*copy.deepcopy(arguments, memo))
        if rest and rest[0] is not None:
            vars(made).update(copy.deepcopy(rest[0], memo))
        return made


def _try(culprit: Culprit, done: str, do: Callable[[object], object], held: object) -> None:
    """Do this to what is held; an error is a PluginError, unless the user's domain cannot be treated so either."""
    try:
        do(held)
    except PluginError:  # of another plugin, which this one holds
        raise
    except Exception as error:
        try:
            do(culprit.domain)
        except Exception:
            raise error from None
        reason = f"what it holds must be something that can be {done}, got {type(error).__name__}: {error}"
        raise culprit.error(reason) from error


def _check_constraints(domain: object) -> None:
    """Say what to do about functions that cannot be pickled."""
    try:
        pickle.dumps(getattr(domain, "constraints", ()))
    except Exception as error:
        raise InputError(
            "constraints must be functions at the top level of a module for an optimiser to be pickled, got "
            f"{type(error).__name__}: {error}; move them there, pickle with cloudpickle, or copy with copy.deepcopy"
        ) from error


def _is_abler_at_work() -> bool:
    """Whether a library is pickling that may succeed where pickle would not."""
    frame = sys._getframe()
    while frame.f_back is not None:
        frame = frame.f_back
        if str(frame.f_globals.get("__name__")).partition(".")[0] in _ABLER:
            return True
    return False
