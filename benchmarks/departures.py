"""What each departure from the paper is worth: from paper mode to the default, one step after the other.

    python departures.py --seeds 1 --problems 8       # run what is missing, and write the table into docs/defaults.md
    python departures.py --table                      # write the table alone

Every step adds one departure, or a few that belong together, to those before it. Problems are those of families.py,
none of the paper's. Results are kept in results/departures.json after every run: the same command goes on where it
stopped.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import families  # noqa: E402
import numpy as np  # noqa: E402

import mfopt  # noqa: E402
from mfopt_plugins.strategies.ucb.departures import MODES, NAMES  # noqa: E402
from tools.pages import ROOT, write_section  # noqa: E402

DESIGN = "the initial design"  # not an option of its own: initial_capital is in the unit of the costs
STEPS: list[tuple[str, ...]] = [
    (),
    ("polished",),
    ("isotropic", "learning"),
    ("learn_every",),
    ("one_kernel",),
    (DESIGN,),
    ("distinct", "last_query"),
    ("informed", "by_capital", "all_queries"),
    ("contradictions",),
    ("coupled",),
    ("softened", "outliers", "noise_tests"),
    ("doubt",),
    ("rule", "share", "calibrated", "hedged"),
]
CAPITALS = (5, 10, 20)  # λ_M at which the regret is read
RESULTS = Path(__file__).parent / "results" / "departures.json"


def make_options(last: int, price: float) -> dict[str, Any]:
    """The options of mf-gp-ucb after the steps up to `last`; `price` is λ_M."""
    taken = {name for step in STEPS[: last + 1] for name in step}
    options = {name: getattr(MODES["paper"], name) for name in NAMES if name not in taken}
    return options if DESIGN in taken else {**options, "initial_capital": (MODES["paper"].design or 0.0) * price}


def list_problems() -> list[families.Problem]:
    """Those of families.py that need no other package; the first few are of every kind."""
    smooth = [families.random_problem(i) for i in (1, 2, 3, 4, 7, 8, 9, 12, 13, 17)]
    misleading, textbook = [families.misleading_problem(i) for i in (1, 2, 3)], families.textbook_problems()
    return [smooth[0], misleading[0], textbook[0], *smooth[1:], *misleading[1:], *textbook[1:]]


def run(problems: int, seeds: int) -> None:
    """Run every step on the first `problems` with every seed, as far as it is not there."""
    found = load()
    families.CAPITALS = CAPITALS
    for seed in range(seeds):
        for one in list_problems()[:problems]:
            for i in range(len(STEPS)):
                key = f"{i} {one.name} {seed}"
                if key not in found:
                    found[key] = families.regrets(one, make_options(i, one.costs[-1]), seed)
                    print(key, *(f"{r:.1e}" for r in found[key]), flush=True)
                    RESULTS.write_text(json.dumps(found, indent=1))


def load() -> dict[str, list[float]]:
    """Regrets at CAPITALS, by step, problem and seed."""
    return dict(json.loads(RESULTS.read_text())) if RESULTS.exists() else {}


def table() -> str:
    """By step: the mean of log10 of the relative regret, and the paired difference from the step before."""
    found = load()
    keys = sorted({key.split(" ", 1)[1] for key in found})
    whole = [key for key in keys if all(f"{i} {key}" in found for i in range(len(STEPS)))]
    logs = np.array(
        [[np.log10(np.clip(found[f"{i} {key}"], families.FLOOR, 10.0)) for key in whole] for i in range(len(STEPS))]
    )
    where = " / ".join(str(capital) for capital in CAPITALS)
    lines = [
        f"mfopt {mfopt.__version__}, `python benchmarks/departures.py`: mean of log₁₀ of the simple regret over "
        f"{len(whole)} runs, relative to the distance of the maximum from the median of the function, at {where} λ_M, "
        "and its change by the step with the standard error between runs.",
        "",
        "| step | log₁₀ regret | change |",
        "|---|---|---|",
    ]
    for i, step in enumerate(STEPS):
        mean = " / ".join(f"{value:.2f}" for value in logs[i].mean(axis=0))
        change = "–"
        if i:
            moved = logs[i] - logs[i - 1]
            error = moved.std(axis=0, ddof=1) / np.sqrt(len(whole))
            change = " / ".join(f"{a:+.2f} ± {b:.2f}" for a, b in zip(moved.mean(axis=0), error, strict=True))
        name = ", ".join(part if part == DESIGN else f"`{part}`" for part in step)
        lines.append(f"| {'+ ' + name if step else 'paper mode'} | {mean} | {change} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=2, help="runs of each problem (default: %(default)s)")
    parser.add_argument("--problems", type=int, default=32, help="the first ones (default: all)")
    parser.add_argument("--table", action="store_true", help="run nothing")
    arguments = parser.parse_args()
    if not arguments.table:
        run(arguments.problems, arguments.seeds)
    write_section(ROOT / "docs" / "defaults.md", "departures", table())


if __name__ == "__main__":
    main()
