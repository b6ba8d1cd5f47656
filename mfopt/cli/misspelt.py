"""Misspelt: names in a problem file that look like options and are none.

A file may hold whatever its functions need, so a name is taken for a mistake only if nothing in the file reads it and
it is that of an argument elsewhere in mfopt, or close to a name that the file does not define.
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterable, Mapping
from typing import Any

from mfopt.errors import InputError

_ON_COMMAND_LINE = ("storage", "study", "resume", "lease", "executor", "time_limit", "plot", "give_up")
_ELSEWHERE = {
    **dict.fromkeys(("minimize", "minimise"), 'direction = "minimize"'),
    **dict.fromkeys(("maximize", "maximise"), 'direction = "maximize"'),
    **dict.fromkeys(("rng", "random_state"), "seed"),
    "budget": "capital",
    "zetas": "fidelities = [mfopt.Fidelity(name, cost, zeta), ...]",
    **{name: f"--{name.replace('_', '-')} on the command line" for name in _ON_COMMAND_LINE},
}


def check_names(given: Mapping[str, Any], candidates: Iterable[str], known: Iterable[str], source: str) -> None:
    """An InputError when one of the candidates, which nobody reads, is a misspelt name of the problem `given`."""
    missing = [name for name in known if given.get(name) is None]
    for name in candidates:
        if name in known or name.startswith("_"):
            continue
        close = difflib.get_close_matches(name.lower(), missing, n=1, cutoff=0.75)
        meant = _ELSEWHERE.get(name) or (close[0] if close else None)
        if meant is not None:
            raise InputError(
                f"{source} must define names that mfopt run knows or that its functions use, got {name}; "
                f"did you mean {meant}?"
            )


def find_unread(text: str) -> list[str]:
    """The names to which a module's own code assigns a value that nothing in the module reads."""
    module = ast.parse(text)
    inner = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
    assigned: dict[str, None] = {}
    places: list[ast.AST] = list(module.body)
    while places:
        node = places.pop(0)
        if isinstance(node, inner):
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            assigned[node.id] = None
        places += ast.iter_child_nodes(node)
    read = {node.id for node in ast.walk(module) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store)}
    return [name for name in assigned if name not in read]
