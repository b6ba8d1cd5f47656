"""What several commands share."""

from __future__ import annotations

import argparse
import os
import re

from mfopt.errors import InputError, MfoptError
from mfopt.study import Study

STORAGE = "a file (study.db, sqlite:///study.db) or a database (postgresql://user@host/name)"
THREADS = "threads that choosing a trial may compute with; the trials do not depend on it (default: 1)"


def add_storage(parser: argparse.ArgumentParser) -> None:
    """The arguments that say which study is meant."""
    parser.add_argument("storage", metavar="STORAGE", help=STORAGE)
    parser.add_argument("--study", metavar="NAME", help="needed only where the storage holds several studies")
    # argparse would take -1e-05 for an option; every number is a value here.
    parser._negative_number_matcher = re.compile(r"^-(\d|\.\d|inf|nan)")


def open_study(
    arguments: argparse.Namespace, lease: float | None = None, worker: str | None = None, threads: int = 1
) -> Study:
    """The study that the arguments of add_storage name."""
    return Study.open(arguments.storage, arguments.study, lease=lease, worker=worker, threads=threads)


def check_picture(path: str) -> None:
    """An error, before any work is done, where no picture of this name can be drawn."""
    try:
        import matplotlib  # noqa: F401  # asked for by itself: a part that was loaded before would be found without it
        from matplotlib.backend_bases import FigureCanvasBase
    except ImportError:
        raise MfoptError("pictures need matplotlib: pip install 'mfopt[plot]'") from None
    kinds = FigureCanvasBase.get_supported_filetypes()
    kind = os.path.splitext(path)[1].removeprefix(".")
    if kind and kind.lower() not in kinds:
        raise InputError(f"a picture must be a file of one of these kinds: {', '.join(sorted(kinds))}, got {path}")
    if not os.path.isdir(os.path.dirname(path) or "."):
        raise InputError(f"a picture must lie in a directory that exists, got {path}")
