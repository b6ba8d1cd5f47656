"""What can be wrong with a storage: each has an error of its own kind, which says what to do and changes nothing."""

import contextlib
import os
import shutil
import sqlite3
import threading
import time

import pytest

import mfopt
from mfopt import (
    NewerSchema,
    NotAStorage,
    Optimizer,
    StorageBusy,
    StorageDamaged,
    StorageError,
    Study,
    UnknownStudy,
)
from mfopt.storage import connect
from mfopt.storage import postgres as postgres_module
from mfopt.storage import sqlite as sqlite_module
from mfopt.storage.schema import VERSION
from tests.storage.workers import study, value


def opened(storage):
    """All ways to open a study: by its name, and by the arguments it was made with."""
    return (lambda: Study.open(storage), lambda: study(storage), lambda: Study.headers(storage))


def filled(storage, tells=5):
    opt = study(storage)
    for _ in range(tells):
        trial = opt.ask()
        opt.tell(trial, value(trial.id))
    return opt


def change(storage, *statements):
    """Tamper with the tables."""
    database = connect(storage).database
    database.exists()
    for statement in statements:
        database.run(statement)
    database.close()


@pytest.mark.parametrize("content", [b"", b"x,y\n1,2\n", b"SQLite format 3\0 but not really" * 200, bytes(8192)])
def test_a_file_that_is_something_else_is_refused_and_left_alone(tmp_path, content):
    path = tmp_path / "results.csv"
    path.write_bytes(content)
    for opening in opened(path):
        with pytest.raises((NotAStorage, StorageDamaged), match=r"results\.csv"):
            opening()
    assert path.read_bytes() == content
    assert [left.name for left in tmp_path.iterdir()] == ["results.csv"]


def test_the_database_of_another_program_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "other.db"
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE customers (name TEXT)")
        connection.commit()
    before = path.read_bytes()
    for opening in opened(path):
        with pytest.raises(NotAStorage, match="made by mfopt"):
            opening()
    assert path.read_bytes() == before


def test_a_directory_is_no_storage(tmp_path):
    for opening in opened(tmp_path):
        with pytest.raises(NotAStorage, match="directory"):
            opening()


def test_a_storage_in_a_directory_that_is_not_there_cannot_be_made(tmp_path):
    with pytest.raises(StorageError, match="nowhere"):
        study(tmp_path / "nowhere" / "a.db")
    assert list(tmp_path.iterdir()) == []


def test_opening_by_name_makes_nothing(tmp_path):
    with pytest.raises(NotAStorage, match="got nothing"):
        Study.open(tmp_path / "a.db", "wing")
    assert list(tmp_path.iterdir()) == []


def test_a_newer_schema_is_refused(storage):
    filled(storage).close()
    change(storage, f"UPDATE mfopt_schema SET version = {VERSION + 1}")
    for opening in opened(storage):
        with pytest.raises(NewerSchema, match=rf"version {VERSION + 1} .* up to {VERSION}: install a newer"):
            opening()


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE mfopt_events SET y = y + 1 WHERE seq = 4",
        "UPDATE mfopt_events SET kind = 'refuse', trial = NULL, y = NULL WHERE seq = 4",
        "UPDATE mfopt_events SET seq = 99 WHERE seq = 3",
        "DELETE FROM mfopt_events WHERE seq = 3",
        "UPDATE mfopt_trials SET x = '[0.5, 0.5]' WHERE id = 2",
        "UPDATE mfopt_trials SET u = 'nonsense' WHERE id = 2",
        "UPDATE mfopt_trials SET fidelity = 0 WHERE id = 2",
        "UPDATE mfopt_trials SET reason = '{' WHERE id = 2",
    ],
)
def test_a_record_that_was_changed_is_refused(storage, damage):
    filled(storage).close()
    change(storage, damage)
    with pytest.raises(StorageDamaged, match="restore"):
        Study.open(storage)
    with pytest.raises(StorageDamaged, match="restore"):
        study(storage)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE mfopt_studies SET spec = replace(spec, '1000000.0', '2000000.0')",
        "UPDATE mfopt_studies SET spec = 'nonsense'",
        "UPDATE mfopt_studies SET spec = '{}'",
        "DELETE FROM mfopt_schema",
        "DROP TABLE mfopt_events",
    ],
)
def test_a_broken_header_or_schema_is_refused(storage, damage):
    filled(storage).close()
    change(storage, damage)
    with pytest.raises(StorageDamaged, match="restore"):
        Study.open(storage)


def test_the_database_itself_refuses_what_must_never_be(storage):
    filled(storage).ask()
    for wrong in (
        "INSERT INTO mfopt_events VALUES ('default', 12, 'tell', 0, 1.0, NULL, 0, 0)",  # told twice
        "INSERT INTO mfopt_events VALUES ('default', 11, 'tell', 5, 1.0, NULL, 0, 0)",  # the number is taken
        "INSERT INTO mfopt_events VALUES ('default', 12, 'tell', 77, 1.0, NULL, 0, 0)",  # no such trial
        "INSERT INTO mfopt_events VALUES ('default', 12, 'ask', 5, NULL, NULL, 0, 0)",  # asked twice
        "INSERT INTO mfopt_events VALUES ('default', 12, 'guess', NULL, NULL, NULL, 0, 0)",
        "INSERT INTO mfopt_events VALUES ('nobody', 1, 'refuse', NULL, NULL, NULL, 0, 0)",
        "INSERT INTO mfopt_trials VALUES ('default', 5, '[]', '[]', 0, 1.0, NULL, NULL, NULL)",
        "INSERT INTO mfopt_studies VALUES ('default', '', '', '{}', 0)",
    ):
        with pytest.raises(StorageDamaged):
            change(storage, wrong)
    change(storage, "INSERT INTO mfopt_events VALUES ('default', 12, 'tell', 5, 1.0, NULL, 0, 0)")  # else all is well


def test_commits_are_on_the_disk_when_they_return(tmp_path):
    database = study(tmp_path / "a.db")._session.log.store.database
    assert database.query("PRAGMA journal_mode") == [("wal",)]
    assert database.query("PRAGMA synchronous") == [(2,)]
    assert database.query("PRAGMA foreign_keys") == [(1,)]


@pytest.mark.parametrize("how", ["moved", "deleted", "replaced"])
def test_a_file_taken_away_from_a_running_study_is_noticed(tmp_path, how):
    path = tmp_path / "a.db"
    opt = filled(path)
    trial = opt.ask()
    if how == "moved":
        path.rename(tmp_path / "b.db")
    elif how == "deleted":
        path.unlink()
    else:
        filled(tmp_path / "b.db").close()
        os.replace(tmp_path / "b.db", path)
    for call in (lambda: opt.tell(trial, 1.0), opt.ask):
        with pytest.raises(StorageError, match="moved, deleted or replaced"):
            call()
    assert [pending.id for pending in opt.pending] == [trial.id]


def test_an_older_copy_put_in_the_place_of_a_study_is_noticed(tmp_path):
    path = tmp_path / "a.db"
    opt = filled(path)
    opt.close()
    copy = path.read_bytes()
    trial = opt.ask()
    opt.tell(trial, 1.0)
    opt.close()
    path.write_bytes(copy)  # the same file, with what it held before
    with pytest.raises(StorageDamaged, match="open it anew"):
        opt.ask()
    assert Study.open(path).ask().id == trial.id


def test_a_study_that_was_removed_is_not_made_again(storage):
    opt = filled(storage)
    change(storage, "DELETE FROM mfopt_events", "DELETE FROM mfopt_trials", "DELETE FROM mfopt_studies")
    with pytest.raises(StorageDamaged, match="open it anew"):
        opt.ask()
    with pytest.raises(UnknownStudy, match="none"):
        Study.open(storage, "default")


def test_another_process_that_holds_the_lock_is_waited_for(tmp_path):
    opt = filled(tmp_path / "a.db")
    trial = opt.ask()
    holder = sqlite3.connect(tmp_path / "a.db", isolation_level=None, check_same_thread=False)
    holder.execute("BEGIN IMMEDIATE")
    release = threading.Timer(0.5, lambda: holder.execute("ROLLBACK"))
    start = time.monotonic()
    release.start()
    opt.tell(trial, 1.0)
    assert time.monotonic() - start > 0.4
    release.join()
    holder.close()


def test_a_lock_that_is_never_released_is_reported(tmp_path, monkeypatch):
    monkeypatch.setattr(sqlite_module, "PATIENCE", 0.2)
    monkeypatch.setattr(sqlite_module, "_BUSY", 0.05)
    opt = filled(tmp_path / "a.db")
    trial = opt.ask()
    with contextlib.closing(sqlite3.connect(tmp_path / "a.db", isolation_level=None)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageBusy, match="in use by another process"):
            opt.tell(trial, 1.0)
        assert Study.open(tmp_path / "a.db").history.id.tolist() == list(range(5))  # readers do not wait
    opt.tell(trial, 1.0)


def test_a_transaction_on_a_server_is_waited_for_and_given_up_in_the_end(server, monkeypatch):
    psycopg = pytest.importorskip("psycopg")
    storage = server.url()
    opt = filled(storage)
    trial = opt.ask()
    with psycopg.connect(storage) as holder:
        holder.execute("SELECT * FROM mfopt_studies FOR UPDATE")
        release = threading.Timer(0.5, holder.rollback)
        start = time.monotonic()
        release.start()
        opt.tell(trial, 1.0)
        assert time.monotonic() - start > 0.4
        release.join()
    trial = opt.ask()
    opt.close()
    monkeypatch.setattr(postgres_module, "PATIENCE", 0.3)
    with psycopg.connect(storage) as holder:
        holder.execute("SELECT * FROM mfopt_studies FOR UPDATE")
        with pytest.raises(StorageBusy, match="in use by another process"):
            opt.tell(trial, 1.0)
        assert len(Study.open(storage).history) == 6  # readers do not wait
    opt.tell(trial, 1.0)


def test_a_client_that_vanished_does_not_keep_the_study(server, monkeypatch):
    storage = server.url()
    opt = filled(storage)
    monkeypatch.setattr(postgres_module, "PATIENCE", 0.3)
    hung = Study.open(storage)
    with pytest.raises(StorageError), hung._session.log.transaction():  # the server has ended it at the end
        time.sleep(1.0)
    assert opt.ask().id == 5
    assert hung.ask().id == 6


def test_a_server_that_is_not_there_is_called_so(server):
    with pytest.raises(StorageError, match="cannot be reached"):
        study("postgresql://mfopt:secret@127.0.0.1:1/nothing")
    with pytest.raises(StorageError, match="does not exist"):
        study(server.url().replace("/postgres?", "/nothing?"))


def test_errors_never_show_the_password():
    with pytest.raises(StorageError) as shown:
        study("postgresql://mfopt:secret@127.0.0.1:1/nothing")
    assert "secret" not in str(shown.value)


def test_without_psycopg_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "psycopg", None)
    with pytest.raises(StorageError, match=r"mfopt\[postgres\]"):
        study("postgresql://localhost/x")


def test_a_file_kept_in_another_journal_mode_is_put_back(tmp_path):
    filled(tmp_path / "a.db").close()
    with contextlib.closing(sqlite3.connect(tmp_path / "a.db")) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
    database = filled(tmp_path / "a.db")._session.log.store.database
    assert database.query("PRAGMA journal_mode") == [("wal",)]


def test_a_copy_made_with_the_wal_file_is_whole(tmp_path):
    opt = filled(tmp_path / "a.db")
    for suffix in ("", "-wal"):
        shutil.copy(f"{tmp_path / 'a.db'}{suffix}", f"{tmp_path / 'b.db'}{suffix}")
    assert len(Study.open(tmp_path / "b.db").history) == len(opt.history)


def test_optimisers_in_memory_have_nothing_to_refresh_or_close():
    opt = Optimizer([(0.0, 1.0)], [1.0], strategy="random")
    opt.refresh()
    opt.close()
    with pytest.raises(mfopt.InputError, match="storage and a lease"):
        opt.renew(0)


def test_a_directory_that_does_not_exist_is_named_as_the_cause(tmp_path):
    with pytest.raises(StorageError, match=r"^a storage must lie in a directory that exists, got .*nowhere.study.db$"):
        Optimizer([(0, 1)], [1.0], storage=str(tmp_path / "nowhere" / "study.db"))
