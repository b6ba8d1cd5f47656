"""Which of the known differences of the authors' code from their paper explains its figures: each put into paper mode.

    python authors.py --seeds 20                 # run what is missing, and write the table into README.md
    python authors.py --table                    # write the table alone
    python authors.py --problems currin --changes paper mean

The differences are facts about the authors' code (github.com/kirthevasank/mf-gp-ucb), not options of mfopt: they are
patched in here. Not taken over: initial points that are centres of clusters, those of the second fidelity among those
of the first, likelihoods maximised by DIRECT, and a threshold of 0.9 ζ. "kernel" is an option of our own. Results are
kept in results/authors.json after every run: the same command goes on where it stopped.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import chain
from math import ceil, log, sqrt
from pathlib import Path
from typing import Any
from unittest.mock import patch

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np  # noqa: E402

from mfopt.bench.cells import Cell, Task, run_cell  # noqa: E402
from mfopt.bench.methods import Method  # noqa: E402
from mfopt.problems import canonical, get  # noqa: E402
from mfopt.protocols import Array  # noqa: E402
from mfopt_plugins.maximisers.nlopt_direct import NloptDirect  # noqa: E402
from mfopt_plugins.strategies.base import initial  # noqa: E402
from mfopt_plugins.strategies.ucb import schedule, zeta  # noqa: E402
from mfopt_plugins.surrogates.gp import learning, model  # noqa: E402
from mfopt_plugins.surrogates.units import Standard  # noqa: E402
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
Patch = tuple[Any, str, Any]  # an attribute of a module or a class, and what takes its place


class Initial:
    """The initial values of the first fidelity in use, from which the authors' code sets what it fixes."""

    values = np.zeros(0)
    limits = (0.0, 0.0)  # of the scale of the process that learns, in its standard units

    @classmethod
    def see(cls, y: Array) -> None:
        """Take the first values that a process learns from."""
        cls.values = cls.values if len(cls.values) else y.copy()


def _fit_mean(process: model.GPModel[Any], u: Array, y: Array, rng: np.random.Generator) -> None:
    """The prior mean is the largest initial value plus twice their range, for good."""
    Initial.see(y)
    mean = float(Initial.values.max() + 2 * np.ptp(Initial.values))
    process.given = replace(process.given, mean=mean)
    _FIT(process, u, y, rng)


def _fit_noise(process: model.GPModel[Any], u: Array, y: Array, rng: np.random.Generator) -> None:
    """The noise is 1e-4 of the variance of the initial values."""
    Initial.see(y)
    process.noise = 1e-4 * float(Initial.values.var())
    _FIT(process, u, y, rng)


def _fit_scale(process: model.GPModel[Any], u: Array, y: Array, rng: np.random.Generator) -> None:
    """The scale, a variance, is between once and ten times the range, no variance."""
    Initial.see(y)
    low = float(np.ptp(Initial.values)) / Standard.of(y, process.noise).unit ** 2
    Initial.limits = (low, 10 * low)
    _FIT(process, u, y, rng)


def _limit_scale(*given: Any, **others: Any) -> Any:
    return replace(_SCALE_PART(*given, **others), limits=Initial.limits)


def _fit_all(process: model.GPModel[Any], u: Array, y: Array, rng: np.random.Generator) -> None:
    """Mean, noise and scale as above."""
    Initial.see(y)
    process.noise = 1e-4 * float(Initial.values.var())
    low = float(np.ptp(Initial.values)) / Standard.of(y, process.noise).unit ** 2
    Initial.limits = (low, 10 * low)
    _fit_mean(process, u, y, rng)


def _count_five(rule: schedule.GammaRule, k: int, widths: Array) -> None:
    """A γ that was to be doubled is multiplied by 5, and no other stays below it."""
    before = rule.values[:-1].copy()
    _COUNT(rule, k, widths)
    after = rule.values[:-1]
    if (after > before).any():
        raised = 5 * before[after > before].max()
        rule._set(np.maximum(np.where(after > before, 5 * before, before), raised).tolist())


def _start_zeta(rule: zeta.ZetaRule, spread: float) -> None:
    """ζ starts at 0."""
    _ZETA_START(rule, 0.0)


def _compare_upwards(rule: zeta.ZetaRule, k: int, y: float, other: int, y_other: float, noise: float) -> None:
    """Only a higher fidelity that is above the lower one violates ζ."""
    if (y - y_other) * (k - other) > 0:
        _COMPARE(rule, k, y, other, y_other, noise)


def _beta(practical: schedule.Practical, t: int, noisy: bool) -> float:
    """β_t = 0.2 d log 2dt."""
    return practical._factor * practical._dim * log(2 * practical._dim * t)


def _count_design(
    costs: Sequence[float], capital: float | None, initial_capital: float | None, dim: int, size: int | None = None
) -> tuple[int, ...]:
    """5 points at the second fidelity, and at the first 10 M d, at most 200; one fidelity has 10."""
    return (10,) if len(costs) == 1 else (min(200, 10 * len(costs) * dim), 5, *[0] * (len(costs) - 2))


def _search_less(maximiser: NloptDirect, acquisition: Any, domain: Any, rng: np.random.Generator, t: int) -> Array:
    """DIRECT with 7 min(5, d)² √t evaluations in iteration t."""
    own: Any = maximiser
    own.calls = getattr(own, "calls", 0) + 1
    own._budget = ceil(7 * min(5, domain.dim) ** 2 * sqrt(min(own.calls, 1000)))
    return _MAXIMISE(maximiser, acquisition, domain, rng, t)


_FIT, _SCALE_PART, _MAXIMISE = model.GPModel.fit, learning.scale_part, NloptDirect.maximise
_COUNT, _ZETA_START, _COMPARE = schedule.GammaRule.count, zeta.ZetaRule.start, zeta.ZetaRule.compare
SCALE = (learning, "scale_part", _limit_scale)
OTHERS: dict[str, list[Patch]] = {
    "beta": [(schedule.Practical, "beta", _beta)],
    "gamma": [(schedule.GammaRule, "count", _count_five)],
    "zeta": [(zeta.ZetaRule, "start", _start_zeta), (zeta.ZetaRule, "compare", _compare_upwards)],
    "search": [(NloptDirect, "maximise", _search_less)],
    "design": [(initial, "initial_counts", _count_design)],
}
# By name: what is patched, options of mf-gp-ucb, and what it is.
CHANGES: dict[str, tuple[list[Patch], str, str]] = {
    "paper": ([], "", "`mode=paper`"),
    "mean": ([(model.GPModel, "fit", _fit_mean)], "", "prior mean max + 2 range of the initial values"),
    "noise": ([(model.GPModel, "fit", _fit_noise)], "", "noise fixed at 1e-4 of their variance"),
    "scale": ([(model.GPModel, "fit", _fit_scale), SCALE], "", "scale (a variance) within 1 to 10 times their range"),
    "beta": (OTHERS["beta"], "", "β_t = 0.2 d log 2dt"),
    "gamma": (OTHERS["gamma"], "", "γ times 5 instead of 2"),
    "zeta": (OTHERS["zeta"], "", "ζ from 0, one-sided"),
    "search": (OTHERS["search"], "", "DIRECT with 7 min(5, d)² √t evaluations"),
    "design": (OTHERS["design"], "", "10 M d (at most 200) initial points at the first, 5 at the second fidelity"),
    "all": ([(model.GPModel, "fit", _fit_all), SCALE, *chain(*OTHERS.values())], "", "all of these"),
    "kernel": ([], "one_kernel=True", "one kernel for all fidelities (our option `one_kernel`)"),
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


def table() -> str:
    """Medians of every change that was run, row by row."""
    found = load()
    lines = ["| problem | | runs | median at 20 / 50 / 100 λ_M |", "|---|---|---|---|"]
    for row, theirs in ROWS.items():
        problem, strategy = row.split()
        title = f"{problem}, {strategy}"
        for name, (_, _, text) in CHANGES.items():
            own = [value for key, value in found.items() if key.rsplit(" ", 1)[0] == f"{name} {row}"]
            if own:
                medians = " / ".join(f"{value:.2g}" for value in np.median(own, axis=0))
                lines.append(f"| {title} | {text} | {len(own)} | {medians} |")
                title = ""
        if not title:
            lines.append(f"| | the authors' code | | {theirs} |")
    return "\n".join(lines)


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
    write_section(ROOT / "benchmarks" / "README.md", "authors", table())


if __name__ == "__main__":
    main()
