"""Books: what has happened in a run, kept from its events (mfopt.run.events) in their order."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from mfopt.checks import integer
from mfopt.errors import AlreadyTold, Exhausted, UnknownTrial
from mfopt.fidelities import Fidelity
from mfopt.protocols import Array, Domain
from mfopt.run.capital import Capital
from mfopt.run.events import Event
from mfopt.run.history import History
from mfopt.run.trial import Best, Trial


class Books:
    """The trials of a run, its history, its best value and its capital; `sign` is −1 where values are minimised."""

    def __init__(self, domain: Domain, fidelities: Sequence[Fidelity], capital: float | None, sign: float) -> None:
        self._domain = domain
        self._costs = [fidelity.cost for fidelity in fidelities]
        self._sign = sign
        self.capital = Capital(capital, self._costs)
        self.history = History(domain.names)
        self.pending: dict[int, Trial] = {}
        self.best: Best | None = None
        self.next_id = 0
        self.exhausted: Exhausted | None = None  # what the strategy last said, until something new is told
        self._told: set[int] = set()
        # A finite X whose target is known to be noiseless is used up when each of its points was a target query.
        points = domain.points
        self._size = len(points) if points is not None and fidelities[-1].noise == 0.0 else None
        self._used: set[int | None] = set()

    def enter(self, event: Event) -> None:
        """What happened next."""
        if event.kind == "ask":
            index = self._domain.locate(event.u)
            self.pending[event.id] = Trial(event.id, event.x, event.fidelity, event.cost, index, event.reason)
            self.capital.promise(event.fidelity)
            self.next_id = event.id + 1
        elif event.kind == "tell":
            trial = self.pending.pop(event.id)
            self._told.add(trial.id)
            self.capital.pay(trial.fidelity)
            self._record(trial.id, trial.x, trial.index, trial.fidelity, event.y, trial.cost)
        elif event.kind == "add":
            self.next_id = event.id + 1
            self.capital.charge(event.cost)
            self._record(event.id, event.x, self._domain.locate(event.u), event.fidelity, event.y, event.cost)
        elif event.kind == "refuse":
            self.exhausted = Exhausted(*event.reason)
        else:
            self.capital.total = event.y
            self.exhausted = None

    def _record(self, id: int, x: Array, index: int | None, m: int, y: float | None, cost: float) -> None:
        self.history.append(id, x, m, y, cost)
        self.exhausted = None
        if m == len(self._costs) - 1:
            self._used.add(index)
            if y is not None and (self.best is None or self._sign * y > self._sign * self.best.y):
                self.best = Best(x, y, id)

    def withdraw(self, trial: Trial) -> None:
        """The last trial handed out never reached anybody."""
        del self.pending[trial.id]
        self.capital.release(trial.fidelity)
        self.next_id -= 1

    def awaited(self, trial: object) -> Trial:
        """The pending trial that a user means by a Trial or an id."""
        id = trial.id if isinstance(trial, Trial) else integer(trial, "a trial")
        if id in self._told:
            raise AlreadyTold(f"a trial must be told once, got trial {id} again")
        ours = self.pending.get(id)
        if ours is None:
            raise UnknownTrial(f"a trial must be pending to be told, got {id}; pending are {list(self.pending)}")
        if isinstance(trial, Trial) and (trial.fidelity != ours.fidelity or not np.array_equal(trial.x, ours.x)):
            raise UnknownTrial(f"a trial must come from this optimiser, got another one's trial {id}")
        return ours

    def finished(self, strategy_is_done: Callable[[], bool]) -> Exhausted | None:
        """Why no trial is to be had, or None; the strategy is asked only where X is finite and noise is not known."""
        left, price = self.capital.remaining, self._costs[-1]
        if left < price:
            return Exhausted(
                f"a target query costs {price} and {left} of the capital {self.capital.total} remains "
                f"({self.capital.spent} spent, {len(self.pending)} trials pending)",
                "capital",
            )
        if self._size is not None:
            target = len(self._costs) - 1
            pending = {trial.index for trial in self.pending.values() if trial.fidelity == target}
            if len(self._used | pending) >= self._size:
                return Exhausted(f"all {self._size} points of X were queried at the noiseless target", "points")
        elif self._domain.points is not None and strategy_is_done():
            return Exhausted(
                f"all {len(self._domain.points)} points of X were queried at the target, which seems noiseless; "
                "a positive noise would have them queried again",
                "points",
            )
        return self.exhausted
