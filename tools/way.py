"""The way of one ask through the house: which files it passes, in order.

    python tools/way.py          show an ordinary ask of the default method, and one that learns
    python tools/way.py write    write the way of an ordinary ask into docs/architecture.md

A file counts when a function of it is called during the ask; compiled code and data classes do not show. A test holds
the number of files, of crossings from mfopt into a plugin and of passes through the maximiser against what
docs/architecture.md promises.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import mfopt
import mfopt_plugins
from tools.pages import ROOT, write_section

PAGE = ROOT / "docs" / "architecture.md"
SECTION = "way"
PACKAGES = {
    "mfopt": Path(mfopt.__file__).parent,
    "mfopt_plugins": Path(mfopt_plugins.__file__ or "").parent,
}
_PROBLEM = mfopt.problems.get("currin")


@dataclass
class Way:
    """What was passed: files in the order of their first call, and how often the frontier was crossed."""

    files: list[str] = field(default_factory=list)
    crossings: int = 0  # calls from mfopt into a plugin
    maximisations: int = 0


def follow(call: Callable[[], Any]) -> tuple[Any, Way]:
    """What the call returns, and the way that it took."""
    way = Way()

    def note(frame: FrameType, event: str, argument: object) -> None:
        here = _file(frame) if event == "call" else None
        if here is None:
            return
        if here not in way.files:
            way.files.append(here)
        caller = frame.f_back
        while caller is not None and _file(caller) is None:
            caller = caller.f_back
        before = None if caller is None else _file(caller)
        way.crossings += before is not None and before.startswith("mfopt/") and here.startswith("mfopt_plugins/")
        way.maximisations += frame.f_code.co_name == "maximise"

    sys.setprofile(note)
    try:
        return call(), way
    finally:
        sys.setprofile(None)


def _file(frame: FrameType) -> str | None:
    """The file of a frame, from its package on; None for code of others."""
    path = Path(frame.f_code.co_filename)
    for name, folder in PACKAGES.items():
        if path.is_relative_to(folder):
            return f"{name}/{path.relative_to(folder).as_posix()}"
    return None


def example(trials: int) -> mfopt.Optimizer:
    """The default method on a problem with two fidelities, after so many trials; the initial design takes 11."""
    optimizer = mfopt.Optimizer(_PROBLEM.domain, costs=_PROBLEM.costs, capital=1000.0, rng=0)
    for _ in range(trials):
        answer(optimizer, optimizer.ask())
    return optimizer


def answer(optimizer: mfopt.Optimizer, trial: mfopt.Trial) -> None:
    """Tell the value of a trial of `example`."""
    optimizer.tell(trial, _PROBLEM.functions[trial.fidelity](trial.x[None]))


def ordinary_ask() -> Way:
    """The way of an ask that explores by φ and does not learn."""
    optimizer = example(12)
    for _ in range(40):
        trial, way = follow(optimizer.ask)
        if trial.reason.kind == "ucb" and not learns(way):
            return way
        answer(optimizer, trial)
    raise SystemExit("none of the asks is an ordinary one")


def learns(way: Way) -> bool:
    """Whether hyper-parameters were learnt on it."""
    return any("surrogates" in file and "learning" in file for file in way.files)


def listing(way: Way) -> str:
    """The files with what their first line says of them, in Markdown."""
    rows = ["| | file | what it is |", "|---|---|---|"]
    for number, file in enumerate(way.files, start=1):
        package, _, rest = file.partition("/")
        doc = ast.get_docstring(ast.parse((PACKAGES[package] / rest).read_text(encoding="utf-8"))) or ""
        first = " ".join(doc.split("\n\n", 1)[0].split()).replace("|", "\\|")
        shown = file if package == "mfopt" else f"plugins/{file}"
        rows.append(f"| {number} | `{shown}` | {first} |")
    return "\n".join(rows)


def main(arguments: list[str]) -> int:
    way = ordinary_ask()
    if arguments == ["write"]:
        write_section(PAGE, SECTION, listing(way))
        return 0
    if arguments:
        print(__doc__)
        return 2
    print(f"an ask that explores: {len(way.files)} files, {way.crossings} crossing, {way.maximisations} maximisation")
    print("  " + "\n  ".join(way.files))
    optimizer = example(12)
    for _ in range(50):
        trial, way = follow(optimizer.ask)
        more = " and learns" if learns(way) else ""
        print(f"{trial.reason.kind}{more}: {len(way.files)} files, {way.crossings} crossing")
        answer(optimizer, trial)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
