"""A resumed study goes on as if it had never stopped; `make faults` stops it after every one of 120 tells."""

import os

import pytest

from mfopt import Optimizer, Study
from tests.storage.runs import advance, arguments, bits, next_asks

STOPS = range(121) if os.environ.get("MFOPT_FAULTS") == "full" else [0, 1, 30, 61, 120]


def copy(source, target):
    """The study as another process finds it after a crash: nothing was closed."""
    for suffix in ("", "-wal"):
        (target.parent / f"{target.name}{suffix}").write_bytes((source.parent / f"{source.name}{suffix}").read_bytes())


@pytest.mark.parametrize("kind", ["box", "finite"])
def test_the_next_asks_after_any_stop_are_those_of_a_run_that_never_stopped(kind, tmp_path):
    live = Optimizer(**arguments(kind), storage=tmp_path / "live.db")
    told = 0
    for stop in STOPS:
        advance(live, stop - told)
        told = stop
        copy(tmp_path / "live.db", tmp_path / f"{stop}.db")
    expected = {}
    for stop in STOPS:  # runs that never saw a storage
        memory = Optimizer(**arguments(kind))
        advance(memory, stop)
        expected[stop] = [bits(trial) for trial in memory.pending], next_asks(memory, 30)
    for stop in STOPS:
        resumed = Study.open(tmp_path / f"{stop}.db")
        assert [bits(trial) for trial in resumed.pending] == expected[stop][0]
        assert next_asks(resumed, 30) == expected[stop][1]
