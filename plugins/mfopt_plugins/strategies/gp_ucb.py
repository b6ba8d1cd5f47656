"""GP-UCB, the single-fidelity method that MF-GP-UCB extends."""

from __future__ import annotations

from mfopt_plugins.strategies.ucb.options import Mode
from mfopt_plugins.strategies.ucb.strategy import UCBStrategy


class GPUCB(UCBStrategy):
    """GP-UCB (Srinivas et al.) on the target alone; other fidelities' data are ignored.

    mode             "practical": β_t = beta_factor · d log(2t), with the departures of mf-gp-ucb that concern one
                     fidelity. "paper": without them, as the paper's experiments have it. "theory": GP-UCB with the β_t
                     of Theorem (gpucb), for finite X or for X = [0, 1]^d; the kernel must be given to the surrogate.
    initial_capital  Λ₀ of the initial design, all spent at the target; by default 10 λ_M in paper mode, none in theory
                     mode, otherwise see method/design.py. 0 for none.
    beta_factor      the paper has 0.2.
    delta, a, b      theory mode: δ, and the constants of the kernel (theory.smoothness_se, smoothness_matern with
                     r = 1), to be given where X is not finite.

    In practical mode, and not in the literature: where the bounds promise nothing it looks elsewhere (ucb/doubt.py).
    """

    def __init__(
        self,
        mode: Mode = "practical",
        initial_capital: float | None = None,
        beta_factor: float = 0.2,
        delta: float = 0.1,
        a: float | None = None,
        b: float | None = None,
    ) -> None:
        super().__init__(mode=mode, initial_capital=initial_capital, beta_factor=beta_factor, delta=delta, a=a, b=b)

    def fidelities(self, count: int) -> tuple[int, ...]:
        """The target alone."""
        return (count - 1,)
