"""The command `mfopt studies`: what a storage holds."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from mfopt.cli._shared import STORAGE
from mfopt.cli.command import ExitCode, Subparsers
from mfopt.errors import MfoptError
from mfopt.run.tables import align
from mfopt.study import Study

if TYPE_CHECKING:
    from mfopt.storage import Header


def add(commands: Subparsers) -> None:
    parser = commands.add_parser(
        "studies",
        help="list the studies of a storage",
        description="List the studies of a storage, the oldest first.",
    )
    parser.add_argument("storage", metavar="STORAGE", help=STORAGE)
    parser.add_argument("--json", action="store_true", help="as JSON, with all that each study was made with")


def run(arguments: argparse.Namespace) -> ExitCode:
    headers = Study.headers(arguments.storage)
    studies = [_try_open(arguments.storage, header) for header in headers]
    if arguments.json:
        found = [
            {
                "name": header.name,
                "created": header.created,
                "mfopt": header.mfopt,
                **_describe(study),
                "spec": header.spec,
            }
            for header, study in zip(headers, studies, strict=True)
        ]
        print(json.dumps(found, indent=1))
        return ExitCode.DONE
    rows = [("study", "created", "told", "pending", "spent", "capital", "best")]
    for header, study in zip(headers, studies, strict=True):
        if isinstance(study, MfoptError):
            rows.append((header.name, header.created[:19], "-", "-", "-", "-", f"cannot be opened: {_line(study)}"))
            continue
        capital = "unlimited" if study.capital is None else f"{study.capital:g}"
        best = "-" if study.best is None else f"{study.best.y:.6g}"
        counts = (str(len(study.history)), str(len(study.pending)), f"{study.spent:g}")
        rows.append((header.name, header.created[:19], *counts, capital, best))
    print("\n".join(align(rows)))
    return ExitCode.DONE


def _try_open(storage: str, header: Header) -> Study | MfoptError:
    """The study, or why it cannot be opened: the others are to be listed all the same."""
    try:
        return Study.open(storage, header.name)
    except MfoptError as error:
        return error


def _describe(study: Study | MfoptError) -> dict[str, Any]:
    if isinstance(study, MfoptError):
        return {"error": _line(study)}
    return {
        "told": len(study.history),
        "pending": len(study.pending),
        "spent": study.spent,
        "capital": study.capital,
        "best": None if study.best is None else study.best.y,
    }


def _line(error: MfoptError) -> str:
    return " ".join(str(error).split())
