"""Problems with formulas: the paper's six, the families (benchmarks/families.py), and cheap fidelities that mislead."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import families
import numpy as np

import mfopt
from arena.problem import Params, Problem

Function = Callable[[np.ndarray], float]


def _of_points(
    name: str, box: mfopt.Box, functions: Sequence[Function], costs: Sequence[float], optimum: float
) -> Problem:
    def evaluate(params: Params, m: int) -> float:
        return float(functions[m](np.array([params[key] for key in box.names])))

    return Problem(name, box, evaluate, tuple(costs), optimum)


def paper(name: str) -> Problem:
    """One of the paper's synthetic problems."""
    one = mfopt.problems.get(name)
    return _of_points(name, one.domain, one.functions, one.costs, one.optimum)


def family(name: str) -> Problem:
    """One of the problems on which defaults were chosen; the mf2 package is not needed for those listed here."""
    number = int("".join(digit for digit in name if digit.isdigit()) or 0)
    if name.startswith("gp"):
        one = families.random_problem(number)
    elif name.startswith("misleading"):
        one = families.misleading_problem(number)
    else:
        (one,) = (problem for problem in families.textbook_problems() if problem.name == name)
    functions = [lambda x, f=f: float(np.asarray(f(x[None]))[0]) for f in one.functions]
    return _of_points(name, mfopt.Box(one.bounds), functions, one.costs, one.optimum)


FAMILIES = (
    *(f"gp{i}" for i in (1, 2, 3, 4, 7, 8, 9, 12, 13, 17, 18, 22, 23, 27, 28, 33)),
    *(f"misleading{i}" for i in (1, 2, 3)),
    *("levy3", "log-rosenbrock4", "rosenbrock2", "styblinski4", "michalewicz3", "log-goldstein", "shekel4"),
    *("quadratic8", "bump5"),
)


# --------------------------------------------------------------------------------- targets, to be maximised


def branin(x: np.ndarray) -> float:
    a, b = x
    return -((b - 5.1 / (4 * np.pi**2) * a**2 + 5 / np.pi * a - 6) ** 2 + 10 * (1 - 1 / (8 * np.pi)) * np.cos(a) + 10)


def rosenbrock(x: np.ndarray) -> float:
    return -float(np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2))


def ackley(x: np.ndarray) -> float:
    root, waves = np.sqrt(np.mean(x**2)), np.mean(np.cos(2 * np.pi * x))
    return float(20 * np.exp(-0.2 * root) + np.exp(waves) - 20 - np.e)


def griewank(x: np.ndarray) -> float:
    return -float(np.sum(x**2) / 4000 - np.prod(np.cos(x / np.sqrt(np.arange(1, len(x) + 1)))) + 1)


def forrester(x: np.ndarray) -> float:
    return -float((6 * x[0] - 2) ** 2 * np.sin(12 * x[0] - 4))


def zakharov(x: np.ndarray) -> float:
    s = 0.5 * np.sum(np.arange(1, len(x) + 1) * x)
    return -float(np.sum(x**2) + s**2 + s**4)


def levy(x: np.ndarray) -> float:
    w = 1 + (x - 1) / 4
    middle = np.sum((w[:-1] - 1) ** 2 * (1 + 10 * np.sin(np.pi * w[:-1] + 1) ** 2))
    last = (w[-1] - 1) ** 2 * (1 + np.sin(2 * np.pi * w[-1]) ** 2)
    return -float(np.sin(np.pi * w[0]) ** 2 + middle + last)


def camel(x: np.ndarray) -> float:
    a, b = x
    return -float((4 - 2.1 * a**2 + a**4 / 3) * a**2 + a * b + (-4 + 4 * b**2) * b**2)


def trid(x: np.ndarray) -> float:
    return -float(np.sum((x - 1) ** 2) - np.sum(x[1:] * x[:-1]))


# ----------------------------------------------------------------------------------------- how a cheap one is wrong


def scaled(f: Function, x: np.ndarray, factor: float, offset: float, tilt: float) -> float:
    """Another unit, another zero, and a slope that the target does not have."""
    return factor * f(x) + offset + tilt * float(x[0])


def moved(f: Function, x: np.ndarray, by: float) -> float:
    """The optimum lies elsewhere."""
    return f(x + by)


def noisy(f: Function, x: np.ndarray, deviation: float) -> float:
    """Every point has an error of its own, always the same."""
    digits = np.frombuffer(np.ascontiguousarray(x).tobytes(), dtype=np.uint32)
    return f(x) + deviation * float(np.random.default_rng(digits).standard_normal())


def far_only(f: Function, x: np.ndarray, centre: np.ndarray, width: float, depth: float) -> float:
    """Good far from the optimum, too low near it."""
    return f(x) - depth * float(np.exp(-np.sum(((x - centre) / width) ** 2)))


def near_only(f: Function, x: np.ndarray, centre: np.ndarray, width: float, rise: float) -> float:
    """Good near the optimum, ever higher away from it."""
    return f(x) + rise * float(1 - np.exp(-np.sum(((x - centre) / width) ** 2)))


def useless(x: np.ndarray) -> float:
    """Something else."""
    return float(np.sum(np.sin(7 * x + np.arange(len(x)))))


def negated(f: Function, x: np.ndarray) -> float:
    return -f(x)


def _misleading() -> dict[str, tuple[list[tuple[float, float]], list[Function], list[float], float]]:
    """Name: bounds, functions, costs, optimum."""
    one = np.array([-np.pi, 12.275])
    return {
        "branin-scaled": (
            [(-5, 10), (0, 15)],
            [partial(scaled, branin, factor=0.4, offset=30.0, tilt=3.0), branin],
            [1, 8],
            -0.397887357729738,
        ),
        "rosenbrock-biased": (
            [(-2, 2)] * 2,
            [lambda x: 0.6 * rosenbrock(x) + 40 * float(np.sin(3 * x[0]) - x[1]), rosenbrock],
            [1, 5],
            0.0,
        ),
        "levy-moved": (
            [(-6, 6)] * 4,
            [partial(moved, levy, by=0.8), partial(moved, levy, by=0.3), levy],
            [1, 4, 16],
            0.0,
        ),
        "ackley-noisy": ([(-4, 6)] * 3, [partial(noisy, ackley, deviation=1.0), ackley], [1, 20], 0.0),
        "branin-far-only": (
            [(-5, 10), (0, 15)],
            [partial(far_only, branin, centre=one, width=4.0, depth=60.0), branin],
            [1, 10],
            -0.397887357729738,
        ),
        "camel-near-only": (
            [(-2, 2), (-1, 1)],
            [partial(near_only, camel, centre=np.array([0.0898, -0.7126]), width=0.7, rise=4.0), camel],
            [1, 10],
            1.031628453489877,
        ),
        "griewank-useless": ([(-8, 6)] * 5, [useless, griewank], [1, 10], 0.0),
        "zakharov-negated": ([(-3, 4)] * 3, [partial(negated, zakharov), zakharov], [1, 10], 0.0),
        "forrester-tilted": (
            [(0, 1)],
            [lambda x: 0.5 * forrester(x) - 10 * (x[0] - 0.5) + 5, forrester],
            [1, 1000],
            6.020740055767083,
        ),
        "trid-four": (
            [(-16, 16)] * 4,
            [
                partial(scaled, trid, factor=1.6, offset=-50.0, tilt=-4.0),
                partial(moved, trid, by=1.0),
                partial(noisy, trid, deviation=6.0),
                trid,
            ],
            [1, 2, 4, 8],
            16.0,
        ),
        "levy-ten": (
            [(-5, 5)] * 10,
            [lambda x: levy(0.9 * x + 0.2) + 3 * float(np.cos(x[0])), levy],
            [1, 50],
            0.0,
        ),
        "ackley-moved-six": (
            [(-3, 5)] * 6,
            [partial(moved, ackley, by=1.2), partial(moved, ackley, by=0.4), ackley],
            [1, 10, 100],
            0.0,
        ),
        "rosenbrock-close": ([(-1.5, 2)] * 3, [partial(moved, rosenbrock, by=0.02), rosenbrock], [1, 2], 0.0),
    }


def misleading(name: str) -> Problem:
    """A problem whose cheap fidelity is wrong in the way that its name says."""
    bounds, functions, costs, optimum = _misleading()[name]
    return _of_points(name, mfopt.Box(bounds), functions, [float(cost) for cost in costs], optimum)


MISLEADING = tuple(_misleading())
