"""Attach: from the arguments of an optimiser to the session of a study, which is made or found."""

from __future__ import annotations

from dataclasses import replace

from mfopt.run.session import Session
from mfopt.run.setup import Setup
from mfopt.storage import header as headers
from mfopt.storage.event_log import EventLog
from mfopt.storage.leases import lease_terms
from mfopt.storage.store import Header, Store, connect


def attach(setup: Setup, storage: object, study: object, lease: object, worker: object) -> Session:
    """The study of this name, made if there is none; one that exists must have been made with the same setup.

    lease and worker: for how many seconds its trials are leased here (None: for ever), and to whom.
    """
    store, name, (seconds, holder) = connect(storage), headers.study_name(study), lease_terms(lease, worker)
    header = store.find(name)
    if header is None:
        strategist = setup.start_strategist(copies=True)  # first: a problem that it refuses leaves no study behind
        described, arrays = headers.describe(setup)
        header = store.create(name, described, arrays)
        if header.spec == described:
            return Session(setup, EventLog(store, header, seconds, holder), strategist)
    setup = _with_seed(setup, header)  # from here on another process has made the study
    described, _ = headers.describe(setup)
    headers.compare(name, {**header.spec, "capital": store.capital(header)}, described)
    return _open(setup, store, header, seconds, holder)


def resume(setup: Setup, store: Store, header: Header, lease: object, worker: object) -> Session:
    """The study of `header`, which must have been made with this setup, whatever its capital was and is now.

    Other processes may raise the capital at any moment: it is not compared.
    """
    seconds, holder = lease_terms(lease, worker)
    setup = replace(_with_seed(setup, header), capital=header.spec["capital"])
    headers.compare(header.name, header.spec, headers.describe(setup)[0])
    return _open(setup, store, header, seconds, holder)


def _with_seed(setup: Setup, header: Header) -> Setup:
    """The setup with the study's seed, unless the user has chosen one."""
    return replace(setup, seed=header.seed) if setup.seed_is_free else setup


def _open(setup: Setup, store: Store, header: Header, lease: float | None, worker: str | None) -> Session:
    """The session of a study that exists; Λ begins as it was when the study was made."""
    return Session(replace(setup, capital=header.spec["capital"]), EventLog(store, header, lease, worker))
