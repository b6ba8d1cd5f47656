"""A run in memory as it is after a study was reopened: from its events and the state that its strategy told."""

from __future__ import annotations

import warnings

from mfopt.errors import PluginWarning
from mfopt.optimizer import Optimizer
from mfopt.run.session import replay, revive
from mfopt.run.strategist import Strategist


def restore_strategist(opt: Optimizer) -> Strategist | None:
    """A fresh strategist that was told what that of `opt` was, and handed its state; None where it tells none."""
    session = opt._session
    strategist, events = session.strategist(), session.log.read_again()
    with warnings.catch_warnings():
        warnings.simplefilter("error", PluginWarning)  # a state that cannot be written
        state = strategist.tell_state()
    if state is None:
        return None
    if strategist.restart is None:
        raise AssertionError("a strategy must be one that can be copied, as a study needs it")
    fresh = strategist.restart()
    for step in replay(session.setup, events)[1]:
        fresh.queue(step)
    fresh.skip(len(events), state)
    return fresh


def reopen(opt: Optimizer) -> Optimizer | None:
    """An optimiser that goes on from the events of `opt` and its strategy's state; None where that tells none."""
    strategist = restore_strategist(opt)
    if strategist is None:
        return None
    other = Optimizer.__new__(Optimizer)
    other._session = revive(strategist, opt._session.setup, list(opt._session.log.read_again()))
    return other
