"""Names with options, as one writes them on a command line: "mf-gp-ucb:beta_factor=0.4,surrogate=matern".

A value is a Python literal (a number, True, None, a list, a quoted string); anything else is taken as a
string.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mfopt.checks import find_closest, show
from mfopt.errors import InputError

_NEXT = re.compile(r",(?=\s*[A-Za-z_][\w.]*\s*=)")  # a comma in a list is followed by no "name="


def parse_options(text: str) -> tuple[str, dict[str, Any]]:
    """The name and its options."""
    name, colon, rest = text.partition(":")
    options: dict[str, Any] = {}
    for part in _NEXT.split(rest) if colon else []:
        key, equals, value = part.partition("=")
        if not equals or not key.strip() or not value.strip():
            raise InputError(f"options must be written name:option=value,option=value, got {show(text)}")
        if key.strip() in options:
            raise InputError(f"an option must be given once, got {key.strip()} twice in {show(text)}")
        options[key.strip()] = _read_value(value.strip())
    if not name.strip():
        raise InputError(f"a name must stand before the colon, got {show(text)}")
    return name.strip(), options


def write_options(name: str, options: Mapping[str, Any]) -> str:
    """The one way to write this name with these options; `parse_options` reads it back."""
    written = ",".join(f"{key}={_write_value(value)}" for key, value in sorted(options.items()))
    return f"{name}:{written}" if written else name


def check_options(make: Callable[..., Any], options: Mapping[str, Any], what: str, others: Sequence[str] = ()) -> None:
    """An InputError that names the options there are, unless make(**options) can be called.

    others   options of `what` that `make` does not take, to be named with its own
    """
    try:
        signature = inspect.signature(make)
    except ValueError:  # compiled code without a signature: the call will tell
        return
    try:
        signature.bind(**options)
    except TypeError:
        known = [*signature.parameters, *others]
        close = next((find_closest(name, known) for name in options if name not in known), None)
        raise InputError(
            f"options of {what} must be among {', '.join(known) or 'none'}, got {', '.join(options) or 'none'}"
            + ("" if close is None else f"; did you mean {close!r}?")
        ) from None


def _read_value(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _write_value(value: Any) -> str:
    if isinstance(value, str) and _read_value(value) == value and not re.search(r"[,:='\"\s]", value):
        return value
    return repr(value).replace(" ", "") if not isinstance(value, str) else repr(value)
