"""The paper's synthetic problems (appendix, "Description of Synthetic Experiments").

Optima, maximisers and the bounds ζ_m = ‖f⁽ᴹ⁾ − f⁽ᵐ⁾‖∞ were computed to about 12 digits by local optimisation from many
starts and are stored.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from mfopt.domains.box import Box
from mfopt.errors import InputError
from mfopt.problems.benchmark import Benchmark, Function, by_rows
from mfopt.protocols import Array


def _currin_formula(x1: Array, x2: Array) -> Array:
    # exp(−1/(2x₂)) → 0 as x₂ → 0⁺; it is 0 in float64 long before the division overflows.
    decay = np.exp(-0.5 / np.maximum(x2, 1e-300))
    top = 2300 * x1**3 + 1900 * x1**2 + 2092 * x1 + 60
    return (1 - decay) * top / (100 * x1**3 + 500 * x1**2 + 4 * x1 + 20)


@by_rows
def _currin(x: Array) -> Array:
    return _currin_formula(x[:, 0], x[:, 1])


@by_rows
def _currin_low(x: Array) -> Array:
    left, right = x[:, 0] - 0.05, x[:, 0] + 0.05
    down, up = np.maximum(0.0, x[:, 1] - 0.05), x[:, 1] + 0.05
    corners = (_currin_formula(a, b) for a in (right, left) for b in (up, down))
    return np.asarray(sum(corners) / 4)


@by_rows
def _negative_currin(x: Array) -> Array:
    return -_currin_formula(x[:, 0], x[:, 1])


@by_rows
def _park(x: Array) -> Array:
    x1, x2, x3, x4 = x.T
    # x₁/2·(√(1 + s/x₁²) − 1) = (√(x₁² + s) − x₁)/2 for x₁ > 0, and its limit at x₁ = 0.
    first = (np.sqrt(x1**2 + (x2 + x3**2) * x4) - x1) / 2
    return np.asarray(first + (x1 + 3 * x4) * np.exp(1 + np.sin(x3)))


@by_rows
def _park_low(x: Array) -> Array:
    x1, x2, x3, _ = x.T
    return np.asarray((1 + np.sin(x1) / 10) * _park(x) - 2 * x1**2 + x2**2 + x3**2 + 0.5)


def _borehole_formula(x: Array, factor: float, constant: float) -> Array:
    x1, x2, x3, x4, x5, x6, x7, x8 = x.T
    ratio = np.log(x2 / x1)
    return np.asarray(factor * x3 * (x4 - x6) / (ratio * (constant + x3 / x5) + 2 * x7 * x3 / (x1**2 * x8)))


@by_rows
def _borehole(x: Array) -> Array:
    return _borehole_formula(x, 2 * np.pi, 1.0)


@by_rows
def _borehole_low(x: Array) -> Array:
    return _borehole_formula(x, 5.0, 1.5)


_BOREHOLE_BOUNDS = [
    (0.05, 0.15),
    (100.0, 50_000.0),
    (63_070.0, 115_600.0),
    (990.0, 1110.0),
    (63.1, 116.0),
    (700.0, 820.0),
    (1120.0, 1680.0),
    (9855.0, 12_045.0),
]

_ALPHA = np.array([1.0, 1.2, 3.0, 3.2])
_DELTA = np.array([0.01, -0.01, -0.1, 0.1])
_A3 = np.array([[3, 10, 30], [0.1, 10, 35], [3, 10, 30], [0.1, 10, 35]])
_P3 = 1e-4 * np.array([[3689, 1170, 2673], [4699, 4387, 7470], [1091, 8732, 5547], [381, 5743, 8828]])
_A6 = np.array(
    [
        [10, 3, 17, 3.5, 1.7, 8],
        [0.05, 10, 17, 0.1, 8, 14],
        [3, 3.5, 1.7, 10, 17, 8],
        [17, 8, 0.05, 10, 0.1, 14],
    ]
)
_P6 = 1e-4 * np.array(
    [
        [1312, 1696, 5569, 124, 8283, 5886],
        [2329, 4135, 8307, 3736, 1004, 9991],
        [2348, 1451, 3522, 2883, 3047, 6650],
        [4047, 8828, 8732, 5743, 1091, 381],
    ]
)


def _hartmann(a: Array, p: Array, below: float) -> Function:
    """f⁽ᵐ⁾ with α⁽ᵐ⁾ = α + (M − m)δ; `below` is M − m."""
    alpha = _ALPHA + below * _DELTA

    @by_rows
    def hartmann(x: Array) -> Array:
        squares = (x[:, None, :] - p) ** 2
        return np.asarray(np.exp(-np.sum(a * squares, axis=2)) @ alpha)

    return hartmann


def _make_currin() -> Benchmark:
    return Benchmark(
        name="currin",
        functions=[_currin_low, _currin],
        domain=Box([(0.0, 1.0)] * 2),
        costs=[1.0, 10.0],
        optimum=13.798722044728438,
        argmax=np.array([0.21666666889419375, 0.0]),
        zetas=[0.9712258243901104, 0.0],
    )


def _make_bad_currin() -> Benchmark:
    good = _make_currin()
    return Benchmark(
        name="bad-currin",
        functions=[_negative_currin, _currin],
        domain=good.domain,
        costs=[1.0, 10.0],
        optimum=good.optimum,
        argmax=good.argmax,
        zetas=[2 * good.optimum, 0.0],
    )


def _make_park() -> Benchmark:
    return Benchmark(
        name="park",
        functions=[_park_low, _park],
        domain=Box([(0.0, 1.0)] * 4),
        costs=[1.0, 10.0],
        optimum=25.589254158606547,
        argmax=np.ones(4),
        zetas=[3.0908193505887738, 0.0],
    )


def _make_borehole() -> Benchmark:
    return Benchmark(
        name="borehole",
        functions=[_borehole_low, _borehole],
        domain=Box(_BOREHOLE_BOUNDS),
        costs=[1.0, 10.0],
        optimum=309.5755876604079,
        argmax=np.array([0.15, 100.0, 115_600.0, 1110.0, 116.0, 700.0, 1120.0, 12_045.0]),
        zetas=[63.2243325819081, 0.0],
    )


def _make_hartmann3() -> Benchmark:
    return Benchmark(
        name="hartmann3",
        functions=[_hartmann(_A3, _P3, below) for below in (2, 1, 0)],
        domain=Box([(0.0, 1.0)] * 3),
        costs=[1.0, 10.0, 100.0],
        optimum=3.862779787332663,
        argmax=np.array([0.11458888227384424, 0.5556488942797781, 0.8525469845361799]),
        zetas=[0.19896725924136405, 0.09948362962068247, 0.0],
    )


def _make_hartmann3_two() -> Benchmark:
    """The upper two of the three fidelities, for the study of γ."""
    three = _make_hartmann3()
    return replace(three, name="hartmann3-two", functions=three.functions[1:], costs=[1.0, 10.0], zetas=three.zetas[1:])


def _make_hartmann6(delta: float = 1.0) -> Benchmark:
    """With the paper's δ times `delta`; its authors' code has 0.1 δ."""
    if not (np.isfinite(delta) and delta > 0):
        raise InputError(f"delta must be positive and finite, got {delta}")
    return Benchmark(
        name="hartmann6",
        functions=[_hartmann(_A6, _P6, below * delta) for below in (3, 2, 1, 0)],
        domain=Box([(0.0, 1.0)] * 6),
        costs=[1.0, 10.0, 100.0, 1000.0],
        optimum=3.322368011415515,
        argmax=np.array(
            [
                0.2016895117866139,
                0.15001069229485886,
                0.4768739749547986,
                0.275332428875614,
                0.3116516166456775,
                0.6573005339362048,
            ]
        ),
        zetas=[zeta * delta for zeta in (0.29977509031407745, 0.19985006020938556, 0.09992503010469322, 0.0)],
    )


MAKERS: dict[str, Callable[..., Benchmark]] = {
    "currin": _make_currin,
    "park": _make_park,
    "borehole": _make_borehole,
    "hartmann3": _make_hartmann3,
    "hartmann6": _make_hartmann6,
    "bad-currin": _make_bad_currin,
    "hartmann3-two": _make_hartmann3_two,
}
