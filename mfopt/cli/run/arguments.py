"""The arguments of `mfopt run`."""

from __future__ import annotations

import argparse
from typing import Any

from mfopt import registry
from mfopt.checks import real_number, seconds
from mfopt.cli._shared import STORAGE, THREADS
from mfopt.cli.command import Subparsers
from mfopt.errors import InputError
from mfopt.parallel.rules import COSTS

_EPILOG = """A problem file defines, in Python,

  domain = [(0, 1), (10, 500)]              or a mfopt.Box with names, scales and constraints, or a mfopt.FiniteSet
  costs = [1, 20]                           from cheap to expensive, the last is the target; or a list of mfopt.Fidelity
  commands = ["./sim coarse", "./sim fine"] a program per fidelity; or functions = [cheap, fine] in Python

and may define noise, capital, direction, strategy, surrogate, maximiser, seed, workers, threads, limits, timeout,
retries and cost. A program reads {"x": {name: value, ...}, "fidelity": 0, "name": "fidelity 0"} from stdin and prints
the value, or {"value": ..., "cost": ...}, on its last line.

examples:
  mfopt run wing.py --capital 500
  mfopt run wing.py --cost time --capital 2h
  mfopt run wing.py --capital 500 --workers 8 --limits - 2 --storage study.db --study wing --plot wing.png
  mfopt run wing.py --capital 900 --workers 8 --storage study.db --study wing --resume

Ctrl-C or SIGTERM ends a run; what was told is kept, and --resume takes up what was under way.

exit codes: 0 done, 1 failed or without a value at the target, 2 wrong usage, 130 interrupted"""

PLAIN = ("capital", "seed", "workers", "threads", "timeout", "retries", "cost")  # taken as they are


def add(commands: Subparsers) -> None:
    parser = commands.add_parser(
        "run",
        help="optimise your own problem: a Python file, or any program",
        description="Optimise the problem that a file defines: ask, evaluate and tell until the capital is used up.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "problem",
        metavar="PROBLEM",
        help="problem.py, problem.py:name, package.module:name, or one that mfopt bench knows, such as currin",
    )
    what = parser.add_argument_group("what to do")
    what.add_argument(
        "--capital", help="total budget, in the unit of the costs; where those are times, such as 90s, 30m, 2h or 1d"
    )
    what.add_argument(
        "--cost",
        choices=COSTS,
        help="find out what each evaluation costs, and learn from it: its seconds, those of the choice before it too, "
        "or what it reports; costs then need not be defined (default: costs as defined)",
    )
    what.add_argument("--minimize", action="store_true", help="look for the smallest value")
    for plugin in registry.GROUPS:
        text = "a name, or name:option=value,option=value"
        what.add_argument(f"--{plugin}", metavar="NAME", help=f"{text}; `mfopt plugins` lists the names")
    what.add_argument("--seed", type=int, help="default: a fresh one")
    what.add_argument("--threads", type=int, metavar="N", help=THREADS)
    _add_ends(parser)
    where = parser.add_argument_group("where to keep it")
    where.add_argument("--storage", help=STORAGE)
    where.add_argument("--study", metavar="NAME", help='its name there (default: "default")')
    where.add_argument("--resume", action="store_true", help="go on with a study that exists, pending trials first")
    where.add_argument(
        "--lease",
        type=float,
        metavar="S",
        help="where several runs share a study: trials of a run that dies are handed to the others after S seconds",
    )
    how = parser.add_argument_group("how to evaluate")
    how.add_argument("--workers", type=int, metavar="N", help="evaluations at once (default: 1)")
    how.add_argument("--limits", nargs="+", metavar="N", help="at most N at once of each fidelity, - for no limit")
    how.add_argument(
        "--executor",
        metavar="E",
        help="threads, processes, or the address of a Dask scheduler, tcp://host:8786 "
        "(default: processes for functions; programs are started from threads, even with processes)",
    )
    how.add_argument("--timeout", type=float, metavar="S", help="an evaluation that takes longer has failed")
    how.add_argument("--retries", type=int, metavar="N", help="try a failed evaluation again, N times (default: 0)")
    give_up = "stop when N evaluations in a row have failed (default: 10)"
    how.add_argument("--give-up", type=int, default=10, metavar="N", help=give_up)
    output = parser.add_argument_group("what to show")
    output.add_argument("--plot", metavar="FILE", help="draw the run into a PNG, SVG or PDF file")
    output.add_argument("--json", action="store_true", help="the result as JSON")
    output.add_argument("--quiet", action="store_true", help="no progress on stderr")


def _add_ends(parser: argparse.ArgumentParser) -> None:
    ends = parser.add_argument_group("when to stop, beside the capital")
    ends.add_argument("--time-limit", metavar="S", help="start nothing after S seconds, or 30m, 2h, 1d")
    ends.add_argument("--target", type=float, metavar="Y", help="stop at a value as good as this")
    ends.add_argument("--stop", choices=["converged"], help="stop when little more is expected; see --tolerance")
    ends.add_argument(
        "--tolerance", type=float, metavar="Y", help="how little (default: 0.1 %% of the range of the target's values)"
    )


def read_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """The options that the command line gives, under the names that a problem file has for them."""
    given = {name: getattr(arguments, name) for name in PLAIN}
    if arguments.minimize:
        given["direction"] = "minimize"
    given |= {name: getattr(arguments, name) for name in registry.GROUPS}
    given["limits"] = None if arguments.limits is None else _read_limits(arguments.limits)
    return {name: value for name, value in given.items() if value is not None}


def read_capital(given: object, cost: str | None) -> float | None:
    """The capital as a number; a time such as "2h" only where costs are times."""
    if not isinstance(given, str):
        return None if given is None else real_number(given, "capital")
    if cost in ("time", "total-time"):
        return seconds(given, "capital")
    try:
        return float(given)
    except ValueError:
        raise InputError(f"capital must be a number unless --cost is a time, got {given}") from None


def _read_limits(words: list[str]) -> list[int | None]:
    try:
        return [None if word == "-" else int(word) for word in words]
    except ValueError:
        raise InputError(f"--limits must be numbers or -, got {' '.join(words)}") from None
