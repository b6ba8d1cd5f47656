"""The command `mfopt create`: a study from the shell."""

from __future__ import annotations

import argparse
import csv

from mfopt import registry
from mfopt.cli._shared import STORAGE, read_plugin
from mfopt.cli.command import ExitCode, Subparsers
from mfopt.domains.box import Box
from mfopt.domains.dimensions import Real
from mfopt.domains.finite import FiniteSet
from mfopt.errors import InputError
from mfopt.optimizer import Optimizer
from mfopt.protocols import Domain

_EPILOG = """examples:
  mfopt create study.db --study wing --dim chord=0.1:2 --dim rate=1e-4:1:log --costs 1 10 --capital 200
  mfopt create study.db --study alloys --candidates alloys.csv --costs 1 20 --capital 500 --minimize

The study is then asked and told by mfopt ask, tell and fail, or from Python by mfopt.Study.open("study.db", "wing").
A study that exists already is left as it is if it is the same, and refused if it is not."""


def add(commands: Subparsers) -> None:
    parser = commands.add_parser(
        "create",
        help="make a study, to be asked and told from the shell",
        description="Make a study, to be asked and told from the shell or from Python.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("storage", metavar="STORAGE", help=STORAGE)
    parser.add_argument("--study", metavar="NAME", help='default: "default"')
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--dim", action="append", metavar="NAME=LO:HI[:log]", help="a coordinate; once for each")
    where.add_argument("--candidates", metavar="FILE", help="a CSV file with a header: the points to choose from")
    parser.add_argument(
        "--costs", type=float, nargs="+", required=True, metavar="C", help="one per fidelity, increasing"
    )
    parser.add_argument("--capital", type=float, help="total budget, in the unit of the costs (default: no limit)")
    parser.add_argument("--minimize", action="store_true", help="look for the smallest value")
    parser.add_argument("--noise", type=float, metavar="V", help="known noise variance (default: to be learnt)")
    for what, default in (("strategy", "mf-gp-ucb"), ("surrogate", "se"), ("maximiser", "direct")):
        text = f"a name, or name:option=value,option=value (default: {default})"
        parser.add_argument(f"--{what}", default=default, metavar="NAME", help=text)
    parser.add_argument("--seed", type=int, help="default: a fresh one")


def run(arguments: argparse.Namespace) -> ExitCode:
    study = Optimizer(
        _read_candidates(arguments.candidates) if arguments.dim is None else _read_box(arguments.dim),
        arguments.costs,
        strategy=read_plugin(registry.STRATEGIES, arguments.strategy),
        surrogate=read_plugin(registry.SURROGATES, arguments.surrogate),
        maximiser=read_plugin(registry.MAXIMISERS, arguments.maximiser),
        direction="minimize" if arguments.minimize else "maximize",
        capital=arguments.capital,
        noise=arguments.noise,
        rng=arguments.seed,
        storage=arguments.storage,
        study=arguments.study,
    )
    print(f"study {arguments.study or 'default'}: {study.domain}, costs {list(study.costs)}, seed {study.seed}")
    return ExitCode.DONE


def _read_box(dimensions: list[str]) -> Domain:
    named = [_read_dimension(text) for text in dimensions]
    return Box([real for _, real in named], names=[name for name, _ in named])


def _read_dimension(text: str) -> tuple[str, Real]:
    name, _, rest = text.partition("=")
    lo, _, rest = rest.partition(":")
    hi, _, scale = rest.partition(":")
    try:
        if not name or scale not in ("", "log"):
            raise ValueError
        return name, Real(float(lo), float(hi), scale == "log")
    except InputError:
        raise
    except ValueError:
        raise InputError(f"--dim must be NAME=LO:HI or NAME=LO:HI:log, got {text!r}") from None


def _read_candidates(path: str) -> Domain:
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:  # with or without the mark that Excel puts first
            header, *rows = list(csv.reader(file)) or [[]]
        return FiniteSet([[float(cell) for cell in row] for row in rows if row], names=header)
    except InputError:
        raise
    except (ValueError, csv.Error) as error:
        raise InputError(f"{path} must hold a header and rows of numbers, got {error}") from None
