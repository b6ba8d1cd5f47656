"""The augmented expected improvement of a joint model, as searches want it: mfopt_core does the work."""

from __future__ import annotations

import mfopt_core
from mfopt.hooks import AcquisitionDefaults
from mfopt.protocols import Array


class JointImprovement(AcquisitionDefaults):
    """The best of all fidelities at each point, what it is worth drawn in where that is far below."""

    def __init__(self, compiled: mfopt_core.Improvement) -> None:
        self._compiled = compiled

    def __call__(self, u: Array) -> Array:
        """Values at the rows of u."""
        return self._compiled(u)

    def recurring(self, u: Array) -> Array:
        """Values at points that will come back."""
        return self._compiled.recurring(u)

    def gradient(self, u: Array) -> tuple[Array, Array]:
        """Values and gradients."""
        return self._compiled.gradient(u)

    @property
    def rows(self) -> int:
        """Rows of the process."""
        return self._compiled.rows
