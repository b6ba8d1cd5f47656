"""Rules: what holds for the evaluations of a run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from mfopt.checks import integer, one_each, one_or_each, real_number, seconds, show
from mfopt.errors import InputError

COSTS = ("time", "total-time", "reported")  # seconds of an evaluation; with the ask before it; as functions say


@dataclass(frozen=True)
class Rules:
    """What holds for the evaluations of a run; `limits` and `timeouts` have one number per fidelity, inf for none."""

    limits: Sequence[float]  # how many may run at once
    timeouts: Sequence[float]  # seconds that one may take
    retries: int  # how often a failed evaluation is tried again
    time_limit: float  # seconds after the start of the run in which evaluations may begin; inf for no limit
    record: bool  # whether an evaluation that failed for good is recorded, or its exception raised
    cost: str | None = None  # how costs are found out, one of COSTS; None: they are those of the optimiser
    target: float | None = None  # a value that is good enough to stop
    converges: bool = False  # whether to stop when little gain is expected
    tolerance: float | None = None  # how little; None: a part of the range of values


def as_rules(
    count: int,
    limits: object = None,
    timeout: object = None,
    retries: object = 0,
    time_limit: object = None,
    on_error: object = "raise",
    cost: object = None,
    target: object = None,
    stop: object = None,
    tolerance: object = None,
) -> Rules:
    """The rules that these arguments of mfopt.loop.run stand for, where there are `count` fidelities."""
    if on_error not in ("raise", "record"):
        raise InputError(f'on_error must be "raise" or "record", got {show(on_error)}')
    ends = seconds if isinstance(time_limit, str) else real_number  # "30m", or a number, which may be 0
    limit = math.inf if time_limit is None else ends(time_limit, "time_limit")
    tries = integer(retries, "retries")
    if tries < 0:
        raise InputError(f"retries must not be negative, got {tries}")
    if cost is not None and cost not in COSTS:
        raise InputError(f"cost must be one of {', '.join(map(repr, COSTS))} or None, got {show(cost)}")
    if stop not in (None, "converged"):
        raise InputError(f'stop must be "converged" or None, got {show(stop)}')
    return Rules(
        _as_limits(limits, count),
        _as_timeouts(timeout, count),
        tries,
        limit,
        on_error == "record",
        None if cost is None else str(cost),
        None if target is None else real_number(target, "target"),
        stop is not None,
        _as_tolerance(tolerance, stop),
    )


def _as_limits(given: object, count: int) -> list[float]:
    each = [None] * count if given is None else one_each(given, count, "limits, one per function,")
    limits = [math.inf if one is None else integer(one, "limits") for one in each]
    if min(limits) < 1:
        raise InputError(f"limits must be at least 1 or None, got {show(given)}")
    return limits


def _as_timeouts(given: object, count: int) -> list[float]:
    each = one_or_each(given, count, "timeout, unless it is one number,")
    times = [math.inf if one is None else real_number(one, "timeout") for one in each]
    if min(times) <= 0.0:
        raise InputError(f"timeout must be positive, got {show(given)}")
    return times


def _as_tolerance(given: object, stop: object) -> float | None:
    if given is None:
        return None
    number = real_number(given, "tolerance")
    if stop is None:
        raise InputError(f'tolerance must come with stop="converged", got {number} without')
    if number <= 0.0:
        raise InputError(f"tolerance must be positive, got {number}")
    return number
