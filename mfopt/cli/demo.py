"""The demonstration behind `mfopt demo`: the Currin exponential function with one cheap approximation."""

from __future__ import annotations

import argparse

import numpy as np

from mfopt import loop, problems
from mfopt.cli.command import ExitCode, Subparsers
from mfopt.optimizer import Optimizer

QUERIES = 50  # the capital, in target queries


def add(commands: Subparsers) -> None:
    parser = commands.add_parser(
        "demo",
        help="optimise a test function and draw the run",
        description="Maximise the Currin function, a test function of two variables, with the help of a version of it "
        "that is ten times cheaper. Prints what was found and draws where the run evaluated each of the two.",
    )
    parser.add_argument("--out", default="mfopt-demo.png", help="the picture (default: %(default)s)")
    parser.add_argument("--capital", type=float, help="total budget; queries cost 1 and 10 (default: 500)")
    parser.add_argument("--seed", type=int, default=0, help="default: %(default)s")


def run(arguments: argparse.Namespace) -> ExitCode:
    demo(arguments.out, arguments.capital, arguments.seed)
    return ExitCode.DONE


def demo(out: str, capital: float | None = None, seed: int = 0, progress: bool | None = True) -> None:
    """Run MF-GP-UCB on it, say what was found, and draw the run into the picture `out`."""
    problem = problems.get("currin")
    capital = QUERIES * problem.costs[-1] if capital is None else capital
    optimizer = Optimizer(problem.domain, problem.costs, capital=capital, rng=seed)
    print(f"Maximise the Currin function: costs {problem.costs}, capital {capital:g}, seed {seed}.")
    loop.run(optimizer, problem.functions, progress=progress)
    best = optimizer.best
    if best is None:
        print("No value at the target fidelity.")
    else:
        print(f"best     {best.y:.8f} at {np.round(best.x, 6).tolist()}")
        print(f"optimum  {problem.optimum:.8f}, so the regret is {problem.optimum - best.y:.2e}")
    counts = np.bincount(optimizer.history.fidelity, minlength=len(problem.costs)).tolist()
    print(f"queries  {', '.join(f'{n} at fidelity {m}' for m, n in enumerate(counts))}; spent {optimizer.spent:g}")
    try:
        from mfopt.plots.run import plot_run

        plot_run(optimizer, out, optimum=problem.optimum)
    except ImportError as error:
        print(f"picture  not drawn ({error}): pip install 'mfopt[plot]'")
    else:
        print(f"picture  {out}")
