"""Settings of mf-gp-ucb on families of problems that are none of the six of the paper (benchmarks/experiments.md).

    python families.py before --seeds 2            # run all problems with the defaults; kept in results/families/
    python families.py wide --seeds 2 --options '{"beta_factor": 0.5}'
    python families.py --compare before wide       # paired differences of log10 simple regret

Families: random functions from Gaussian processes with cheap fidelities of different closeness, number and price; the
same with a cheap fidelity that is the negative of the target or has nothing to do with it; textbook functions with
shifted, scaled and disturbed versions; functions of the mf2 package (`pip install mf2`). Regret is relative to the
distance of the maximum from the median of the function, and is floored at 1e-9.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from scipy.optimize import minimize

import mfopt
from mfopt_plugins.strategies.mf_gp_ucb import MFGPUCB

CAPITALS = (10, 20, 50)  # λ_M at which the regret is read; the last is the capital of a run
RESULTS = Path(__file__).parent / "results" / "families"
FLOOR = 1e-9
Function = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Problem:
    name: str
    functions: list[Function]
    costs: list[float]
    bounds: list[tuple[float, float]]
    optimum: float
    scale: float


def problem(name: str, functions: list[Function], costs: list[float], bounds: list[tuple[float, float]]) -> Problem:
    """With the optimum by L-BFGS-B from the best of 20,000 points."""
    low, high = np.array(bounds).T
    points = low + (high - low) * np.random.default_rng(12345).random((20_000, len(bounds)))
    values = functions[-1](points)
    best = float(values.max())
    for start in points[np.argsort(-values)[:12]]:
        found = minimize(
            lambda x: -float(functions[-1](x[None])[0]),
            start,
            bounds=bounds,
            method="L-BFGS-B",
            options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 300},
        )
        best = max(best, -float(found.fun))
    return Problem(name, functions, costs, bounds, best, best - float(np.median(values)))


def process(rng: np.random.Generator, lengthscale: np.ndarray, nu: float | None, features: int = 1000) -> Function:
    """A random function of a Gaussian process, SE or Matérn, by random Fourier features."""
    frequencies = rng.standard_normal((features, len(lengthscale))) / lengthscale
    if nu is not None:
        frequencies *= np.sqrt(2 * nu / rng.chisquare(2 * nu, size=(features, 1)))
    phases = rng.uniform(0, 2 * np.pi, features)
    weights = rng.standard_normal(features) * np.sqrt(2 / features)
    return lambda x: np.cos(np.atleast_2d(x) @ frequencies.T + phases) @ weights


def random_problem(i: int) -> Problem:
    rng = np.random.default_rng([77, i])
    dim = (1, 2, 3, 4, 6)[i % 5]
    count = 2 + int(rng.integers(0, 3) > 0 and i % 2) + int(i % 7 == 0)
    ratio = (5, 10, 30, 100)[int(rng.integers(4))]
    if ratio ** (count - 1) > 1000:
        ratio = 10
    lengthscale = (0.15 + 0.2 * rng.random(dim)) * np.sqrt(dim)
    nu = (None, 2.5)[int(rng.integers(2))]
    target = process(rng, lengthscale, nu)
    apart = (0.01, 0.05, 0.2, 0.6)[int(rng.integers(4))]
    steps = [process(rng, lengthscale * rng.uniform(0.5, 1.2), nu) for _ in range(count - 1)]

    def fidelity(m: int, x: np.ndarray) -> np.ndarray:
        return target(x) + apart * sum((step(x) for step in steps[m:]), np.zeros(len(np.atleast_2d(x))))

    functions = [partial(fidelity, m) for m in range(count)]
    return problem(f"gp{i}", functions, [float(ratio) ** m for m in range(count)], [(0.0, 1.0)] * dim)


def misleading_problem(i: int) -> Problem:
    rng = np.random.default_rng([78, i])
    dim = (1, 2, 3, 4)[i % 4]
    lengthscale = (0.2 + 0.2 * rng.random(dim)) * np.sqrt(dim)
    target, other = process(rng, lengthscale, None), process(rng, lengthscale, None)
    cheap = (lambda x: -target(x)) if i % 2 else other
    return problem(f"misleading{i}", [cheap, target], [1.0, 10.0], [(0.0, 1.0)] * dim)


def textbook_problems() -> list[Problem]:
    def levy(x):
        w = 1 + (x - 1) / 4
        middle = ((w[:, :-1] - 1) ** 2 * (1 + 10 * np.sin(np.pi * w[:, :-1] + 1) ** 2)).sum(1)
        end = (w[:, -1] - 1) ** 2 * (1 + np.sin(2 * np.pi * w[:, -1]) ** 2)
        return -(np.sin(np.pi * w[:, 0]) ** 2 + middle + end)

    def rosenbrock(x):
        return -(100 * (x[:, 1:] - x[:, :-1] ** 2) ** 2 + (1 - x[:, :-1]) ** 2).sum(1)

    def log_rosenbrock(x):
        return -np.log1p(-rosenbrock(x))

    def styblinski(x):
        return -0.5 * (x**4 - 16 * x**2 + 5 * x).sum(1)

    def michalewicz(x):
        return (np.sin(x) * np.sin(np.arange(1, x.shape[1] + 1) * x**2 / np.pi) ** 4).sum(1)

    def goldstein(u):
        x, y = u[:, 0] * 4 - 2, u[:, 1] * 4 - 2
        a = 1 + (x + y + 1) ** 2 * (19 - 14 * x + 3 * x * x - 14 * y + 6 * x * y + 3 * y * y)
        b = 30 + (2 * x - 3 * y) ** 2 * (18 - 32 * x + 12 * x * x + 48 * y - 36 * x * y + 27 * y * y)
        return -np.log(a * b)

    def shekel(x):
        centres = np.array([[4, 4, 4, 4], [1, 1, 1, 1], [8, 8, 8, 8], [6, 6, 6, 6], [3, 7, 3, 7]])
        widths = np.array([0.1, 0.2, 0.2, 0.4, 0.4])
        return sum(1 / (((x - c) ** 2).sum(1) + b + 0.3) for c, b in zip(centres, widths, strict=True))

    def quadratic(x):
        return -((x - 0.3) ** 2 * np.arange(1, x.shape[1] + 1)).sum(1)

    def bump(x):
        return np.exp(-((x - 0.55) ** 2).sum(1) * 3) + 0.2 * x[:, 0]

    return [
        problem("levy3", [lambda x: levy(x + 0.3) - 0.5, levy], [1.0, 10.0], [(-5.0, 5.0)] * 3),
        problem(
            "log-rosenbrock4",
            [lambda x: 0.8 * log_rosenbrock(x * 0.95) - 0.3, log_rosenbrock],
            [1.0, 20.0],
            [(-2.0, 2.0)] * 4,
        ),
        problem(
            "rosenbrock2", [lambda x: 0.9 * rosenbrock(x) + 20 * x[:, 0], rosenbrock], [1.0, 10.0], [(-1.5, 1.5)] * 2
        ),
        problem(
            "styblinski4",
            [
                lambda x: 0.7 * styblinski(x) + 5 * np.cos(3 * x).sum(1),
                lambda x: 0.9 * styblinski(x) + 2 * np.cos(3 * x).sum(1),
                styblinski,
            ],
            [1.0, 10.0, 100.0],
            [(-4.0, 4.0)] * 4,
        ),
        problem("michalewicz3", [lambda x: michalewicz(x * 0.97) + 0.05, michalewicz], [1.0, 10.0], [(0.0, np.pi)] * 3),
        problem(
            "log-goldstein",
            [lambda x: goldstein(x + 0.02) + 0.3 * np.sin(10 * x).sum(1), goldstein],
            [1.0, 50.0],
            [(0.0, 1.0)] * 2,
        ),
        problem(
            "shekel4",
            [lambda x: shekel(x + 0.3) + 0.1, lambda x: shekel(x + 0.1) + 0.05, shekel],
            [1.0, 10.0, 100.0],
            [(0.0, 10.0)] * 4,
        ),
        problem(
            "quadratic8",
            [lambda x: quadratic(x + 0.05) + 0.1 * np.sin(5 * x).sum(1), quadratic],
            [1.0, 10.0],
            [(0.0, 1.0)] * 8,
        ),
        problem("bump5", [lambda x: np.exp(-((x - 0.6) ** 2).sum(1) * 3), bump], [1.0, 10.0], [(0.0, 1.0)] * 5),
    ]


def mf2_problems() -> list[Problem]:
    import mf2

    def negated(function: Function) -> Function:
        return lambda x: -np.asarray(function(np.atleast_2d(x))).reshape(-1)

    found = []
    for name in ("bohachevsky", "branin", "himmelblau", "six_hump_camelback"):
        function = getattr(mf2, name)
        bounds = list(zip(map(float, function.l_bound), map(float, function.u_bound), strict=True))
        found.append(problem(name, [negated(function.low), negated(function.high)], [1.0, 10.0], bounds))
    return found


def problems() -> list[Problem]:
    """Those on which settings differ: random functions that every setting solves at once are left out."""
    random = [random_problem(i) for i in (1, 2, 3, 4, 7, 8, 9, 12, 13, 17, 18, 22, 23, 27, 28, 33)]
    return random + [misleading_problem(i) for i in (1, 2, 3)] + textbook_problems() + mf2_problems()


def regrets(one: Problem, options: dict[str, object], surrogate: str | None, seed: int) -> list[float]:
    price, strategy = one.costs[-1], MFGPUCB(**options)
    optimizer = mfopt.Optimizer(
        one.bounds, one.costs, capital=CAPITALS[-1] * price, strategy=strategy, surrogate=surrogate, rng=seed
    )
    functions = [lambda x, f=f: float(f(x[None])[0]) for f in one.functions]
    mfopt.loop.run(optimizer, functions, progress=False)
    capital, regret = mfopt.regret.simple_regret(optimizer.history, one.optimum, function=functions[-1])
    reached = np.searchsorted(capital, np.array(CAPITALS) * price * (1 + 1e-9), side="right") - 1
    return [float(regret[i]) / one.scale if i >= 0 else np.inf for i in reached]


def compare(first: str, other: str) -> None:
    a, b = (json.loads((RESULTS / f"{label}.json").read_text()) for label in (first, other))
    both = sorted(set(a) & set(b))
    logs = [np.log10(np.clip([runs[key] for key in both], FLOOR, 10.0)) for runs in (a, b)]
    difference = logs[1] - logs[0]
    error = difference.std(axis=0) / np.sqrt(len(both))
    print(f"{other} against {first}, {len(both)} runs, log10 of relative simple regret at {CAPITALS} λ_M")
    print("  mean difference ", np.round(difference.mean(axis=0), 2), "±", np.round(error, 2))
    print("  better, worse   ", (difference < -0.1).sum(axis=0), (difference > 0.1).sum(axis=0), "(by more than 0.1)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("label", nargs="?", help="name of the setting; its results are results/families/LABEL.json")
    parser.add_argument("--seeds", type=int, default=2, help="runs of each problem (default: %(default)s)")
    parser.add_argument("--options", type=json.loads, default={}, help="of MFGPUCB, as JSON")
    parser.add_argument("--compare", nargs=2, metavar=("FIRST", "OTHER"))
    arguments = parser.parse_args()
    if arguments.compare:
        compare(*arguments.compare)
        return
    if arguments.label is None:
        parser.error("a label or --compare is needed")
    found = {}
    for one in problems():
        for seed in range(arguments.seeds):
            found[f"{one.name} {seed}"] = regrets(one, arguments.options, None, seed)
            print(one.name, seed, *(f"{r:.1e}" for r in found[f"{one.name} {seed}"]), flush=True)
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / f"{arguments.label}.json").write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
