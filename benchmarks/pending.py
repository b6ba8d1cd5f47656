"""What pending queries cost: the capital that 8 workers need for the regret of one worker, over simulated time.

    python benchmarks/pending.py [--seeds 5] [--first 700] [--problems currin levy3 ...]
    python benchmarks/pending.py --table           # run nothing

Evaluations take as long as in asynchronous.py, which says what k workers gain in time. The regret to be reached is the
median of one worker's runs at a mark, and the capital is that at which the median of the runs first is as low; both
have a capital of 30 λ_M, so that ratios beyond 30 λ_M to one worker's capital are not seen. The rounds of a
run are its longest chain of target queries of which each was chosen when the value of the one before was known. Runs
are kept in pending.json as they end: the same command goes on where it stopped. The table goes into docs/parallel.md.
"""

from __future__ import annotations

import argparse
import heapq
import json
import os
import sys
from pathlib import Path

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np  # noqa: E402
from arena import groups  # noqa: E402
from asynchronous import SPREAD  # noqa: E402

import mfopt  # noqa: E402
from mfopt.protocols import Array  # noqa: E402
from tools.pages import ROOT, write_section  # noqa: E402

PROBLEMS = ("currin", "hartmann3", "gp12", "levy3", "branin-scaled")
WORKERS = 8
CAPITAL = 30.0  # λ_M
MARKS = (5.0, 10.0, 20.0)  # λ_M
GOAL = 1.3  # times the capital of one worker
FLOOR = 1e-9  # of the regret: lower ones are as good as each other
RESULTS = Path(__file__).with_suffix(".json")
Gain = tuple[float, float, int]


def simulate(name: str, workers: int, seed: int) -> list[Gain]:
    """What was spent, in λ_M, the simple regret and the rounds, whenever one of the two changed."""
    problem = groups.find(name)
    unit, top = problem.costs[-1], len(problem.costs) - 1
    durations = np.random.default_rng([seed, 99])
    opt = mfopt.Optimizer(problem.domain, problem.costs, capital=CAPITAL * unit, rng=seed)
    now, best, rounds = 0.0, np.inf, 0
    running: list[tuple[float, int, mfopt.Trial]] = []  # (end, id, trial), the next to end first
    known: dict[int, int] = {}  # by trial, the rounds when it was asked for
    gains: list[Gain] = []
    while True:
        while len(running) < workers and not opt.done:
            trial = opt.ask()
            known[trial.id] = rounds
            end = now + trial.cost / unit * float(durations.lognormal(0.0, SPREAD))
            heapq.heappush(running, (end, trial.id, trial))
        if not running:
            return gains
        now, _, trial = heapq.heappop(running)
        y = problem.evaluate(trial.params, trial.fidelity)
        opt.tell(trial, y)
        if trial.fidelity == top:
            before = best, rounds
            best, rounds = min(best, max(problem.optimum - y, FLOOR)), max(rounds, known[trial.id] + 1)
            if (best, rounds) != before:
                gains.append((opt.spent / unit, best, rounds))


def load() -> dict[str, list[Gain]]:
    """The gains by problem, workers and seed."""
    return dict(json.loads(RESULTS.read_text())) if RESULTS.exists() else {}


def run(problems: list[str], seeds: range) -> None:
    """Run what is missing."""
    found = load()
    for seed in seeds:
        for name in problems:
            for workers in (1, WORKERS):
                key = f"{name} {workers} {seed}"
                if key not in found:
                    found[key] = simulate(name, workers, seed)
                    print(key, f"{found[key][-1][1]:.1e}", flush=True)
                    RESULTS.write_text(json.dumps(found) + "\n")


def median_at(runs: list[list[Gain]], capital: Array) -> Array:
    """The median regret of the runs when so much was spent."""
    regrets = [
        [min((r for spent, r, _ in gains if spent <= c + 1e-9), default=np.inf) for c in capital] for gains in runs
    ]
    return np.asarray(np.median(regrets, axis=0))


def count_rounds(runs: list[list[Gain]], capital: float) -> str:
    """The median of the rounds when so much was spent, and the most of any run."""
    counts = [max((n for spent, _, n in gains if spent <= capital + 1e-9), default=0) for gains in runs]
    return f"{np.median(counts):.0f} (at most {max(counts)})"


def table() -> str:
    """By problem: the regret of one worker at each mark, and what 8 workers need for it relative to one."""
    found, grid = load(), np.arange(1.0, CAPITAL + 0.05, 0.1)
    head = " | ".join(f"regret at {mark:g} λ_M | capital of 1 | of {WORKERS} | ratio" for mark in MARKS)
    lines = [f"| problem | seeds | {head} |", "|---|---|" + "---|---|---|---|" * len(MARKS)]
    ratios: dict[float, list[float]] = {mark: [] for mark in MARKS}
    for name in dict.fromkeys(key.split()[0] for key in found):
        seeds = [key.split()[2] for key in found if key.startswith(f"{name} {WORKERS} ")]
        one, many = (median_at([found[f"{name} {k} {seed}"] for seed in seeds], grid) for k in (1, WORKERS))
        cells = [name, str(len(seeds))]
        for mark in MARKS:
            goal = one[grid <= mark + 1e-6][-1]
            first, other = (float(grid[np.argmax(c <= goal)]) if (c <= goal).any() else np.inf for c in (one, many))
            ratios[mark].append(min(other, CAPITAL) / first)
            needed = f"{other:.3g}" if other < np.inf else f"over {CAPITAL:g}"
            ratio = f"{other / first:.2f}" if other < np.inf else f"over {CAPITAL / first:.2f}"
            cells += [f"{goal:.1e}", f"{first:.3g}", needed, ratio]
        lines.append("| " + " | ".join(cells) + " |")
    medians = " / ".join(f"{np.median(ratios[mark]):.2f}" for mark in MARKS)
    marks = " / ".join(f"{mark:g}" for mark in MARKS)
    alone, together = ([runs for key, runs in found.items() if key.split()[1] == str(k)] for k in (1, WORKERS))
    rounds = " / ".join(count_rounds(alone, mark) for mark in MARKS)
    fewer = " / ".join(count_rounds(together, GOAL * mark) for mark in MARKS)
    made = (
        f"mfopt {mfopt.__version__}, `python benchmarks/pending.py`: medians over seeds; capital in target queries. "
        f"The median of the ratios, those that are over a number as that, is {medians} at {marks} λ_M; the goal is "
        f"{GOAL:g}. Rounds, the target queries that followed on each other's values: {rounds} with one worker at "
        f"{marks} λ_M, {fewer} with {WORKERS} workers and {GOAL:g} times the capital."
    )
    return made + "\n\n" + "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", nargs="+", default=list(PROBLEMS))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first", type=int, default=700, help="the first seed (default: %(default)s)")
    parser.add_argument("--table", action="store_true", help="run nothing")
    arguments = parser.parse_args()
    if not arguments.table:
        run(arguments.problems, range(arguments.first, arguments.first + arguments.seeds))
    write_section(ROOT / "docs" / "parallel.md", "pending", table())


if __name__ == "__main__":
    main()
