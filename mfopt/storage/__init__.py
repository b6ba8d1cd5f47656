"""Storage: studies in a database, SQLite or PostgreSQL.

    connect(storage)   the Store behind "sqlite:///study.db", a path, or "postgresql://..."
    Store              the studies of a database: list, find, create
    Log                the events of one study, read and written in transactions

A study is a header (what the optimiser was made with, header.py) and its events in order (mfopt/run/events.py). Nothing
is ever changed or deleted except leases, so the state of any process is rebuilt by reading.
"""

from mfopt.storage.event_log import Log
from mfopt.storage.store import Header, Store, connect

__all__ = ["Header", "Log", "Store", "connect"]
