"""What options of mf-gp-ucb do where the cheap fidelity is a scaled or shifted target, and where it is not.

    python benchmarks/strategy_options.py [--seeds 20] [--capital 20]

The table goes into docs/strategies.md: the median simple regret over the seeds, and the range from the best to the
worst run, since single runs differ by orders of magnitude.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")  # before NumPy is loaded: small matrices gain nothing from threads
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np  # noqa: E402

import mfopt  # noqa: E402
from mfopt.protocols import Array  # noqa: E402
from mfopt_plugins.strategies.mf_gp_ucb import MFGPUCB  # noqa: E402
from tools import draw_strategies  # noqa: E402
from tools.pages import ROOT, write_section  # noqa: E402

Function = Callable[[Array], Any]
COLUMNS: dict[str, Callable[[], dict[str, Any]]] = {
    "defaults": dict,
    "`coupled=False`": lambda: {"strategy": MFGPUCB(coupled=False)},
    "`affine=True`": lambda: {"strategy": MFGPUCB(affine=True)},
    '`surrogate="ar1"`': lambda: {"surrogate": "ar1"},
}


@dataclass(frozen=True)
class Case:
    """Functions with their costs on a domain, and the target's maximum."""

    functions: list[Function]
    domain: object
    costs: list[float]
    optimum: float


def cases() -> dict[str, Case]:
    """The rows of the table."""
    currin, bad, hartmann3 = (_benchmark(name) for name in ("currin", "bad-currin", "hartmann3"))
    return {
        "currin": currin,
        "currin, cheap fidelity halved and shifted by 10": _changed(currin, [(0.5, 10.0)]),
        "bad-currin (cheap fidelity negated)": bad,
        "hartmann3": hartmann3,
        "hartmann3, cheap fidelities scaled by 2 and 1.5 and shifted": _changed(hartmann3, [(2.0, 1.0), (1.5, -1.0)]),
        "forrester": Case(
            [draw_strategies.cheap, draw_strategies.target], [(0.0, 1.0)], [1.0, 10.0], draw_strategies.OPTIMUM
        ),
    }


def _benchmark(name: str) -> Case:
    problem = mfopt.problems.get(name)
    return Case(list(problem.functions), problem.domain, problem.costs, problem.optimum)


def _changed(case: Case, changes: list[tuple[float, float]]) -> Case:
    """The case with each cheap fidelity f replaced by scale · f + offset."""
    cheap = [partial(_scaled, f, *change) for f, change in zip(case.functions, changes, strict=False)]
    return Case([*cheap, case.functions[-1]], case.domain, case.costs, case.optimum)


def _scaled(function: Function, scale: float, offset: float, x: Array) -> float:
    return float(scale * function(x) + offset)


def regret(run: tuple[str, str, int], capital: float) -> float:
    """The simple regret of one run, given as its row, its column and its seed."""
    row, column, seed = run
    case = cases()[row]
    result = mfopt.maximize(
        case.functions,
        case.domain,
        case.costs,
        capital * case.costs[-1],
        rng=seed,
        progress=False,
        **COLUMNS[column](),
    )
    return max(case.optimum - float(result.fun), 0.0)


def table(regrets: dict[tuple[str, str, int], float], seeds: int) -> str:
    """Medians with the best and the worst run."""
    lines = [f"| problem | {' | '.join(COLUMNS)} |", "|---" * (1 + len(COLUMNS)) + "|"]
    for row in cases():
        cells = []
        for column in COLUMNS:
            found = [regrets[row, column, seed] for seed in range(seeds)]
            cells.append(f"{_power(np.median(found))} ({_power(min(found))} to {_power(max(found))})")
        lines.append(f"| {row} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _power(number: float) -> str:
    """One digit and its power of ten, as 3e-5."""
    return re.sub(r"e([-+])0", r"e\1", f"{number:.0e}").replace("e+0", "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--capital", type=float, default=20.0, help="in target queries")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    arguments = parser.parse_args()
    runs = [(row, column, seed) for row in cases() for column in COLUMNS for seed in range(arguments.seeds)]
    with ProcessPoolExecutor(arguments.jobs) as pool:
        found = pool.map(partial(regret, capital=arguments.capital), runs)
        regrets = dict(zip(runs, found, strict=True))
    made = (
        f"mfopt {mfopt.__version__}, `python benchmarks/strategy_options.py`: median simple regret after a capital of "
        f"{arguments.capital:g} λ_M, with the best and the worst of {arguments.seeds} seeds."
    )
    text = f"{made}\n\n{table(regrets, arguments.seeds)}"
    print(text)
    write_section(ROOT / "docs" / "strategies.md", "options", text)


if __name__ == "__main__":
    main()
