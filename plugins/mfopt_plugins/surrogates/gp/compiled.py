"""The model of one fidelity over mfopt_core."""

from __future__ import annotations

import mfopt_core
from mfopt_plugins.surrogates.gp.memory import Memory
from mfopt_plugins.surrogates.gp.model import GPModel


class CompiledModel(GPModel[mfopt_core.GP]):
    """A model over mfopt_core.GP."""

    _memory: Memory | None = None

    def recall(self) -> Memory:
        """What is kept about points that come back; it starts empty whenever the hyper-parameters have changed."""
        if self._memory is None or self._memory.gp is not self.gp:
            self._memory = Memory(self.gp)
        return self._memory
