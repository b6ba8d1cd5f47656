"""Do the verdicts of mfopt.preflight agree with what runs show? The table goes into docs/theory.md.

    python benchmarks/theory_preflight.py [--seeds 10] [--capital 30]

For each of the six synthetic problems: the verdicts over the seeds, the predicted share of the capital, and what
GP-UCB, MF-GP-UCB, and MF-GP-UCB on the fidelities corrected as the preflight advises really spent until the simple
regret was 1 % of the optimum (10 % on Hartmann-6). Medians, in target queries; a run that does not get there counts as
infinite.

Both start with the price of two target queries of random points (of fidelities 1 and 2 for MF-GP-UCB, at most 50 of
the second): with the usual five, the easy problems would be solved before the methods differ.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")  # before NumPy is loaded: small matrices gain nothing from threads
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np  # noqa: E402

import mfopt  # noqa: E402
from mfopt.problems import Benchmark  # noqa: E402
from mfopt_plugins.strategies.gp_ucb import GPUCB  # noqa: E402
from mfopt_plugins.strategies.mf_gp_ucb import MFGPUCB  # noqa: E402
from tools.pages import ROOT, write_section  # noqa: E402

GOALS = {"hartmann6": 0.1}  # the regret to be reached, relative to the optimum
USUAL_GOAL = 0.01
HEAD = ("problem", "verdicts", "predicted share", "GP-UCB", "MF-GP-UCB", "the same, corrected", "measured share")


@dataclass(frozen=True)
class Outcome:
    """What the preflight said with one seed, and what the methods spent; `corrected` is None without a correction."""

    verdict: str
    share: float
    single: float
    multi: float
    corrected: float | None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--capital", type=float, default=30.0, help="at most, in target queries")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    arguments = parser.parse_args()
    names = mfopt.problems.SYNTHETIC
    runs = list(product(names, range(arguments.seeds)))
    with ProcessPoolExecutor(arguments.jobs) as pool:
        outcomes = list(pool.map(partial(outcome, capital=arguments.capital), runs))
    lines = [f"| {' | '.join(HEAD)} |", "|---" * len(HEAD) + "|"]
    for name in names:
        found = [one for (other, _), one in zip(runs, outcomes, strict=True) if other == name]
        lines.append(row(name, found, arguments.capital))
    made = (
        f"mfopt {mfopt.__version__}, `python benchmarks/theory_preflight.py`: capital, in target queries, until the "
        f"simple regret is 1 % of the optimum (10 % on Hartmann-6); medians over {arguments.seeds} seeds."
    )
    text = "\n".join([made, "", *lines])
    print(text)
    write_section(ROOT / "docs" / "theory.md", "preflight", text)


def outcome(run: tuple[str, int], capital: float) -> Outcome:
    """The preflight and the runs of one problem with one seed."""
    name, seed = run
    problem = mfopt.problems.get(name)
    checked = mfopt.preflight(problem.functions, problem.domain, problem.costs, rng=seed)
    shares = [(c.corrected_share if c.verdict == "correct" else c.share).value for c in checked.checks]
    corrected = None
    if "correct" in checked.verdicts:
        cheap = [
            c.corrected(f) if c.verdict == "correct" else f
            for c, f in zip(checked.checks, problem.functions[:-1], strict=True)
        ]
        corrected = _spent(problem, [*cheap, problem.functions[-1]], "mf-gp-ucb", seed, capital)
    return Outcome(
        " / ".join(checked.verdicts),
        min(shares),
        _spent(problem, problem.functions, "gp-ucb", seed, capital),
        _spent(problem, problem.functions, "mf-gp-ucb", seed, capital),
        corrected,
    )


def row(name: str, outcomes: Sequence[Outcome], capital: float) -> str:
    """The row of one problem."""
    verdict, times = Counter(one.verdict for one in outcomes).most_common(1)[0]
    corrected = [one.corrected for one in outcomes if one.corrected is not None]
    single, multi = np.median([one.single for one in outcomes]), np.median([one.multi for one in outcomes])
    advised = np.median(corrected) if "correct" in verdict else multi
    cells = [
        name,
        f"{verdict} ({times} of {len(outcomes)})",
        f"{np.median([one.share for one in outcomes]):.2f}",
        _queries(single, capital),
        _queries(multi, capital),
        f"{_queries(np.median(corrected), capital)} ({len(corrected)} of {len(outcomes)})" if corrected else "–",
        _ratio(advised, single, capital),
    ]
    return f"| {' | '.join(cells)} |"


def _queries(median: float, capital: float) -> str:
    return f"{median:.1f}" if median < np.inf else f"> {capital:g}"


def _ratio(multi: float, single: float, capital: float) -> str:
    if multi == np.inf:
        return "–"
    return f"{multi / single:.2f}" if single < np.inf else f"< {multi / capital:.2f}"


def _spent(
    problem: Benchmark, functions: Sequence[Callable[[Any], Any]], strategy: str, seed: int, capital: float
) -> float:
    """Capital in target queries until the regret is reached."""
    goal = problem.optimum - GOALS.get(problem.name, USUAL_GOAL) * abs(problem.optimum)
    target = problem.costs[-1]
    method = (
        GPUCB(initial_capital=2 * target)
        if strategy == "gp-ucb"
        else MFGPUCB(initial_capital=min(2 * target, 100 * problem.costs[1]))
    )
    found = mfopt.maximize(
        functions,
        problem.domain,
        problem.costs,
        capital * target,
        strategy=method,
        rng=seed,
        progress=False,
        callback=lambda optimizer, trial, y: optimizer.best is not None and optimizer.best.y >= goal,
    )
    return float(found.spent / target) if found.fun >= goal else np.inf


if __name__ == "__main__":
    main()
