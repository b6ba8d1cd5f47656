"""Supernova: the cosmological parameters that make the distances of 192 supernovae most likely.

The paper's experiment: x = (H₀, Ω_M, Ω_Λ) ∈ (60, 80) × (0, 1)². By the Robertson–Walker metric (Davis et al. 2007) a
supernova at redshift z has the luminosity distance and the distance modulus

    d_L = (1 + z) c/H₀ S(∫_0^z dz'/E(z')),   E² = Ω_M (1 + z)³ + Ω_k (1 + z)² + Ω_Λ,   Ω_k = 1 − Ω_M − Ω_Λ
    μ   = 5 log₁₀(d_L/Mpc) + 25

with S(I) = sinh(√Ω_k I)/√Ω_k, I or sin(√−Ω_k I)/√−Ω_k where Ω_k is positive, zero or negative. f is the log-likelihood
of the measured moduli, with normal errors. The fidelities are trapezoidal rules on grids of 10², 10⁴ and 10⁶ points.
"""

from __future__ import annotations

import math

import numpy as np

from mfopt.domains.box import Box
from mfopt.problems.benchmark import Benchmark
from mfopt.problems.data import SUPERNOVAE
from mfopt.problems.recorded import Recorded
from mfopt.protocols import Array

GRIDS = (100, 10_000, 1_000_000)
BEST = (13.840165261645241, 65.81820454530472, 0.32597066068282776, 0.8463658587641303)  # f and x, by local search
_LIGHT = 299_792.458  # c in km/s
_FLAT = 1e-8  # |Ω_k| below which S is the identity up to rounding


def supernova(data: str | None = None, record: str | None = None) -> Benchmark:
    """The problem with the data in the directory `data` and the file `record` of evaluations (recorded.py)."""
    table = np.loadtxt(SUPERNOVAE.find(data), delimiter=",", skiprows=1)
    return make_supernova(table, GRIDS, record)


def make_supernova(table: Array, grids: tuple[int, ...], record: str | None = None) -> Benchmark:
    """The problem for these rows (z, μ, σ), with a fidelity for each size of the grid."""
    functions = [
        Recorded(Likelihood(table, size), f"supernova {len(table)} {size}", m, record) for m, size in enumerate(grids)
    ]
    return Benchmark(
        name="supernova",
        functions=list(functions),
        domain=Box([(60.0, 80.0), (0.0, 1.0), (0.0, 1.0)], names=["H0", "omega_m", "omega_lambda"]),
        costs=[2e-3 + 2e-6 * size for size in grids],  # seconds, to begin with
        optimum=BEST[0],
        argmax=np.array(BEST[1:]),
        zetas=[None] * (len(grids) - 1) + [0.0],
        cost="total-time",
    )


class Likelihood:
    """The log-likelihood of rows (z, μ, σ), with integrals on a grid of `size` points."""

    def __init__(self, table: Array, size: int) -> None:
        self._z, self._modulus, self._sigma = table.T
        self._size = size

    def __call__(self, x: Array) -> float:
        """At x = (H₀, Ω_M, Ω_Λ)."""
        hubble, matter, energy = x.tolist()
        curvature = 1.0 - matter - energy
        integral = np.array([self._integrate(z, matter, curvature, energy) for z in self._z])
        distance = (1.0 + self._z) * _LIGHT / hubble * _bend(integral, curvature)
        error = (self._modulus - (5.0 * np.log10(distance) + 25.0)) / self._sigma
        return float(-0.5 * np.sum(error**2) - np.sum(np.log(self._sigma * math.sqrt(2.0 * math.pi))))

    def _integrate(self, z: float, matter: float, curvature: float, energy: float) -> float:
        """∫_0^z dz'/E(z'). E² ≥ (1 − Ω_Λ)(1 + z)² + Ω_Λ > 0 for all parameters in the box."""
        a = np.linspace(1.0, 1.0 + z, self._size)
        inverse = 1.0 / np.sqrt((matter * a + curvature) * a**2 + energy)
        step = z / (self._size - 1)
        return float(step * (inverse.sum() - 0.5 * (inverse[0] + inverse[-1])))


def _bend(integral: Array, curvature: float) -> Array:
    """S(I)."""
    root = math.sqrt(abs(curvature))
    if abs(curvature) < _FLAT:
        return integral
    return np.asarray((np.sinh if curvature > 0 else np.sin)(root * integral) / root)
