"""Verification: whether the log of a run, replayed, gives the asks that were recorded.

A fresh strategy is shown the run from its beginning: it is told every record, and asked whatever was asked. What it
answers is held against what was recorded, to the bit. On another CPU, with other versions or with another number of
BLAS threads than the run was made with, answers may differ in the last digits, and then anywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mfopt.protocols import Record, View
from mfopt.run.events import Asked
from mfopt.run.session import Session, replay
from mfopt.run.strategist import Answer, Step


@dataclass(frozen=True)
class Difference:
    """An ask that comes out otherwise; a point is in unit coordinates, and None where there was no query left."""

    trial: int | None  # that was handed out; None: the ask was refused
    recorded: tuple[int, list[float]] | None  # fidelity and point
    replayed: tuple[int, list[float]] | None


@dataclass(frozen=True)
class Verification:
    """What a replay has shown."""

    asks: int  # how many there are
    differences: tuple[Difference, ...]
    state: (
        bool | None
    )  # whether the state that is kept is that of the replayed strategy; None: there is none to compare

    @property
    def holds(self) -> bool:
        """Whether everything is as it was recorded."""
        return not self.differences and self.state is not False


def verify(session: Session, progress: Callable[[int, int], None] | None = None) -> Verification:
    """Replay the run of a session; `progress` is called with the number of asks done and of all."""
    session.refresh()
    with session.writing.held:
        events, kept = session.log.read_again(), session.log.read_state()
    strategist = session.setup.start_strategist(copies=True)
    steps = replay(session.setup, events)[1]
    total, done, state = sum(isinstance(step.shown, View) for step in steps), 0, None
    differences = []
    for step in steps:
        if isinstance(step.shown, Record):
            strategist.queue(step)
            strategist.catch_up()
        elif step.shown is not None:
            answer = strategist.ask_again(step.shown)
            if not answer.is_as(step.event):
                differences.append(_describe(step, answer))
            done += 1
            if progress is not None:
                progress(done, total)
        if kept is not None and step.number == kept[0]:
            state = strategist.tell_state() == kept[1]
    return Verification(total, tuple(differences), state)


def _describe(step: Step, answer: Answer) -> Difference:
    event = step.event
    recorded = (event.fidelity, np.asarray(event.u).tolist()) if isinstance(event, Asked) else None
    replayed = None if answer.u is None else (answer.fidelity, answer.u.tolist())
    return Difference(event.id if isinstance(event, Asked) else None, recorded, replayed)
