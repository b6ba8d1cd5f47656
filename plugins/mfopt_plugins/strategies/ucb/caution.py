"""Caution: which maximum of the bound is asked for where evaluations fail (base/risk.py answers the questions)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from mfopt.protocols import Acquisition, Array, Query, View
from mfopt_plugins.method.failures import HOPE
from mfopt_plugins.method.models import FidelityModels
from mfopt_plugins.strategies.base.cycle import Search, incumbent
from mfopt_plugins.strategies.base.risk import Risk

Found: TypeAlias = tuple[Array, Acquisition]  # a maximum, and the bound as it was maximised: lowered where queries fail


class Caution:
    """Looks for other maxima of the target's bound; `depth` is by how much it is lowered where queries fail."""

    def __init__(self, risk: Risk, search: Search, models: FidelityModels) -> None:
        self._risk = risk
        self._search = search
        self._models = models
        self._top = len(models.used) - 1

    def dare(self, bound: Acquisition, safe: Found, view: View, pending: Sequence[Query], depth: float) -> Found:
        """The safe maximum, or that without fear where it promises much more."""
        best = incumbent(self._models, pending) if self._risk.may_dare else None
        if best is None:
            return safe
        bold = self._search.maximum(bound, self._top, view, pending, depth, HOPE)
        gain, least = (float(bound(u[None])[0]) - best for u, _ in (bold, safe))
        return bold if self._risk.dares(bold[0], gain, least) else safe

    def find_lit(
        self, bound: Acquisition, u: Array, worth: Array, view: View, pending: Sequence[Query], depth: float
    ) -> Found | None:
        """The maximum where a cheaper fidelity works, if that is better than the target at u where it fails."""
        k, best = self._risk.find_dark(u, worth), incumbent(self._models, pending)
        if k is None or best is None:
            return None
        lit = self._search.maximum(bound, k, view, pending, depth)
        gain, least = (float(bound(point[None])[0]) - best for point in (u, lit[0]))
        return None if self._risk.pays(u, k, gain, least) else lit
