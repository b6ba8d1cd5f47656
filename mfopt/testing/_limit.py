"""A limit on every call of a plugin: one that does not return is interrupted and named, whichever test made it.

A test runs in a thread of its own. The thread that started it looks, a few times a second, which call of the plugin is
under way. This needs no signals and wraps no plugin: it works on every platform and in every pytest worker. A call that
does not return in time is ended by an exception raised in its thread. One that waits in C is left behind, in a thread
that does not keep the process alive. One in C that holds Python's global lock stops everything; pytest's option
`faulthandler_timeout` tells where.
"""

from __future__ import annotations

import contextvars
import ctypes
import functools
import sys
import threading
import time
from collections.abc import Callable
from math import isinf
from types import FrameType
from typing import Any, TypeVar

from mfopt.testing._watch import PATIENCE, kept_output

Suite = TypeVar("Suite")

_LOOK = 0.05  # seconds between two looks at the stack
_FAREWELL = 2.0  # seconds that an interrupted call has to end


class _Interrupted(BaseException):
    """Ends a call that took too long."""


def limit_calls(suite: type[Suite]) -> type[Suite]:
    """The suite, whose own tests fail where a call of the plugin does not return in its `time_limit`."""
    for name, test in list(vars(suite).items()):
        if name.startswith("test_"):
            setattr(suite, name, _limited(test))
    return suite


def _limited(test: Callable[[Any], None]) -> Callable[[Any], None]:
    @functools.wraps(test)
    def run(self: Any) -> None:
        if isinf(self.time_limit):
            test(self)
        else:
            with kept_output():
                _Attempt(functools.partial(test, self)).watch(self.time_limit)

    return run


class _Attempt:
    """A test that runs in a thread of its own."""

    def __init__(self, test: Callable[[], None]) -> None:
        self._test = test
        self._error: BaseException | None = None
        context = contextvars.copy_context()
        self._thread = threading.Thread(target=context.run, args=(self._run,), daemon=True)

    def _run(self) -> None:
        try:
            self._test()
        except BaseException as error:  # SystemExit of a plugin, and what pytest skips with
            self._error = error

    def watch(self, limit: float) -> None:
        """Wait for the end of the test and raise what it raised; an AssertionError where a call takes too long."""
        self._thread.start()
        call: tuple[FrameType, int] | None = None
        since = time.monotonic()
        try:
            while self._thread.is_alive():
                self._thread.join(_LOOK)
                now, before = time.monotonic(), call
                call = self._find_call()
                if call is None or call != before:
                    since = now
                elif now - since > PATIENCE * limit:
                    name = _name(call[0])
                    raise AssertionError(f"{name} must take at most {limit:g} s, did not return in {now - since:.1f} s")
        finally:
            self._interrupt()
        if self._error is not None:
            raise self._error

    def _find_call(self) -> tuple[FrameType, int] | None:
        """The call of code that is not mfopt's which is under way, and 0; without one, where mfopt's own code is."""
        frames: list[FrameType] = []
        frame = sys._current_frames().get(self._thread.ident or 0)
        while frame is not None:
            frames.append(frame)
            frame = frame.f_back
        inside = [frame for frame in frames if frame.f_globals.get("__name__") == __name__]
        if not inside:
            return None
        own = frames[: frames.index(inside[0])]  # from the innermost frame to the test
        foreign = [frame for frame in own if str(frame.f_globals.get("__name__")).partition(".")[0] != "mfopt"]
        return (foreign[-1], 0) if foreign else (frames[0], frames[0].f_lasti)

    def _interrupt(self) -> None:
        end = time.monotonic() + _FAREWELL
        while self._thread.is_alive() and time.monotonic() < end:
            thread = ctypes.c_ulong(self._thread.ident or 0)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, ctypes.py_object(_Interrupted))
            self._thread.join(_LOOK)


def _name(frame: FrameType) -> str:
    """The function of a frame, with the class of what it is a method of."""
    function, owner = frame.f_code.co_name, frame.f_locals.get("self")
    return function if owner is None else f"{type(owner).__name__}.{function}"
