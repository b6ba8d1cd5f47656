"""What the suites watch while a plugin works: the global random state, standard output, time, and its options."""

from __future__ import annotations

import contextlib
import io
import os
import pickle
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from mfopt import registry

_STDOUT = 1  # the descriptor of the process, to which libraries in C print

PATIENCE = 6.0  # wall clock that a second of the limit may take on a machine that is busy with other things


def set_global_state(number: int) -> None:
    """Set the global generators to something that nobody else sets them to."""
    np.random.seed(number)  # noqa: NPY002
    random.seed(number)


def _global_state() -> bytes:
    return pickle.dumps((np.random.get_state(), random.getstate()))  # noqa: NPY002


@contextlib.contextmanager
def untouched_random_state(number: int = 918_273_645) -> Iterator[None]:
    """An AssertionError if the global random state changes within; it is put back afterwards."""
    kept = np.random.get_state(), random.getstate()  # noqa: NPY002
    set_global_state(number)
    before = _global_state()
    try:
        yield
        touched = _global_state() != before
    finally:
        np.random.set_state(kept[0])  # noqa: NPY002
        random.setstate(kept[1])
    assert not touched, (
        "the global random state must stay as it was, it was changed or seeded: draw from the generator handed in"
    )


@contextlib.contextmanager
def silent() -> Iterator[None]:
    """An AssertionError if anything is printed within, by Python or by a library behind it."""
    with tempfile.TemporaryFile() as file:
        with contextlib.redirect_stdout(io.StringIO()) as out, kept_output():
            with contextlib.suppress(OSError):  # a process without a standard output
                os.dup2(file.fileno(), _STDOUT)
            yield
        file.seek(0)
        printed = out.getvalue() + file.read().decode(errors="replace")
    assert printed == "", f"nothing must be printed, got {printed[:80]!r}: use the logging module"


@contextlib.contextmanager
def kept_output() -> Iterator[None]:
    """Standard output is afterwards what it was before, of Python and of the process."""
    sys.stdout.flush()
    kept = sys.stdout
    try:
        descriptor = os.dup(_STDOUT)
    except OSError:  # a process without a standard output
        descriptor = None
    try:
        yield
    finally:
        sys.stdout = kept
        if descriptor is not None:
            os.dup2(descriptor, _STDOUT)
            os.close(descriptor)


def watch(plugin: Any, methods: Sequence[str], limit: float) -> Any:
    """The same object, whose methods raise an AssertionError that names the method where a call takes too long."""
    for method in methods:
        if hasattr(plugin, method):
            setattr(plugin, method, _timed(getattr(plugin, method), f"{type(plugin).__name__}.{method}", limit))
    return plugin


def _timed(function: Callable[..., Any], name: str, limit: float) -> Callable[..., Any]:
    def call(*arguments: Any) -> Any:
        wall, cpu = time.monotonic(), time.thread_time()
        result = function(*arguments)
        wall, cpu = time.monotonic() - wall, time.thread_time() - cpu
        assert cpu <= limit, f"{name} must take at most {limit:g} s of CPU time, took {cpu:.1f} s"
        assert wall <= PATIENCE * limit, f"{name} must take at most {limit:g} s, took {wall:.1f} s"
        return result

    return call


def make_again(plugin: Any) -> Any:
    """The plugin made once more from the options that it tells, as a study does; an error says which it does not."""
    return type(plugin)(**registry.find_options(plugin))
