"""Problem files: what `mfopt run` optimises, written in Python.

A problem is a module, or an object or a dict in a module, with these names:

    domain        a mfopt.Space, Box or FiniteSet, a dict of parameters, or [(lo, hi), ...]
    costs         λ_1 < ... < λ_M; or `fidelities`, a list of mfopt.Fidelity; neither where `cost` says how costs are
                  found out
    functions     f⁽¹⁾, ..., f⁽ᴹ⁾, each from a point to a number, as in mfopt.maximize; or
    commands      an external program for each fidelity (see mfopt.parallel.simulator), or one for all of them

and, if it wishes, noise and any of OPTIONS, which the command line overrides. So it does `cost`, where that is a string
(parallel/rules.py has those that there are); anything else of this name, like all other names, is the file's own. One
that looks like a misspelt option is refused (misspelt.py).
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from mfopt import problems
from mfopt.checks import one_each, one_or_each, show
from mfopt.cli.misspelt import check_names, find_unread
from mfopt.domains import as_domain
from mfopt.errors import InputError
from mfopt.fidelities import Fidelity, as_fidelities
from mfopt.parallel.evaluation import Function
from mfopt.parallel.simulator import Simulator
from mfopt.protocols import Domain

OPTIONS = (
    "capital",
    "direction",
    "strategy",
    "surrogate",
    "maximiser",
    "seed",
    "workers",
    "threads",
    "limits",
    "timeout",
    "retries",
)
_NAMES = ("domain", "costs", "cost", "fidelities", "noise", "functions", "commands", *OPTIONS)


@dataclass(frozen=True)
class ProblemFile:
    """A problem, read."""

    domain: Domain
    fidelities: tuple[Fidelity, ...]
    functions: Sequence[Function]
    options: Mapping[str, Any]
    path: Path | None  # of the file, when it was named by its path


def load(source: str, cost: str | None = None) -> ProblemFile:
    """The problem that `source` names: problem.py, problem.py:name, package.module, package.module:name.

    Or one that mfopt.problems knows, with its options: "svm", "borehole:costs=[0.1,1]". `cost` is what the command line
    says of how costs are found out, in place of what the file says.
    """
    where, _, name = source.partition(":")
    if where in problems.names():
        return _read_known(problems.get(source))
    path = Path(where).resolve() if where.endswith(".py") else None
    module = _import_module(where, path)
    found: Any = module
    if name:
        if not hasattr(module, name):
            raise InputError(f"{where} must define {name}, got a file without it")
        found = getattr(module, name)
    given = dict(found) if isinstance(found, Mapping) else {key: getattr(found, key) for key in dir(found)}
    if found is module:
        check_names(given, _find_unread(module), _NAMES, source)
    elif isinstance(found, Mapping | SimpleNamespace | type):  # other objects may have more to do than to be a problem
        check_names(given, found if isinstance(found, Mapping) else vars(found), _NAMES, source)
    return _read_problem(given if cost is None else {**given, "cost": cost}, source, path)


def _read_known(problem: problems.Benchmark) -> ProblemFile:
    fidelities = as_fidelities(problem.costs, None, None)
    options = {} if problem.cost is None else {"cost": problem.cost}
    return ProblemFile(problem.domain, fidelities, problem.functions, options, None)


def _import_module(where: str, path: Path | None) -> Any:
    """The module, imported by its name, so that other processes can import its functions too."""
    if path is not None:
        if not path.is_file():
            raise InputError(f"a problem must be a Python file or a module, got {where}, which does not exist")
        if path.stem in sys.modules and Path(getattr(sys.modules[path.stem], "__file__", None) or "").resolve() != path:
            raise InputError(f"a problem's file must not be called like a module in use, got {path.name}")
        sys.path.insert(0, str(path.parent))
    elif "" not in sys.path:
        sys.path.insert(0, "")  # as Python itself does
    try:
        return importlib.import_module(where if path is None else path.stem)
    except Exception as error:
        raise InputError(f"{where} must be importable, got {type(error).__name__}: {error}") from error


def _find_unread(module: Any) -> list[str]:
    try:
        return find_unread(inspect.getsource(module))
    except (OSError, TypeError):  # a module without a source file
        return []


def _read_problem(given: Mapping[str, Any], source: str, path: Path | None) -> ProblemFile:
    if given.get("domain") is None:
        raise InputError(f"{source} must define domain, got none")
    domain = as_domain(given["domain"])
    functions, commands = given.get("functions"), given.get("commands")
    fidelities = as_fidelities(_find_costs(given), given.get("fidelities"), given.get("noise"))
    if (functions is None) == (commands is None):
        which = "none" if functions is None else "both"
        raise InputError(f"{source} must define one of functions and commands, got {which}")
    if functions is None:
        functions = _make_simulators(commands, domain, fidelities)
    else:
        functions = one_each(functions, len(fidelities), "functions, one per fidelity,")
        for function in functions:
            if not callable(function):
                raise InputError(f"functions must be callable, got {show(function)}")
    options = {key: given[key] for key in OPTIONS if given.get(key) is not None}
    options |= {"cost": given["cost"]} if isinstance(given.get("cost"), str) else {}
    return ProblemFile(domain, fidelities, functions, options, path)


def _find_costs(given: Mapping[str, Any]) -> Any:
    """The costs; unknown ones, one per function or command, where none are given but how to find them out."""
    if given.get("costs") is not None or given.get("fidelities") is not None:
        return given.get("costs")
    if not isinstance(given.get("cost"), str):
        raise InputError(
            "one of costs and fidelities must be given unless --cost says how costs are found out, got none"
        )
    each = given.get("functions") or given.get("commands")
    return [None] * len(each) if isinstance(each, list | tuple) else None


def _make_simulators(commands: Any, domain: Domain, fidelities: Sequence[Fidelity]) -> list[Function]:
    each = one_or_each(commands, len(fidelities), "commands, one per fidelity,")
    simulators = [
        Simulator(command, domain.names, m, fidelity.name)
        for m, (command, fidelity) in enumerate(zip(each, fidelities, strict=True))
    ]
    for simulator in simulators:
        simulator.check()
    return list(simulators)
