"""What is left behind when the making of a study is killed is removed later, when nobody is at it any more."""

import os

from mfopt import Study
from tests.storage.workers import study


def leave(tmp_path, age, name="a.db.new-0123456789abcdef"):
    made = []
    for suffix in ("", "-wal", "-shm", "-journal"):
        path = tmp_path / f"{name}{suffix}"
        path.write_bytes(b"half")
        before = path.stat().st_mtime - age
        os.utime(path, (before, before))
        made.append(path)
    return made


def test_old_litter_goes_when_a_study_is_made_or_opened(tmp_path):
    leave(tmp_path, 3600.0)
    opt = study(tmp_path / "a.db")
    assert sorted(tmp_path.glob("*.new-*")) == []
    leave(tmp_path, 3600.0)
    there = Study.open(tmp_path / "a.db")
    assert sorted(tmp_path.glob("*.new-*")) == []
    there.close()
    opt.close()
    assert [path.name for path in tmp_path.iterdir()] == ["a.db"]


def test_what_is_being_made_is_left_alone(tmp_path):
    young = leave(tmp_path, 1.0)
    study(tmp_path / "a.db")
    assert all(path.exists() for path in young)


def test_what_is_not_ours_is_left_alone(tmp_path):
    others = [
        path
        for name in ("b.db.new-0123456789abcdef", "a.db.new-0123", "a.db.new-notes", "xa.db.new-0123456789abcdef")
        for path in leave(tmp_path, 3600.0, name)
    ]
    study(tmp_path / "a.db")
    assert all(path.exists() for path in others)


def test_a_second_name_of_the_finished_file_goes_at_once(tmp_path):
    study(tmp_path / "a.db").close()
    os.link(tmp_path / "a.db", tmp_path / "a.db.new-0123456789abcdef")
    assert Study.open(tmp_path / "a.db").ask().id == 0
    assert not (tmp_path / "a.db.new-0123456789abcdef").exists()
