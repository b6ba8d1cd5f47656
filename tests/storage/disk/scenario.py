"""Scenarios: what a process does with a study while its writes are recorded.

    python -m tests.storage.disk.scenario DIRECTORY NAME TELLS

What was acknowledged is written to the file `acknowledged` in the same directory, so that it stands in the record at
the moment at which the call returned.
"""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

import mfopt
from mfopt.storage import sqlite
from tests.storage.workers import study, value


def main(directory, name, tells):
    said = os.open(directory / "acknowledged", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    path = directory / "study.db"

    def say(what, id=0):
        os.write(said, f"{what} {id}\n".encode())

    def advance(opt, count):
        for _ in range(count):
            trial = opt.ask()
            say("asked", trial.id)
            opt.tell(trial, value(trial.id))
            say("told", trial.id)

    match name:
        case "moved on":  # the log is moved into the main file after every commit
            sqlite._SELDOM = 0.0
        case "unsynced":
            sqlite.SQLite._check = without_sync(sqlite.SQLite._check)
        case "log only" | "in bulk":
            sqlite.SQLite._checkpoint = lambda self, connection: None
    opt = study(path)
    say("made")
    match name:
        case "closed":  # again and again: the log goes and comes
            for _ in range(tells // 4):
                advance(opt, 4)
                opt.close()
        case "beside a child":  # which closes what it inherited, one by one, as some Pythons do before they exec
            child = os.fork()
            if child == 0:
                for name in os.listdir("/proc/self/fd"):
                    with contextlib.suppress(OSError):
                        os.close(int(name))
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
            advance(opt, tells)
        case "two":
            other = mfopt.Study.open(path)
            for _ in range(tells // 2):
                advance(opt, 1)
                advance(other, 1)
        case "in bulk":  # transactions larger than SQLite's cache, which are written in parts
            opt._session.log.store.database.query("PRAGMA cache_size = 10")
            for _ in range(3):
                trials = opt.ask(tells)
                for trial in trials:
                    say("asked", trial.id)
                opt.tell_many([(trial, value(trial.id)) for trial in trials])
                for trial in trials:
                    say("told", trial.id)
        case _:
            advance(opt, tells)
    opt.close()


def without_sync(check):
    """What a disk that lies would do: nothing is synced any more."""

    def checked(self, connection):
        check(self, connection)
        connection.execute("PRAGMA synchronous = OFF")

    return checked


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
