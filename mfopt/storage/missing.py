"""Missing objects: they stand in for what a storage could not hold, so that a study can still be read and told.

Asking needs the object itself: what a strategy begins with raises an InputError here that says what to give.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mfopt.domains.dimensions import Real
from mfopt.domains.product import Product
from mfopt.domains.rebuild import rebuild_dimensions
from mfopt.errors import InputError
from mfopt.protocols import Array


class MissingDomain(Product):
    """In the place of a domain that the storage could not hold.

    Its parameters are those of the domain where they are known, so that params are right; otherwise numbers.
    """

    def __init__(self, study: str, spec: Mapping[str, Any]) -> None:
        known = rebuild_dimensions(spec)
        names = list(known) if known is not None else spec.get("names") or [one["name"] for one in spec["dimensions"]]
        super().__init__([Real(0.0, 1.0)] * len(names) if known is None else list(known.values()), names)
        self.spec = spec
        self._study = study

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """What a strategy begins with."""
        raise self._refuse("ask")

    def validate(self, x: object) -> Array:
        """What data that is added begins with: whether it lies in the domain is not known."""
        raise self._refuse("add")

    def describe(self) -> Mapping[str, Any]:
        return self.spec

    def _refuse(self, verb: str) -> InputError:
        return InputError(
            f"study {self._study!r} has a domain with functions or objects that a storage cannot hold: to {verb}, open "
            "it with domain=, the same as it was made with"
        )


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
