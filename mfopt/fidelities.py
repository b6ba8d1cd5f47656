"""Fidelities: the functions f⁽¹⁾, ..., f⁽ᴹ⁾ = f from cheap to expensive, with what is known of each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from mfopt.checks import one_or_each, real_number, show
from mfopt.errors import InputError


@dataclass(frozen=True)
class Fidelity:
    """One of the functions that can be evaluated, and what is known about it.

    name     shown in tables and pictures, and passed on to programs
    cost     λ_m, of one evaluation, in any unit; None: to be learnt as costs are told
    zeta     a bound ζ_m ≥ ‖f⁽ᴹ⁾ − f⁽ᵐ⁾‖∞ on how far it is from the target anywhere; None: to be learnt
    noise    the variance of repeated evaluations at one point; None: to be learnt
    """

    name: str
    cost: float | None
    zeta: float | None = None
    noise: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise InputError(f"a fidelity's name must be a non-empty string, got {show(self.name)}")
        if self.cost is not None:
            object.__setattr__(self, "cost", real_number(self.cost, f"cost of {self.name}"))
            if self.cost <= 0.0:
                raise InputError(f"costs must be positive, got {self.cost} for {self.name}")
        for what in ("zeta", "noise"):
            value = getattr(self, what)
            if value is not None:
                object.__setattr__(self, what, real_number(value, f"{what} of {self.name}"))
                if getattr(self, what) < 0.0:
                    raise InputError(f"{what} must not be negative, got {value} for {self.name}")


def as_fidelities(costs: Any, fidelities: Any, noise: object) -> tuple[Fidelity, ...]:
    """The M fidelities that an Optimizer's arguments stand for; ζ_M = 0 is filled in."""
    if (costs is None) == (fidelities is None):
        raise InputError(f"one of costs and fidelities must be given, got {'none' if costs is None else 'both'}")
    given = (
        [Fidelity(f"fidelity {m}", cost) for m, cost in enumerate(_as_list(costs, "costs"))]
        if fidelities is None
        else _as_list(fidelities, "fidelities")
    )
    for one in given:
        if not isinstance(one, Fidelity):
            raise InputError(f"fidelities must be mfopt.Fidelity objects, got {show(one)}")
    prices = [one.cost for one in given if one.cost is not None]
    if len(prices) not in (0, len(given)):
        raise InputError(f"costs must be given for every fidelity or for none, got {[one.cost for one in given]}")
    if any(low >= high for low, high in pairwise(prices)):
        raise InputError(f"costs must be strictly increasing, got {prices}")
    if len({one.name for one in given}) < len(given):
        raise InputError(f"names of fidelities must be unique, got {[one.name for one in given]}")
    if given[-1].zeta not in (None, 0.0):
        raise InputError(f"zeta of the target must be 0 or None, got {given[-1].zeta}")
    given[-1] = replace(given[-1], zeta=0.0)
    if noise is not None:
        if any(one.noise is not None for one in given):
            raise InputError("noise must be given once, got it both as an argument and in the fidelities")
        variances = one_or_each(noise, len(given), "noise, unless it is one number,")
        given = [replace(one, noise=variance) for one, variance in zip(given, variances, strict=True)]
    return tuple(given)


def _as_list(values: Any, what: str) -> list[Any]:
    if isinstance(values, str) or not hasattr(values, "__len__") or getattr(values, "ndim", 1) != 1:
        raise InputError(f"{what} must be a list with one entry per fidelity, got {show(values)}")
    if len(values) == 0:
        raise InputError(f"{what} must have at least one entry, got none")
    return list(values)
