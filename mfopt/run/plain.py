"""Plain values as text: what a strategy tells of its state (hooks.KeepsState), as it is written to a study.

    None, booleans, integers, finite numbers, strings, lists    as JSON has them; tuples become lists
    inf, -inf, nan                                              {"number": "inf"}
    {name: value}                                               {"mapping": {name: value}}
    arrays of float64, int64 or booleans                        {"array": [dtype, shape, base64]}

Numbers and arrays read back to the same bits. A study may come from a stranger: reading makes nothing but these
values, and is done in milliseconds or refused with a ValueError.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from mfopt.checks import show

LONGEST = 2**20  # characters of a state
_DEEPEST = 20  # levels of lists and mappings
_DTYPES = {"<f8": np.dtype("<f8"), "<i8": np.dtype("<i8"), "|b1": np.dtype("|b1")}
_MOST_AXES = 4


def to_text(value: object) -> str:
    """The value as text; a TypeError where it is not plain."""
    return json.dumps(_to_json(value, 0), allow_nan=False, separators=(",", ":"))


def from_text(text: str) -> Any:
    """The value that a text holds; a ValueError where it holds none."""
    if len(text) > LONGEST:
        raise ValueError(f"a state must have at most {LONGEST} characters, got {len(text)}")
    try:
        return _from_json(json.loads(text), 0)
    except RecursionError as error:
        raise ValueError(f"a state must have at most {_DEEPEST} levels, got more") from error


def _to_json(value: object, depth: int) -> Any:
    if depth > _DEEPEST:
        raise TypeError(f"plain values must have at most {_DEEPEST} levels, got more")
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"number": str(value)}
    if isinstance(value, list | tuple):
        return [_to_json(one, depth + 1) for one in value]
    if isinstance(value, np.ndarray):
        return {"array": _array_to_json(value)}
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            raise TypeError(f"a mapping must have strings as keys, got {show(list(value))}")
        return {"mapping": {key: _to_json(one, depth + 1) for key, one in value.items()}}
    raise TypeError(f"a value must be plain (numbers, strings, lists, mappings, arrays), got {show(value)}")


def _array_to_json(array: np.ndarray[Any, Any]) -> list[Any]:
    code = array.dtype.newbyteorder("<").str
    if code not in _DTYPES or array.ndim > _MOST_AXES:
        raise TypeError(f"an array must be of float64, int64 or booleans, got {array.dtype} with {array.ndim} axes")
    data = np.ascontiguousarray(array, dtype=_DTYPES[code]).tobytes()
    return [code, list(array.shape), base64.b64encode(data).decode("ascii")]


def _from_json(value: Any, depth: int) -> Any:
    if depth > _DEEPEST:
        raise ValueError(f"a state must have at most {_DEEPEST} levels, got more")
    if isinstance(value, list):
        return [_from_json(one, depth + 1) for one in value]
    if not isinstance(value, dict):
        return value
    match value:
        case {"mapping": dict(inner)} if len(value) == 1:
            return {key: _from_json(one, depth + 1) for key, one in inner.items()}
        case {"number": "inf" | "-inf" | "nan" as name} if len(value) == 1:
            return float(name)
        case {"array": [str(code), list(shape), str(data)]} if len(value) == 1:
            return _array_from_json(code, shape, data)
        case _:
            raise ValueError(f"a state must hold plain values, got {show(value)}")


def _array_from_json(code: str, shape: list[Any], data: str) -> np.ndarray[Any, Any]:
    if code not in _DTYPES or len(shape) > _MOST_AXES or not all(type(size) is int and size >= 0 for size in shape):
        raise ValueError(f"an array must be of float64, int64 or booleans, got {code} of shape {show(shape)}")
    content, dtype = base64.b64decode(data, validate=True), _DTYPES[code]
    if len(content) != math.prod(shape) * dtype.itemsize:
        raise ValueError(f"an array of shape {shape} must have as many numbers, got {len(content)} bytes")
    if code == "|b1" and content.strip(b"\0\1"):
        raise ValueError("an array of booleans must hold 0 and 1, got other bytes")
    return np.frombuffer(content, dtype=dtype).reshape(shape).astype(dtype.newbyteorder("="))
