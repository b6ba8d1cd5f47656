"""Recorded evaluations: values and CPU seconds by point, so that experiments can be repeated without evaluating again.

A record is a file with a line of JSON per evaluation, {"problem", "fidelity", "x", "value", "cost"}. A point that is in
it, to the last bit, is not evaluated; any other is, and is appended. Several processes may use one record.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from mfopt.protocols import Array


class Recorded:
    """A function of a point that returns {"value": value, "cost": CPU seconds}, from the record where that is known.

    A function that gives such a dict itself knows its cost better than the clock.
    `problem` names the problem with everything that its values depend on. Without a `path` every call evaluates.
    """

    def __init__(
        self, function: Callable[[Array], float | dict[str, float]], problem: str, fidelity: int, path: str | None
    ) -> None:
        self.function = function
        self._problem = problem
        self._fidelity = fidelity
        self._path = None if path is None else Path(path)
        self._known: dict[bytes, dict[str, float]] = {}
        self._read = 0  # bytes of the record that are known

    def __call__(self, x: Array) -> dict[str, float]:
        """The value at x (d,), and what it cost when it was evaluated."""
        point = np.ascontiguousarray(x, dtype=np.float64)
        self._refresh()
        found = self._known.get(point.tobytes())
        return self._evaluate(point) if found is None else dict(found)

    def _evaluate(self, point: Array) -> dict[str, float]:
        began = time.process_time()
        given = self.function(point)
        known = given if isinstance(given, dict) else {"value": given, "cost": time.process_time() - began}
        found = {"value": float(known["value"]), "cost": float(known["cost"])}
        if self._path is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            line = {"problem": self._problem, "fidelity": self._fidelity, "x": point.tolist(), **found}
            with open(self._path, "a", encoding="utf-8") as file:  # one write: lines of others stay whole
                file.write(json.dumps(line) + "\n")
        return found

    def _refresh(self) -> None:
        """Take in what was appended since; a line that was cut by a crash is passed over."""
        if self._path is None or not self._path.exists() or os.path.getsize(self._path) == self._read:
            return
        with open(self._path, "rb") as file:
            file.seek(self._read)
            content = file.read()
        complete = content.rfind(b"\n") + 1
        self._read += complete
        for text in content[:complete].splitlines():
            try:
                line = json.loads(text)
                if (line["problem"], line["fidelity"]) == (self._problem, self._fidelity):
                    key = np.array(line["x"], dtype=np.float64).tobytes()
                    self._known[key] = {"value": float(line["value"]), "cost": float(line["cost"])}
            except (ValueError, KeyError, TypeError):
                continue
