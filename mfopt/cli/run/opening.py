"""Opening: the optimiser that `mfopt run` asks, new or as a storage holds it."""

from __future__ import annotations

import argparse
import os
import socket
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mfopt.cli.problem_file import ProblemFile
from mfopt.errors import InputError, NotAStorage, UnknownStudy
from mfopt.optimizer import AS_STORED, Optimizer
from mfopt.study import Study

if TYPE_CHECKING:
    from mfopt.storage import Store


def open_optimizer(problem: ProblemFile, options: Mapping[str, Any], arguments: argparse.Namespace) -> Optimizer:
    """An optimiser of the problem: a study where --storage names one, which must be new unless --resume is given."""
    made: dict[str, Any] = {
        "domain": problem.domain,
        "fidelities": problem.fidelities,
        "rng": options.get("seed"),
        **{key: options[key] for key in ("direction", "strategy", "surrogate", "maximiser") if key in options},
    }
    capital = options.get("capital")
    if arguments.storage is not None:
        from mfopt.storage import connect

        store = connect(arguments.storage)
        made |= {
            "storage": store,
            "study": arguments.study,
            "lease": arguments.lease,
            "worker": f"{socket.gethostname()} {os.getpid()}",  # one of its own: at the end it gives back what it holds
        }
        if arguments.resume:
            study = _resume(made, capital)
            if study is not None:
                return study
        else:
            _check_new(store, arguments.study)
    if capital is None and arguments.time_limit is None:
        raise InputError("a run must have a --capital or a --time-limit to end it, got neither")
    return (Optimizer if arguments.storage is None else Study)(**made, capital=capital)


def _resume(made: Mapping[str, Any], capital: float | None) -> Study | None:
    """The study that is there, its capital raised if that is wanted; None where there is none yet."""
    try:
        study = Study(**made, capital=AS_STORED)
    except (UnknownStudy, NotAStorage):
        return None
    if capital is not None and capital != study.capital:
        study.raise_capital(capital)
    return study


def _check_new(store: Store, name: str | None) -> None:
    """An InputError if the storage holds the study already."""
    from mfopt.storage.header import study_name

    header = store.find(study_name(name))
    if header is not None:
        raise InputError(f"study must be a new one without --resume, got {header.name!r}, which {store} holds already")
