"""Reasons of trials as JSON. Those of mfopt.run.reason read back as they were; of any other the string remains."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from typing import Any

from mfopt.checks import show
from mfopt.run.reason import ImprovementReason, Reason

_KINDS = {kind.__name__: kind for kind in (Reason, ImprovementReason)}
_WORDS = ("kind", "text", "bound", "worse")  # fields that are strings
_LATER = ("far", "lowest", "worth", "costs", "factors")  # fields that older versions do not know
_SPECIAL = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}  # numbers that JSON does not know


def reason_to_json(reason: Any) -> str:
    """The reason for people and programs; standard JSON."""
    kind = type(reason).__name__
    if _KINDS.get(kind) is type(reason):
        try:
            fields = {key: value for key, value in asdict(reason).items() if not _says_nothing(key, value)}
            return json.dumps({"type": kind, **_to_plain(fields)}, allow_nan=False)
        except TypeError:  # a field that is no plain number or string
            pass
    return json.dumps({"type": "text", "text": str(reason)})


def _says_nothing(key: str, value: Any) -> bool:
    """Whether a field need not be written."""
    return value is None or (key in _LATER and value == ()) or (key == "worse" and value == "below")


def reason_from_json(text: str) -> Any:
    """A Reason or an ImprovementReason, or the string of another kind; a ValueError where it is none."""
    try:
        fields = json.loads(text)
        kind = _KINDS.get(fields.pop("type"))
        if kind is None:
            return str(fields["text"])
        return kind(**{key: _restore(key, value) for key, value in fields.items()})
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ValueError(f"a reason must be as mfopt writes it, got {show(text)}") from error


def _to_plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _to_plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_to_plain(one) for one in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _restore(key: str, value: Any) -> Any:
    if key in _WORDS:
        return str(value)
    if isinstance(value, dict) or (isinstance(value, list) and any(isinstance(one, list | dict) for one in value)):
        raise TypeError(f"{key} must be a number or a list of numbers")
    return tuple(_SPECIAL.get(one, one) for one in value) if isinstance(value, list) else _SPECIAL.get(value, value)
