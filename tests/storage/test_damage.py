"""Damage to the files beside a study: what was acknowledged and is lost is told, and what is left can be reached."""

import os
import random
import shutil
import time

import pytest

from mfopt import StorageDamaged, Study
from mfopt.storage.receipt import Receipt
from mfopt.storage.sqlite import SQLite
from tests.storage.workers import study, value

FULL = os.environ.get("MFOPT_FAULTS") == "full"
FRAME = 4096 + 24
TELLS = 25


def advance(opt, tells):
    for _ in range(tells):
        trial = opt.ask()
        opt.tell(trial, value(trial.id))


def copy(source, target, suffixes=("", "-wal", "-ack")):
    for suffix in ("", "-wal", "-shm", "-ack", "-wal.damaged"):
        target.with_name(target.name + suffix).unlink(missing_ok=True)
    for suffix in suffixes:
        shutil.copy(f"{source}{suffix}", f"{target}{suffix}")


@pytest.fixture(scope="module")
def live(tmp_path_factory):
    """A study in use, whose tells are all in its -wal file."""
    path = tmp_path_factory.mktemp("live") / "live.db"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SQLite, "_checkpoint", lambda self, connection: None)
        opt = study(path)
        advance(opt, TELLS)
        copied = path.with_name("crashed.db")
        copy(path, copied)
    return copied


def damaged(live, path, change, suffixes=("", "-wal", "-ack")):
    """What a copy with a changed -wal file opens as: the number of its tells, or an error."""
    copy(live, path, suffixes)
    wal = path.with_name(path.name + "-wal")
    data = bytearray(wal.read_bytes())
    changed = change(data)
    wal.write_bytes(data if changed is None else changed)
    try:
        opt = Study.open(path)
    except StorageDamaged as error:
        return error
    told = opt.history.y.tolist()
    opt.close()
    assert told == [value(id) for id in range(len(told))]
    return len(told)


def flip(place, bit):
    def change(data):
        data[place] ^= 1 << bit

    return change


def test_a_changed_bit_of_the_wal_file_is_told_or_costs_nothing(live, tmp_path):
    chance, size = random.Random(4), os.path.getsize(f"{live}-wal")
    outcomes = [
        damaged(live, tmp_path / "a.db", flip(chance.randrange(size), chance.randrange(8)))
        for _ in range(1000 if FULL else 60)
    ]
    counts = [one for one in outcomes if isinstance(one, int)]
    assert set(counts) <= {TELLS}
    assert len(counts) < len(outcomes) / 10


def test_damage_before_the_last_transactions_is_told_by_the_wal_file_alone(live, tmp_path):
    chance, size = random.Random(5), os.path.getsize(f"{live}-wal")
    for _ in range(500 if FULL else 30):
        place = chance.randrange(32, size - 12 * FRAME)
        outcome = damaged(live, tmp_path / "a.db", flip(place, chance.randrange(8)), ("", "-wal"))
        if isinstance(outcome, int):
            assert outcome == TELLS  # a byte that does not count, such as what lies behind the end of the log
        else:
            assert "transactions, which cannot be read" in str(outcome)


def test_a_wal_file_without_its_end_or_without_anything_is_told(live, tmp_path):
    size = os.path.getsize(f"{live}-wal")
    for cut in (0, 31, 32, 32 + 5 * FRAME, size // 2, size - 3 * FRAME):
        outcome = damaged(live, tmp_path / "a.db", lambda data, cut=cut: data[:cut])
        assert f"must hold the {2 * TELLS} events that were acknowledged" in str(outcome), cut


def test_a_wal_file_that_was_removed_is_told_and_what_is_left_can_be_reached(live, tmp_path):
    path = tmp_path / "a.db"
    copy(live, path, ("", "-ack"))
    for _ in range(3):  # not only once
        with pytest.raises(StorageDamaged, match=r"got 0; .* delete the file a\.db-ack"):
            Study.open(path)
        with pytest.raises(StorageDamaged, match="must hold the 50 events"):
            study(path)
    (tmp_path / "a.db-ack").unlink()
    advance(study(path), 2)
    assert len(Study.open(path).history) == 2


def test_a_damaged_wal_file_is_kept_and_refused_until_somebody_has_seen_it(live, tmp_path):
    path = tmp_path / "a.db"
    outcome = damaged(live, path, flip(32 + 30 * FRAME + 500, 3), ("", "-wal"))
    assert isinstance(outcome, StorageDamaged)
    assert os.path.getsize(f"{path}-wal.damaged") == os.path.getsize(f"{live}-wal")
    with pytest.raises(StorageDamaged, match="cannot be read"):
        Study.open(path)
    (tmp_path / "a.db-ack").unlink()
    left = len(Study.open(path).history)
    assert 0 < left < TELLS
    advance(study(path), 3)
    assert len(Study.open(path).history) == left + 3


def test_the_main_file_holds_all_but_the_last_second(tmp_path):
    opt = study(tmp_path / "a.db")
    advance(opt, 20)
    time.sleep(1.1)
    advance(opt, 1)
    for suffix in ("-wal", "-ack"):
        assert (tmp_path / f"a.db{suffix}").exists()
    shutil.copy(tmp_path / "a.db", tmp_path / "b.db")
    assert len(Study.open(tmp_path / "b.db").history) >= 20


def test_slow_evaluations_leave_nothing_in_the_wal_file(tmp_path):
    opt = study(tmp_path / "a.db")
    for _ in range(3):
        trial = opt.ask()
        time.sleep(1.1)
        opt.tell(trial, value(trial.id))
        shutil.copy(tmp_path / "a.db", tmp_path / "b.db")
        there = Study.open(tmp_path / "b.db")
        assert len(there.history) == trial.id + 1
        there.close()


def test_a_closed_study_is_one_file(tmp_path):
    opt = study(tmp_path / "a.db")
    advance(opt, 3)
    other = Study.open(tmp_path / "a.db")
    opt.close()
    assert (tmp_path / "a.db-ack").exists()  # as long as somebody is there
    other.close()
    assert [path.name for path in tmp_path.iterdir()] == ["a.db"]


@pytest.mark.parametrize("content", [b"", b"\n", b"[[[[", b"\xff\xfe\n00000000", b'[{"default": [1]}, ""]\n1b1c2e2f'])
def test_a_receipt_that_was_torn_says_nothing(live, tmp_path, content):
    path = tmp_path / "a.db"
    copy(live, path)
    (tmp_path / "a.db-ack").write_bytes(content)
    assert len(Study.open(path).history) == TELLS


def test_a_receipt_of_another_study_of_that_name_says_nothing(live, tmp_path):
    path = tmp_path / "a.db"
    copy(live, path)
    Receipt(path).note("default", 12345, 10_000)
    Receipt(path).note("another", 12345, 10_000)
    assert len(Study.open(path).history) == TELLS


def test_a_process_that_writes_meanwhile_is_no_damage(tmp_path):
    """Openings beside a writer whose log starts over again and again."""
    path = tmp_path / "a.db"
    opt = study(path)
    for k in range(100 if FULL else 15):
        advance(opt, 3)
        if k % 3 == 0:
            opt._session.log.store.database.settle()
        there = Study.open(path)
        assert len(there.history) == 3 * (k + 1)
        there.close()
