"""The command `mfopt bench`: experiments on problems whose optimum is known."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from mfopt import problems
from mfopt.bench.figures import FIGURES, MODES
from mfopt.bench.methods import METHODS
from mfopt.cli.command import ExitCode, Subparsers
from mfopt.errors import InputError

_RUN = """\
Run every method on every problem with every seed. Finished runs ("cells") are appended to cells.jsonl in the
directory --out. When it is started again the command continues where it stopped; finished cells are not run again.

A problem is a name, perhaps with options: currin, "borehole:costs=[0.1,1]", my.module.maker:size=3.
A method is a strategy, perhaps with options and a label: gp-ucb, mf-gp-ucb:beta_factor=0.4,
"wide=mf-gp-ucb:beta_factor=0.4,surrogate=matern,surrogate.nu=1.5". zetas=known tells a method the true bounds ζ.

  mfopt bench run --problems currin park --methods mf-gp-ucb gp-ucb gp-ei --seeds 0-9 --capital 50 --jobs 2
"""
_FIGURE = """\
Run what a figure needs and --out does not hold yet, and write the figure as NAME.png, NAME.svg and NAME.csv (curves
also as a table, NAME.md):

""" + "\n".join(f"  {name:<19} {(make.__doc__ or '').splitlines()[0]}" for name, make in FIGURES.items())


def add(commands: Subparsers) -> None:
    parser = commands.add_parser(
        "bench",
        help="compare methods on problems whose optimum is known",
        description="Run methods on test problems, report how close to the optimum they came, and reproduce the "
        "figures of the paper. docs/bench.md explains it.",
    )
    parts = parser.add_subparsers(dest="part", required=True, metavar="part")
    running = parts.add_parser(
        "run",
        help="run methods on problems, in parallel",
        description=_RUN,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    others = " ".join(name for name in problems.names() if name not in problems.SYNTHETIC)
    running.add_argument(
        "--problems", nargs="+", default=list(problems.SYNTHETIC), metavar="P",
        help=f"default: {' '.join(problems.SYNTHETIC)}; there are also {others}",
    )  # fmt: skip
    running.add_argument(
        "--methods", nargs="+", default=list(METHODS), metavar="M", help=f"default: {' '.join(METHODS)}"
    )
    running.add_argument(
        "--capital", type=float, default=100.0, help="in target queries λ_M, initial points included (default: 100)"
    )
    running.add_argument("--history", action="store_true", help="also keep every query of a run")
    _add_common(running, time_limit=None)

    reporting = parts.add_parser(
        "report",
        help="tables and pictures of what was run",
        description="Print a table of the simple regret (median, quartiles, mean and its standard error) of all cells "
        "in --out, and write table.md, table.csv, curves.csv, regret.png and regret.svg.",
    )
    reporting.add_argument("--out", default="out/bench", help="directory of the results (default: %(default)s)")
    reporting.add_argument("--into", help="directory to write to (default: report in --out)")
    reporting.add_argument("--problems", nargs="+", metavar="P", help="only these, in this order")
    reporting.add_argument("--methods", nargs="+", metavar="M", help="only these labels, in this order")
    reporting.add_argument(
        "--capitals",
        type=float,
        nargs="+",
        default=[20.0, 50.0, 100.0],
        metavar="Λ",
        help="in λ_M; those beyond the runs are left out, shorter runs shown at their end (default: 20 50 100)",
    )
    reporting.add_argument("--format", choices=("text", "markdown", "csv"), default="text", help="of what is printed")
    reporting.add_argument("--mean", action="store_true", help="draw means with standard errors, as the paper does")
    _add_figure(parts)


def _add_figure(parts: Subparsers) -> None:
    drawing = parts.add_parser(
        "figure",
        help="reproduce figures of the paper",
        description=_FIGURE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    drawing.add_argument("names", nargs="+", choices=[*FIGURES, "all"], metavar="name", help="or all")
    drawing.add_argument("--into", help="directory to write to (default: figures in --out)")
    drawing.add_argument(
        "--mode", choices=MODES, default=MODES[0],
        help="paper: the methods of the paper's figures as it has them, means with standard errors; files NAME-paper "
        "(default: %(default)s)",
    )  # fmt: skip
    drawing.add_argument("--finished", action="store_true", help="run nothing: draw what --out holds")
    drawing.add_argument("--default", action="store_true", help="with --mode paper: also the default of mf-gp-ucb")
    _add_common(drawing, time_limit=60.0)


def _add_common(parser: argparse.ArgumentParser, time_limit: float | None) -> None:
    parser.add_argument("--seeds", default="0-19", help="as 0-9 or 0,3,5-7 (default: %(default)s)")
    parser.add_argument("--out", default="out/bench", help="directory of the results (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=1, help="processes, with one BLAS thread each (default: 1)")
    parser.add_argument(
        "--time-limit", type=float, metavar="S", default=time_limit,
        help=f"CPU seconds for one cell, which then keeps what it has (default: {time_limit or 'none'})",
    )  # fmt: skip
    parser.add_argument(
        "--any-code", action="store_true", help="also take finished cells that were run with different code of mfopt"
    )


def run(arguments: argparse.Namespace) -> ExitCode:
    if "" not in sys.path:  # a problem with dots in its name may be a module of the working directory
        sys.path.insert(0, "")
    return {"run": _run, "report": _report, "figure": _figure}[arguments.part](arguments)


def _run(arguments: argparse.Namespace) -> ExitCode:
    from mfopt import bench

    cells = bench.run(
        arguments.problems,
        arguments.methods,
        _read_seeds(arguments.seeds),
        arguments.capital,
        arguments.out,
        jobs=arguments.jobs,
        time_limit=arguments.time_limit,
        history=arguments.history,
        any_code=arguments.any_code,
        progress=True,
    )
    return ExitCode.FAILED if any(cell.status == "failed" for cell in cells) else ExitCode.DONE


def _report(arguments: argparse.Namespace) -> ExitCode:
    from mfopt.bench import load, report

    cells = load(arguments.out)
    if not cells:
        raise InputError(f"--out must hold finished cells, got {arguments.out} with none")
    found = report.series(cells, arguments.problems, arguments.methods)
    lines = report.rows(found, arguments.capitals)
    forms = {"text": report.as_text, "markdown": report.as_markdown, "csv": report.as_csv}
    print(forms[arguments.format](lines), end="")
    for one in found:
        if not one.cells:
            print(f"note: {one.problem}, {one.label}: all {one.failed} runs failed", file=sys.stderr)
    into = arguments.into or Path(arguments.out) / "report"
    for path in report.write(found, into, arguments.capitals, arguments.mean):
        print(f"wrote {path}", file=sys.stderr)
    codes = {cell.task.code for one in found for cell in one.cells}
    if len(codes) > 1:
        print(f"note: the cells come from {len(codes)} different states of mfopt's code", file=sys.stderr)
    return ExitCode.DONE


def _figure(arguments: argparse.Namespace) -> ExitCode:
    from mfopt import bench

    for name in FIGURES if "all" in arguments.names else arguments.names:
        paths = bench.figure(
            name,
            arguments.out,
            arguments.into,
            _read_seeds(arguments.seeds),
            jobs=arguments.jobs,
            time_limit=arguments.time_limit,
            any_code=arguments.any_code,
            progress=True,
            mode=arguments.mode,
            default=arguments.default,
            finished=arguments.finished,
        )
        for path in paths:
            print(f"wrote {path}", file=sys.stderr)
    return ExitCode.DONE


def _read_seeds(text: str) -> list[int]:
    """0-9 and 0,3,5-7 as numbers."""
    seeds: list[int] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not first.isdigit() or (dash and not last.isdigit()) or (dash and int(last) < int(first)):
            raise InputError(f"seeds must be numbers and increasing ranges such as 0-9 or 0,3,5-7, got {text!r}")
        seeds += range(int(first), int(last if dash else first) + 1)
    return list(dict.fromkeys(seeds))
