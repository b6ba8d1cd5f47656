"""Missing plugins: they stand in for what a storage could not hold, so that a study can still be read and told.

Asking needs the object itself: what a strategy begins with raises an InputError here that says what to give. For a
domain there is mfopt/domains/missing.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mfopt.errors import InputError


class MissingPlugin:
    """In the place of a plugin that the storage could not hold, or that cannot be made here."""

    def __init__(self, study: str, what: str, spec: Mapping[str, Any], error: Exception | None = None) -> None:
        self.spec = spec
        source = f" of {spec['distribution']} {spec['version']}" if "distribution" in spec else ""
        self._message = (
            f"study {study!r} has a {what} that a storage cannot hold, a {spec['class']}{source}: to ask, open it "
            f"with {what}=, the same as it was made with"
            if error is None
            else f"study {study!r} has a {what} that cannot be made here, {spec['name']}{source}: to ask, "
            f"{_install(spec)} ({error})"
        )

    def __getattr__(self, name: str) -> Any:
        """No plugin works without one of these."""
        if name in ("start", "model", "maximise"):
            raise InputError(self._message)
        raise AttributeError(name)


def _install(spec: Mapping[str, Any]) -> str:
    """What to install; studies of older versions do not know it."""
    if "distribution" not in spec:
        return "install it"
    return f"pip install {spec['distribution']}, best in version {spec['version']}"
