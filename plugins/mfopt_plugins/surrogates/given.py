"""Hyper-parameters that a user gives instead of having them learnt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mfopt.errors import InputError
from mfopt.protocols import Array


@dataclass(frozen=True)
class Given:
    """What is given, None where it is to be learnt; `scale` and `mean` are in the unit of y."""

    lengthscale: Array | None = None  # one value, or one per dimension, in unit coordinates
    scale: float | None = None
    mean: float | None = None

    @classmethod
    def check(cls, lengthscale: float | Array | None, scale: float | None, mean: float | None) -> Given:
        """The options of a surrogate; an InputError where one makes no sense."""
        if lengthscale is not None:
            lengthscale = np.atleast_1d(np.asarray(lengthscale, dtype=np.float64))
            if lengthscale.ndim != 1 or not (np.isfinite(lengthscale) & (lengthscale > 0)).all():
                raise InputError(f"lengthscale must be positive and finite, got {lengthscale.tolist()}")
        if scale is not None and not (np.isfinite(scale) and scale > 0):
            raise InputError(f"scale must be positive and finite, got {scale}")
        if mean is not None and not np.isfinite(mean):
            raise InputError(f"mean must be finite, got {mean}")
        return cls(lengthscale, scale, mean)

    def broadcast(self, dim: int) -> Given:
        """The same with one length-scale per dimension; an InputError where there are neither 1 nor `dim`."""
        if self.lengthscale is None:
            return self
        if self.lengthscale.size not in (1, dim):
            raise InputError(f"lengthscale must hold 1 or {dim} values, got {self.lengthscale.size}")
        return Given(np.broadcast_to(self.lengthscale, (dim,)).copy(), self.scale, self.mean)

    def options(self) -> dict[str, Any]:
        """The arguments of `check` that give the same, as plain values."""
        lengthscale = None if self.lengthscale is None else self.lengthscale.tolist()
        return {"lengthscale": lengthscale, "scale": self.scale, "mean": self.mean}
