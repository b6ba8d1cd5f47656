"""Writes the table of hooks in docs/write-a-plugin.md from mfopt/hooks/, so that the page cannot forget one.

    python tools/document_hooks.py

A row is a protocol: whose ability it is (the list in the module's docstring says so), the method that offers it, and
its docstring. A test compares the page with the code.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mfopt import hooks
from tools.pages import ROOT, write_section

PAGE = ROOT / "docs" / "write-a-plugin.md"
SECTION = "hooks"


def table() -> str:
    """The table, in Markdown."""
    lines = ["| offered by | method | what it is for | protocol |", "|---|---|---|---|"]
    for owner, name in _list_hooks():
        protocol = getattr(hooks, name)
        purpose = " ".join((inspect.getdoc(protocol) or "").split())
        lines.append(f"| {owner} | {_method(protocol)} | {purpose} | `{name}` |")
    return "\n".join(lines)


def _list_hooks() -> Iterator[tuple[str, str]]:
    """Each protocol with its owner, as the module's docstring lists them: "of a surrogate  FusesBounds, ..."."""
    for owner, names in re.findall(r"^    of (an? \w+|any \w+) +([^;\n]+)", hooks.__doc__ or "", re.MULTILINE):
        for name in names.split(","):
            yield owner, name.strip()


def _method(protocol: type) -> str:
    """The methods of a protocol, or its property, as they are called."""
    members = {name: member for name, member in vars(protocol).items() if not name.startswith("_")}
    return ", ".join(_signature(name, member) for name, member in members.items())


def _signature(name: str, member: Any) -> str:
    if isinstance(member, property):
        return f"`{name}` (a property)"
    parameters = [p for p in inspect.signature(member).parameters if p != "self"]
    return f"`{name}({', '.join(parameters)})`"


if __name__ == "__main__":
    write_section(PAGE, SECTION, table())
