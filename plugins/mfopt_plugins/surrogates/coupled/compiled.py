"""The coupled process over mfopt_core."""

from __future__ import annotations

import mfopt_core
from mfopt.protocols import Array
from mfopt_plugins.surrogates.coupled.model import CoupledGP
from mfopt_plugins.surrogates.gp.memory import Memory


class CompiledCoupledGP(CoupledGP[mfopt_core.GP]):
    """A coupled process over mfopt_core.GP."""

    _memories: list[Memory] | None = None
    _finite: tuple[Array, list[Array]] | None = None

    def recall(self, k: int) -> Memory:
        """What is kept about points of fidelity k that come back; empty whenever the hyper-parameters have changed."""
        process = self.condition()
        if self._memories is None or self._memories[0].gp is not process:
            self._memories = [Memory(process) for _ in self.models]
        return self._memories[k]

    def encode_set(self, points: Array, k: int) -> Array:
        """The points of a finite set at fidelity k; for the same array `points`, the same array at every call."""
        if self._finite is None or self._finite[0] is not points:
            self._finite = (points, [self.encode(points, j) for j in range(len(self.models))])
        return self._finite[1][k]
