"""Databases of older versions open, are brought up to date once, and go on."""

import contextlib
import sqlite3
import threading
from pathlib import Path

import pytest

import mfopt
from mfopt import Optimizer, Study
from mfopt.errors import StorageReadOnly
from mfopt.storage import connect
from mfopt.storage import postgres as postgres_module
from mfopt.storage import sqlite as sqlite_module
from mfopt.storage.schema import VERSION, upgrade
from tests.storage.runs import bits
from tests.storage.studies import BOX, make

DUMP = Path(__file__).with_name("version-1.sql").read_text(encoding="utf-8")


@pytest.fixture(params=range(1, VERSION))
def made(request):
    """The version of the tables."""
    return request.param


@pytest.fixture
def old(storage, made):
    """The address of a database that an older version has written."""
    script = DUMP + "".join(f"{statement};" for statement in steps(1, made))
    if storage.startswith("sqlite"):
        connection = sqlite3.connect(storage.removeprefix("sqlite:///"), isolation_level=None)
        connection.executescript(script)
        connection.close()
    else:
        psycopg = pytest.importorskip("psycopg")
        with psycopg.connect(storage) as connection:
            connection.execute(script.replace("BLOB", "BYTEA").replace("%", "%%"))
    return storage


def steps(first, last):
    """The statements that make tables of one version into those of another."""
    done = list(upgrade(first))
    ends = [k + 1 for k, statement in enumerate(done) if statement.startswith("UPDATE mfopt_schema")]
    return done[: ([0, *ends])[last - first]]


def version(storage):
    database = connect(storage).database
    found = database.query("SELECT version FROM mfopt_schema")
    database.close()
    return found


def raw_version(storage):
    """What the tables say, without opening them as a storage."""
    if storage.startswith("sqlite"):
        with contextlib.closing(sqlite3.connect(storage.removeprefix("sqlite:///"))) as connection, connection:
            return connection.execute("SELECT version FROM mfopt_schema").fetchall()
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(storage) as connection:
        return connection.execute("SELECT version FROM mfopt_schema").fetchall()


def test_an_old_study_opens_and_goes_on(old, made):
    assert raw_version(old) == [(made,)]
    study = Study.open(old, "wing", lease=600.0, worker="new")
    assert raw_version(old) == [(VERSION,)]
    assert study.history.id.tolist() == [0, 1, 3]
    assert [trial.id for trial in study.pending] == [2, 4]
    assert study.capital == 400.0
    memory = Optimizer(BOX, (1.0, 10.0), capital=300.0, rng=0, strategy="random")
    expected = memory.ask(8)[4:]
    again = study.ask(6)  # those of the dead worker first: their leases ran out long ago
    assert [trial.id for trial in again] == [2, 4, 5, 6, 7, 8]
    assert [trial.x.tobytes() for trial in again[2:]] == [trial.x.tobytes() for trial in expected]
    assert [trial.claim for trial in again] == [2, 2, 1, 1, 1, 1]
    study.renew(again[0])
    study.tell_many([(trial, 1.0) for trial in again])
    study.close()
    assert bits(make(old, capital=400.0).ask()) is not None


def test_an_upgraded_database_has_the_tables_of_a_new_one(tmp_path):
    def tables(path):
        with contextlib.closing(sqlite3.connect(path)) as connection, connection:
            return sorted(connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master").fetchall())

    with contextlib.closing(sqlite3.connect(tmp_path / "old.db", isolation_level=None)) as connection, connection:
        connection.executescript(DUMP)
    Study.open(tmp_path / "old.db").close()
    make(tmp_path / "new.db").close()
    assert tables(tmp_path / "old.db") == tables(tmp_path / "new.db")


def test_several_upgrade_at_once(old):
    failures = []

    def begin():
        try:
            study = Study.open(old, lease=60.0)
            study.ask()
            study.close()
        except mfopt.MfoptError as error:
            failures.append(error)

    threads = [threading.Thread(target=begin) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert version(old) == [(VERSION,)]
    assert len(Study.open(old).pending) == 4  # two old ones, handed out again, and two new ones


def test_an_old_study_that_cannot_be_upgraded_is_read_and_used_as_it_is(old, made, monkeypatch):
    def refuse(version):
        raise StorageReadOnly("no right to make tables")

    monkeypatch.setattr(sqlite_module, "upgrade", refuse)
    monkeypatch.setattr(postgres_module, "upgrade", refuse)
    study = Study.open(old, lease=600.0)
    assert raw_version(old) == [(made,)]
    assert len(study.history) == 3
    assert not study.done
    first, second, third = study.ask(3)
    assert [first.id, second.id, third.id] == [2, 4, 5]
    study.renew(third)
    study.tell(first, 1.0)
    study.tell(third, status="failed")
    study.close()
