"""Do the verdicts of mfopt.preflight agree with what runs show? A table for docs/theory.md.

    python benchmarks/theory_preflight.py [--seeds 5] [--capital 30] [--regret 0.01] [--problems currin ...]

For each of the six synthetic problems: the verdicts over the seeds, the predicted share of the capital, and what
GP-UCB, MF-GP-UCB, and MF-GP-UCB on the fidelities corrected as the preflight advises really spent until the simple
regret was 1 % of the optimum. Medians, in target queries; a run that does not get there counts as infinite.

Both start with the price of two target queries of random points (of fidelities 1 and 2 for MF-GP-UCB, at most 50 of
the second): with the usual ten, the easy problems would be solved before the methods differ.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import mfopt
from mfopt.problems import Benchmark
from mfopt_plugins.strategies.gp_ucb import GPUCB
from mfopt_plugins.strategies.mf_gp_ucb import MFGPUCB


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--capital", type=float, default=30.0, help="at most, in target queries")
    parser.add_argument("--regret", type=float, default=0.01, help="to be reached, relative to the optimum")
    parser.add_argument("--problems", nargs="*", default=mfopt.problems.SYNTHETIC)
    arguments = parser.parse_args()
    print("| problem | verdicts | predicted share | GP-UCB | MF-GP-UCB | the same, corrected | measured share |")
    print("|---|---|---|---|---|---|---|")
    for name in arguments.problems:
        print(_row(mfopt.problems.get(name), arguments), flush=True)


def _row(problem: Benchmark, arguments: argparse.Namespace) -> str:
    spent: dict[str, list[float]] = {"gp-ucb": [], "mf-gp-ucb": [], "corrected": []}
    verdicts: Counter[str] = Counter()
    shares = []
    for seed in range(arguments.seeds):
        checked = mfopt.preflight(problem.functions, problem.domain, problem.costs, rng=seed)
        verdicts[" / ".join(checked.verdicts)] += 1
        shares.append(min((c.corrected_share if c.verdict == "correct" else c.share).value for c in checked.checks))
        corrected = [
            c.corrected(f) if c.verdict == "correct" else f
            for c, f in zip(checked.checks, problem.functions[:-1], strict=True)
        ]
        for strategy in ("gp-ucb", "mf-gp-ucb"):
            spent[strategy].append(_spent(problem, problem.functions, strategy, seed, arguments))
        if "correct" in checked.verdicts:
            functions = [*corrected, problem.functions[-1]]
            spent["corrected"].append(_spent(problem, functions, "mf-gp-ucb", seed, arguments))
    verdict, times = verdicts.most_common(1)[0]
    advised = "corrected" if "correct" in verdict else "mf-gp-ucb"
    medians = {method: np.median(values) if values else np.nan for method, values in spent.items()}
    cells = [
        problem.name,
        f"{verdict} ({times} of {arguments.seeds})",
        f"{np.median(shares):.2f}",
        *("–" if np.isnan(m) else f"{m:.1f}" if m < np.inf else f"> {arguments.capital:g}" for m in medians.values()),
        _ratio(medians[advised], medians["gp-ucb"], arguments.capital),
    ]
    return f"| {' | '.join(cells)} |"


def _ratio(multi: float, single: float, capital: float) -> str:
    if multi == np.inf:
        return "–"
    return f"{multi / single:.2f}" if single < np.inf else f"< {multi / capital:.2f}"


def _spent(
    problem: Benchmark,
    functions: Sequence[Callable[[Any], Any]],
    strategy: str,
    seed: int,
    arguments: argparse.Namespace,
) -> float:
    """Capital in target queries until the regret is reached."""
    goal = problem.optimum - arguments.regret * abs(problem.optimum)
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
        arguments.capital * target,
        strategy=method,
        rng=seed,
        progress=False,
        callback=lambda optimizer, trial, y: optimizer.best is not None and optimizer.best.y >= goal,
    )
    return float(found.spent / target) if found.fun >= goal else np.inf


if __name__ == "__main__":
    main()
