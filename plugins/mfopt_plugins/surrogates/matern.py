"""The Matérn surrogate, compiled."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

from mfopt.errors import InputError
from mfopt.hooks import HowToLearn
from mfopt.protocols import Array
from mfopt_plugins.surrogates.compiled import CompiledSurrogate
from mfopt_plugins.surrogates.given import Given

_CLOSED = {0.5: "matern12", 1.5: "matern32", 2.5: "matern52"}


class Matern(CompiledSurrogate):
    """The Matérn kernel of smoothness ν; closed forms for ν = 1/2, 3/2 and 5/2, the general one for any other ν.

    `lengthscale` is in unit coordinates (one value, or one per dimension), `scale` and `mean` in the unit of y; each
    is learnt unless it is given.

    isotropic  one length-scale for all coordinates is learnt, instead of one for each.
    learning   "map": the maximum of the marginal likelihood under weak priors, with a learnt mean, from about 300
               rows at most. "likelihood": the marginal likelihood alone, from all rows; the mean is that of the values.
    """

    def __init__(
        self,
        nu: float = 2.5,
        lengthscale: float | Array | None = None,
        scale: float | None = None,
        mean: float | None = None,
        isotropic: bool = False,
        learning: HowToLearn = "map",
    ) -> None:
        if not (isfinite(nu) and nu > 0):
            raise InputError(f"nu must be positive and finite, got {nu}")
        kernel = _CLOSED.get(nu, "matern")
        self._nu = nu
        given = Given.check(lengthscale, scale, mean, isotropic, learning)
        super().__init__(kernel, nu if kernel == "matern" else None, given)

    def options(self) -> Mapping[str, Any]:
        """The arguments of the constructor, for studies."""
        return {"nu": self._nu, **super().options()}
