"""The command `mfopt create`: a study from the shell."""

from __future__ import annotations

import argparse

from mfopt.cli._shared import STORAGE
from mfopt.cli.command import ExitCode, Subparsers
from mfopt.cli.csv_file import read_cells, read_csv
from mfopt.domains.box import Box
from mfopt.domains.dimensions import Dimension, Real
from mfopt.domains.discrete import Categorical, Integer, Ordinal
from mfopt.domains.finite import FiniteSet
from mfopt.domains.space import Space
from mfopt.errors import InputError
from mfopt.optimizer import Optimizer
from mfopt.protocols import Domain

_EPILOG = """examples:
  mfopt create study.db --study wing --dim chord=0.1:2 --dim rate=1e-4:1:log --costs 1 10 --capital 200
  mfopt create study.db --study trees --dim depth=2:12:int --dim loss=squared,absolute --dim size=32,64,128:ordered \\
      --dim rate=1e-4:1:log --costs 1 10 --capital 200
  mfopt create study.db --study alloys --candidates alloys.csv --costs 1 20 --capital 500 --minimize

A parameter is a real number, NAME=LO:HI, on a log scale NAME=LO:HI:log; an integer, NAME=LO:HI:int or
NAME=LO:HI:int:log; a category, NAME=a,b,c; or ordered values, NAME=a,b,c:ordered. Choices that all read as numbers are
numbers, true and false are booleans. Conditions and constraints need Python (mfopt.Space). Candidates may have columns
of words.

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
    where.add_argument("--dim", action="append", metavar="NAME=VALUES", help="a parameter, as below; once for each")
    where.add_argument("--candidates", metavar="FILE", help="a CSV file with a header: the points to choose from")
    parser.add_argument(
        "--costs",
        type=_read_cost,
        nargs="+",
        required=True,
        metavar="C",
        help="one per fidelity, increasing; - for each where they are not known, and learnt from those told",
    )
    parser.add_argument("--capital", type=float, help="total budget, in the unit of the costs (default: no limit)")
    parser.add_argument("--minimize", action="store_true", help="look for the smallest value")
    parser.add_argument("--noise", type=float, metavar="V", help="known noise variance (default: to be learnt)")
    for what, default in (("strategy", "mf-gp-ucb"), ("surrogate", None), ("maximiser", "direct")):
        text = f"a name, or name:option=value,option=value (default: {default or 'what the strategy prefers'})"
        parser.add_argument(f"--{what}", default=default, metavar="NAME", help=text)
    parser.add_argument("--seed", type=int, help="default: a fresh one")


def run(arguments: argparse.Namespace) -> ExitCode:
    study = Optimizer(
        _read_candidates(arguments.candidates) if arguments.dim is None else _read_domain(arguments.dim),
        arguments.costs,
        strategy=arguments.strategy,
        surrogate=arguments.surrogate,
        maximiser=arguments.maximiser,
        direction="minimize" if arguments.minimize else "maximize",
        capital=arguments.capital,
        noise=arguments.noise,
        rng=arguments.seed,
        storage=arguments.storage,
        study=arguments.study,
    )
    costs = "to be learnt" if None in arguments.costs else list(study.costs)
    print(f"study {arguments.study or 'default'}: {study.domain}, costs {costs}, seed {study.seed}")
    return ExitCode.DONE


def _read_cost(text: str) -> float | None:
    try:
        return None if text == "-" else float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"a cost must be a number, or - where it is not known, got {text!r}") from None


def _read_domain(parameters: list[str]) -> Domain:
    """A Box where all parameters are real numbers, otherwise a Space."""
    named = [_read_parameter(text) for text in parameters]
    names = [name for name, _ in named]
    if len(set(names)) < len(names):
        raise InputError(f"names must be unique, got {names}")
    reals = [dimension for _, dimension in named if isinstance(dimension, Real)]
    return Box(reals, names=names) if len(reals) == len(named) else Space(dict(named))


def _read_parameter(text: str) -> tuple[str, Dimension]:
    name, _, values = text.partition("=")
    head, _, kind = values.partition(":")
    try:
        if not name or not head:
            raise ValueError
        if "," in head:
            choices = read_cells(head.split(","))
            if kind not in ("", "ordered"):
                raise ValueError
            return name, Ordinal(choices) if kind else Categorical(choices)
        hi, *words = kind.split(":")
        if not set(words) <= {"int", "log"} or len(set(words)) < len(words):
            raise ValueError
        if "int" in words:
            return name, Integer(int(head), int(hi), "log" in words)
        return name, Real(float(head), float(hi), "log" in words)
    except InputError as error:
        raise InputError(f"{error} for --dim {text}") from None
    except ValueError:
        raise InputError(
            f"--dim must be NAME=LO:HI, with :int or :log after it, or NAME=a,b,c, with :ordered after it, got {text!r}"
        ) from None


def _read_candidates(path: str) -> Domain:
    header, rows = read_csv(path)
    columns = [read_cells([row[j] for row in rows]) for j in range(len(header))]
    return FiniteSet([list(row) for row in zip(*columns, strict=True)], names=header)
