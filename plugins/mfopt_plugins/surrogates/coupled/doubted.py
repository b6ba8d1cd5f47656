"""Doubted: the process that is used in doubt (hooks.DoubtsFit), and how long it lasts.

To factorise many rows anew takes long. The process in doubt is to be less sure of what was learnt anyway, so with many
rows it outlives what is learnt later, until the rows have grown by half.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic

import numpy as np

from mfopt.protocols import Array
from mfopt_plugins.surrogates.gp.process import Process
from mfopt_plugins.surrogates.theta import AFRESH

if TYPE_CHECKING:
    from mfopt_plugins.surrogates.coupled.model import CoupledProcess

MANY = 2000  # rows from which on it is not made anew whenever something was learnt


@dataclass(frozen=True)
class Doubted(Generic[Process]):
    """The process, made when there were so many rows."""

    process: CoupledProcess[Process]
    rows: int

    def lasts(self, rows: int, signs: Array) -> bool:
        """Whether it may stay, with so many rows and these signs of a_1..a_K, though something was learnt."""
        return MANY <= rows < AFRESH * self.rows and bool((np.sign(self.process.factors) == signs).all())

    def state(self) -> Mapping[str, Any] | None:
        """As plain values: its hyper-parameters may be older than those in use; None where it cannot be made again."""
        process = self.process.state()
        return None if process is None else {"hyper": self.process.hyper.state(), "rows": self.rows, "process": process}
