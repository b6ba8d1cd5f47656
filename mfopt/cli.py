"""The command `mfopt`. Exit codes: 0 done, 1 failed, 2 wrong usage; errors are one line on stderr."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict

import mfopt
from mfopt.registry import plugins


def main(argv: Sequence[str] | None = None) -> int:
    arguments = _parser().parse_args(argv)
    try:
        if arguments.command == "plugins":
            _plugins(arguments.json)
        elif arguments.command == "check":
            from mfopt.check import check

            direction = "minimize" if arguments.minimize else "maximize"
            check(arguments.source, arguments.costs, direction, arguments.pairs, arguments.seed, arguments.json)
        else:
            from mfopt.demo import demo

            demo(arguments.out, arguments.capital, arguments.seed)
    except (mfopt.MfoptError, OSError) as error:
        print(f"mfopt: error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("mfopt: error: interrupted", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="mfopt", description=mfopt.__doc__)
    parser.add_argument("--version", action="version", version=f"mfopt {mfopt.__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    listing = commands.add_parser("plugins", help="list the installed plugins")
    listing.add_argument("--json", action="store_true", help="as JSON")
    demo = commands.add_parser("demo", help="optimise a test function and draw the run")
    demo.add_argument("--out", default="mfopt-demo.png", help="the picture (default: %(default)s)")
    demo.add_argument("--capital", type=float, help="total budget (default: 50 target queries)")
    demo.add_argument("--seed", type=int, default=0, help="default: %(default)s")
    check = commands.add_parser("check", help="say which cheap fidelities are worth using, from paired evaluations")
    check.add_argument("source", help="a CSV file with columns for x, fidelity and y, or a synthetic problem's name")
    check.add_argument("--costs", type=float, nargs="+", help="one per fidelity (default: the mean costs in the file)")
    check.add_argument("--minimize", action="store_true", help="the values are to be minimised")
    check.add_argument("--pairs", type=int, help="points evaluated of a problem (default: 5 + 3 per dimension)")
    check.add_argument("--seed", type=int, default=0, help="default: %(default)s")
    check.add_argument("--json", action="store_true", help="as JSON")
    return parser


def _plugins(as_json: bool) -> None:
    found = plugins()
    if as_json:
        print(json.dumps([asdict(plugin) for plugin in found], indent=2))
        return
    table = [("group", "name", "distribution", "version", "origin")]
    table += [(p.group, p.name, p.distribution, p.version, p.origin) for p in found]
    widths = [max(len(row[column]) for row in table) for column in range(5)]
    for row in table:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


if __name__ == "__main__":
    sys.exit(main())
