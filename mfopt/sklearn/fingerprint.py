"""Fingerprints: the name of a study from all that its scores depend on.

A search with a storage goes on where its study was, and may do so with the same data, estimator, scoring and splits
only. So these are taken apart down to numbers and strings, and their digest names the study. It is the same in every
process: addresses are no part of it, sets and dicts count without their order, random generators by their class alone.
An estimator is its class and its parameters, another object its class and its attributes. A function that can be
imported is its name, any other one its code too. The code of classes is not looked at.
"""

from __future__ import annotations

import functools
import hashlib
import re
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import joblib  # type: ignore[import-untyped]
import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator

from mfopt.domains.params import is_frame

_PLAIN = (type(None), bool, int, float, complex, str)
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")

Digest = Callable[[Any], bytes]


def make_name(estimator: object, *parts: object) -> str:
    """The name of the study of this estimator with these parts, such as data and scoring."""
    return f"{type(estimator).__name__[:100]}-{digest([estimator, *parts])[:32]}"


def digest(value: object) -> str:
    """Equal for values that are the same, in every process."""
    return _digest(value, ()).hex()


def without_addresses(text: str) -> str:
    """A repr that is the same in every process."""
    return _ADDRESS.sub("", text)


def _digest(value: Any, above: tuple[int, ...]) -> bytes:
    """SHA-256 of the parts; `above` are the ids of what holds the value, which may hold itself."""
    if id(value) in above:
        return b"above %d" % above.index(id(value))
    found = hashlib.sha256()
    inner = functools.partial(_digest, above=(*above, id(value)))
    for part in _take_apart(value, inner):
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        found.update(b"%d:" % len(data))
        found.update(data)
    return found.digest()


def _take_apart(value: Any, inner: Digest) -> Iterator[str | bytes]:
    """What a value consists of; `inner` is the digest of a part of it."""
    yield _name_class(type(value))
    if isinstance(value, _PLAIN):
        yield repr(value)
    elif isinstance(value, bytes):
        yield value
    elif isinstance(value, np.random.RandomState | np.random.Generator):
        return  # another state with every use
    elif isinstance(value, np.ndarray | np.generic):
        yield from _take_array_apart(np.asarray(value), inner)
    elif scipy.sparse.issparse(value):
        matrix: Any = value
        rows = matrix.tocsr(copy=True)
        rows.sum_duplicates()
        yield str(rows.shape)
        for array in (rows.data, rows.indices.astype(np.int64), rows.indptr.astype(np.int64)):
            yield inner(array)
    elif is_frame(value):
        columns = value.items() if hasattr(value, "items") else ((name, value[name]) for name in value.columns)
        for name, column in columns:
            yield from (inner(name), inner(column))
    elif hasattr(value, "__array__") and not isinstance(value, type):  # a column, a tensor
        categories = getattr(getattr(value, "dtype", None), "categories", None)
        yield from (inner(np.asarray(value)), b"" if categories is None else inner(list(categories)))
    elif isinstance(value, list | tuple):
        if all(type(one) in _PLAIN for one in value):
            yield repr(list(value))  # in one go: data may be a long list
        else:
            yield from map(inner, value)
    elif isinstance(value, set | frozenset):
        yield from sorted(map(inner, value))
    elif isinstance(value, Mapping):
        yield from sorted(inner(key) + inner(one) for key, one in value.items())
    else:
        yield from _take_object_apart(value, inner)


def _take_array_apart(array: Any, inner: Digest) -> Iterator[str | bytes]:
    yield str(array.shape)
    if array.dtype.hasobject or array.dtype.kind == "T":  # its bytes are addresses
        yield inner(array.ravel().tolist())
    else:
        yield array.dtype.str if array.dtype.names is None else str(array.dtype)
        yield np.ascontiguousarray(array).tobytes()


def _take_object_apart(value: Any, inner: Digest) -> Iterator[str | bytes]:
    """A class, a function or an object of any other class."""
    if isinstance(value, type):
        yield _name_class(value)
    elif isinstance(value, types.MethodType):
        yield from (inner(value.__func__), inner(value.__self__))
    elif isinstance(value, functools.partial):
        yield from (inner(value.func), inner(value.args), inner(value.keywords))
    elif isinstance(value, types.FunctionType):
        yield _name_class(value)
        if not _can_be_imported(value):
            cells = [cell.cell_contents for cell in value.__closure__ or ()]
            yield from (inner(value.__code__), inner(value.__defaults__), inner(value.__kwdefaults__), inner(cells))
    elif isinstance(value, types.CodeType):
        yield from (value.co_code, inner(value.co_consts), inner(value.co_names))
    elif isinstance(value, types.ModuleType):
        yield value.__name__
    elif hasattr(value, "get_params"):
        yield inner(value.get_params(deep=False))
        if getattr(type(value), "__sklearn_clone__", None) not in (None, BaseEstimator.__sklearn_clone__):
            yield str(joblib.hash(value))  # a clone of it keeps what was fitted, in it and in what it holds
    elif hasattr(value, "__dict__"):
        yield inner(vars(value))
    else:
        yield without_addresses(repr(value))


def _name_class(one: Any) -> str:
    return f"{one.__module__}.{one.__qualname__}"


def _can_be_imported(function: types.FunctionType) -> bool:
    """Whether its name leads to it; in __main__ another program may have another one of that name."""
    found: Any = sys.modules.get(function.__module__)
    for name in function.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is function and function.__module__ != "__main__"
