"""Fixtures: a storage of either kind, and a limit of time, since what hangs would hang for ever."""

import os
import signal

import pytest

from tests.storage.servers import Server, binaries


@pytest.fixture(autouse=True)
def limited():
    """Ten minutes a test, half an hour for those of `make faults`; no limit on Windows, which has no such alarm."""
    if os.name != "posix":
        yield
        return
    seconds = 1800 if os.environ.get("MFOPT_FAULTS") == "full" else 600

    def give_up(number, frame):
        raise TimeoutError(f"the test takes more than {seconds} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(seconds)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="session")
def server():
    if binaries() is None:
        pytest.skip(
            "PostgreSQL is not installed: no initdb in PATH nor in /usr/lib/postgresql (apt-get install postgresql)"
        )
    server = Server()
    try:
        server.start()
        yield server
    finally:
        server.stop()


@pytest.fixture(params=["sqlite", "postgresql"])
def storage(request, tmp_path):
    """The address of a storage that does not exist yet."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'study.db'}"
    return request.getfixturevalue("server").url()
