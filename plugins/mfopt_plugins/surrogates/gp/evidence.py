"""How much values are to be softened (mfopt_plugins.method.softening), by the evidence of the values themselves.

The strength is the one under which the values have the largest marginal likelihood, their density changed by log w′.
There is no softening unless another strength is more likely by DECISIVE, e⁵ = 148 to 1.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mfopt.protocols import Array
from mfopt_plugins.method.softening import AsinhSoftening
from mfopt_plugins.surrogates.given import Given
from mfopt_plugins.surrogates.gp.model import GPModel
from mfopt_plugins.surrogates.gp.process import Process
from mfopt_plugins.surrogates.rows import thin

STRENGTHS = (0.5, 1.0)
DECISIVE = 5.0


def choose_softening(
    model: Callable[[], GPModel[Process]], u: Array, y: Array, rng: np.random.Generator, given: Given
) -> AsinhSoftening:
    """The softening of the values y at the points u under models that `model` makes.

    None, which is strength 0, where a scale or a mean is given: that is in the unit of y.
    """
    if given.scale is not None or given.mean is not None:
        return AsinhSoftening()
    none = AsinhSoftening(float(np.mean(y)), float(np.std(y)))
    if not none.unit > 1e-14 * abs(none.location):
        return AsinhSoftening()
    u, y = thin([(u, y)])[0]
    least, best, seed = -np.inf, none, int(rng.integers(2**32))
    for strength in (0.0, *STRENGTHS):
        softening = AsinhSoftening(none.location, none.unit, strength)
        fitted = model()
        fitted.fit(u, softening(y), np.random.default_rng(seed))  # the same starts for all
        value = fitted.gp.log_marginal_likelihood() + float(softening.log_slope(y).sum())
        if strength == 0.0:
            least = value + DECISIVE
        elif value > least:
            least, best = value, softening
    return best
