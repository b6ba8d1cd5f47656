"""The squared exponential surrogate in plain NumPy and SciPy: the yardstick for `se`, in speed and in correctness."""

from __future__ import annotations

from mfopt.hooks import HowToLearn
from mfopt.protocols import Array
from mfopt_plugins.surrogates.base import KernelSurrogate
from mfopt_plugins.surrogates.given import Given
from mfopt_plugins.surrogates.gp.process import Hyper
from mfopt_plugins.surrogates.gp.python_process import PythonGP


class SEPython(KernelSurrogate[PythonGP]):
    """κ(a, b) = scale · exp(−½ Σ_j (a_j − b_j)²/ℓ_j²), with the arguments of SE (se.py)."""

    def __init__(
        self,
        lengthscale: float | Array | None = None,
        scale: float | None = None,
        mean: float | None = None,
        isotropic: bool = False,
        learning: HowToLearn = "map",
    ) -> None:
        super().__init__("se", Given.check(lengthscale, scale, mean, isotropic, learning))

    def make(self, hyper: Hyper) -> PythonGP:
        """A process without data."""
        return PythonGP(hyper)
