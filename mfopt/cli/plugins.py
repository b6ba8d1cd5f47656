"""The command `mfopt plugins`: what is installed."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from typing import Any

from mfopt.registry import plugins


def add(commands: Any) -> None:
    parser = commands.add_parser("plugins", help="list the installed plugins")
    parser.add_argument("--json", action="store_true", help="as JSON")


def run(arguments: argparse.Namespace) -> None:
    found = plugins()
    if arguments.json:
        print(json.dumps([asdict(plugin) for plugin in found], indent=2))
        return
    table = [("group", "name", "distribution", "version", "origin")]
    table += [(p.group, p.name, p.distribution, p.version, p.origin) for p in found]
    widths = [max(len(row[column]) for row in table) for column in range(5)]
    for row in table:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
