"""A PostgreSQL server for the tests: started in a directory of its own, reached through a socket there."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path


def unprivileged():
    """A user to run the server as where we are root, which it refuses."""
    import pwd  # not on Windows

    known = {entry.pw_name for entry in pwd.getpwall()}
    return next((user for user in ("postgres", "nobody") if user in known), None)


def binaries():
    """Where initdb and pg_ctl are; None where PostgreSQL is not installed, or on Windows (sockets, users)."""
    if os.name != "posix":
        return None
    found = shutil.which("initdb")
    places = [Path(found).resolve().parent] if found else []
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((place for place in places if (place / "initdb").exists() and (place / "pg_ctl").exists()), None)


class Server:
    """Running between start and stop; `url()` is the address of a new schema in its database."""

    def __init__(self):
        self._binaries = binaries()
        self._directory = None
        self._schemas = 0

    def start(self):
        self._directory = Path(tempfile.mkdtemp(prefix="mfopt-postgres-", dir="/tmp"))  # a socket's path must be short
        if os.getuid() == 0:
            shutil.chown(self._directory, unprivileged())
        self._run(
            "initdb",
            "-D",
            self._directory / "data",
            "-U",
            "mfopt",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--locale=C",
            "--no-sync",
        )
        self._start()

    def _start(self):
        options = f"-c listen_addresses='' -c unix_socket_directories='{self._directory}' -c max_connections=50"
        log = self._directory / "log"
        try:
            self._run("pg_ctl", "-D", self._directory / "data", "-l", log, "-w", "-t", "60", "-o", options, "start")
        except BaseException:
            print(log.read_text() if log.exists() else "no log")
            raise

    def url(self):
        import psycopg

        self._schemas += 1
        address = f"postgresql://mfopt@/postgres?host={self._directory}"
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute(f"CREATE SCHEMA study{self._schemas}")
        return f"{address}&options=-csearch_path%3Dstudy{self._schemas}"

    def restart(self):
        """As after a power cut: nothing is written that was not durable."""
        self._run("pg_ctl", "-D", self._directory / "data", "-w", "-t", "60", "-m", "immediate", "stop")
        self._start()

    def stop(self):
        if self._directory is not None:
            try:
                self._run("pg_ctl", "-D", self._directory / "data", "-w", "-t", "60", "-m", "immediate", "stop")
            finally:
                shutil.rmtree(self._directory, ignore_errors=True)

    def _run(self, program, *arguments):
        as_user = {"user": unprivileged(), "extra_groups": []} if os.getuid() == 0 else {}
        done = subprocess.run(
            [str(self._binaries / program), *map(str, arguments)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,  # the server inherits it: a pipe would never end
            stderr=subprocess.DEVNULL,
            cwd=self._directory,
            timeout=600,
            **as_user,
        )
        if done.returncode:
            raise RuntimeError(f"{program} ended with {done.returncode}")
