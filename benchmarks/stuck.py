"""One fidelity, functions with several maxima: is any seed stuck in a lesser one? (make stuck)

    python stuck.py                     # 20 seeds of every method on every problem; about 5 minutes
    python stuck.py --problems Forrester,Branin   # the others keep what is known of them
    python stuck.py --seeds 700-709 --methods gp-ucb    # look only

A seed counts as stuck if it ends worse than the median of random search with as many evaluations: of 2,000 searches,
since that of 20 differs by a factor of two from one set of seeds to the next. All functions are maximised; mf-gp-ucb
with one fidelity is gp-ucb. What was found is kept in stuck.json and written into RESULTS.md, problem by problem.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from numpy import cos, exp, log, pi, sin, sqrt

import mfopt
from tools.pages import ROOT, write_section

FILE = Path(__file__).with_suffix(".json")
METHODS = ("gp-ucb", "gp-pi")
SEEDS = "680-699"
SEARCHES = 2000  # at random
SHEKEL_A = np.array([[4, 4, 4, 4], [1, 1, 1, 1], [8, 8, 8, 8], [6, 6, 6, 6], [3, 7, 3, 7]], dtype=float)
SHEKEL_C = np.array([0.1, 0.2, 0.2, 0.4, 0.4])


class Problem(NamedTuple):
    """A function to be maximised over a box, its maximum, and how often it is evaluated."""

    function: Callable[[np.ndarray], float]
    bounds: list[tuple[float, float]]
    optimum: float
    evaluations: int


def branin(x: np.ndarray) -> float:
    a, b = x
    return -float((b - 5.1 / (4 * pi**2) * a**2 + 5 / pi * a - 6) ** 2 + 10 * (1 - 1 / (8 * pi)) * cos(a) + 10)


def styblinski_tang(x: np.ndarray) -> float:
    return -0.5 * float((x**4 - 16 * x**2 + 5 * x).sum())


def camel(x: np.ndarray) -> float:
    a, b = x**2
    return -float((4 - 2.1 * a + a**2 / 3) * a + x[0] * x[1] + (4 * b - 4) * b)


def shekel(x: np.ndarray) -> float:
    return float((1 / (((x - SHEKEL_A) ** 2).sum(axis=1) + SHEKEL_C)).sum())


def levy(x: np.ndarray) -> float:
    w = 1 + (x - 1) / 4
    middle = ((w[:-1] - 1) ** 2 * (1 + 10 * sin(pi * w[:-1] + 1) ** 2)).sum()
    return -float(sin(pi * w[0]) ** 2 + middle + (w[-1] - 1) ** 2 * (1 + sin(2 * pi * w[-1]) ** 2))


def log_goldstein_price(x: np.ndarray) -> float:
    a, b = x
    one = 1 + (a + b + 1) ** 2 * (19 - 14 * a + 3 * a**2 - 14 * b + 6 * a * b + 3 * b**2)
    two = 30 + (2 * a - 3 * b) ** 2 * (18 - 32 * a + 12 * a**2 + 48 * b - 36 * a * b + 27 * b**2)
    return -float(log(one * two))


def ackley(x: np.ndarray) -> float:
    return float(20 * exp(-0.2 * sqrt((x**2).mean())) + exp(cos(2 * pi * x).mean()) - 20 - np.e)


PROBLEMS = {
    "Forrester": Problem(lambda x: -float((6 * x[0] - 2) ** 2 * sin(12 * x[0] - 4)), [(0, 1)], 6.020740055766, 30),
    "Styblinski–Tang": Problem(styblinski_tang, [(-5, 5)] * 2, 78.332331408, 50),
    "Gramacy–Lee": Problem(
        lambda x: -float(sin(10 * pi * x[0]) / (2 * x[0]) + (x[0] - 1) ** 4), [(0.5, 2.5)], 0.869011134989, 30
    ),
    "Rastrigin": Problem(lambda x: -float((x**2 - 10 * cos(2 * pi * x) + 10).sum()), [(-2.0, 2.6)] * 2, 0.0, 60),
    "Ackley": Problem(ackley, [(-8, 12)] * 2, 0.0, 50),
    "Branin": Problem(branin, [(-5, 10), (0, 15)], -0.397887357730, 50),
    "six-hump camel": Problem(camel, [(-2, 2), (-1, 1)], 1.031628453490, 50),
    "Levy": Problem(levy, [(-10, 10)] * 3, 0.0, 70),
    "Schwefel": Problem(lambda x: float((x * sin(sqrt(abs(x)))).sum()), [(-500, 500)] * 2, 837.965774544, 60),
    "log Goldstein–Price": Problem(log_goldstein_price, [(-2, 2)] * 2, -log(3.0), 50),
    "Shekel": Problem(shekel, [(0, 10)] * 4, 10.1531997, 80),
    "Hölder table": Problem(
        lambda x: float(abs(sin(x[0]) * cos(x[1]) * exp(abs(1 - sqrt((x**2).sum()) / pi)))),
        [(-10, 10)] * 2,
        19.208502567886,
        60,
    ),
}  # fmt: skip


def run(problem: Problem, method: str, seed: int) -> float:
    """The simple regret after all evaluations."""
    opt = mfopt.Optimizer(problem.bounds, [1.0], strategy=method, capital=problem.evaluations, rng=seed)
    while not opt.done:
        trial = opt.ask()
        opt.tell(trial, problem.function(trial.x))
    assert opt.best is not None
    return max(problem.optimum - opt.best.y, 0.0)


def search_at_random(problem: Problem) -> float:
    """The median of the simple regrets of many random searches."""
    rng = np.random.default_rng(0)
    low, high = np.array(problem.bounds, dtype=float).T
    points = low + (high - low) * rng.random((SEARCHES, problem.evaluations, len(low)))
    return float(np.median([problem.optimum - max(map(problem.function, search)) for search in points]))


def table(regrets: dict[str, dict[str, list[float]]], methods: list[str]) -> str:
    """Per problem the median of random, and per method its median, its worst seed and how many are stuck."""
    lines = ["| problem | d | evaluations | random, median | " + " | ".join(methods) + " |"]
    lines.append("|---" * (4 + len(methods)) + "|")
    for name, found in regrets.items():
        problem, limit = PROBLEMS[name], found["random"][0]
        cells = []
        for method in methods:
            values = np.array(found[method])
            cells.append(f"{np.median(values):.1e}, worst {values.max():.1e}, stuck {int((values > limit).sum())}")
        lines.append(
            f"| {name} | {len(problem.bounds)} | {problem.evaluations} | {limit:.1e} | " + " | ".join(cells) + " |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", default=SEEDS, help="first-last")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--problems", default=",".join(PROBLEMS))
    arguments = parser.parse_args()
    methods = arguments.methods.split(",")
    first, last = map(int, arguments.seeds.split("-"))
    kept = (arguments.seeds, tuple(methods)) == (SEEDS, METHODS)  # anything else is for looking at
    for name in arguments.problems.split(","):
        found = {"random": [search_at_random(PROBLEMS[name])]}
        found |= {method: [run(PROBLEMS[name], method, seed) for seed in range(first, last + 1)] for method in methods}
        print(table({name: found}, methods).splitlines()[-1], flush=True)
        if kept:
            keep(name, found)


def keep(name: str, found: dict[str, list[float]]) -> None:
    """Write what was found of one problem beside what is known of the others."""
    regrets = json.loads(FILE.read_text()) if FILE.exists() else {}
    regrets[name] = found
    regrets = {known: regrets[known] for known in PROBLEMS if known in regrets}
    FILE.write_text(json.dumps(regrets, indent=1) + "\n")
    made = (
        f"mfopt {mfopt.__version__}, `make stuck`: simple regret of seeds {SEEDS}, {len(regrets)} of {len(PROBLEMS)}"
        f" problems; stuck: worse than the median of {SEARCHES} random searches."
    )
    write_section(ROOT / "benchmarks" / "RESULTS.md", "stuck", f"{made}\n\n{table(regrets, list(METHODS))}")


if __name__ == "__main__":
    main()
