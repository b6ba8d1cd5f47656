"""Studies under fire: killed processes, full disks, cut files, many writers.

`make faults` runs them in full (MFOPT_FAULTS=full); the test suite runs a few of each.
"""

import contextlib
import math
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import pytest

import mfopt
from mfopt import NotAStorage, Optimizer, ReplayWarning, StorageDamaged, StorageError, StorageFull, Study
from mfopt.storage.sqlite import SQLite
from tests.run.interrupts import Interrupt
from tests.storage.workers import everything, fill, start, study, value, work

FULL = os.environ.get("MFOPT_FAULTS") == "full"
SIZES = 120 if FULL else 5  # of disks that fill up
KILLS = 300 if FULL else 12
WORDS = (0, 3, 2, 3, 5)  # for how many a worker is left alone at least: "open", "asked", "told", "asked", ...
PAGE = 4096
PACKAGE = Path(mfopt.__file__).parent


def integrity(path):
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []


def checked(storage, asked, told):
    """The study, which holds all that was acknowledged."""
    opt = Study.open(storage)
    history = dict(zip(opt.history.id.tolist(), opt.history.y.tolist(), strict=True))
    assert told <= set(history)
    assert asked <= set(history) | {trial.id for trial in opt.pending}
    assert all(y == value(id) for id, y in history.items())
    ids = sorted([*history, *(trial.id for trial in opt.pending)])
    assert ids == list(range(len(ids)))
    assert opt.spent == sum(opt.history.cost)
    return opt


# ---------------------------------------------------------------------------------------------------- kill -9


@pytest.mark.posix_only
def test_nothing_that_was_acknowledged_is_lost_by_kill_9(tmp_path):
    chance = random.Random(1)
    asked, told, killed = set(), set(), 0
    for run in range(KILLS):
        if run % 25 == 0:  # a new file, whose making is interrupted too
            path, asked, told = tmp_path / f"{run}.db", set(), set()
        before = len(told)
        crew = [start(work, str(path), "random", 10_000) for _ in range(1 + run % 2)]
        said = [[listener.recv() for _ in range(WORDS[run % 5])] for _, listener in crew]
        time.sleep(chance.uniform(0.0, 0.1))
        for process, _ in crew:
            process.kill()
        said += [everything(listener) for _, listener in crew]
        for process, _ in crew:
            process.join(20)
            assert process.exitcode == -9
        for what, id in (one for words in said for one in words):
            assert what != "error", id
            if what in ("asked", "told"):
                {"asked": asked, "told": told}[what].add(id)
        killed += len(told) > before
        if path.exists():
            integrity(path)
            if told:
                checked(path, asked, told)
        for left in tmp_path.glob("*.new-*"):
            left.unlink()  # a process that was killed while it made the file
    assert killed > KILLS / 2  # in the middle of their work


@pytest.mark.posix_only
def test_a_run_that_is_killed_again_and_again_asks_what_it_would_have_asked(tmp_path):
    path, chance = tmp_path / "study.db", random.Random(2)
    for _ in range(20 if FULL else 3):
        process, listener = start(work, str(path), "mf-gp-ucb", 10_000)
        with contextlib.suppress(EOFError):
            while listener.recv()[0] != "told":
                pass
        time.sleep(chance.uniform(0.0, 0.1))
        process.kill()
        process.join(20)
        listener.close()
    with warnings.catch_warnings():
        warnings.simplefilter("error", ReplayWarning)
        opt = checked(path, set(), set())
        opt.ask()
    assert len(opt.history) > 0


# ------------------------------------------------------------------------------------------------------- Ctrl-C


def state(opt):
    history, pending = opt.history, [(trial.id, trial.x.tobytes()) for trial in opt.pending]
    return history.id.tolist(), history.y.tolist(), pending, opt.spent, opt.remaining


CALLS = {
    "ask": lambda opt: opt.ask(2),
    "tell": lambda opt: opt.tell(opt.pending[0], 1.0),
    "add": lambda opt: opt.add([[0.5, 0.5], [0.25, 0.5]], 0, [1.0, 2.0]),
}


@pytest.mark.parametrize("call", sorted(CALLS))
def test_an_interruption_between_any_two_lines_leaves_the_optimiser_right(storage, call):
    twin = Optimizer([(0.0, 1.0), (-5.0, 5.0)], [1.0, 10.0], capital=1e6, rng=0, strategy="random")
    points = [trial.x.tobytes() for trial in twin.ask(100)]
    lines, opt, interrupted = 0, None, True
    while interrupted:
        lines += 1 if FULL else 31
        if opt is None or opt._session.ledger.next_id > 50:
            opt = study(storage, study=f"until line {lines}")
        opt.ask(2)
        try:
            with Interrupt(lines):
                CALLS[call](opt)
            interrupted = False
        except KeyboardInterrupt:
            pass
        opt.refresh()
        there = Study.open(storage, opt._session.log.name)
        assert state(opt) == state(there), lines
        there.close()
        asked = [trial.x.tobytes() for trial in opt.pending]
        assert set(asked) <= set(points)
        trial = opt.ask()
        assert trial.x.tobytes() == points[trial.id - (opt.history.cost == 0.0).sum()]  # none was skipped
        opt.tell_many([(trial, 1.0) for trial in opt.pending])
    assert lines > 50


# --------------------------------------------------------------------------------------------------- full disk


@pytest.fixture(scope="module")
def uninterrupted():
    """The trials of a run that never met a limit."""
    opt = Optimizer([(0.0, 1.0), (-5.0, 5.0)], [1.0, 10.0], capital=200.0, rng=0)
    trace = []
    for _ in range(16):
        trial = opt.ask()
        trace.append((trial.id, trial.x.tobytes(), trial.fidelity))
        opt.tell(trial, float(trial.x[0]))
    return trace


def run_with_room(path, room, tells, seldom):
    """A run whose files have so much room (None: any): what workers.fill reports of it."""
    process, listener = start(fill, str(path), room, tells, seldom)
    said = everything(listener)
    process.join(60)
    assert len(said) == 1, room
    assert not isinstance(said[0], str), (room, said[0])
    return said[0]


@pytest.mark.posix_only
@pytest.mark.parametrize("seldom", [0.0, math.inf])
def test_a_disk_that_fills_up_at_any_write_costs_nothing(tmp_path, uninterrupted, seldom):
    (tmp_path / "free").mkdir()
    largest = run_with_room(tmp_path / "free" / "a.db", None, len(uninterrupted), seldom)[3]
    limits = [largest * i // SIZES for i in range(SIZES)]
    hit = 0
    for limit in limits:
        path = tmp_path / f"{limit}" / "a.db"
        path.parent.mkdir()
        errors, states, trace, _ = run_with_room(path, limit, len(uninterrupted), seldom)
        for kind, message in errors:
            assert kind in ("StorageError", "StorageFull"), (limit, message)
            assert "room" in message or "free space" in message or "cannot be made" in message, message
        assert states[0::2] == states[1::2], limit  # in memory as in the file
        assert trace == uninterrupted, limit
        integrity(path)
        hit += bool(errors)
        assert sorted(path.parent.glob("*.new-*")) == []
        shutil.rmtree(path.parent)
    # A checkpoint that finds no room is no error: the next commit tries again.
    assert hit == SIZES if seldom else hit > SIZES / 2


def test_a_full_database_is_called_full(tmp_path):
    opt = study(tmp_path / "a.db")
    trial = opt.ask()
    database = opt._session.log.store.database
    pages = database.query("PRAGMA page_count")[0][0]
    database.query(f"PRAGMA max_page_count = {pages}")

    def fill_up(trial):
        for _ in range(200):
            opt.tell(trial, value(trial.id))
            trial = opt.ask()

    with pytest.raises(StorageFull, match="make room"):
        fill_up(trial)
    database.query("PRAGMA max_page_count = 1000000")
    opt.refresh()
    known = checked(tmp_path / "a.db", set(), set(opt.history.id.tolist()))
    assert [t.id for t in known.pending] == [t.id for t in opt.pending]
    assert opt.ask().id == len(opt.history) + len(opt.pending) - 1


# --------------------------------------------------------------------------------------------------- cut files


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A study that was closed, and one that was not: what was told is in its -wal file, for nothing moved it on."""
    directory = tmp_path_factory.mktemp("whole")
    monkeypatch = pytest.MonkeyPatch()
    monkeypatch.setattr(SQLite, "_checkpoint", lambda self, connection: None)
    for name in ("closed", "live"):
        opt = study(directory / f"{name}.db")
        for _ in range(25):
            trial = opt.ask()
            opt.tell(trial, value(trial.id))
        if name == "closed":
            opt.close()
        else:
            for suffix in ("", "-wal"):
                shutil.copy(f"{directory / 'live.db'}{suffix}", f"{directory / 'crashed.db'}{suffix}")
    monkeypatch.undo()
    return directory


def copied(source, target):
    for suffix in ("", "-wal", "-shm", "-ack"):
        target.with_name(target.name + suffix).unlink(missing_ok=True)
        with contextlib.suppress(FileNotFoundError):
            shutil.copy(f"{source}{suffix}", f"{target}{suffix}")


def test_a_file_cut_at_any_page_is_refused_and_left_alone(tmp_path, whole):
    path = tmp_path / "cut.db"
    size = (whole / "closed.db").stat().st_size
    assert size % PAGE == 0
    assert not (whole / "closed.db-wal").exists()
    for pages in range(size // PAGE):
        copied(whole / "closed.db", path)
        os.truncate(path, pages * PAGE)
        before = path.read_bytes()
        for opening in (Study.open, study):
            with pytest.raises((StorageDamaged, NotAStorage), match="restore"):
                opening(path)
        assert path.read_bytes() == before
    copied(whole / "closed.db", path)
    assert len(Study.open(path).history) == 25


def test_a_wal_file_cut_anywhere_without_its_receipt_leaves_the_study_as_it_was_at_some_moment(tmp_path, whole):
    path, wal = tmp_path / "cut.db", tmp_path / "cut.db-wal"
    full = Study.open(whole / "live.db").history
    size = (whole / "crashed.db-wal").stat().st_size
    frame = PAGE + 24
    frames = (size - 32) // frame
    cuts = [0, 16, *(32 + k * frame + (0 if k % 4 else 24 + 100 * k % PAGE) for k in range(frames)), size]
    found = []
    for cut in cuts if FULL else cuts[::7] + cuts[-2:]:
        copied(whole / "crashed.db", path)
        os.truncate(wal, cut)
        opt = study(path)  # never a new one in its place: an event's checksum continues the header's
        n = len(opt.history)
        assert opt.history.y.tolist() == full.y[:n].tolist()
        assert opt.history.x.tobytes() == full.x[:n].tobytes()
        if n != (found or [-1])[-1]:
            assert opt.ask().id == n + len(opt.pending) - 1
        found.append(n)
    assert found == sorted(found)
    assert found[0] == 0
    assert found[-1] == 25


def test_a_changed_byte_is_found_or_does_not_matter(tmp_path, whole):
    path, chance = tmp_path / "changed.db", random.Random(3)
    data = (whole / "closed.db").read_bytes()
    full = Study.open(whole / "closed.db").history
    refused = 0
    for _ in range(1500 if FULL else 60):
        place = chance.randrange(len(data))
        changed = bytearray(data)
        changed[place] ^= 1 << chance.randrange(8)
        copied(whole / "closed.db", path)
        path.write_bytes(changed)
        try:
            opt = Study.open(path)
            assert opt.history.y.tolist() == full.y.tolist()
            assert opt.history.x.tobytes() == full.x.tobytes()
            assert (opt.costs, opt.capital, opt.seed, opt.direction) == ((1.0, 10.0), 1e6, 0, "maximize")
        except mfopt.MfoptError:
            refused += 1
        finally:
            opt = None
    assert refused > 0


# ------------------------------------------------------------------------------------------------ many writers


@pytest.mark.posix_only
@pytest.mark.parametrize(
    ("strategy", "crew", "tells"),
    [("random", 8, 500), ("mf-gp-ucb", 4, 30)] if FULL else [("random", 4, 15), ("mf-gp-ucb", 2, 8)],
)
def test_many_processes_lose_and_repeat_nothing(storage, strategy, crew, tells):
    team = [start(work, storage, strategy, tells) for _ in range(crew)]
    said = [everything(listener) for _, listener in team]
    for process, _ in team:
        process.join(60)
        assert process.exitcode == 0
    for words in said:
        assert words[-1] == ("done", 0)
        assert len(words) == 2 * tells + 2
    handed_out = [id for words in said for what, id in words if what == "asked"]
    assert sorted(handed_out) == list(range(crew * tells))  # each trial to one process
    opt = checked(storage, set(handed_out), set(handed_out))
    assert opt.pending == []
    if strategy == "random":  # the other may query a point at each fidelity
        assert len({x.tobytes() for x in opt.history.x}) == crew * tells
    if storage.startswith("sqlite"):
        integrity(storage.removeprefix("sqlite:///"))
    with warnings.catch_warnings():
        warnings.simplefilter("error", ReplayWarning)  # one process alone would have asked the same
        opt.ask()


@pytest.mark.posix_only
def test_two_processes_resume_the_same_study_at_once(storage):
    opt = study(storage, "mf-gp-ucb")
    for _ in range(10):
        trial = opt.ask()
        opt.tell(trial, value(trial.id))
    opt.close()
    tells = 40 if FULL else 6
    team = [start(work, storage, "mf-gp-ucb", tells) for _ in range(2)]
    said = [everything(listener) for _, listener in team]
    assert [words[-1] for words in said] == [("done", 0)] * 2
    opt = checked(storage, set(), {id for words in said for what, id in words if what == "told"})
    assert len(opt.history) == 10 + 2 * tells
    with warnings.catch_warnings():
        warnings.simplefilter("error", ReplayWarning)
        opt.ask()


@pytest.mark.posix_only
def test_processes_that_make_the_same_study_at_once_share_it(tmp_path):
    for k in range(20 if FULL else 3):
        path = tmp_path / f"{k}.db"
        team = [start(work, str(path), "random", 2) for _ in range(4)]
        said = [everything(listener) for _, listener in team]
        assert [words[-1] for words in said] == [("done", 0)] * 4
        assert len(checked(path, set(), set()).history) == 8
        assert sorted(tmp_path.glob("*.new-*")) == []


# --------------------------------------------------------------------------------------------------- PostgreSQL


def test_a_server_that_goes_down_loses_nothing_and_is_found_again(server):
    storage = server.url()
    opt = study(storage, "mf-gp-ucb", capital=120.0)
    twin = Optimizer([(0.0, 1.0), (-5.0, 5.0)], [1.0, 10.0], capital=120.0, rng=0)
    for k in range(12):
        if k in ((3, 6, 11) if FULL else (3,)):
            server.restart()
            with pytest.raises(StorageError, match="reached"):
                opt.ask()
        trial, expected = opt.ask(), twin.ask()
        assert trial.x.tobytes() == expected.x.tobytes()
        if k in ((5, 7, 10) if FULL else (7,)):
            server.restart()
            with pytest.raises(StorageError, match="reached"):
                opt.tell(trial, 1.0)
        opt.tell(trial, value(trial.id))
        twin.tell(expected, value(trial.id))
    assert Study.open(storage).history.y.tolist() == twin.history.y.tolist()


# ------------------------------------------------------------------------------------------------- permissions

_READ_ONLY = """
import os, sys
import mfopt, mfopt.storage.sqlite, mfopt.storage.header
import tests.storage.warm
if os.getuid() == 0:
    os.setuid(65534)
old, new = sys.argv[1:]
for call in (lambda: mfopt.Study.open(old).ask(), lambda: mfopt.Optimizer([(0, 1)], [1.0], storage=new)):
    try:
        call()
    except mfopt.StorageError as error:
        print(type(error).__name__, error)
"""


@pytest.mark.posix_only
def test_a_file_that_cannot_be_written_is_called_so(tmp_path):
    directory = tmp_path / "readonly"
    directory.mkdir()
    opt = study(directory / "a.db")
    opt.ask()
    opt.close()
    for parent in (tmp_path, *tmp_path.parents):
        if parent == Path(tempfile.gettempdir()):
            break
        parent.chmod(0o755)
    (directory / "a.db").chmod(0o444)
    directory.chmod(0o555)
    try:
        done = subprocess.run(
            [sys.executable, "-c", _READ_ONLY, str(directory / "a.db"), str(directory / "new.db")],
            capture_output=True,
            text=True,
            timeout=600,
            cwd=Path(__file__).parents[2],
        )
    finally:
        directory.chmod(0o755)
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    assert first.startswith(("StorageReadOnly", "StorageError"))
    assert "permissions" in first
    assert second.startswith(("StorageReadOnly", "StorageError"))
    assert [path.name for path in directory.iterdir()] == ["a.db"]
