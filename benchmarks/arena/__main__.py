"""The command of the arena; run it in benchmarks/.

    python -m arena run --group rpart --methods mf-gp-ucb gp-ei optuna-tpe --seeds 0-9 --capital 50
    python -m arena report --group rpart

Runs are appended to --into (results/arena.jsonl) and those that are there are not repeated, so that it can be stopped
and started again. Peers need packages of their own: see PEERS in the Makefile.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from arena import groups, ours, peers, results
from arena.problem import Meter


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m arena", description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=["run", "report"])
    parser.add_argument("--group", nargs="+", default=["rpart"], choices=list(groups.GROUPS))
    parser.add_argument("--problems", nargs="+", help="only these of the groups")
    parser.add_argument(
        "--methods", nargs="+", default=["mf-gp-ucb"], help=f"strategies, or {', '.join(peers.METHODS)}"
    )
    parser.add_argument("--seeds", default="0-9", help="first-last")
    parser.add_argument("--capital", type=float, default=50.0, help="in units of the target's cost")
    parser.add_argument("--into", type=Path, default=Path("results/arena.jsonl"))
    arguments = parser.parse_args()
    names = [name for group in arguments.group for name in groups.GROUPS[group]]
    names = [name for name in names if arguments.problems is None or name in arguments.problems]
    if arguments.what == "run":
        first, _, last = arguments.seeds.partition("-")
        run(names, arguments.methods, range(int(first), int(last or first) + 1), arguments.capital, arguments.into)
    else:
        report(names, arguments.methods, arguments.into)


def run(names: list[str], methods: list[str], seeds: range, capital: float, into: Path) -> None:
    """Every method on every problem with every seed."""
    done = {(one["problem"], one["method"], one["seed"]) for one in results.load(into) if one["capital"] >= capital}
    for seed in seeds:
        for name in names:
            for method in methods:
                if (name, method, seed) in done:
                    continue
                meter = Meter(groups.find(name), capital)
                began = time.process_time()
                if method in peers.METHODS:
                    peers.METHODS[method](meter, seed)
                else:
                    ours.run(meter, seed, method)
                seconds = time.process_time() - began
                best = {f"{mark:g}": meter.best_at(mark) for mark in results.MARKS if mark <= capital}
                told = {mark: None if value == float("-inf") else value for mark, value in best.items()}
                results.append(
                    into,
                    {
                        "problem": name,
                        "method": method,
                        "seed": seed,
                        "capital": capital,
                        "best": told,
                        "optimum": meter.problem.optimum,
                        "seconds": round(seconds, 2),
                    },
                )
                print(f"{name:20} {method:18} seed {seed}: {told}, {seconds:.1f} s", flush=True)


def report(names: list[str], methods: list[str], into: Path) -> None:
    """Mean ranks and medians of the regret."""
    runs = [one for one in results.load(into) if one["problem"] in names and one["method"] in methods]
    print("\n".join([*results.rank_table(runs, methods), "", *results.regret_table(runs, methods)]))


main()
