"""The command of the arena; run it in benchmarks/.

    python -m arena run --group rpart --methods mf-gp-ucb gp-ei optuna-tpe --seeds 0-9 --capital 50 --jobs 2
    python -m arena report --group rpart misleading --methods mf-gp-ucb gp-ei

Runs are appended to --into (results/arena.jsonl) and those that are there are not repeated, so that it can be stopped
and started again. Runs of mfopt count for the code that they were made with: after a change of it they are made anew,
and `report` shows those of the present code, or those with the --code that is given. Peers need packages of their own:
`make arena`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from arena import cells, groups, peers, report, results
from mfopt.bench.cells import code_digest


def main() -> None:
    arguments = _parse()
    chosen = {
        group: [name for name in groups.GROUPS[group] if arguments.problems is None or name in arguments.problems]
        for group in arguments.group
    }
    if arguments.what == "run":
        first, _, last = arguments.seeds.partition("-")
        seeds = range(int(first), int(last or first) + 1)
        names = [name for group in chosen.values() for name in group]
        planned = cells.plan(names, arguments.methods, seeds, arguments.capital, arguments.code)
        cells.run(planned, arguments.into, arguments.jobs)
    else:
        runs = _select(results.load(arguments.into), arguments.methods, arguments.code or code_digest())
        found = {group: [run for run in runs if run["problem"] in names] for group, names in chosen.items()}
        made = {group: own for group, own in found.items() if own}
        print("\n".join(report.write(made, arguments.methods, arguments.resolved)))


def _parse() -> argparse.Namespace:
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
    parser.add_argument("--jobs", type=int, default=1, help="so many processes")
    parser.add_argument(
        "--resolved",
        type=float,
        default=results.RESOLVED,
        help="of a problem's largest regret: smaller ones count as that",
    )
    parser.add_argument("--code", help="a label for the code of mfopt; by default a digest of it")
    return parser.parse_args()


def _select(runs: list[results.Run], methods: list[str], code: str) -> list[results.Run]:
    """The runs of these methods, of each cell the last; those of mfopt itself only if made with this code."""
    ours = {run["code"] for run in runs if run["method"] not in peers.METHODS}
    if ours and code not in ours:
        raise SystemExit(f"--code must be one of those recorded, {sorted(ours)}, got {code!r}")
    counted = [run for run in runs if run["method"] in methods]
    counted = [run for run in counted if run["method"] in peers.METHODS or run["code"] == code]
    return list({(run["problem"], run["method"], run["seed"]): run for run in counted}.values())


if __name__ == "__main__":
    main()
