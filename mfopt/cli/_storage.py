"""What the commands on studies share."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Sequence
from typing import Any

from mfopt import registry
from mfopt.optimizer import Optimizer
from mfopt.options import parse_options
from mfopt.run.trial import Trial
from mfopt.study import Study

EXHAUSTED = 3  # the exit code of an ask when there is nothing to evaluate
STORAGE = "a file (study.db, sqlite:///study.db) or a database (postgresql://user@host/name)"


def add_storage(parser: argparse.ArgumentParser) -> None:
    """The arguments that say which study is meant."""
    parser.add_argument("storage", metavar="STORAGE", help=STORAGE)
    parser.add_argument("--study", metavar="NAME", help="needed only where the storage holds several studies")
    # argparse would take -1e-05 for an option; every number is a value here.
    parser._negative_number_matcher = re.compile(r"^-(\d|\.\d|inf|nan)")


def opened(arguments: argparse.Namespace, **options: Any) -> Study:
    return Study.open(arguments.storage, arguments.study, **options)


def plugin(group: str, text: str) -> object:
    """The plugin that a name, or a name with options (see mfopt.options), stands for."""
    name, options = parse_options(text)
    return registry.make(group, name, options) if options else name


def by_name(study: Optimizer, x: Any) -> dict[str, float]:
    """A point as {name: value}."""
    return dict(zip(study.domain.names, x.tolist(), strict=True))


def as_json(study: Study, trial: Trial) -> str:
    """A trial on one line, for programs."""
    return json.dumps(
        {
            "id": trial.id,
            "fidelity": trial.fidelity,
            "name": study.fidelities[trial.fidelity].name,
            "cost": trial.cost,
            "index": trial.index,
            "x": by_name(study, trial.x),
            "reason": str(trial.reason),
        },
        ensure_ascii=False,
    )


def table(rows: Sequence[Sequence[str]]) -> str:
    """Rows with aligned columns."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)
