"""A process over coded points (codes.py) that follows the rows of several fidelities as they come and go."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic

import numpy as np

from mfopt.hooks import Rows
from mfopt_plugins.surrogates.coupled.codes import encode
from mfopt_plugins.surrogates.coupled.learning import CoupledHyper
from mfopt_plugins.surrogates.gp.process import MakeGP, Process


class CoupledProcess(Generic[Process]):
    """The process with fixed hyper-parameters, in the unit of y.

    Rows are added behind those that are there, whatever their fidelity, which costs O(n²) a row. They are only brought
    up to date by `follow`, so that rows which come and go unseen cost nothing.
    """

    def __init__(self, make: MakeGP[Process], hyper: CoupledHyper) -> None:
        self.hyper = hyper
        self._gp = make(hyper.kernel)
        self._order: list[int] = []  # the fidelity of each row of the process
        self._matching = 0  # how many leading rows of the process still match those of the fidelities

    def forget(self, k: int, n: int) -> None:
        """Note that only the first n rows of fidelity k are left."""
        forgotten = np.flatnonzero(np.array(self._order, dtype=np.int64) == k)[n:]
        if len(forgotten):
            self._matching = min(self._matching, int(forgotten[0]))

    def follow(self, rows: Sequence[Rows]) -> Process:
        """The process, conditioned on these rows, (u, y) per fidelity.

        They are those of the last call, less those forgotten since, with others behind them.
        """
        if self._matching == len(self._order) == sum(len(y) for _, y in rows):
            return self._gp
        if self._matching < len(self._order):
            self._gp.truncate(self._matching)
            del self._order[self._matching :]
        for k, (u, y) in enumerate(rows):
            known = self._order.count(k)
            if known < len(y):
                noises = np.full(len(y) - known, self.hyper.noises[k])
                self._gp.extend(encode(u[known:], k, len(rows)), y[known:], noises)
                self._order += [k] * (len(y) - known)
        self._matching = len(self._order)
        return self._gp
