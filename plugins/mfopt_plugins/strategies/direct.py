"""DIRECT on f itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mfopt.errors import Exhausted
from mfopt.hooks import SnapsPoints, blocks_of, place
from mfopt.protocols import Array, Problem, Query, Record, Suggestion, View
from mfopt.run.reason import Reason
from mfopt_plugins.method.kept import array, count, finite, group, many, mapping
from mfopt_plugins.strategies._rectangles import Rectangles

_PATIENCE = 500  # centres in a row that need no query, before a point is taken from elsewhere


class Direct:
    """DIviding RECTangles (Jones, Perttunen and Stuckman, 1993) at the target, in ask/tell; deterministic, no model.

    An iteration takes the potentially optimal rectangles, asks for the outer centres of their longest sides and
    trisects them, along the sides with the best values first (see _rectangles). Differences from the literature: the
    condition on the gain is relative to the spread of the values instead of |f_min|, so that an offset changes
    nothing, and of equal rectangles one is taken.

    Constrained boxes   a centre outside X is skipped; its rectangle counts with the worst value seen.
    Failed evaluations  count with the worst value seen.
    Finite sets         a centre stands for the nearest point of X, which is asked for once. DIRECT then works on the
                        function that is constant around each point, and visits all points in the end; for a set
                        without geometry this is no better than any other order.
    Discrete parameters a centre stands for the point with the values at its place in their lists; a point that was
                        asked for before has its value.
    Pending queries     count with the value of the centre of the rectangle that they came from.

    Where many centres in a row need no query (a thin X, close points) the next one is the first point of a finite set
    that was not asked for, or a random point of X.
    """

    def start(self, problem: Problem) -> None:
        """Called once, before the first ask."""
        self._problem = problem
        self._target = len(problem.costs) - 1
        self._told: dict[bytes, float | None] = {}  # None: failed
        self._asked: set[bytes] = set()  # and not told yet
        self._begin()

    def _begin(self) -> None:
        self._rectangles = Rectangles(len(blocks_of(self._problem.domain)))
        self._stands_for: list[bytes | None] = []  # by rectangle: the point of X queried for it; None outside X
        self._guess: list[float] = [0.0]  # by rectangle: its value while it is pending
        self._divisions: list[tuple[int, Sequence[int], float]] = []  # rectangle, order of its thirds, guess
        self._selected: list[int] = []
        self._thirds: list[tuple[int, Array, Array]] = []
        self._queue = [self._rectangles.centres[0]]  # centres of the open division, still to be asked for

    def ask(self, view: View) -> Suggestion:
        """The next query. Raises Exhausted when no useful query is left."""
        cost = view.costs[-1]
        if view.remaining < cost:
            raise Exhausted(
                f"a target query must be payable, it costs {cost}, got {view.remaining} remaining", "capital"
            )
        for _ in range(0 if self.exhausted(view.pending) else _PATIENCE):
            while not self._queue:
                self._advance()
            u = self._point(self._queue.pop(0))
            if u is not None and u.tobytes() not in self._asked and u.tobytes() not in self._told:
                return self._suggest(u, view.t, "a centre of a potentially optimal rectangle")
        return self._suggest(self._find_elsewhere(view), view.t, "the next centres need no query")

    def exhausted(self, pending: Sequence[Query]) -> bool:
        """Whether every point of a finite set was asked for."""
        points = self._problem.domain.points
        return points is not None and len(self._asked) + len(self._told) >= len(points)

    def tell(self, record: Record) -> None:
        """Learn a value at the target; the last one told for a point counts."""
        if record.fidelity == self._target:
            self._told[record.u.tobytes()] = record.y
            self._asked.discard(record.u.tobytes())

    def state(self) -> dict[str, Any]:
        """The divisions made so far, and how far the present one is; values are told."""
        return {
            "divisions": [[i, list(order), guess] for i, order, guess in self._divisions],
            "selected": list(self._selected),
            "left": len(self._queue),
            "asked": [np.frombuffer(key).copy() for key in sorted(self._asked)],
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on as the strategy does that told this state, after being told the same records."""
        given = mapping(state, "divisions", "selected", "left", "asked")
        divisions = many(group(count, many(count), finite))(given["divisions"])
        selected, left = many(count)(given["selected"]), count(given["left"])
        self._begin()
        for i, order, guess in divisions:
            self._open(i)
            if sorted(order) != list(range(len(self._thirds))):
                raise ValueError(f"a division must have {len(self._thirds)} directions, got {order}")
            self._divide(i, order, guess)
        self._selected = selected
        if selected:
            self._open(selected[0])
        if left > len(self._queue):
            raise ValueError(f"at most {len(self._queue)} centres can be left, got {left}")
        self._queue = self._queue[len(self._queue) - left :]
        self._asked = {u.tobytes() for u in many(array)(given["asked"])}

    def _suggest(self, u: Array, t: int, text: str) -> Suggestion:
        self._asked.add(u.tobytes())
        return Suggestion(u, self._target, Reason("direct", text, self._target, t))

    def _advance(self) -> None:
        """Close the open division, and open the next one."""
        values = self._values()
        if self._selected:
            i = self._selected.pop(0)
            self._close(i, float(values[i]))
        if not self._selected:
            self._selected = self._rectangles.optimal(self._values())
        self._open(self._selected[0])

    def _open(self, i: int) -> None:
        """Begin to divide rectangle i."""
        if i >= len(self._rectangles.centres):
            raise ValueError(f"a rectangle must be one of {len(self._rectangles.centres)}, got {i}")
        self._thirds = self._rectangles.samples(i)
        self._queue = [centre for _, low, high in self._thirds for centre in (low, high)]

    def _close(self, i: int, guess: float) -> None:
        worst = self._worst()
        best = [max(self._value(self._key(c), guess, worst) for c in (low, high)) for _, low, high in self._thirds]
        self._divide(i, np.argsort(-np.array(best), kind="stable").tolist(), guess)

    def _divide(self, i: int, order: Sequence[int], guess: float) -> None:
        self._divisions.append((i, order, guess))
        self._rectangles.divide(i, [self._thirds[j] for j in order])
        self._guess += [guess] * (2 * len(order))

    def _values(self) -> Array:
        """The value of every rectangle as far as it is known."""
        centres = self._rectangles.centres
        self._stands_for += [self._key(centre) for centre in centres[len(self._stands_for) :]]
        worst = self._worst()
        pairs = zip(self._stands_for, self._guess, strict=True)
        return np.array([self._value(key, guess, worst) for key, guess in pairs])

    def _value(self, key: bytes | None, guess: float, worst: float) -> float:
        value = None if key is None else self._told.get(key, guess)
        return worst if value is None else value

    def _worst(self) -> float:
        return min((y for y in self._told.values() if y is not None), default=0.0)

    def _key(self, centre: Array) -> bytes | None:
        u = self._point(centre)
        return None if u is None else u.tobytes()

    def _point(self, centre: Array) -> Array | None:
        """The point of X that a centre stands for."""
        domain = self._problem.domain
        if domain.points is not None:
            u = place(domain, centre[None])
            return np.array(domain.points[int(np.argmin(np.square(domain.points - u).sum(axis=1)))])
        u = place(domain, centre[None])
        if isinstance(domain, SnapsPoints):
            u = np.array(domain.snap(u))
        return u[0] if domain.contains(u)[0] else None

    def _find_elsewhere(self, view: View) -> Array:
        domain = self._problem.domain
        if domain.points is None:
            drawn = domain.sample(_PATIENCE, view.rng)
            fresh = [u for u in drawn if u.tobytes() not in self._asked and u.tobytes() not in self._told]
            return np.array((fresh or [*drawn])[0])
        for u in domain.points:
            if u.tobytes() not in self._asked and u.tobytes() not in self._told:
                return np.array(u)
        raise Exhausted(f"all {len(domain.points)} points of X were queried", "points")
