"""MF-NAIVE with random queries at the first fidelity."""

from __future__ import annotations

from mfopt.protocols import Problem, Strategy
from mfopt_plugins.strategies._naive import LIMIT, NaiveStrategy
from mfopt_plugins.strategies.random_search import RandomSearch


class MFNaiveRandom(NaiveStrategy):
    """min(Λ/(2λ₁), limit) uniform random queries at the first fidelity, then the target in decreasing order of f⁽¹⁾.

    The variant of mf-naive in the paper's appendix: not drawn to the maximum of f⁽¹⁾, but mostly worse. Its first
    points are those with which mf-naive and mf-gp-ucb begin.

    limit  most queries of the first part; the paper has 500 (see mf-naive).
    """

    def __init__(self, limit: int = LIMIT) -> None:
        super().__init__(limit)

    def _first(self, problem: Problem) -> Strategy:
        return RandomSearch()
