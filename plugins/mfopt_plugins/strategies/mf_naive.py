"""MF-NAIVE, the paper's multi-fidelity baseline."""

from __future__ import annotations

from mfopt.hooks import blocks_of
from mfopt.protocols import Problem, Strategy
from mfopt_plugins.method.design import initial_counts
from mfopt_plugins.strategies._naive import LIMIT, NaiveStrategy
from mfopt_plugins.strategies.base.manner import Mode, find_manner
from mfopt_plugins.strategies.gp_ucb import GPUCB


class MFNaive(NaiveStrategy):
    """GP-UCB at the first fidelity for min(Λ/(2λ₁), limit) queries, then the target in decreasing order of f⁽¹⁾.

    The paper prints max(Λ/(2λ₁), 500); _naive explains why the minimum is meant. GP-UCB begins with those points of
    the initial design that mf-gp-ucb has at the first fidelity too, but with half of its queries at most, or nothing
    would be left to choose where λ₁ is small. The part at the second is left out: this method models the first alone.

    It is stuck at the maximum of f⁽¹⁾, so it is no choice where that lies elsewhere than the target's.

    limit        most queries of the first part; the paper has 500.
    beta_factor  β_t = beta_factor · d log(2t) of GP-UCB.
    mode         of GP-UCB, "practical" or "paper".
    """

    def __init__(self, limit: int = LIMIT, beta_factor: float = 0.2, mode: Mode = "practical") -> None:
        super().__init__(limit)
        self.mode: Mode = mode
        self._beta_factor = beta_factor
        self._manner = find_manner(mode)
        GPUCB(beta_factor=beta_factor)  # a bad value is refused here, not at the start

    def _first(self, problem: Problem) -> Strategy:
        if len(problem.costs) == 1:
            return GPUCB(self.mode, beta_factor=self._beta_factor)
        size = None if problem.domain.points is None else len(problem.domain.points)
        capital = self._manner.choose_initial_capital(None, problem)
        counts = initial_counts(problem.costs, problem.capital, capital, len(blocks_of(problem.domain)), size)
        design = min(counts[0], (self._budget + 1) // 2)
        return GPUCB(self.mode, initial_capital=design * problem.costs[0], beta_factor=self._beta_factor)
