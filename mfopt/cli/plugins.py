"""The command `mfopt plugins`: what is installed."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

from mfopt.cli.command import ExitCode, Subparsers
from mfopt.registry import plugins
from mfopt.run.tables import align


def add(commands: Subparsers) -> None:
    parser = commands.add_parser(
        "plugins",
        help="list the installed plugins",
        description="List the strategies, surrogates and maximisers that can be chosen by name, with their origin.",
    )
    parser.add_argument("--json", action="store_true", help="as JSON")


def run(arguments: argparse.Namespace) -> ExitCode:
    found = plugins()
    if arguments.json:
        print(json.dumps([asdict(plugin) for plugin in found], indent=2))
        return ExitCode.DONE
    rows = [("group", "name", "distribution", "version", "origin")]
    rows += [(p.group, p.name, p.distribution, p.version, p.origin) for p in found]
    print("\n".join(align(rows)))
    return ExitCode.DONE
