"""Missing objects: they stand in for what a storage could not hold, so that a study can still be read and told.

Asking needs the object itself: what a strategy begins with raises an InputError here that says what to give.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mfopt.domains.box import Box
from mfopt.errors import InputError
from mfopt.protocols import Array


class MissingDomain(Box):
    """In the place of a domain that the storage could not hold."""

    def __init__(self, study: str, spec: Mapping[str, Any]) -> None:
        names = spec["names"] if "names" in spec else [one["name"] for one in spec["dimensions"]]
        super().__init__([(0.0, 1.0)] * len(names), names=names)
        self.spec = spec
        self._study = study

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """What a strategy begins with."""
        raise InputError(
            f"study {self._study!r} has a domain with functions or objects that a storage cannot hold: to ask, open it "
            "with domain=, the same as it was made with"
        )


class MissingPlugin:
    """In the place of a plugin that the storage could not hold, or that cannot be made here."""

    def __init__(self, study: str, what: str, spec: Mapping[str, Any], error: Exception | None = None) -> None:
        self.spec = spec
        self._message = (
            f"study {study!r} has a {what} that a storage cannot hold, a {spec['class']}: to ask, open it "
            f"with {what}=, the same as it was made with"
            if error is None
            else f"study {study!r} has a {what} that cannot be made here, {spec['name']}: to ask, install it ({error})"
        )

    def __getattr__(self, name: str) -> Any:
        """No plugin works without one of these."""
        if name in ("start", "model", "maximise"):
            raise InputError(self._message)
        raise AttributeError(name)
