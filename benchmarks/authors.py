"""Which of the known differences of the authors' code from their paper explains its figures: each put into paper mode.

    python authors.py --seeds 20                 # run what is missing, and write the tables
    python authors.py --table                    # write the tables alone, into results/authors.md and README.md
    python authors.py --problems currin --changes paper mean

The differences are patches (authors_differences.py). "kernel" is an option of our own. Results are kept in
results/authors.json after every run: the same command goes on where it stopped.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from unittest.mock import patch

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np  # noqa: E402
from authors_differences import CHANGES, Initial  # noqa: E402

from mfopt.bench.cells import Cell, Task, run_cell  # noqa: E402
from mfopt.bench.methods import Method  # noqa: E402
from mfopt.problems import canonical, get  # noqa: E402
from tools.pages import ROOT, write_section  # noqa: E402

CAPITALS = (20, 50, 100)  # λ_M at which the regret is read
RESULTS = Path(__file__).parent / "results" / "authors.json"
# Medians of the authors' own code at CAPITALS.
ROWS = {
    "currin mf-gp-ucb": "4e-3 / 4e-5 / 4e-5",
    "borehole mf-gp-ucb": "14 / 2.9 / 1.3",
    "bad-currin mf-gp-ucb": "2.8 / 0.04 / 0.01",
    "bad-currin gp-ucb": "0.38 / 0.02 / 0.003",
    "hartmann3 mf-gp-ucb": "4e-3 / 1e-3 / 3e-4",
    "hartmann6:delta=0.1 mf-gp-ucb": "0.2 / 0.15 / 0.1",
}
SINGLE = ("paper", "mean", "noise", "scale", "beta", "search", "all")  # what matters with one fidelity


def run(problems: list[str], changes: list[str], seeds: list[int]) -> None:
    """Run every change on every row of these problems, seed by seed, as far as it is not there."""
    found = load()
    for seed in seeds:
        for row in ROWS:
            problem, strategy = row.split()
            for name in changes if problem in problems else []:
                key = f"{name} {row} {seed}"
                if key not in found and (strategy == "mf-gp-ucb" or name in SINGLE):
                    found[key] = read(run_one(problem, strategy, name, seed))
                    print(key, *(f"{r:.1e}" for r in found[key]), flush=True)
                    RESULTS.write_text(json.dumps(found, indent=1))


def run_one(problem: str, strategy: str, name: str, seed: int) -> Cell:
    """One run with the change of this name."""
    patches, options, _ = CHANGES[name]
    price = get(problem).costs[-1]
    if problem.startswith("hartmann6"):  # as in the figures: 10 λ_M are 5,000 points at the first fidelity
        options = ",".join(filter(None, (options, f"initial_capital={0.4 * price}")))
    text = Method.parse(f"{strategy}:{options}{',' * bool(options)}mode=paper").text
    Initial.values = np.zeros(0)
    with ExitStack() as stack:
        for owner, attribute, new in patches:
            stack.enter_context(patch.object(owner, attribute, new))
        cell = run_cell(Task(canonical(problem), text, seed, float(CAPITALS[-1]), "", ""), strategy)
    if cell.status != "done":
        raise RuntimeError(cell.error)
    return cell


def read(cell: Cell) -> list[float]:
    """The simple regret at CAPITALS; +∞ before the first target query."""
    reached = np.searchsorted(cell.spent, np.array(CAPITALS) * (1 + 1e-9), side="right") - 1
    return [cell.regret[i] if i >= 0 else np.inf for i in reached]


def load() -> dict[str, list[float]]:
    """Regrets at CAPITALS, by change, problem, strategy and seed."""
    return dict(json.loads(RESULTS.read_text())) if RESULTS.exists() else {}


def list_rows(names: Sequence[str]) -> list[str]:
    """Medians of these changes, as far as they were run, row by row, and those of the authors' code."""
    found = load()
    lines = ["| problem | | runs | median at 20 / 50 / 100 λ_M |", "|---|---|---|---|"]
    for row, theirs in ROWS.items():
        problem, strategy = row.split()
        title = f"{problem}, {strategy}"
        for name in names:
            own = [value for key, value in found.items() if key.rsplit(" ", 1)[0] == f"{name} {row}"]
            if own:
                medians = " / ".join(f"{value:.2g}" for value in np.median(own, axis=0))
                lines.append(f"| {title} | {CHANGES[name][2]} | {len(own)} | {medians} |")
                title = ""
        lines.append(f"| {title} | the authors' code | | {theirs} |")
    return lines


def write() -> None:
    """All rows into results/authors.md, those of all differences together into README.md."""
    title = "Paper mode with what the authors' code does otherwise, `python benchmarks/authors.py`:"
    RESULTS.with_suffix(".md").write_text("\n".join([title, "", *list_rows(list(CHANGES)), ""]), encoding="utf-8")
    write_section(
        ROOT / "benchmarks" / "README.md", "authors", "\n".join(list_rows(["paper", "all", "everything", "scattered"]))
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    known = list(dict.fromkeys(row.split()[0] for row in ROWS))
    parser.add_argument("--problems", nargs="+", choices=known, default=known)
    parser.add_argument("--changes", nargs="+", choices=list(CHANGES), default=list(CHANGES))
    parser.add_argument("--seeds", type=int, default=20, help="runs of each (default: %(default)s)")
    parser.add_argument("--table", action="store_true", help="run nothing")
    arguments = parser.parse_args()
    if not arguments.table:
        run(arguments.problems, arguments.changes, list(range(arguments.seeds)))
    write()


if __name__ == "__main__":
    main()
