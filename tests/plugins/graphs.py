"""Two objects compared attribute by attribute, with all that they hold."""

from __future__ import annotations

from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType

import numpy as np

import mfopt_core
from mfopt.protocols import Problem
from mfopt_plugins.method.observations import Told

# What is remembered to save time: results do not depend on it.
CACHES = {"_level", "_levels", "levels", "_grid", "_believed", "_nearest_row", "_stands_for"}
_LEAVES = (str, bytes, int, float, bool, type(None), type, FunctionType, BuiltinFunctionType, np.generic)


def differences(one, other):
    """Where the two differ: a line for each place."""
    return list(_compare(one, other, type(one).__name__, set()))


def _compare(one, other, path, seen):
    if one is other or (id(one), id(other)) in seen:
        return
    seen.add((id(one), id(other)))
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        if one.dtype != other.dtype or not np.array_equal(one, other):
            yield f"{path}: {one} is not {other}"
    elif isinstance(one, (int, float, np.generic)) and isinstance(other, (int, float, np.generic)):
        if one != other:
            yield f"{path}: {one} is not {other}"
    elif type(one) is not type(other):
        yield f"{path}: {type(one).__name__} is not {type(other).__name__}"
    elif isinstance(one, _LEAVES):
        if one != other:
            yield f"{path}: {one!r} is not {other!r}"
    elif isinstance(one, set):
        if one != other:
            yield f"{path}: {one} is not {other}"
    elif isinstance(one, dict):
        if list(one) != list(other):
            yield f"{path}: {list(one)} are not {list(other)}"
        for key in one.keys() & other.keys():
            yield from _compare(one[key], other[key], f"{path}[{key!r:.40}]", seen)
    elif isinstance(one, (list, tuple)):
        if len(one) != len(other):
            yield f"{path}: {len(one)} entries are not {len(other)}"
        for k, (a, b) in enumerate(zip(one, other, strict=False)):
            yield from _compare(a, b, f"{path}[{k}]", seen)
    elif isinstance(one, MethodType):
        yield from _compare(one.__self__, other.__self__, f"{path}.__self__", seen)
    elif isinstance(one, partial):
        yield from _compare((one.func, one.args, one.keywords), (other.func, other.args, other.keywords), path, seen)
    elif isinstance(one, (mfopt_core.GP, mfopt_core.Kernel, mfopt_core.Mixture)):
        yield from _compare(one.__reduce__()[1:], other.__reduce__()[1:], path, seen)
    elif not isinstance(one, Problem):  # the user's own: it does not change
        yield from _compare(_attributes(one), _attributes(other), path, seen)


def _attributes(one):
    if not hasattr(one, "__dict__"):
        raise TypeError(f"cannot compare {type(one)}")
    attributes = {key: vars(one)[key] for key in sorted(vars(one)) if key not in CACHES}
    if isinstance(one, Told):  # arrays with room for more
        for name in ("_u", "_y", "_told", "_out"):
            attributes[name] = [rows[:n] for n, rows in zip(one._size, attributes[name], strict=True)]
    return attributes
