"""The thresholds that runs on vj found, judged on patches that no fidelity has seen.

    mfopt bench run --problems vj --history --out out/vj ...
    python benchmarks/held_out.py out/vj --capitals 5 20 100

For each method and capital (in λ_M): the accuracy of the best target query so far, mean ± standard error over the
seeds, and after a slash the accuracy of the same thresholds on the held-out patches. Queries at the target only count
once they are paid; a dash where a run had none yet.
"""

from __future__ import annotations

import argparse

import numpy as np

from mfopt import problems
from mfopt.bench.cells import Cell
from mfopt.bench.store import load
from mfopt.problems.cascade import read_cascade
from mfopt.problems.data import CASCADE
from mfopt.problems.face_detection import held_out
from mfopt.protocols import Array


def find_best(cell: Cell, costs: list[float], capital: float) -> Array | None:
    """The thresholds of the best target query within this capital, in λ_M."""
    if cell.history is None:
        raise SystemExit(f"cells must have been run with --history, got {cell.label} without")
    fidelity, y = (np.array(cell.history[name]) for name in ("fidelity", "y"))
    paid = np.cumsum(np.array(costs)[fidelity]) <= capital * costs[-1] * (1 + 1e-9)
    counts = paid & (fidelity == len(costs) - 1)
    return np.array(cell.history["x"][int(np.argmax(np.where(counts, y, -np.inf)))]) if counts.any() else None


def summarise(values: list[float]) -> str:
    """Mean ± standard error, in per cent."""
    error = f" ± {100 * np.std(values, ddof=1) / len(values) ** 0.5:.2f}" if len(values) > 1 else ""
    return f"{100 * np.mean(values):.2f}{error}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", help="the directory of mfopt bench run --out")
    parser.add_argument("--capitals", type=float, nargs="+", default=[5.0, 20.0, 100.0])
    arguments = parser.parse_args()
    problem, judge = problems.get("vj"), held_out()
    shipped = read_cascade(CASCADE.find()).thresholds
    cells = [cell for cell in load(arguments.out) if cell.task.problem == "vj" and cell.status == "done"]
    print("| method | runs |" + "".join(f" {capital:g} |" for capital in arguments.capitals))
    print("|---|---|" + "---|" * len(arguments.capitals))
    for label in dict.fromkeys(cell.label for cell in cells):
        own = [cell for cell in cells if cell.label == label]
        row = []
        for capital in arguments.capitals:
            found = [find_best(cell, problem.costs, capital) for cell in own]
            reached = [x for x in found if x is not None]
            pair = [[float(function(x)) for x in reached] for function in (problem.functions[-1], judge)]
            row.append(" / ".join(map(summarise, pair)) if len(reached) == len(found) else "-")
        print(f"| {label} | {len(own)} | " + " | ".join(row) + " |")
    for name, x in (("OpenCV's own", shipped), ("the best known", problem.argmax)):
        print(f"{name}: {summarise([float(problem.functions[-1](x))])} / {summarise([float(judge(x))])}")


if __name__ == "__main__":
    main()
