"""GP-EI, expected improvement at the target."""

from __future__ import annotations

from mfopt.protocols import Acquisition, Model
from mfopt_plugins.method.improvement import ExpectedImprovement
from mfopt_plugins.strategies.base.improvement import ImprovementStrategy
from mfopt_plugins.strategies.base.manner import Mode, check_initial_capital, find_manner


class GPEI(ImprovementStrategy):
    """Expected improvement (Jones, Schonlau and Welch, 1998: Efficient global optimization of expensive functions).

        x_t = argmax E max(0, f(x) − y*) = argmax σ h((μ − y*)/σ),   h(z) = φ(z) + z Φ(z)

    initial_capital  Λ₀ of the initial design, all spent at the target; by default see method/design.py. 0 for none.
    mode             "practical", or "paper": everything else as mf-gp-ucb has it in that mode (base/manner.py)

    Differences from the literature: the logarithm is maximised, which is the same point but has a gradient far from
    the incumbent too; y* is the best value observed only where the target is noiseless, otherwise the best posterior
    mean at the points queried; pending queries count as told with their posterior mean. In practical mode the model
    learns its mean too, from about 300 rows at most, and the search has corners and ascents beside DIRECT.
    """

    kind = "expected improvement"

    def __init__(self, initial_capital: float | None = None, mode: Mode = "practical") -> None:
        self.initial_capital = check_initial_capital(initial_capital)
        self.mode: Mode = mode
        self._manner = find_manner(mode)

    def _acquisition(self, model: Model, best: float, unit: float) -> Acquisition:
        return ExpectedImprovement(model, best, unit)
