"""Storage: studies in a database, SQLite or PostgreSQL.

    connect(storage)   the Store behind "sqlite:///study.db", a path, or "postgresql://..."
    Store              the studies of a database: list, find, create
    EventLog           the events of one study, read and written in transactions
    attach, resume     the session (mfopt/run/session.py) of a study that is made or found by its name

A study is a header (what the optimiser was made with, header.py) and its events in order (mfopt/run/events.py). Nothing
is ever changed or deleted except leases (leases.py) and what a strategy has learnt (states.py), which is never needed:
the state of any process is rebuilt by reading.
"""

from mfopt.storage.attach import attach, resume
from mfopt.storage.event_log import EventLog
from mfopt.storage.store import Header, Store, connect

__all__ = ["EventLog", "Header", "Store", "attach", "connect", "resume"]
