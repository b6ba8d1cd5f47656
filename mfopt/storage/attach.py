"""Attach: from the arguments of an optimiser to the session of a study, which is made or found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from mfopt.run.session import Session
from mfopt.run.setup import Setup
from mfopt.storage import header as headers
from mfopt.storage.event_log import EventLog
from mfopt.storage.leases import lease_terms
from mfopt.storage.plugins import keep_defaults, tell_what_is_lost
from mfopt.storage.store import Header, Store, connect


def attach(setup: Setup, storage: object, study: object, lease: object, worker: object) -> Session:
    """The study of this name, made if there is none; one that exists must have been made with the same setup.

    lease and worker: for how many seconds its trials are leased here (None: without end), and to whom.
    """
    store = connect(storage)
    name = headers.study_name(study)
    terms = lease_terms(lease, worker)
    header = store.find(name)
    if header is None:
        strategist = setup.start_strategist(copies=True)  # first: a problem that it refuses leaves no study behind
        tell_what_is_lost(setup)
        described, arrays = headers.describe(setup)
        header = store.create(name, described, arrays)
        if header.spec == described:
            return Session(setup, EventLog(store, header, *terms, setup), strategist)
        # Another process was faster, with a study that differs.
    stored = {**header.spec, "capital": store.capital(header)}
    return _join(setup, stored, header, EventLog(store, header, *terms, setup))


def resume(setup: Setup, store: Store, header: Header, lease: object, worker: object) -> Session:
    """The study of `header`, which must have been made with this setup, whatever its capital was and is now.

    Other processes may raise the capital at any moment: it is not compared.
    """
    log = EventLog(store, header, *lease_terms(lease, worker), setup)
    return _join(replace(setup, capital=header.spec["capital"]), header.spec, header, log)


def _join(setup: Setup, stored: Mapping[str, Any], header: Header, log: EventLog) -> Session:
    """The session of a study that exists, if the setup is what is stored; a seed that nobody chose is the study's."""
    if setup.seed_is_free:
        setup = replace(setup, seed=header.seed)
    setup = keep_defaults(setup, header.name, stored)
    headers.compare(header.name, stored, headers.describe(setup, stored)[0])
    # Λ begins as it was when the study was made: that it was raised since is among the events.
    return Session(replace(setup, capital=header.spec["capital"]), log)
