"""Learner: the strategy, and the part of the run that it has been shown.

A strategy's state is a function of the calls it received, so it is shown every event of the run once, in order. It may
lag behind: in a study, which other processes tell too, it is brought up to date when it is next asked.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from mfopt.checks import integer, real_array, shown
from mfopt.errors import Exhausted, InputError, PluginError, ReplayWarning
from mfopt.protocols import Array, Problem, Query, Record, Strategy, Suggestion, View
from mfopt.run.capital import Capital
from mfopt.run.events import Event


class Learner:
    """`strategy`, started on `problem`; `called` is how errors call it, `sign` turns values into ones to maximise."""

    def __init__(self, strategy: Strategy, called: tuple[str, str | None], problem: Problem, sign: float) -> None:
        strategy.start(problem)
        self.strategy = strategy
        self._called = called
        self._problem = problem
        self._sign = sign
        self._capital = Capital(problem.capital, problem.costs)
        self._pending: dict[int, Query] = {}
        self._asks = 0
        self._warned = False

    def suggest(self) -> tuple[Array, int, Any]:
        """The strategy's next query: u, fidelity and reason. Raises Exhausted when it has none."""
        t = self._asks + 1
        stream = np.random.default_rng([self._problem.seed, t])
        view = View(t, self._capital.remaining, tuple(self._pending.values()), stream)
        return self._checked(self.strategy.ask(view))

    def asked(self, query: Query) -> None:
        """The query was handed out."""
        self._pending[query.id] = query
        self._capital.promise(query.fidelity)
        self._asks += 1

    def withdrawn(self, id: int) -> None:
        """The last query handed out never reached anybody."""
        self._capital.release(self._pending.pop(id).fidelity)
        self._asks -= 1

    def show(self, event: Event) -> None:
        """What happened next. The strategy is asked what it was asked then; what was recorded holds."""
        if event.kind in ("ask", "refuse"):
            self._ask_again(event)
        elif event.kind == "tell":
            query = self._pending[event.id]
            self.strategy.tell(Record(query.id, query.u, query.fidelity, self._inward(event.y), asked=True))
            del self._pending[query.id]
            self._capital.pay(query.fidelity)
        elif event.kind == "add":
            self.strategy.tell(Record(event.id, event.u, event.fidelity, self._inward(event.y), asked=False))
            self._capital.charge(event.cost)
        else:
            self._capital.total = event.y

    def exhausted(self) -> bool:
        """Whether the strategy knows that a finite X has no useful query left."""
        judge = getattr(self.strategy, "exhausted", None)
        return judge is not None and bool(judge(list(self._pending.values())))

    def _ask_again(self, event: Event) -> None:
        try:
            u, m, _ = self.suggest()
            same = event.kind == "ask" and m == event.fidelity and np.array_equal(u, event.u)
        except Exhausted:
            same = event.kind == "refuse"
        if not same and not self._warned:
            self._warned = True
            what = f"trial {event.id}" if event.kind == "ask" else "an ask that was refused"
            warnings.warn(
                f"the strategy would now choose otherwise than the record says, first at {what}: another version or "
                "another processor than the study was made with; the recorded trials hold, later ones may differ",
                ReplayWarning,
                stacklevel=2,
            )
        if event.kind == "ask":
            self.asked(Query(event.id, event.u, event.fidelity))

    def _checked(self, suggestion: object) -> tuple[Array, int, Any]:
        """The strategy's answer, or a PluginError that names it."""
        if not isinstance(suggestion, Suggestion):
            raise PluginError(f"ask must return a Suggestion, got {shown(suggestion)}", *self._called)
        domain, top = self._problem.domain, len(self._problem.costs) - 1
        try:
            u = real_array(suggestion.u, "a suggested point")
            m = integer(suggestion.fidelity, "fidelity")
        except InputError as error:
            raise PluginError(str(error), *self._called) from error
        if not 0 <= m <= top:  # any can be paid: a run with less than λ_M left is done
            raise PluginError(f"fidelity must be from 0 to {top}, got {m}", *self._called)
        if u.shape != (domain.dim,) or not domain.contains(u[None])[0]:
            raise PluginError(
                f"a suggested point must have shape ({domain.dim},) and lie in X, "
                f"got {shown(u.tolist())} in unit coordinates",
                *self._called,
            )
        u.flags.writeable = False
        return u, m, suggestion.reason

    def _inward(self, y: float | None) -> float | None:
        """The user's value as one to be maximised."""
        return None if y is None else self._sign * y
