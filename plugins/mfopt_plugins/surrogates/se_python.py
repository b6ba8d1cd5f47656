"""The squared exponential surrogate in plain NumPy and SciPy: the yardstick for `se`, in speed and in correctness."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from mfopt.protocols import Array
from mfopt_plugins.method.softening import Softening
from mfopt_plugins.surrogates.coupled.model import CoupledGP
from mfopt_plugins.surrogates.gp.evidence import likely_softening
from mfopt_plugins.surrogates.gp.model import GPModel, fit_together, given_hyper, options_of
from mfopt_plugins.surrogates.gp.python_process import PythonGP


class SEPython:
    """κ(a, b) = scale · exp(−½ Σ_j (a_j − b_j)²/ℓ_j²); each hyper-parameter is learnt unless it is given.

    `lengthscale` is in unit coordinates (one value, or one per dimension), `scale` and `mean` in the unit of y.
    """

    def __init__(
        self, lengthscale: float | Array | None = None, scale: float | None = None, mean: float | None = None
    ) -> None:
        self._given = given_hyper(lengthscale, scale, mean)

    def options(self) -> dict[str, Any]:
        """The arguments of the constructor, for studies."""
        return options_of(self._given)

    def model(self, dim: int, noise: float | None = None) -> GPModel:
        """A fresh model without data; `noise` is the known noise variance, None when it is to be learnt."""
        return GPModel(PythonGP, "se", dim, noise, self._given)

    def coupled(self, dim: int, noises: Sequence[float | None]) -> CoupledGP:
        """A model of several fidelities without data, one known noise variance (or None) per fidelity."""
        return CoupledGP(PythonGP, "se", dim, noises, self._given)

    def softening(self, u: Array, y: Array, rng: np.random.Generator) -> Softening:
        """How these values are to be softened to suit the kernel."""
        return likely_softening(partial(self.model, u.shape[1]), u, y, rng, self._given)

    def fit_together(
        self, models: Sequence[GPModel], rows: Sequence[tuple[Array, Array]], rng: np.random.Generator
    ) -> None:
        """Learn one kernel for all these models from their rows, (u, y) each, and condition each on its own alone."""
        fit_together(models, rows, rng)
