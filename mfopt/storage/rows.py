"""Rows: an event as the columns that the tables (schema.py) have for it, and back.

    kind      trial   y       detail              x, u, fidelity, cost   reason
    ask       id                                  yes                    yes
    refuse                    [message, which]
    tell      id      value   {"bound", "cost"}                          (no value: it failed; both may be missing)
    add       id      value                       yes
    capital           Λ

The last five columns belong to the trial: a tell has none of its own.
"""

from __future__ import annotations

import json
import zlib
from typing import NamedTuple

import numpy as np

from mfopt.checks import show
from mfopt.protocols import Array
from mfopt.run.events import Added, Asked, CapitalSet, Event, Refused, Told
from mfopt.storage.reasons import reason_from_json, reason_to_json


class EventRow(NamedTuple):
    """The columns, in the order in which they enter the checksum; points and reasons are JSON."""

    kind: str
    trial: int | None = None
    y: float | None = None
    detail: str | None = None
    x: str | None = None
    u: str | None = None
    fidelity: int | None = None
    cost: float | None = None
    reason: str | None = None

    def checksum(self, before: int, seq: int) -> int:
        """CRC-32 of the event with number `seq`; it continues that of the event before."""
        columns = self[:4] + (None,) * 5 if self.kind == "tell" else tuple(self)
        return zlib.crc32(repr((seq, *columns)).encode(), before)


def to_row(event: Event) -> EventRow:
    """The event as it is stored."""
    match event:
        case Asked(id, x, u, m, cost, reason):
            return EventRow("ask", id, None, None, _to_json(x), _to_json(u), m, cost, reason_to_json(reason))
        case Refused(message, which):
            return EventRow("refuse", detail=json.dumps((message, which)))
        case Told(id, y, bound, cost):
            known = {key: value for key, value in (("bound", bound), ("cost", cost)) if value is not None}
            return EventRow("tell", id, y, json.dumps(known) if known else None)
        case Added(id, x, u, m, cost, y):
            return EventRow("add", id, y, None, _to_json(x), _to_json(u), m, cost)
        case CapitalSet(total):
            return EventRow("capital", y=total)


def from_row(row: EventRow) -> Event:
    """The event that a row holds, with the columns of its trial; a TypeError or ValueError where it holds none."""
    match row:
        case EventRow("refuse", detail=str(detail)):
            return Refused(*_read_refusal(detail))
        case EventRow("capital", y=float(total)):
            return CapitalSet(total)
        case EventRow("tell", int(id), float() | None as y, detail, x=str()):
            return Told(id, y, **({} if detail is None else _read_numbers(detail)))
        case EventRow("ask", int(id), None, None, str(x), str(u), int(m), float(cost), reason):
            why = None if reason is None else reason_from_json(reason)
            return Asked(id, _from_json(x), _from_json(u), m, cost, why)
        case EventRow("add", int(id), float(y), None, str(x), str(u), int(m), float(cost)):
            return Added(id, _from_json(x), _from_json(u), m, cost, y)
        case _:
            raise ValueError(f"an event of kind {row.kind!r} lacks some of its columns")


def _read_numbers(detail: str) -> dict[str, float]:
    """The bound, the cost, or both, of what was told."""
    try:
        found = json.loads(detail)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"what was told must be JSON, got {show(detail)}") from error
    if not isinstance(found, dict) or not found or not found.keys() <= {"bound", "cost"}:
        raise ValueError(f"what was told must have a bound or a cost, got {show(found)}")
    if not all(type(number) is float for number in found.values()):
        raise ValueError(f"bounds and costs must be numbers, got {show(found)}")
    return found


def _read_refusal(detail: str) -> tuple[str, str]:
    """Message and which, the fields of the Exhausted error."""
    try:
        message, which = json.loads(detail)
    except (ValueError, TypeError, RecursionError) as error:
        raise ValueError(f"a refusal must be a list of two strings, got {show(detail)}") from error
    return str(message), str(which)


def _to_json(point: Array) -> str:
    return json.dumps(point.tolist())


def _from_json(text: str) -> Array:
    """The point; its numbers read back to the same float64."""
    try:
        point = np.array(json.loads(text), dtype=np.float64)
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise ValueError(f"a point must be a list of numbers, got {show(text)}") from error
    point.flags.writeable = False
    return point
