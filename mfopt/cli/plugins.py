"""The command `mfopt plugins`: what is installed."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict

from mfopt.checks import escape
from mfopt.cli.command import ExitCode, Subparsers
from mfopt.registry import plugins, unreadable
from mfopt.run.tables import align


def add(commands: Subparsers) -> None:
    parser = commands.add_parser(
        "plugins",
        help="list the installed plugins",
        description="List the strategies, surrogates and maximisers that can be chosen by name, with their origin.",
    )
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.add_argument(
        "--check", action="store_true", help="load each and run the quick part of its conformance suite; 1 if any fails"
    )


def run(arguments: argparse.Namespace) -> ExitCode:
    found = plugins()
    for line in unreadable():
        print(f"mfopt: warning: {line}", file=sys.stderr)
    rows = [asdict(plugin) for plugin in found]
    if arguments.check:
        from mfopt.testing.health import check_health

        for row, plugin in zip(rows, found, strict=True):
            row["health"] = check_health(plugin)
    if arguments.json:
        print(json.dumps(rows, indent=2))
    else:
        columns = ["group", "name", "distribution", "version", "origin", *(["health"] if arguments.check else [])]
        print("\n".join(align([tuple(columns), *(tuple(_one_line(row[key]) for key in columns) for row in rows)])))
        if not arguments.check:
            for row in rows:
                if row["problem"]:
                    print(f"mfopt: warning: {row['distribution']}: {row['problem']}", file=sys.stderr)
    healthy = all(row.get("health", "ok") == "ok" for row in rows)
    return ExitCode.DONE if healthy else ExitCode.FAILED


def _one_line(text: str) -> str:
    return escape(" ".join(text.split()))
