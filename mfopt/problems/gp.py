"""Problems drawn at random: functions from Gaussian processes that lie within ζ of each other.

    gp_sample   the paper's generative process (section "The Generative Process"), for few dimensions
    gp_scaled   a relative of it that works in any dimension and for any ζ

A draw depends on its arguments alone. The optimum and ζ are computed by ascents from many starts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from mfopt.checks import integer, one_each, real_number
from mfopt.domains.box import Box
from mfopt.errors import InputError
from mfopt.problems._search import maximum
from mfopt.problems.benchmark import Benchmark, Function, by_rows
from mfopt.protocols import Array

Kernel = Callable[[Array, Array], Array]
_ORDERS = {"se": None, "matern12": 0.5, "matern32": 1.5, "matern52": 2.5}
_FEATURES = 600
_NEGLIGIBLE = 1e-8  # of the variance


def gp_sample(
    dim: int = 2,
    fidelities: int = 2,
    zeta: float = 0.5,
    kernel: str | Kernel = "se",
    lengthscale: float = 0.3,
    seed: int = 0,
    zetas: Sequence[float] | None = None,
) -> Benchmark:
    """f⁽¹⁾..f⁽ᴹ⁾ ~ GP(0, κ) on [0, 1]^dim, given that ‖f⁽ᴹ⁾ − f⁽ᵐ⁾‖∞ ≤ ζ_m on a grid of a few thousand points.

    kernel   "se", "matern12", "matern32" or "matern52", with κ(x, x) = 1 and this length-scale; or any stationary κ
             as a function of rows a (n, dim) and b (q, dim), which has its own scales
    zeta     ζ_m = (M − m) ζ, as in the paper's experiments; or give ζ_1 .. ζ_{M−1} as `zetas`

    Costs are 1, 10, 100, … Draws are exact (mfopt.theory.sample_fidelities) and become rare where the kernel is rough
    compared with ζ: then a SamplingError says so. Between the points of the grid a draw is its own interpolant.
    """
    bounds = _bounds(dim, fidelities, zeta, zetas)
    lengthscale = _as_positive(lengthscale, "lengthscale")
    return _draw_sample(dim, bounds, kernel if callable(kernel) else _find_order(kernel), lengthscale, _as_seed(seed))


def gp_scaled(
    dim: int = 4,
    fidelities: int = 2,
    zeta: float = 0.5,
    kernel: str = "se",
    lengthscale: float = 0.3,
    seed: int = 0,
    zetas: Sequence[float] | None = None,
    difference: float = 1.0,
) -> Benchmark:
    """f⁽ᴹ⁾ and differences g_m from GPs in any dimension, f⁽ᵐ⁾ = f⁽ᴹ⁾ + ζ_m g_m/‖g_m‖∞.

    Arguments as for gp_sample; `difference` is the length-scale of g_m as a multiple of that of f⁽ᴹ⁾. Not the paper's
    process: ζ_m is always reached here. The processes are sums of 600 random Fourier features.
    """
    bounds = _bounds(dim, fidelities, zeta, zetas)
    lengthscale, difference = _as_positive(lengthscale, "lengthscale"), _as_positive(difference, "difference")
    return _draw_scaled(dim, bounds, _find_order(kernel), lengthscale, lengthscale * difference, _as_seed(seed))


@lru_cache(maxsize=8)
def _draw_sample(
    dim: int, zetas: tuple[float, ...], kernel: Kernel | float | None, lengthscale: float, seed: int
) -> Benchmark:
    from scipy.linalg import solve_triangular  # slow to import

    from mfopt import theory
    from mfopt.theory.kernels import factor

    kappa: Kernel
    if callable(kernel):
        kappa = kernel
    else:
        kappa = theory.squared_exponential(lengthscale) if kernel is None else theory.matern(kernel, lengthscale)
    rng = np.random.default_rng([seed, dim])
    side = {1: 500, 2: 40}.get(dim)
    points = rng.random((2500, dim)) if side is None else _grid(side, dim)
    values = theory.sample_fidelities(kappa, points, zetas, rng, proposals=20_000)[0]
    # f⁽ᵐ⁾ = Φ z_m; the factor's last columns, which add next to nothing, would make the solves below inaccurate.
    basis = factor(kappa, points, _NEGLIGIBLE)
    pivots = points[basis.pivots]
    triangle = basis.phi[basis.pivots]
    z = solve_triangular(triangle, values[:, basis.pivots].T, lower=True)

    def function(m: int) -> Function:
        @by_rows
        def value(x: Array) -> Array:
            return np.asarray(solve_triangular(triangle, kappa(pivots, x), lower=True).T @ z[:, m])

        return value

    functions = [function(m) for m in range(len(zetas) + 1)]
    found = [_norm(_sum(functions[-1], function, -1.0), dim) for function in functions[:-1]]
    return _benchmark("gp-sample", functions, dim, found)


@lru_cache(maxsize=8)
def _draw_scaled(
    dim: int, zetas: tuple[float, ...], nu: float | None, lengthscale: float, other: float, seed: int
) -> Benchmark:
    rng = np.random.default_rng([seed, dim])
    target = _features(dim, nu, lengthscale, rng)
    functions = []
    for zeta in zetas:
        gap = _features(dim, nu, other, rng)
        functions.append(_sum(target, gap, zeta / _norm(gap, dim)))
    return _benchmark("gp-scaled", [*functions, target], dim, zetas)


def _features(dim: int, nu: float | None, lengthscale: float, rng: np.random.Generator) -> Function:
    """√(2/R) Σ a_i cos(ω_iᵀx + b_i): a Gaussian process with the kernel as R grows; ω has the kernel's spectrum."""
    omega = rng.standard_normal((dim, _FEATURES)) / lengthscale
    if nu is not None:
        omega /= np.sqrt(rng.chisquare(2 * nu, _FEATURES) / (2 * nu))  # the Matérn spectrum is Student's t
    phase = rng.uniform(0, 2 * np.pi, _FEATURES)
    weights = rng.standard_normal(_FEATURES) * np.sqrt(2 / _FEATURES)
    return by_rows(lambda x: np.asarray(np.cos(x @ omega + phase) @ weights))


def _sum(target: Function, gap: Function, factor: float) -> Function:
    return by_rows(lambda x: target(x) + factor * gap(x))


def _benchmark(name: str, functions: list[Function], dim: int, zetas: Sequence[float]) -> Benchmark:
    argmax, _ = maximum(functions[-1], dim, 12 * dim)
    optimum = float(functions[-1](argmax))
    costs = [10.0**m for m in range(len(functions))]
    return Benchmark(name, functions, Box([(0.0, 1.0)] * dim), costs, optimum, argmax, [*zetas, 0.0])


def _norm(function: Function, dim: int) -> float:
    """‖function‖∞ on the cube."""
    return maximum(lambda x: np.abs(function(x)), dim, 6 * dim)[1]


def _grid(side: int, dim: int) -> Array:
    return np.array(np.meshgrid(*[np.linspace(0, 1, side)] * dim)).reshape(dim, -1).T.copy()


def _bounds(dim: int, fidelities: int, zeta: float, zetas: Sequence[float] | None) -> tuple[float, ...]:
    if integer(dim, "dim") < 1:
        raise InputError(f"dim must be at least 1, got {dim}")
    if integer(fidelities, "fidelities") < 2:
        raise InputError(f"fidelities must be at least 2, got {fidelities}")
    if zetas is not None:
        each = one_each(zetas, fidelities - 1, "zetas, one per cheap fidelity,")
        return tuple(_as_positive(one, "zetas") for one in each)
    return tuple(below * _as_positive(zeta, "zeta") for below in range(fidelities - 1, 0, -1))


def _find_order(kernel: str) -> float | None:
    if kernel not in _ORDERS:
        raise InputError(f"kernel must be one of {', '.join(_ORDERS)}, got {kernel!r}")
    return _ORDERS[kernel]


def _as_positive(value: float, what: str) -> float:
    number = real_number(value, what)
    if number <= 0:
        raise InputError(f"{what} must be positive, got {number}")
    return number


def _as_seed(seed: int) -> int:
    if integer(seed, "seed") < 0:
        raise InputError(f"seed must not be negative, got {seed}")
    return seed
