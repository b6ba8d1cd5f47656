"""The command `mfopt plot`: the picture of a study."""

from __future__ import annotations

import argparse

from mfopt.cli._shared import add_storage, check_picture, open_study
from mfopt.cli.command import ExitCode, Subparsers

_EPILOG = """The picture shows, against the capital spent: the best value, the queries per fidelity, ζ and γ.
Then what is believed at the end: the posterior with the upper bounds (lower ones where the study minimises), through
the best point, along single coordinates and along two of them.

The kind of file follows from its name: .png, .svg or .pdf. Needs matplotlib: pip install 'mfopt[plot]'."""


def add(commands: Subparsers) -> None:
    parser = commands.add_parser(
        "plot",
        help="draw a study",
        description="Draw how a study went and what it has learnt. The study may be in use.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_storage(parser)
    parser.add_argument("--out", metavar="FILE", help="the picture (default: the study's name with .png)")
    parser.add_argument(
        "--dims", nargs="+", metavar="NAME", help="coordinates to show (default: those that matter most)"
    )


def run(arguments: argparse.Namespace) -> ExitCode:
    check_picture(arguments.out or "study.png")
    from mfopt.plots.study import plot_study

    study = open_study(arguments)
    out = arguments.out or f"{study.name}.png"
    plot_study(study, out, study.reasons(), arguments.dims)
    print(f"picture  {out}")
    return ExitCode.DONE
