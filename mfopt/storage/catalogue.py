"""Catalogue: the tables and indices that an SQLite storage must consist of.

A file may come from anywhere. A trigger could swallow what is written, and a view in the place of a table could answer
anything, or never: so nothing is read from or written to tables that are not exactly ours.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Sequence
from functools import lru_cache

from mfopt.checks import show
from mfopt.storage.schema import TABLES, VERSION, upgrade

# Names are compared without regard to case, as SQLite does. What else a file holds is nobody's business.
READ = """
    SELECT type, name, tbl_name, sql FROM sqlite_master
    WHERE sql IS NOT NULL AND (lower(name) LIKE 'mfopt%' OR lower(tbl_name) LIKE 'mfopt%') LIMIT 100
"""

Rows = Sequence[tuple[str, str, str, str]]


def find_intruder(found: Rows) -> str | None:
    """What must not be touched, not even to learn the version: views, triggers, and a table of versions unlike ours."""
    for kind, name, table, sql in found:
        if kind not in ("table", "index"):
            return f"the {kind} {show(name)} on {show(table)}" if kind == "trigger" else f"the {kind} {show(name)}"
        if name.lower() == "mfopt_schema" and _squeeze(sql) != _expected(VERSION)["table", "mfopt_schema"]:
            return f"a table {name} that is not as mfopt makes it"
    return None


def find_difference(found: Rows, version: int) -> str | None:
    """Which table or index of this version is missing, unknown or not as mfopt makes it; None: none is."""
    expected = _expected(version)
    there = {(kind, name): _squeeze(sql) for kind, name, _, sql in found}
    for kind, name in [*expected, *there]:
        ours, theirs = expected.get((kind, name)), there.get((kind, name))
        if ours != theirs:
            what = "missing" if theirs is None else "unknown" if ours is None else "not as mfopt makes it"
            return f"the {kind} {show(name)} is {what}"
    return None


@lru_cache(maxsize=4)
def _expected(version: int) -> dict[tuple[str, str], str]:
    later = set(upgrade(version))
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        for table in (table for table in TABLES if table not in later):
            connection.execute(table)
        return {(kind, name): _squeeze(sql) for kind, name, _, sql in connection.execute(READ)}


def _squeeze(sql: str) -> str:
    return " ".join(str(sql).split())
