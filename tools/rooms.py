"""The rooms of the house: what each package is for, and which others it may import. Written once, here.

    python tools/rooms.py check    name every import that the arrows do not allow
    python tools/rooms.py draw     write the table and the diagram into docs/architecture.md

A room is a package or a module at the top of `mfopt`, or a package of `mfopt_plugins`; `mfopt` itself is the front
door, what `import mfopt` gives. Imports inside functions count like any other. A test runs the check, and fails when
the page does not show what stands here.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tools.pages import ROOT, write_section

PAGE = ROOT / "docs" / "architecture.md"
SECTION = "rooms"


@dataclass(frozen=True)
class Room:
    """What it is for, and the rooms that it may import."""

    purpose: str
    may_import: str = ""

    @property
    def arrows(self) -> frozenset[str]:
        return frozenset(self.may_import.split())


ROOMS = {
    # the ground floor: words that everybody shares
    "errors": Room("every error and warning that mfopt raises on purpose"),
    "protocols": Room("what a plugin must be, and what it is handed"),
    "hooks": Room("what a plugin may offer beyond that", "protocols"),
    "checks": Room("what users give, turned into plain values or refused", "errors protocols"),
    "options": Room("plugins and problems written as strings, name:option=value", "errors checks"),
    "fidelities": Room("the functions from cheap to expensive, with what is known of each", "errors checks"),
    "registry": Room("plugins by name, found through entry points", "errors protocols hooks checks options"),
    "domains": Room(
        "X: spaces, boxes and finite sets, constraints, user units to the unit cube and back",
        "errors protocols hooks checks",
    ),
    "theory": Room(
        "the paper's theory as functions: schedules, information gain, good sets, bounds", "errors protocols checks"
    ),
    # one run
    "run": Room(
        "one run: its setup, its events, its ledger, and its session with the strategy",
        "errors protocols hooks checks fidelities registry domains",
    ),
    "storage": Room(
        "studies in SQLite and PostgreSQL: events that last, leases, headers, recovery",
        "errors protocols hooks checks fidelities registry domains run",
    ),
    "optimizer": Room("the ask/tell cycle: start reading here", "errors protocols hooks checks fidelities run storage"),
    "study": Room("an Optimizer that is opened by its name", "errors checks run storage optimizer"),
    "parallel": Room(
        "evaluations: here, in threads, in processes, in programs, on a cluster",
        "errors protocols checks domains run optimizer",
    ),
    "loop": Room(
        "maximize and minimize: the whole cycle in one call", "errors checks fidelities run optimizer parallel"
    ),
    # around a run
    "regret": Room("the simple regret of a run", "errors protocols checks"),
    "problems": Room("test problems whose optimum is known", "errors protocols checks options domains theory"),
    "analysis": Room(
        "what can be said of a run afterwards, and of its fidelities before it",
        "errors protocols hooks checks registry domains theory run optimizer",
    ),
    "plots": Room(
        "pictures of runs, of studies and of the theory",
        "errors protocols hooks checks domains theory run optimizer regret",
    ),
    "testing": Room(
        "conformance suites that third parties run on their plugins",
        "errors protocols hooks registry domains run optimizer",
    ),
    "sklearn": Room(
        "hyper-parameters of scikit-learn models: MultiFidelitySearchCV",
        "errors checks fidelities domains run storage optimizer study parallel",
    ),
    "mfopt": Room(
        "the front door: what `import mfopt` gives",
        "errors fidelities domains run optimizer study parallel loop regret problems analysis",
    ),
    "bench": Room(
        "methods compared on problems, in parallel and resumable",
        "errors protocols hooks checks options fidelities registry theory run optimizer loop regret problems mfopt",
    ),
    "cli": Room(
        "the command mfopt",
        "errors protocols checks fidelities registry domains run storage optimizer study parallel loop "
        "problems analysis plots testing mfopt bench",
    ),
    # the built-in plugins; `core` is imported by name only there
    "core": Room("compiled: kernels, incremental Cholesky, posteriors, bounds, DIRECT, ascents"),
    "plugins.method": Room(
        "the toolkit of strategies: observations, models, bounds, improvements, initial design",
        "errors protocols hooks",
    ),
    "plugins.maximisers": Room("the maximum of an acquisition over a box", "errors protocols hooks core"),
    "plugins.surrogates": Room(
        "Gaussian processes: one per fidelity, coupled, autoregressive", "errors protocols hooks core plugins.method"
    ),
    "plugins.strategies": Room(
        "where to ask next: mf-gp-ucb and everything it is compared with",
        "errors protocols hooks theory run plugins.method plugins.maximisers plugins.surrogates",
    ),
}


def wrong_imports() -> list[str]:
    """Every import between rooms that no arrow allows, and every arrow that does not point down."""
    wrong = []
    for file, room in _files():
        for line, target in _imports(file, room):
            if target != room and target not in ROOMS[room].arrows:
                wrong.append(f"{file.relative_to(ROOT)}:{line}: {room} must not import {target}")
    seen: set[str] = set()
    for name, room in ROOMS.items():
        seen.add(name)
        later = room.arrows - seen
        wrong += [f"tools/rooms.py: {name} is listed before {other}, which it may import" for other in sorted(later)]
    return wrong


def unused_arrows() -> list[str]:
    """Arrows along which nothing is imported."""
    used = {(room, target) for file, room in _files() for _, target in _imports(file, room)}
    return [f"{name} → {to}" for name, room in ROOMS.items() for to in sorted(room.arrows) if (name, to) not in used]


def _files() -> Iterator[tuple[Path, str]]:
    """Every Python file of mfopt and mfopt_plugins with its room."""
    for file in sorted((ROOT / "mfopt").rglob("*.py")):
        first = file.relative_to(ROOT / "mfopt").parts[0].removesuffix(".py")
        yield file, {"__init__": "mfopt", "__main__": "cli"}.get(first, first)
    for folder in sorted((ROOT / "plugins" / "mfopt_plugins").iterdir()):
        for file in sorted(folder.rglob("*.py")):
            yield file, f"plugins.{folder.name}"


def _imports(file: Path, room: str) -> Iterator[tuple[int, str]]:
    """The line and the room of everything that a file imports from the house."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            target = _room_of(name)
            if target is not None:
                yield node.lineno, target


def _room_of(name: str) -> str | None:
    package, *rest = name.split(".")
    if package == "mfopt_core":
        return "core"
    if package == "mfopt_plugins":
        return f"plugins.{rest[0]}" if rest else None
    if package == "mfopt":
        return rest[0] if rest and rest[0] in ROOMS else "mfopt"
    return None


def drawing() -> str:
    """The table and the diagram, in Markdown; the diagram leaves out arrows that follow from others."""
    lines = ["| room | what it is for | may import |", "|---|---|---|"]
    for name, room in ROOMS.items():
        arrows = ", ".join(f"`{to}`" for to in ROOMS if to in room.arrows)
        lines.append(f"| `{_folder(name)}` | {room.purpose} | {arrows or 'nothing'} |")
    lines += ["", "```mermaid", "flowchart TD"]
    for name, room in reversed(ROOMS.items()):
        implied = set().union(*(_reachable(to) for to in room.arrows)) if room.arrows else set()
        lines += [f"    {_node(name)} --> {_node(to)}" for to in ROOMS if to in room.arrows and to not in implied]
    return "\n".join([*lines, "```"])


def _reachable(name: str) -> set[str]:
    found: set[str] = set()
    for to in ROOMS[name].arrows:
        found |= {to} | _reachable(to)
    return found


def _folder(name: str) -> str:
    if name == "core":
        return "mfopt_core/"
    if name == "mfopt":
        return "mfopt/__init__.py"
    if name.startswith("plugins."):
        return f"plugins/mfopt_plugins/{name.removeprefix('plugins.')}/"
    return f"mfopt/{name}.py" if (ROOT / "mfopt" / f"{name}.py").exists() else f"mfopt/{name}/"


def _node(name: str) -> str:
    return f"{name.replace('.', '_')}[{name.removeprefix('plugins.') if name != 'core' else 'mfopt_core'}]"


def main(arguments: list[str]) -> int:
    if arguments == ["draw"]:
        write_section(PAGE, SECTION, drawing())
        return 0
    if arguments == ["check"]:
        wrong = wrong_imports()
        print("\n".join(wrong) or "every import follows an arrow")
        for arrow in unused_arrows():
            print(f"nothing is imported along {arrow}")
        return int(bool(wrong))
    print(__doc__)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
