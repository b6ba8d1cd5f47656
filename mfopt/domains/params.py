"""Params: a point by the names of its parameters, as native Python values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeGuard

import numpy as np

from mfopt.hooks import NamesArguments, NamesValues
from mfopt.protocols import Array, Domain


def params_of(domain: Domain, x: Array) -> dict[str, Any]:
    """The point x, (d,) in user units, as {name: value}; parameters that do not count there are left out."""
    return namer_of(domain)(x)


def namer_of(domain: Domain) -> Callable[[Array], dict[str, Any]]:
    """params_of for this domain: its own `params`, or the floats of x by their names."""
    return domain.params if isinstance(domain, NamesValues) else partial(_name_floats, domain.names)


def _name_floats(names: Sequence[str], x: Array) -> dict[str, Any]:
    return dict(zip(names, x.tolist(), strict=True))


def takes_params(domain: Domain) -> bool:
    """Whether a user's functions are given params: where some of them are no plain numbers."""
    return isinstance(domain, NamesArguments) and domain.named


def argument_of(domain: Domain, x: Array) -> Array | dict[str, Any]:
    """What a user's function is given at x: a copy of it, or its params."""
    return params_of(domain, x) if takes_params(domain) else x.copy()


def is_frame(given: object) -> TypeGuard[Any]:
    """Whether it is a DataFrame; pandas need not be installed."""
    return hasattr(given, "columns") and hasattr(given, "to_dict")


def is_series(given: object) -> TypeGuard[Any]:
    """Whether it is a Series, such as a row of a DataFrame."""
    return hasattr(given, "index") and hasattr(given, "to_dict") and not hasattr(given, "columns")


def read_row(given: object) -> object:
    """A Series as params, by its index: its order is that of the user's table, not ours. Anything else as it is."""
    return {str(name): value for name, value in given.to_dict().items()} if is_series(given) else given


def is_missing(value: object) -> bool:
    """Whether tables say with it that there is nothing: None, NaN, pandas' NA and NaT."""
    if isinstance(value, float | np.floating):
        return bool(value != value)
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def params_of_frame(frame: Any) -> list[dict[str, Any]]:
    """The rows of a DataFrame, each by the names of its columns; a missing value is None, as in a table of our own."""
    rows = frame.to_dict("records")
    missing = frame.isna().to_numpy()
    return [
        {str(name): None if gone else value for (name, value), gone in zip(row.items(), empty, strict=True)}
        for row, empty in zip(rows, missing, strict=True)
    ]
