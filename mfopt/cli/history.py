"""The command `mfopt history`: everything that was told."""

from __future__ import annotations

import argparse
import csv
import json
import sys
from typing import Any

from mfopt.checks import escape
from mfopt.cli._shared import add_storage, open_study
from mfopt.cli.command import ExitCode, Subparsers
from mfopt.domains.params import params_of
from mfopt.run.history import column_name
from mfopt.run.tables import align
from mfopt.study import Study


def add(commands: Subparsers) -> None:
    parser = commands.add_parser(
        "history",
        help="list the trials of a study",
        description="List what was told, in that order, with the bounds of failures if there are any; then, with "
        "--pending, the trials that are still pending.",
    )
    add_storage(parser)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--csv", action="store_true", help="as CSV, which mfopt check reads")
    form.add_argument("--json", action="store_true", help="as JSON: a list of objects")
    parser.add_argument("--pending", action="store_true", help="the pending trials too")


def run(arguments: argparse.Namespace) -> ExitCode:
    study = open_study(arguments)
    rows = _list_trials(study, arguments.pending)
    if arguments.json:
        print(json.dumps(rows, indent=1))
        return ExitCode.DONE
    names = ["id", *(escape(column_name(name)) for name in study.domain.names), "fidelity", "y", "cost", "status"]
    cells = [[_as_string(row["x"].get(name)) for name in study.domain.names] for row in rows]
    lines = [
        [str(row["id"]), *x, str(row["fidelity"]), _as_string(row["y"]), _as_string(row["cost"]), row["status"]]
        for row, x in zip(rows, cells, strict=True)
    ]
    if any("bound" in row for row in rows):
        names.append("bound")
        for row, line in zip(rows, lines, strict=True):
            line.append(_as_string(row.get("bound")))
    if arguments.csv:
        csv.writer(sys.stdout, lineterminator="\n").writerows([names, *lines])
    else:
        print("\n".join(align([names, *lines])))
    return ExitCode.DONE


def _list_trials(study: Study, pending: bool) -> list[dict[str, Any]]:
    history = study.history
    columns = zip(history.id, history.x, history.fidelity, history.y, history.cost, history.status, strict=True)
    rows: list[dict[str, Any]] = [
        {
            "id": int(id),
            "x": params_of(study.domain, x),
            "fidelity": int(m),
            "y": float(y) if status == "ok" else None,
            "cost": float(cost),
            "status": str(status),
        }
        for id, x, m, y, cost, status in columns
    ]
    for row, bound in zip(rows, history.bound.tolist(), strict=True):
        if bound == bound:
            row["bound"] = bound
    for trial in study.pending if pending else []:
        told = {"id": trial.id, "x": trial.params, "fidelity": trial.fidelity, "y": None, "cost": trial.cost}
        rows.append({**told, "status": "pending"})
    return rows


def _as_string(value: Any) -> str:
    """A cell: numbers with all their digits, nothing where there is no value."""
    return "" if value is None else escape(value) if isinstance(value, str) else repr(value)
