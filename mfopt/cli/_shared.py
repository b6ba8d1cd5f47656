"""What several commands share."""

from __future__ import annotations

import argparse
import re

from mfopt import registry
from mfopt.errors import MfoptError
from mfopt.options import parse_options
from mfopt.study import Study

STORAGE = "a file (study.db, sqlite:///study.db) or a database (postgresql://user@host/name)"


def add_storage(parser: argparse.ArgumentParser) -> None:
    """The arguments that say which study is meant."""
    parser.add_argument("storage", metavar="STORAGE", help=STORAGE)
    parser.add_argument("--study", metavar="NAME", help="needed only where the storage holds several studies")
    # argparse would take -1e-05 for an option; every number is a value here.
    parser._negative_number_matcher = re.compile(r"^-(\d|\.\d|inf|nan)")


def open_study(arguments: argparse.Namespace, lease: float | None = None, worker: str | None = None) -> Study:
    """The study that the arguments of add_storage name."""
    return Study.open(arguments.storage, arguments.study, lease=lease, worker=worker)


def read_plugin(group: str, given: str) -> object:
    """What an Optimizer takes for a name, or for a name with options (see mfopt.options)."""
    name, options = parse_options(given)
    return registry.make(group, name, options) if options else name


def check_matplotlib() -> None:
    """An error that says what to do where it is not installed."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise MfoptError("pictures need matplotlib: pip install 'mfopt[plot]'") from None
