"""States: what a strategy has learnt, kept with the asks of a study so that reopening it need not replay them.

A state is told after an event, and its checksum continues that event's: it belongs to this run and no other. It has a
stamp: the versions of mfopt and of the plugins, and the kind of machine. Under another stamp, damaged or not there, it
is as if none had been kept, and the run is replayed.

States are text (mfopt/run/plain.py), never pickles: a file may come from a stranger.
"""

from __future__ import annotations

import json
import platform
import zlib
from functools import cached_property
from importlib.metadata import version

import numpy as np

from mfopt import protocols, registry
from mfopt.run.plain import LONGEST
from mfopt.run.setup import Setup
from mfopt.storage.database import Database, write_row

_SINCE = 3  # version of the tables
_KEPT = 2
_NEW = "INSERT INTO mfopt_states (study, seq, stamp, state, crc) VALUES (?, ?, ?, ?, ?)"
_PRUNE = """
    DELETE FROM mfopt_states WHERE study = ? AND seq <>
        coalesce((SELECT max(seq) FROM mfopt_states WHERE study = ? AND seq < ?), 0)
"""  # all but the latest before an event; should the next be damaged, that will do
_READ = """
    SELECT s.seq, substr(s.state, 1, ?), s.crc, e.crc FROM mfopt_states s
    JOIN mfopt_events e ON e.study = s.study AND e.seq = s.seq
    WHERE s.study = ? AND s.seq <= ? AND s.stamp = ? ORDER BY s.seq DESC LIMIT ?
"""


class States:
    """Those of the study `name`, for plugins of this setup."""

    def __init__(self, database: Database, name: str, setup: Setup) -> None:
        self._database = database
        self._name = name
        self._setup = setup

    def write(self, seq: int, before: int, state: str) -> None:
        """Keep the state after the event `seq` with the checksum `before`, and the one before; within a transaction."""
        if self._database.version < _SINCE or self._stamp is None:
            return
        self._database.run(_PRUNE, (self._name, self._name, seq))
        crc = _checksum(before, seq, self._stamp, state)
        write_row(self._database, _NEW, (self._name, seq, self._stamp, state, crc))

    def read(self, last: int) -> tuple[int, str] | None:
        """The latest state up to the event `last` with our stamp, and the number of its event; None: there is none."""
        if self._database.version < _SINCE or self._stamp is None:
            return None
        for seq, state, crc, before in self._database.query(_READ, (LONGEST + 1, self._name, last, self._stamp, _KEPT)):
            if isinstance(state, str) and len(state) <= LONGEST and _checksum(before, seq, self._stamp, state) == crc:
                return int(seq), state
        return None

    @cached_property
    def _stamp(self) -> str | None:
        """What a state depends on beside the run itself; None where the version of a plugin is not known."""
        plugins = []
        for what, group in registry.GROUPS.items():
            given = getattr(self._setup, what)
            for one in given if isinstance(given, list | tuple) else [given]:
                found = registry.find_plugin(group, one) if isinstance(one, str) else None
                origin = registry.find_distribution(one) if found is None else (found.distribution, found.version)
                if origin is None:
                    return None
                plugins.append(list(origin))
        made = {"mfopt": version("mfopt"), "protocols": protocols.VERSION, "numpy": np.__version__}
        return json.dumps({**made, "machine": platform.machine(), "plugins": plugins})


def _checksum(before: int, seq: int, stamp: str, state: str) -> int:
    """CRC-32; it continues that of the event."""
    return zlib.crc32(repr((seq, stamp, state)).encode(), before)
