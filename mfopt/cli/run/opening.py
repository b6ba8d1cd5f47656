"""Opening: the optimiser that `mfopt run` asks, new or as a storage holds it."""

from __future__ import annotations

import argparse
import os
import socket
from collections.abc import Mapping
from typing import Any

from mfopt.cli.problem_file import ProblemFile
from mfopt.errors import InputError
from mfopt.optimizer import Optimizer
from mfopt.run.setup import Setup
from mfopt.study import Study

_GIVEN = ("direction", "strategy", "surrogate", "maximiser", "threads")  # options that an Optimizer takes as they are


def open_optimizer(problem: ProblemFile, options: Mapping[str, Any], arguments: argparse.Namespace) -> Optimizer:
    """An optimiser of the problem: a study where --storage names one, which must be new unless --resume is given."""
    made: dict[str, Any] = {
        "domain": problem.domain,
        "fidelities": problem.fidelities,
        "rng": options.get("seed"),
        **{key: options[key] for key in _GIVEN if key in options},
    }
    capital = options.get("capital")
    if arguments.storage is None:
        return Optimizer(**made, capital=_require_end(capital, arguments))
    from mfopt.storage import connect
    from mfopt.storage.header import study_name

    store = connect(arguments.storage)
    header = store.find(study_name(arguments.study))
    # A worker of its own: at the end it gives back what it holds.
    terms: dict[str, Any] = {"lease": arguments.lease, "worker": f"{socket.gethostname()} {os.getpid()}"}
    if header is None:
        return Study(**made, **terms, storage=store, study=arguments.study, capital=_require_end(capital, arguments))
    if not arguments.resume:
        raise InputError(f"study must be a new one without --resume, got {header.name!r}, which {store} holds already")
    study = Study.resume(Setup.from_arguments(**made), store, header, **terms)
    if capital is not None and capital != study.capital:
        study.raise_capital(capital)
    return study


def _require_end(capital: float | None, arguments: argparse.Namespace) -> float | None:
    """The capital of a new run, which may be missing only where a time limit ends it."""
    if capital is None and arguments.time_limit is None:
        raise InputError(
            "a run must have a capital (--capital, or capital in the problem file) or a --time-limit, got neither"
        )
    return capital
