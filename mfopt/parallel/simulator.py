"""Simulator: an external program, in any language, as a function."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import threading
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from mfopt.checks import real_number, show
from mfopt.errors import EvaluationError, EvaluationTimeout, InputError
from mfopt.parallel.orphans import Guard
from mfopt.protocols import Array

_GUARD = Guard()  # of all programs that this process runs
# A program must not begin before its guard knows of it: kill -9 may come in between. So a shell waits for a line, which
# the end of our process would not send, and becomes the program.
_GATE = ["/bin/sh", "-c", 'read -r line && exec "$@"', "sh"] if os.path.exists("/bin/sh") else []


class Simulator:
    """A program that is started for each evaluation.

    command    the program and its arguments, as a list, or as one string, split as a shell would, but nothing
               in it is replaced
    names      of the coordinates of x
    fidelity   number of the fidelity, passed on to the program
    name       name of the fidelity, passed on too
    timeout    seconds; a program that takes longer is killed with all that it has started

    A program does not outlive the process that started it, even if that is killed (not on Windows).

    It reads one JSON object from stdin, {"x": {name: value, ...}, "fidelity": 0, "name": "coarse"}, in which x is
    trial.params: integers are integers, categories strings, what does not count is left out. It prints the value as the
    last line of stdout: a number, or a JSON object with a number "value" and perhaps what the run has cost as "cost".
    Whatever it prints before is ignored. Any other last line, and an exit code other than 0, is an EvaluationError with
    the last line of stderr.
    """

    def __init__(
        self,
        command: str | Sequence[str],
        names: Sequence[str],
        fidelity: int = 0,
        name: str = "",
        timeout: float | None = None,
    ) -> None:
        words = shlex.split(command) if isinstance(command, str) else command
        if not isinstance(words, list | tuple) or not words or not all(isinstance(word, str) for word in words):
            raise InputError(f"a command must be a string or a list of strings, got {show(command)}")
        self.command = list(words)
        self.names = list(names)
        self.fidelity = fidelity
        self.name = name
        self.timeout = None if timeout is None else real_number(timeout, "timeout")
        self._track()

    def _track(self) -> None:
        self._running: set[subprocess.Popen[str]] = set()
        self._starting = threading.Lock()  # held until a program that has begun is known to run
        # Also at the end of the program: what runs in sessions of its own would survive it.
        self._stop = weakref.finalize(self, _kill_all, self._running, self._starting)

    def check(self) -> None:
        """An InputError unless the program is there."""
        if shutil.which(self.command[0]) is None:
            raise InputError(f"a command must begin with a program that can be run, got {self.command[0]!r}")

    def stop(self) -> None:
        """Kill every run that is under way."""
        _kill_all(self._running, self._starting)

    def rename(self, params: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
        """The params of a domain whose parameters have these names, by the program's own names for them."""
        own = dict(zip(names, self.names, strict=True))
        return {own[name]: value for name, value in params.items()}

    def __call__(self, x: Array | Mapping[str, Any]) -> float | dict[str, float]:
        """The value at a point: params, as a loop gives it, or an array (d,) in the order of the names.

        Where the program reports its cost, {"value": value, "cost": cost}.
        """
        values = x if isinstance(x, Mapping) else dict(zip(self.names, x.tolist(), strict=True))
        given = {"x": values, "fidelity": self.fidelity, "name": self.name}
        with self._starting:
            _GUARD.prepare()
            process = subprocess.Popen(
                [*_GATE, *self.command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                encoding="utf-8",
                errors="replace",
                start_new_session=True,  # so that it can be killed with its children
            )
            _GUARD.add(process.pid)
            self._running.add(process)
        try:
            with process:  # closes the pipes and waits
                try:
                    out, err = process.communicate("\n" * bool(_GATE) + json.dumps(given) + "\n", self.timeout)
                except BaseException:
                    _kill(process)
                    raise
        except subprocess.TimeoutExpired:
            raise EvaluationTimeout(f"{self.command[0]} may take {self.timeout:g} s and took longer") from None
        finally:
            self._running.discard(process)
            _GUARD.discard(process.pid)
        if process.returncode != 0:
            raise EvaluationError(f"{self.command[0]} ended with {_describe_code(process.returncode)}{_last_line(err)}")
        return _read_value(out, self.command[0])

    def __getstate__(self) -> dict[str, Any]:
        """A copy in another process has runs of its own."""
        return {key: value for key, value in self.__dict__.items() if not key.startswith("_")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._track()

    def __repr__(self) -> str:
        return f"Simulator({shlex.join(self.command)!r})"


def _read_value(out: str, program: str) -> float | dict[str, float]:
    lines = out.strip().splitlines()
    text = lines[-1].strip() if lines else ""
    with suppress(ValueError):
        return float(text)
    with suppress(ValueError, TypeError, KeyError):
        found = json.loads(text)
        value = float(found["value"])
        return {"value": value, "cost": float(found["cost"])} if "cost" in found else value
    raise EvaluationError(
        f'the last line of {program} must be a number or a JSON object with a number "value", and perhaps a number '
        f'"cost", got {show(text)}'
    )


def _describe_code(code: int) -> str:
    return f"exit code {code}" if code >= 0 else f"signal {-code}"


def _last_line(err: str) -> str:
    lines = err.strip().splitlines()
    return f": {lines[-1].strip()}" if lines else ""


def _kill(process: subprocess.Popen[str]) -> None:
    """End the program and all that it has started, which may outlive it."""
    with suppress(ProcessLookupError, PermissionError):
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:  # Windows has no such groups: what the program has started lives on
            process.kill()


def _kill_all(running: set[subprocess.Popen[str]], starting: threading.Lock) -> None:
    with starting:  # a program that another thread is just starting is killed, too
        for process in list(running):
            _kill(process)
