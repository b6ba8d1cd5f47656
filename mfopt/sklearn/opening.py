"""Opening: the optimiser of a search, new or as a storage holds it."""

from __future__ import annotations

from typing import Any

from mfopt.optimizer import Optimizer
from mfopt.run.setup import Setup
from mfopt.study import Study


def open_optimizer(made: dict[str, Any], capital: float | None, storage: object, study: str | None) -> Optimizer:
    """An optimiser made with these arguments; a study that exists is resumed, and its capital raised to this one."""
    if storage is None:
        return Optimizer(**made, capital=capital, study=study)
    from mfopt.storage import connect
    from mfopt.storage.header import study_name

    store = connect(storage)
    header = store.find(study_name(study))
    if header is None:
        return Study(**made, capital=capital, storage=store, study=study)
    found = Study.resume(Setup.from_arguments(**made), store, header)
    if capital is not None and capital != found.capital:
        found.raise_capital(capital)
    return found
