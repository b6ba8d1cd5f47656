"""The command `mfopt new-plugin`: a distribution with a plugin that works, to be changed."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from mfopt.cli.command import ExitCode, Subparsers
from mfopt.errors import InputError
from mfopt.registry import GROUPS, find_plugin

_TEMPLATES = Path(__file__).with_name("templates")


def add(commands: Subparsers) -> None:
    parser = commands.add_parser(
        "new-plugin",
        help="write a plugin of your own: a distribution that installs, passes its tests and is ready to change",
        description="Write a distribution mfopt-NAME with a working plugin and its conformance tests.",
    )
    parser.add_argument("kind", choices=["surrogate", "maximiser", "strategy"], help="which part of mfopt it replaces")
    parser.add_argument("name", metavar="NAME", help="by which it will be chosen: lower case, digits and hyphens")
    parser.add_argument("--into", metavar="FOLDER", help="where to write it (default: mfopt-NAME, here)")


def run(arguments: argparse.Namespace) -> ExitCode:
    kind, name = arguments.kind, arguments.name
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise InputError(f"a plugin's name must be of lower-case letters, digits and hyphens, got {name!r}")
    installed = find_plugin(GROUPS[kind], name)
    if installed is not None:
        raise InputError(f"a plugin needs a name of its own, got {name!r}, a {kind} of {installed.distribution}")
    folder = Path(arguments.into or f"mfopt-{name}")
    if folder.exists() and any(folder.iterdir()):
        raise InputError(f"a new plugin must go into a folder that is empty or new, got {folder}")
    for path in write(kind, name, folder):
        print(path)
    return ExitCode.DONE


def write(kind: str, name: str, folder: Path) -> list[Path]:
    """Write the distribution; the files that it has."""
    module = f"mfopt_{name.replace('-', '_')}"
    words = {
        "NAME": name,
        "KIND": kind,
        "GROUP": GROUPS[kind].removeprefix("mfopt."),
        "MODULE": module,
        "CLASS": "".join(word.capitalize() for word in name.split("-")),
        "DISTRIBUTION": f"mfopt-{name}",
    }
    files = {
        folder / "pyproject.toml": "pyproject",
        folder / "README.md": "readme",
        folder / f"{module}.py": kind,
        folder / "tests" / f"test_{name.replace('-', '_')}.py": f"{kind}_test",
    }
    for path, template in files.items():
        text = (_TEMPLATES / f"{template}.txt").read_text(encoding="utf-8")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(re.sub("@([A-Z]+)@", lambda match: words[match[1]], text), encoding="utf-8")
    return list(files)
