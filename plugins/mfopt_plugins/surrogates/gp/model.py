"""The model behind every built-in surrogate: a Gaussian process that learns on standardised values.

Learning sees (y − offset)/unit with the mean and standard deviation of the rows fitted; the process itself is then
built in the unit of y, so that its posterior needs no conversion and bounds of several fidelities can be combined.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Any

import numpy as np

from mfopt.errors import InputError
from mfopt.protocols import Array
from mfopt_plugins.surrogates.gp.learning import Fixed, default_hyper, learn
from mfopt_plugins.surrogates.gp.process import GaussianProcess, Hyper, MakeGP

AFRESH = 1.5  # growth of the rows after which the previous optimum is not the only start of the search for the next


class GPModel:
    """The posterior of one fidelity, by a process that `make` makes."""

    def __init__(self, make: MakeGP, kernel: str, dim: int, noise: float | None, given: Fixed) -> None:
        self._make = make
        self._kernel = kernel
        self._noise = noise
        self._given = given  # in the unit of y
        self._dim = dim
        self._learnt: Hyper | None = None  # in standardised units: the next warm start
        self._searched = 0  # rows when the search last started from the centre of the priors too
        self._hyper = self._in_unit_of_y(_complete(default_hyper(dim), self._fixed(0.0, 1.0)), 0.0, 1.0)
        self.gp: GaussianProcess = make(self._hyper)

    @property
    def n(self) -> int:
        """Number of rows conditioned on."""
        return self.gp.n

    def fit(self, u: Array, y: Array, rng: np.random.Generator) -> None:
        """Learn the hyper-parameters from these rows and condition on them alone."""
        fit_together([self], [(u, y)], rng)

    def extend(self, u: Array, y: Array) -> None:
        """Condition on more rows; hyper-parameters stay."""
        self.gp.extend(u, y)

    def truncate(self, n: int) -> None:
        """Forget all rows but the first `n`; hyper-parameters stay."""
        self.gp.truncate(n)

    def posterior(self, u: Array) -> tuple[Array, Array]:
        """Mean and variance of the function (without the noise of an observation)."""
        return self.gp.posterior(u)

    def posterior_gradient(self, u: Array) -> tuple[Array, Array, Array, Array]:
        """Mean, variance and their gradients in u."""
        return self.gp.posterior_gradient(u)

    def describe(self) -> Mapping[str, Any]:
        """Hyper-parameters in the unit of y, and the jitter that the factorisation needed."""
        return {
            "kernel": self._kernel,
            "lengthscale": [float(v) for v in self._hyper.lengthscale],
            "scale": self._hyper.scale,
            "noise": self._hyper.noise,
            "mean": self._hyper.mean,
            "jitter": float(self.gp.jitter),
        }

    def _fixed(self, offset: float, unit: float) -> Fixed:
        """What is given, in standardised units."""
        given = self._given
        return Fixed(
            lengthscale=fixed_lengthscale(given, self._dim),
            scale=None if given.scale is None else given.scale / unit**2,
            noise=None if self._noise is None else self._noise / unit**2,
            mean=None if given.mean is None else (given.mean - offset) / unit,
        )

    def _in_unit_of_y(self, hyper: Hyper, offset: float, unit: float) -> Hyper:
        given = self._given
        return Hyper(
            hyper.lengthscale,
            hyper.scale * unit**2 if given.scale is None else given.scale,
            hyper.noise * unit**2 if self._noise is None else self._noise,
            hyper.mean * unit + offset if given.mean is None else given.mean,
        )


def fit_together(models: Sequence[GPModel], rows: Sequence[tuple[Array, Array]], rng: np.random.Generator) -> None:
    """Learn one kernel for all these models from their rows, (u, y) each, and condition each on its own alone."""
    counts = [len(y) for _, y in rows]
    total, lead = sum(counts), models[0]
    if total == 0:
        for model in models:
            model.truncate(0)
        return
    offset, unit = standard_unit(rows[int(np.argmax(counts))][1], lead._noise)
    before = [model._learnt for model in models if model._learnt is not None]
    start = before if len(before) == len(models) else None
    afresh = start is None or total >= AFRESH * lead._searched
    if afresh:
        lead._searched = total
    standard = [(u, (y - offset) / unit) for u, y in rows]
    fixed = [model._fixed(offset, unit) for model in models]
    learnt = learn(lead._make, standard, fixed, start, rng, int(start is None), afresh)
    for model, hyper, (u, y) in zip(models, learnt, rows, strict=True):
        model._learnt = hyper
        model._hyper = model._in_unit_of_y(hyper, offset, unit)
        model.gp = model._make(model._hyper)
        model.gp.extend(u, y)


def standard_unit(y: Array, noise: float | None) -> tuple[float, float]:
    """Mean and standard deviation of values with this known noise variance."""
    offset, unit = float(np.mean(y)), float(np.std(y))
    # Constant values (up to rounding) have no spread of their own: known noise, else their size, stands in.
    if unit <= 1e-14 * abs(offset) or unit == 0.0:
        unit = max(sqrt(noise or 0.0), abs(offset)) or 1.0
    return offset, max(unit, 1e-140)  # its square must not underflow


def fixed_lengthscale(given: Fixed, dim: int) -> Array | None:
    """The length-scales that were given, one per dimension."""
    lengthscale = given.lengthscale
    if lengthscale is not None and lengthscale.size not in (1, dim):
        raise InputError(f"lengthscale must hold 1 or {dim} values, got {lengthscale.size}")
    return None if lengthscale is None else np.broadcast_to(lengthscale, (dim,))


def _complete(hyper: Hyper, fixed: Fixed) -> Hyper:
    """`hyper` with what is fixed put in."""
    return Hyper(
        hyper.lengthscale if fixed.lengthscale is None else np.array(fixed.lengthscale),
        hyper.scale if fixed.scale is None else fixed.scale,
        hyper.noise if fixed.noise is None else fixed.noise,
        hyper.mean if fixed.mean is None else fixed.mean,
    )


def options_of(given: Fixed) -> dict[str, Any]:
    """The other way round: what given_hyper was called with."""
    lengthscale = None if given.lengthscale is None else given.lengthscale.tolist()
    return {"lengthscale": lengthscale, "scale": given.scale, "mean": given.mean}


def given_hyper(lengthscale: float | Array | None, scale: float | None, mean: float | None) -> Fixed:
    """The options of a surrogate, checked."""
    if lengthscale is not None:
        lengthscale = np.atleast_1d(np.asarray(lengthscale, dtype=np.float64))
        if lengthscale.ndim != 1 or not (np.isfinite(lengthscale) & (lengthscale > 0)).all():
            raise InputError(f"lengthscale must be positive and finite, got {lengthscale.tolist()}")
    if scale is not None and not (np.isfinite(scale) and scale > 0):
        raise InputError(f"scale must be positive and finite, got {scale}")
    if mean is not None and not np.isfinite(mean):
        raise InputError(f"mean must be finite, got {mean}")
    return Fixed(lengthscale=lengthscale, scale=scale, mean=mean)
