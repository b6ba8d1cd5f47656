"""Asynchronous workers on Hartmann-3, over simulated time: what k workers gain in time, and what they lose in capital.

    python benchmarks/asynchronous.py [--seeds 10] [--capital 100] [--workers 1 4 16 64]

An evaluation at fidelity m takes λ_m times a log-normal factor with median 1 (a quarter more or less is common); asks
take no time. One worker is the sequential method. The picture goes to docs/asynchronous.png, the table into
docs/parallel.md, the figures into benchmarks/asynchronous.json. Times and capital are in λ_M, the cost of a target
query.
"""

from __future__ import annotations

import argparse
import heapq
import json
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")  # before NumPy is loaded: small matrices gain nothing from threads
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np  # noqa: E402

import mfopt  # noqa: E402
from mfopt.protocols import Array  # noqa: E402
from mfopt.regret import Aggregate, Curve, aggregate  # noqa: E402
from tools.pages import ROOT, write_section  # noqa: E402

PROBLEM = "hartmann3"
SPREAD = 0.25  # of the logarithm of an evaluation's duration
GOALS = (1e-2, 1e-3, 1e-4)
COLOURS = ("#222222", "#4477aa", "#228833", "#ee6677", "#aa3377", "#ccbb44")


def simulate(workers: int, capital: float, seed: int) -> tuple[Curve, Curve]:
    """Simple regret of a run against simulated time, and against the capital spent."""
    problem = mfopt.problems.get(PROBLEM)
    unit = problem.costs[-1]
    durations = np.random.default_rng([seed, 99])
    opt = mfopt.Optimizer(problem.domain, problem.costs, capital=capital * unit, rng=seed)
    now, best = 0.0, np.inf
    running: list[tuple[float, int, mfopt.Trial]] = []  # (end, id, trial), the next to end first
    times, spent, regrets = [], [], []
    while True:
        while len(running) < workers and not opt.done:
            trial = opt.ask()
            end = now + trial.cost / unit * float(durations.lognormal(0.0, SPREAD))
            heapq.heappush(running, (end, trial.id, trial))
        if not running:
            break
        now, _, trial = heapq.heappop(running)
        y = float(problem.functions[trial.fidelity](trial.x))
        opt.tell(trial, y)
        if trial.fidelity == len(problem.costs) - 1:
            best = min(best, max(problem.optimum - y, 1e-16))
        times.append(now)
        spent.append(opt.spent / unit)
        regrets.append(best)
    return (np.array(times), np.array(regrets)), (np.array(spent), np.array(regrets))


def time_to(curve: Curve, goal: float) -> float:
    """When the regret was first at most `goal`; +∞: never."""
    times, regrets = curve
    reached = np.flatnonzero(regrets <= goal)
    return float(times[reached[0]]) if len(reached) else np.inf


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--capital", type=float, default=100.0, help="in target queries")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 4, 16, 64])
    parser.add_argument("--processes", type=int, default=1)
    arguments = parser.parse_args()
    runs = {}
    with ProcessPoolExecutor(arguments.processes) as pool:
        for workers in arguments.workers:
            run = partial(simulate, workers, arguments.capital)
            runs[workers] = list(pool.map(run, range(arguments.seeds)))
            print(f"{workers} workers done", flush=True)
    write_table(runs, arguments.capital)
    draw(runs, arguments.capital, arguments.seeds, ROOT / "docs" / "asynchronous.png")


def ends(runs: list[tuple[Curve, Curve]]) -> float:
    """The median time at which the capital was used up."""
    return float(np.median([curve[0][-1] for curve, _ in runs]))


def write_table(runs: dict[int, list[tuple[Curve, Curve]]], capital: float) -> None:
    """Into docs/parallel.md, between its two marks, and the figures beside this file."""
    head = ["workers", f"time for a capital of {capital:g}", "speed-up"]
    head += [f"time to regret ≤ {goal:g}" for goal in GOALS] + ["regret at the end"]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    figures = {}
    first = next(iter(runs))
    for workers, curves in runs.items():
        reached = [float(np.median([time_to(curve, goal) for curve, _ in curves])) for goal in GOALS]
        final = float(np.median([curve[1][-1] for curve, _ in curves]))
        cells = [str(workers), f"{ends(curves):.3g}", f"{ends(runs[first]) / ends(curves):.3g}"]
        cells += ["not reached" if t == np.inf else f"{t:.3g}" for t in reached] + [f"{final:.1e}"]
        lines.append("| " + " | ".join(cells) + " |")
        figures[workers] = {
            "time": ends(curves),
            "time to goal": dict(zip(map(str, GOALS), [t if t < np.inf else None for t in reached], strict=True)),
            "regret": [float(curve[1][-1]) for curve, _ in curves],
        }
    table = "\n".join(lines)
    print(table)
    here = Path(__file__).with_suffix(".json")
    here.write_text(json.dumps({"problem": PROBLEM, "capital": capital, "workers": figures}, indent=1) + "\n")
    made = (
        f"mfopt {mfopt.__version__}, `make asynchronous`: medians over {len(runs[first])} seeds; time and capital in "
        f"target queries."
    )
    write_section(ROOT / "docs" / "parallel.md", "asynchronous", f"{made}\n\n{table}")


def draw(runs: dict[int, list[tuple[Curve, Curve]]], capital: float, seeds: int, path: Path) -> None:
    """Median regret with its quartiles: left against time, right against capital."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 4.6), layout="constrained")
    by_time, by_capital = figure.subplots(1, 2, sharey=True)
    longest = max(ends(curves) for curves in runs.values())
    for colour, (workers, curves) in zip(COLOURS, runs.items(), strict=False):
        label = "1 worker (sequential)" if workers == 1 else f"{workers} workers"
        times = np.geomspace(0.1, min(longest, max(curve[0][-1] for curve, _ in curves)), 400)
        band(by_time, aggregate([curve for curve, _ in curves], times), colour, label)
        spent = np.linspace(0.0, capital, 600)
        band(by_capital, aggregate([curve for _, curve in curves], spent), colour, label)
    by_time.set_xscale("log")
    by_time.set_xlabel("simulated time, in durations of a target query")
    by_capital.set_xlabel("capital spent, in target queries")
    by_time.set_ylabel("simple regret")
    by_time.set_title("Regret against time")
    by_capital.set_title("Regret against capital")
    for axes in (by_time, by_capital):
        axes.set_yscale("log")
        axes.grid(alpha=0.3)
    by_time.legend()
    figure.suptitle(f"{PROBLEM}, mf-gp-ucb: median and quartiles of {seeds} runs")
    figure.savefig(path, dpi=110)


def band(axes: Any, summary: Aggregate, colour: str, label: str) -> None:
    shown = np.isfinite(summary.median)
    axes.plot(summary.capital[shown], summary.median[shown], color=colour, label=label)
    upper: Array = np.where(np.isfinite(summary.upper), summary.upper, np.nan)
    axes.fill_between(summary.capital, summary.lower, upper, where=shown, color=colour, alpha=0.15, linewidth=0)


if __name__ == "__main__":
    main()
