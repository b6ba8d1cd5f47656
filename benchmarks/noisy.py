"""Noisy functions: how good is the point that a method recommends? (make noisy)

    python noisy.py --seeds 0-9            # every method on every problem and noise; kept in noisy.json and RESULTS.md
    python noisy.py --seeds 100-104 --methods gp-ei --problems waves --show   # look only
    python noisy.py --seeds 0-9 --peers    # the same for Optuna and scikit-optimize, in an environment that has them

The standard deviation of the noise is 1 %, 10 % and 50 % of the range of the target, unknown to the methods, the same
at every fidelity. A run has the capital for QUERIES target queries. Its regret is f* − f(x), in units of the range, at
the point x that the method recommends: Optimizer.recommend(), for scikit-optimize expected_minimum(), and for Optuna,
which has no such answer, the best trial.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from scipy.optimize import minimize

FILE = Path(__file__).with_suffix(".json")
LEVELS = (0.01, 0.1, 0.5)  # standard deviation of the noise, in units of the range
METHODS = ("mf-gp-ucb", "gp-ucb", "gp-ei", "random")
PEERS = ("optuna TPE", "optuna GP", "skopt GP")
QUERIES = 20  # capital in target queries
Function = Callable[[np.ndarray], np.ndarray]


class Problem(NamedTuple):
    """Functions of the rows of x in [0, 1]^d, from cheap to the target, and their costs."""

    dim: int
    functions: Sequence[Function]
    costs: Sequence[float]


def waves(x: np.ndarray) -> np.ndarray:
    z = 2.7 + 4.8 * x[:, 0]
    return -np.sin(z) - np.sin(10 * z / 3)


def damped(x: np.ndarray) -> np.ndarray:
    return np.exp(-1.4 * x[:, 0]) * np.cos(3.5 * np.pi * x[:, 0] - 2.0)


def mccormick(x: np.ndarray) -> np.ndarray:
    a, b = -1.5 + 5.5 * x[:, 0], -3 + 7 * x[:, 1]
    return -(np.sin(a + b) + (a - b) ** 2 - 1.5 * a + 2.5 * b)


def saddle(x: np.ndarray) -> np.ndarray:
    z = 4 * x - 2
    return -(0.2 * (z**2).sum(axis=1) + 1.5 * np.cos(2 * z[:, 0]) * np.sin(1.5 * z[:, 1] + 0.5) + 0.3 * z[:, 2])


def friedman(x: np.ndarray) -> np.ndarray:
    return 10 * np.sin(np.pi * x[:, 0] * x[:, 1]) - 20 * (x[:, 2] - 0.5) ** 2 + 10 * x[:, 3] * (1 - x[:, 3])


def hills(x: np.ndarray) -> np.ndarray:
    return 2 * np.exp(-2 * ((x - 0.3) ** 2).sum(axis=1)) + 1.5 * np.exp(-2 * ((x - 0.8) ** 2).sum(axis=1))


PROBLEMS = {
    "waves": Problem(1, [waves], [1.0]),
    "damped": Problem(1, [lambda x: 0.8 * damped(x) + 0.2 * x[:, 0], damped], [1.0, 5.0]),
    "McCormick": Problem(2, [mccormick], [1.0]),
    "McCormick, 2": Problem(2, [lambda x: mccormick(0.95 * x + 0.03) + 3 * x[:, 0], mccormick], [1.0, 8.0]),
    "saddle, 3": Problem(
        3, [lambda x: saddle(x) + 0.8 * x[:, 0], lambda x: saddle(x) + 0.3 * x[:, 1], saddle], [1.0, 4.0, 16.0]
    ),
    "Friedman, 2": Problem(4, [lambda x: 9 * friedman(x) / 10 + 2 * x[:, 1], friedman], [1.0, 6.0]),
    "hills, 3": Problem(
        6, [lambda x: hills(x) + 0.4 * x[:, 0], lambda x: hills(x) + 0.1 * x[:, 0], hills], [1.0, 4.0, 16.0]
    ),
}


@cache
def facts(name: str) -> tuple[float, float]:
    """The maximum of the target, and its range."""
    problem = PROBLEMS[name]
    target = problem.functions[-1]
    points = np.random.default_rng(0).random((20_000, problem.dim))
    values = target(points)
    best = float(values.max())
    for start in points[np.argsort(-values)[:10]]:
        found = minimize(lambda x: -float(target(x[None])[0]), start, bounds=[(0, 1)] * problem.dim, tol=1e-12)
        best = max(best, -float(found.fun))
    return best, best - float(values.min())


def run(name: str, level: float, method: str, seed: int) -> float:
    """The regret of the recommended point."""
    problem, (best, width) = PROBLEMS[name], facts(name)
    rng = np.random.default_rng([seed, 17])

    def evaluate(x: np.ndarray, m: int) -> float:
        return float(problem.functions[m](x[None])[0]) + level * width * rng.standard_normal()

    recommend = {"optuna": recommend_by_optuna, "skopt": recommend_by_skopt}.get(method.split()[0], recommend_by_mfopt)
    x = recommend(problem, evaluate, method, seed)
    return (best - float(problem.functions[-1](x[None])[0])) / width


def recommend_by_mfopt(
    problem: Problem, evaluate: Callable[[np.ndarray, int], float], method: str, seed: int
) -> np.ndarray:
    import mfopt

    capital = QUERIES * problem.costs[-1]
    opt = mfopt.Optimizer([(0, 1)] * problem.dim, problem.costs, strategy=method, capital=capital, rng=seed)
    while not opt.done:
        trial = opt.ask()
        opt.tell(trial, evaluate(trial.x, trial.fidelity))
    return opt.recommend().x


def recommend_by_optuna(
    problem: Problem, evaluate: Callable[[np.ndarray, int], float], method: str, seed: int
) -> np.ndarray:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    samplers = {"optuna TPE": optuna.samplers.TPESampler, "optuna GP": optuna.samplers.GPSampler}
    study = optuna.create_study(direction="maximize", sampler=samplers[method](seed=seed))
    top, names = len(problem.functions) - 1, [f"x{j}" for j in range(problem.dim)]
    study.optimize(
        lambda trial: evaluate(np.array([trial.suggest_float(name, 0, 1) for name in names]), top), n_trials=QUERIES
    )
    return np.array([study.best_params[name] for name in names])


def recommend_by_skopt(
    problem: Problem, evaluate: Callable[[np.ndarray, int], float], method: str, seed: int
) -> np.ndarray:
    import skopt

    top = len(problem.functions) - 1
    found = skopt.gp_minimize(
        lambda x: -evaluate(np.array(x), top), [(0.0, 1.0)] * problem.dim, n_calls=QUERIES, random_state=seed
    )
    return np.array(skopt.expected_minimum(found, random_state=seed)[0])


def table(regrets: dict[str, dict[str, list[float]]]) -> str:
    """Per problem and noise the mean regret of each method; the least is bold."""
    methods = [m for m in (*METHODS, *PEERS) if any(m in found for found in regrets.values())]
    lines = ["| problem | d | M | noise | " + " | ".join(methods) + " |", "|---" * (4 + len(methods)) + "|"]
    for key, found in regrets.items():
        name, level = key.rsplit(" @ ", 1)
        problem = PROBLEMS[name]
        means = {method: float(np.mean(found[method])) for method in methods if method in found}
        cells = [
            "–" if method not in means
            else f"**{means[method]:.4f}**" if means[method] == min(means.values())
            else f"{means[method]:.4f}"
            for method in methods
        ]  # fmt: skip
        head = [name, str(problem.dim), str(len(problem.functions)), f"{float(level):.0%}"]
        lines.append("| " + " | ".join([*head, *cells]) + " |")
    common = [found for found in regrets.values() if all(method in found for method in methods)]
    overall = [f"{np.exp(np.mean([np.log(np.mean(found[m])) for found in common])):.4f}" for m in methods]
    lines.append("| geometric mean, problems of all methods | | | | " + " | ".join(overall) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", default="0-9", help="first-last")
    parser.add_argument("--methods", default="")
    parser.add_argument("--problems", default="")
    parser.add_argument("--peers", action="store_true", help="Optuna and scikit-optimize instead of mfopt")
    parser.add_argument("--show", action="store_true", help="print only, and keep nothing")
    arguments = parser.parse_args()
    first, last = map(int, arguments.seeds.split("-"))
    regrets = json.loads(FILE.read_text()) if FILE.exists() and not arguments.show else {}
    methods = arguments.methods.split(",") if arguments.methods else PEERS if arguments.peers else METHODS
    for name in arguments.problems.split(";") if arguments.problems else PROBLEMS:
        for level in LEVELS:
            found = regrets.setdefault(f"{name} @ {level}", {})
            for method in methods:
                if method == "mf-gp-ucb" and len(PROBLEMS[name].functions) == 1:
                    continue  # it is gp-ucb
                found[method] = [run(name, level, method, seed) for seed in range(first, last + 1)]
            print(table({f"{name} @ {level}": found}).splitlines()[2], flush=True)
    print(table(regrets))
    if not arguments.show:
        FILE.write_text(json.dumps(regrets, indent=1) + "\n")
        from tools.pages import ROOT, write_section

        made = (
            f"`make noisy`: means over seeds {arguments.seeds}; regret of the recommended point in units of the range."
        )
        write_section(ROOT / "benchmarks" / "RESULTS.md", "noisy", f"{made}\n\n{table(regrets)}")


if __name__ == "__main__":
    main()
