"""Inputs: what the user tells, checked before anything is changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from mfopt.checks import LARGEST, integer, objective_value, one_each, one_or_each, real_array, real_number, show
from mfopt.domains.params import is_frame, is_series, params_of_frame
from mfopt.errors import InputError
from mfopt.protocols import Array, Domain


class Row(NamedTuple):
    """One value that nobody asked for, in the order of the fields of an Added event."""

    x: Array  # in user units
    u: Array  # in unit coordinates
    fidelity: int
    cost: float
    y: float


class Outcome(NamedTuple):
    """What a trial came to."""

    trial: object  # the Trial or its id
    y: float | None  # None: it failed
    bound: float | None  # of one that failed: the value there is known to be no better
    cost: float | None  # what it really cost; None: what was promised


def parse_outcome(outcome: Sequence[Any]) -> Outcome:
    """The outcome that (trial, y), (trial, y, status) or (trial, y, status, cost) stands for.

    The y of a failed outcome is the bound.
    """
    if not isinstance(outcome, list | tuple) or len(outcome) not in (2, 3, 4):
        raise InputError(
            f"an outcome must be (trial, y), (trial, y, status) or (trial, y, status, cost), got {show(outcome)}"
        )
    trial, y, status, cost = (*outcome, "ok", None)[:4] if len(outcome) == 2 else (*outcome, None)[:4]
    paid = None if cost is None else parse_cost(cost)
    if status == "failed":
        bound = None if y is None else objective_value(y, 'a bound told with status="failed"')
        return Outcome(trial, None, bound, paid)
    if status != "ok":
        raise InputError(f'status must be "ok" or "failed", got {show(status)}')
    try:
        return Outcome(trial, objective_value(y, "y"), None, paid)
    except InputError as error:
        raise InputError(f'{error}; when there is no value use status="failed"') from None


def parse_outcomes(outcomes: object) -> list[Outcome]:
    """Those that Optimizer.tell_many takes."""
    if not isinstance(outcomes, Iterable):
        raise InputError(f"outcomes must be a list of them, got {show(outcomes)}")
    return [parse_outcome(outcome) for outcome in outcomes]


def parse_cost(cost: object) -> float:
    """What an evaluation cost."""
    number = real_number(cost, "cost") + 0.0  # −0.0 becomes 0.0
    if not 0.0 <= number <= LARGEST:
        raise InputError(f"cost must be from 0 to {LARGEST}, got {number}")
    return number


def parse_data(domain: Domain, count: int, x: object, fidelity: object, y: object, cost: object) -> list[Row]:
    """The rows that Optimizer.add takes, for a problem with `count` fidelities."""
    values = real_array(y, "y") + 0.0  # −0.0 becomes 0.0, as in objective_value
    if values.ndim > 1 or values.size == 0:
        raise InputError(f"y must be one value or an array (q,) with q at least 1, got shape {values.shape}")
    if not (np.abs(values) <= LARGEST).all():
        raise InputError(
            f"y must be finite and at most {LARGEST} in size, got {show(values.tolist())}; leave failed evaluations out"
        )
    many = as_many(x)
    if values.ndim == 0 and many is not None and len(many) != 1:
        raise InputError(f"y must have one value for each of the {len(many)} points of x, got {values} alone")
    if values.ndim == 0:
        given = [x] if many is None else many
    else:
        given = one_each(params_of_frame(x) if is_frame(x) else x, values.size, "x, one point per value of y,")
    levels = [parse_fidelity(m, count) for m in one_or_each(fidelity, len(given), "fidelity")]
    costs = [real_number(c, "cost") + 0.0 for c in one_or_each(0.0 if cost is None else cost, len(given), "cost")]
    points = [domain.validate(row) for row in given]
    units = [u.copy() for u in domain.encode(np.array(points))]
    for array in (*points, *units):
        array.flags.writeable = False
    return [Row(*row) for row in zip(points, units, levels, costs, values.reshape(-1).tolist(), strict=True)]


def parse_fidelity(m: object, count: int) -> int:
    """The number of a fidelity, of `count`."""
    number = integer(m, "fidelity")
    if not 0 <= number < count:
        raise InputError(f"fidelity must be from 0 to {count - 1}, got {number}")
    return number


def as_many(x: object) -> list[object] | None:
    """The points, where x holds many: rows of an array or a frame, or a list of points or dicts; None for one point."""
    if isinstance(x, Mapping):
        return None
    if is_frame(x):
        return list(params_of_frame(x))
    if isinstance(x, np.ndarray):
        if x.ndim > 2:
            raise InputError(f"x must be a point or an array (q, d), got shape {x.shape}")
        return list(x) if x.ndim == 2 else None
    if isinstance(x, list | tuple):
        nested = [isinstance(point, list | tuple | np.ndarray | Mapping) or is_series(point) for point in x]
        if any(nested) and not all(nested):
            raise InputError(f"x must be one point or a list of points, got {show(x)}")
        return list(x) if any(nested) else None
    return None
