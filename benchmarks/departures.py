"""What each departure from the paper is worth: from paper mode to the default, one step after the other.

    python departures.py                      # run what is missing, and write what was found into docs/defaults.md
    python departures.py --problems 6 --seeds 1
    python departures.py --table              # run nothing

Every step adds one departure, or a few that belong together, to those before it. Problems are those of families.py,
none of the paper's, where Λ₀ = 10 λ_M pays for 500 points at most; seeds are none that a default was chosen with.
Results are kept in results/departures.json after every run: the same command goes on where it stopped.

The worth of an option in the table of docs/defaults.md is the change of log₁₀ of the regret by its step.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Callable
from functools import partial
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
SURROGATE = "surrogate"  # an option of the Optimizer
STEPS: list[tuple[str, ...]] = [
    (),
    (DESIGN,),  # first, since hundreds of random points make all other steps slow
    ("polished",),
    ("isotropic", "learning"),
    ("learn_every",),
    ("one_kernel",),
    ("distinct", "last_query"),
    ("informed", "by_capital", "all_queries"),
    ("contradictions",),
    ("coupled",),
    ("softened", "outliers", "noise_tests"),
    ("doubt",),
    ("rule", "share"),
    ("calibrated",),
    (SURROGATE,),
    ("promoted",),
    ("hedged",),
    ("muted",),
]
CAPITALS = (5, 10, 20)  # λ_M at which the regret is read
FIRST_SEED = 500
UNKNOWN = 10.0  # the relative regret of a run without a target value
RESULTS = Path(__file__).parent / "results" / "departures.json"


def make_options(last: int, price: float) -> tuple[dict[str, Any], str | None]:
    """The options of mf-gp-ucb after the steps up to `last`, and the surrogate; `price` is λ_M."""
    taken = {name for step in STEPS[: last + 1] for name in step}
    options = {name: getattr(MODES["paper"], name) for name in NAMES if name not in taken}
    if DESIGN not in taken:
        options["initial_capital"] = (MODES["paper"].design or 0.0) * price
    return options, None if SURROGATE in taken else "se"


def list_problems() -> dict[str, Callable[[], families.Problem]]:
    """By name, how to make them; the first few are of every kind."""
    textbook = {one.name: one for one in families.textbook_problems()}
    names = (
        "gp1 misleading1 levy3 gp2 log-rosenbrock4 gp3 michalewicz3 misleading2 gp4 log-goldstein gp9 bump5 "
        "gp12 styblinski4 gp13 quadratic8 misleading3 gp8 rosenbrock2 gp22 shekel4 gp27 gp28 gp33 gp18 gp23"
    )

    def make(name: str) -> families.Problem:
        kind, number = re.fullmatch(r"(\D*?)(\d*)", name).groups()  # type: ignore[union-attr]
        makers = {"gp": families.random_problem, "misleading": families.misleading_problem}
        return makers[kind](int(number)) if kind in makers else textbook[name]

    return {name: partial(make, name) for name in names.split()}


def run(problems: int, seeds: int) -> None:
    """Run every step on the first `problems` with every seed, as far as it is not there."""
    found = load()
    families.CAPITALS = CAPITALS
    for seed in range(FIRST_SEED, FIRST_SEED + seeds):
        for name, make in list(list_problems().items())[:problems]:
            left = [i for i in range(len(STEPS)) if f"{i} {name} {seed}" not in found]
            one = make() if left else None
            for i in left:
                key = f"{i} {name} {seed}"
                found[key] = families.regrets(one, *make_options(i, one.costs[-1]), seed)
                print(key, *(f"{r:.1e}" for r in found[key]), flush=True)
                RESULTS.write_text(json.dumps(found, indent=1))


def load() -> dict[str, list[float]]:
    """Regrets at CAPITALS, by step, problem and seed."""
    return dict(json.loads(RESULTS.read_text())) if RESULTS.exists() else {}


def read() -> tuple[np.ndarray, int]:
    """log10 of the relative regret by step, run and capital, where a run has all steps; the number of problems.

    A run without a target value counts as UNKNOWN; where most runs of a step have none, all are NaN.
    """
    found = load()
    keys = sorted({key.split(" ", 1)[1] for key in found})
    whole = [key for key in keys if all(f"{i} {key}" in found for i in range(len(STEPS)))]
    regrets = np.array([[found[f"{i} {key}"] for key in whole] for i in range(len(STEPS))])
    logs = np.log10(np.clip(regrets, families.FLOOR, UNKNOWN))
    empty = np.isinf(regrets).mean(axis=1, keepdims=True) > 0.5
    return np.where(empty, np.nan, logs), len({key.split()[0] for key in whole})


def table() -> str:
    """By step: the mean of log10 of the relative regret, and the paired difference from the step before."""
    logs, problems = read()
    where = " / ".join(str(capital) for capital in CAPITALS)
    lines = [
        f"mfopt {mfopt.__version__}, `python benchmarks/departures.py`: mean of log₁₀ of the simple regret over "
        f"{logs.shape[1]} runs on {problems} problems, relative to the distance of the maximum from the median of the "
        f"function, at {where} λ_M, and its change by the step with the standard error between runs. Less is better. A "
        f"run without a target value counts as {UNKNOWN:g} times that distance; – stands where most have none.",
        "",
        "| step | log₁₀ regret | change |",
        "|---|---|---|",
    ]
    for i, step in enumerate(STEPS):
        mean = " / ".join("–" if np.isnan(value) else f"{value:.2f}" for value in logs[i].mean(axis=0))
        name = ", ".join(part if part == DESIGN else f"`{part}`" for part in step)
        lines.append(f"| {'+ ' + name if step else 'paper mode'} | {mean} | {describe_change(logs, i) if i else '–'} |")
    return "\n".join(lines)


def describe_change(logs: np.ndarray, i: int, first: int = 0) -> str:
    """The change by step i at the capitals from `first` on, with its standard error."""
    moved = (logs[i] - logs[i - 1])[:, first:]
    error = moved.std(axis=0, ddof=1) / np.sqrt(len(moved))
    pairs = zip(moved.mean(axis=0), error, strict=True)
    return " / ".join("–" if np.isnan(a) else f"{a:+.2f} ± {b:.2f}" for a, b in pairs)


def write_worths(page: Path) -> None:
    """Put the change by its step at the last two capitals into the last column of each option's row."""
    logs, _ = read()
    worths = {}
    for i, step in enumerate(STEPS):
        for name in step:
            others = ", ".join(f"`{other}`" for other in step if other != name)
            worths[name] = describe_change(logs, i, 1) + (f", with {others}" if others else "")
    worths["initial_capital"] = worths.pop(DESIGN)

    def fill(row: re.Match[str]) -> str:
        return f"{row[1]}| {worths[row[2]]} |"

    text = page.read_text(encoding="utf-8")
    page.write_text(re.sub(r"(?m)^(\| `(\w+)`(?: of the Optimizer)? \|.*)\|[^|]*\|$", fill, text), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3, help="runs of each problem (default: %(default)s)")
    parser.add_argument("--problems", type=int, default=12, help="the first ones (default: %(default)s)")
    parser.add_argument("--table", action="store_true", help="run nothing")
    arguments = parser.parse_args()
    if not arguments.table:
        run(arguments.problems, arguments.seeds)
    page = ROOT / "docs" / "defaults.md"
    write_section(page, "departures", table())
    write_worths(page)


if __name__ == "__main__":
    main()
