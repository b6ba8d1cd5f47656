"""Misspelt: names in a problem file that look like options and are none.

A file may hold whatever its functions need, so a name is taken for a mistake only if nothing in the file reads it and
it is that of an argument elsewhere, in mfopt or other libraries, close to a name that the file does not define, or one
that mfopt knows in other letters.
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterable, Mapping
from typing import Any

from mfopt.errors import InputError

_OF_THE_RUN = ("storage", "study", "resume", "lease", "executor", "plot", "give_up")
_OF_ITS_END = ("time_limit", "target", "stop", "tolerance")
_OF_THE_DOMAIN = ("names", "log", "constraints", "feasible")
_ELSEWHERE = {
    **dict.fromkeys(("minimize", "minimise"), 'direction = "minimize"'),
    **dict.fromkeys(("maximize", "maximise"), 'direction = "maximize"'),
    **dict.fromkeys(("sense", "goal", "objective"), "direction"),
    **dict.fromkeys(("rng", "random_state"), "seed"),
    **dict.fromkeys(("budget", "max_evals", "n_calls", "n_trials"), "capital"),
    "maximizer": "maximiser",
    "retry": "retries",
    "zetas": "fidelities = [mfopt.Fidelity(name, cost, zeta), ...]",
    **{name: f"domain = mfopt.Box([(lo, hi), ...], {name}=...)" for name in _OF_THE_DOMAIN},
    **{name: f"--{name.replace('_', '-')} on the command line" for name in (*_OF_THE_RUN, *_OF_ITS_END)},
    "on_error": "--give-up on the command line",
}
_LONG = 8  # letters from which a name of an argument elsewhere is known in spite of a wrong one


def check_names(given: Mapping[str, Any], candidates: Iterable[str], known: Iterable[str], source: str) -> None:
    """An InputError when one of the candidates, which nobody reads, is a misspelt name of the problem `given`."""
    missing = [name for name in known if given.get(name) is None]
    long = [name for name in _ELSEWHERE if len(name) >= _LONG]
    for name in candidates:
        if name in known or name.startswith("_"):
            continue
        if name.lower() in _ELSEWHERE or name.lower() in known:
            close = [name.lower()]
        else:
            close = difflib.get_close_matches(name.lower(), [*missing, *long], n=1, cutoff=0.75)
        if close:
            raise InputError(
                f"{source} must define names that mfopt run knows or that its functions use, got {name}; "
                f"did you mean {_ELSEWHERE.get(close[0], close[0])}?"
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
