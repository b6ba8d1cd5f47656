"""What is given of the hyper-parameters instead of learnt: values, which length-scales are one, and how to learn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mfopt.errors import InputError
from mfopt.hooks import HowToLearn
from mfopt.protocols import Array


@dataclass(frozen=True)
class Given:
    """What is given, None where it is to be learnt; `scale` and `mean` are in the unit of y."""

    lengthscale: Array | None = None  # one value, one per dimension, or one per group, in unit coordinates
    scale: float | None = None
    mean: float | None = None
    groups: tuple[int, ...] = ()  # by dimension: those of one group have one length-scale; none: each its own
    isotropic: bool = False  # one length-scale for all dimensions
    flat: bool = False  # no priors but limits: learning="likelihood"

    @classmethod
    def check(
        cls,
        lengthscale: float | Array | None,
        scale: float | None,
        mean: float | None,
        isotropic: bool = False,
        learning: HowToLearn = "map",
    ) -> Given:
        """The options of a surrogate; an InputError where one makes no sense."""
        if lengthscale is not None:
            lengthscale = np.atleast_1d(np.asarray(lengthscale, dtype=np.float64))
            if lengthscale.ndim != 1 or not (np.isfinite(lengthscale) & (lengthscale > 0)).all():
                raise InputError(f"lengthscale must be positive and finite, got {lengthscale.tolist()}")
        if scale is not None and not (np.isfinite(scale) and scale > 0):
            raise InputError(f"scale must be positive and finite, got {scale}")
        if mean is not None and not np.isfinite(mean):
            raise InputError(f"mean must be finite, got {mean}")
        if not isinstance(isotropic, bool):
            raise InputError(f"isotropic must be True or False, got {isotropic!r}")
        if learning not in ("map", "likelihood"):
            raise InputError(f'learning must be "map" or "likelihood", got {learning!r}')
        return cls(lengthscale, scale, mean, isotropic=isotropic, flat=learning == "likelihood")

    def tie(self, groups: Sequence[int]) -> Given:
        """The same with one length-scale per group of dimensions."""
        groups = tuple(int(group) for group in groups)
        if sorted(set(groups)) != list(range(len(set(groups)))):
            raise InputError(f"groups must be numbered from 0 without gaps, got {list(groups)}")
        return replace(self, groups=groups)

    def vary(self, isotropic: bool | None, learning: HowToLearn | None) -> Given:
        """The same, learnt in this way; None: as it is."""
        return replace(
            self,
            isotropic=self.isotropic if isotropic is None else isotropic,
            flat=self.flat if learning is None else learning == "likelihood",
        )

    def broadcast(self, dim: int) -> Given:
        """The same with one length-scale per dimension and all groups; an InputError where their numbers do not fit."""
        groups = self.groups or tuple(range(dim))
        if len(groups) != dim:
            raise InputError(f"groups must have one entry per dimension, {dim}, got {len(groups)}")
        if self.lengthscale is None:
            return replace(self, groups=groups)
        size, parameters = self.lengthscale.size, max(groups) + 1
        if size not in (1, dim, parameters):
            counts = f"1 or {dim}" if parameters == dim else f"1, {parameters} or {dim}"
            raise InputError(f"lengthscale must hold {counts} values, got {size}")
        one_each = self.lengthscale[list(groups)] if size == parameters else np.broadcast_to(self.lengthscale, (dim,))
        # All length-scales are given, so none is learnt for a group: those of a group may differ.
        return replace(self, lengthscale=one_each.copy(), groups=tuple(range(dim)), isotropic=False)

    @property
    def learnt(self) -> tuple[str, ...]:
        """The names of those that are not given."""
        values = {"lengthscale": self.lengthscale, "scale": self.scale, "mean": self.mean}
        return tuple(name for name, value in values.items() if value is None)

    def options(self) -> dict[str, Any]:
        """The arguments of `check` that give the same, as plain values."""
        lengthscale = None if self.lengthscale is None else self.lengthscale.tolist()
        return {
            "lengthscale": lengthscale,
            "scale": self.scale,
            "mean": self.mean,
            "isotropic": self.isotropic,
            "learning": "likelihood" if self.flat else "map",
        }
