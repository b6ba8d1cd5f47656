"""MissingDomain: it stands in for a domain that a storage could not hold, so that a study can still be read and told.

What needs to know whether a point lies in X is refused, with what to give.
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

    Its parameters are those of the domain where they are known, so that params and unit coordinates are right;
    otherwise numbers.
    """

    def __init__(self, study: str, spec: Mapping[str, Any]) -> None:
        known = rebuild_dimensions(spec)
        names = list(known) if known is not None else spec.get("names") or [one["name"] for one in spec["dimensions"]]
        super().__init__([Real(0.0, 1.0)] * len(names) if known is None else list(known.values()), names)
        self.spec = spec
        self._study = study
        self._measures = known is not None

    @property
    def points(self) -> None:
        """None: which of them the constraints leave is not known."""
        return

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """What a strategy begins with."""
        raise self.refuse("ask or verify")

    def validate(self, x: object) -> Array:
        """What data that is added begins with: whether it lies in the domain is not known."""
        raise self.refuse("add")

    def read(self, x: object) -> Array:
        """A point that models are asked of; whether it lies in the domain does not matter to them."""
        self.check_measures()
        return super().validate(x)

    def check_measures(self) -> None:
        """Refuse models where unit coordinates are not known, which is where they live."""
        if not self._measures:
            raise self.refuse("predict or recommend")

    def describe(self) -> Mapping[str, Any]:
        return self.spec

    def refuse(self, verb: str) -> InputError:
        """The error that says what is missing, and what to do."""
        return InputError(
            f"study {self._study!r} has a domain with functions or objects that a storage cannot hold: to {verb}, open "
            "it from Python with mfopt.Study.open(storage, name, domain=...), the same as it was made with"
        )
