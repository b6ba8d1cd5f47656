"""Fit: whether events can belong to a study of this setup.

Checksums show that rows are as somebody wrote them, not that mfopt did: a file may come from anywhere. What does not
fit is found here, before it reaches the ledger or a strategy.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import count as numbers

import numpy as np

from mfopt.checks import LARGEST, show
from mfopt.domains.finite import FiniteSet
from mfopt.domains.missing import MissingDomain
from mfopt.domains.product import Product
from mfopt.protocols import Array
from mfopt.run.events import Added, Asked, CapitalSet, Event, Told
from mfopt.run.setup import Setup
from mfopt.storage.database import LONGEST

_NUMBER = 32  # characters that a number of a point takes at most, with its comma
_ROUNDING = 1e-9  # relative; another CPU or version may round differently


class Fit:
    """Events must fit this setup; a ValueError names the first that does not."""

    def __init__(self, setup: Setup) -> None:
        self._costs = [fidelity.cost for fidelity in setup.fidelities]
        self._learnt = self._costs[0] is None  # whether costs may differ from those, because others were told
        self._domain = domain = setup.domain
        self._known = isinstance(domain, Product | FiniteSet) and not isinstance(domain, MissingDomain)
        self._d = len(domain.names)
        self._dim = None if isinstance(domain, MissingDomain) else domain.dim
        # How many characters are read of x, u and the rest; one more than there may be.
        self.limits = (
            _NUMBER * (self._d + 1),
            LONGEST if self._dim is None else _NUMBER * (self._dim + 1),
            LONGEST,
        )

    def check_lengths(self, x: str | None, u: str | None, *others: str | None) -> None:
        """Before anything is parsed."""
        for what, text, limit in (("x", x, self.limits[0]), ("u", u, self.limits[1])):
            if text is not None and len(text) >= limit:
                raise ValueError(f"{what} must have {self._d if what == 'x' else self._dim} numbers, got {show(text)}")
        if any(text is not None and len(text) >= LONGEST for text in others):
            raise ValueError(f"a reason or message must be shorter than {LONGEST} characters")

    def check(self, events: Sequence[Event], first: int) -> None:
        """These events, numbered from `first`: each by itself, and if they are all there are, their order."""
        points: list[tuple[int, Asked | Added]] = []
        for seq, event in zip(numbers(first), events, strict=False):
            match event:
                case Asked() | Added():
                    self._check_trial(seq, event)
                    points.append((seq, event))
                case CapitalSet(total) if not (math.isfinite(total) and total > 0.0):
                    raise ValueError(f"event {seq}: a capital must be positive and finite, got {total}")
            self.note(event)
            if isinstance(event, Told) and event.cost is not None and not 0.0 <= event.cost <= LARGEST:
                raise ValueError(f"event {seq}: a cost must be from 0 to {LARGEST}, got {event.cost}")
            if isinstance(event, Told | Added) and not (event.y is None or abs(event.y) <= LARGEST):
                raise ValueError(f"event {seq}: y must be at most {LARGEST} in size, got {event.y}")
        if first == 1:
            _check_order(events)
        if points:
            self._check_points([seq for seq, _ in points], [event for _, event in points])

    def note(self, event: Event) -> None:
        """An event happens, read or written here: after the first cost that is told, trials may cost something else."""
        self._learnt |= isinstance(event, Told) and event.cost is not None

    def _check_trial(self, seq: int, event: Asked | Added) -> None:
        for what, point, size in (("x", event.x, self._d), ("u", event.u, self._dim)):
            if point.ndim != 1 or size not in (None, len(point)):
                raise ValueError(f"event {seq}: {what} must have shape ({size},), got {point.shape}")
        if not 0 <= event.fidelity < len(self._costs):
            raise ValueError(f"event {seq}: fidelity must be from 0 to {len(self._costs) - 1}, got {event.fidelity}")
        if isinstance(event, Asked) and not self._learnt:
            cost = self._costs[event.fidelity]
            if event.cost != cost:
                raise ValueError(f"event {seq}: fidelity {event.fidelity} must cost {cost}, got {event.cost}")
        elif not 0.0 <= event.cost < math.inf:
            raise ValueError(f"event {seq}: a cost must be from 0, and finite, got {event.cost}")

    def _check_points(self, seqs: Sequence[int], events: Sequence[Asked | Added]) -> None:
        """All points at once: u in the unit cube, x in X and the point that u stands for."""
        if self._dim is None:  # the domain itself is missing, and with it the meaning of u
            return
        u = np.array([event.u for event in events])
        inside = np.logical_and.reduce((u >= 0.0) & (u <= 1.0), axis=1)
        if isinstance(self._domain, FiniteSet):
            inside &= self._domain.contains(u)
        elif isinstance(self._domain, Product):  # discrete parameters at one of their values
            inside &= np.logical_and.reduce(np.abs(self._domain.snap(u) - u) <= _ROUNDING, axis=1)
        _refuse("u must be a point of X in unit coordinates", seqs, u, inside)
        if not self._known:  # somebody else's domain: its points are its own business
            return
        x = np.array([event.x for event in events])
        with np.errstate(all="ignore"):
            meant = self._domain.decode(u)
            same = (np.abs(x - meant) <= _ROUNDING * self._scale()) | (x == meant) | (np.isnan(x) & np.isnan(meant))
            _refuse("x must be the point that u stands for", seqs, x, np.logical_and.reduce(same, axis=1))
            _refuse("x must satisfy the linear constraints", seqs, x, self._satisfies(x))

    def _scale(self) -> Array:
        """The largest size of each user coordinate."""
        domain = self._domain
        ends = domain.points if domain.points is not None else np.array([[0.0] * domain.dim, [1.0] * domain.dim])
        scale: Array = np.nan_to_num(np.abs(domain.decode(ends))).max(axis=0)  # NaN where a parameter does not count
        return scale

    def _satisfies(self, x: Array) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Which rows satisfy the linear constraints up to rounding. Functions are not asked: they may take long."""
        kept = np.ones(len(x), dtype=np.bool_)
        for one in self._domain.describe().get("constraints", ()):
            if one["kind"] == "linear":
                a, lb, ub = (np.array(one[key], dtype=np.float64) for key in ("A", "lb", "ub"))
                value, slack = x @ a.T, _ROUNDING * (np.abs(x) @ np.abs(a).T)
                kept &= ~np.logical_or.reduce((value < lb - slack) | (value > ub + slack), axis=1)
        return kept


def _refuse(rule: str, seqs: Sequence[int], points: Array, kept: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> None:
    if not kept.all():
        row = int(np.argmin(kept))
        raise ValueError(f"event {seqs[row]}: {rule}, got {show(points[row].tolist())}")


def _check_order(events: Sequence[Event]) -> None:
    """Trials are numbered as they come, and told after they were asked for."""
    next_id, pending = 0, set()
    for seq, event in enumerate(events, start=1):
        match event:
            case Asked(id) | Added(id):
                if id != next_id:
                    raise ValueError(f"event {seq}: the next trial must have the id {next_id}, got {id}")
                next_id += 1
                if isinstance(event, Asked):
                    pending.add(id)
            case Told(id):
                if id not in pending:
                    raise ValueError(f"event {seq}: a trial must be pending to be told, got {id}")
                pending.remove(id)
