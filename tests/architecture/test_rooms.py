"""Imports follow the arrows of tools/rooms.py, and the page on the architecture shows them."""

from tools import rooms
from tools.pages import read_section


def test_every_import_follows_an_arrow_and_arrows_point_one_way():
    assert rooms.wrong_imports() == []


def test_no_arrow_is_left_over():
    assert rooms.unused_arrows() == []


def test_every_room_exists_and_has_a_purpose():
    folders = {room for _, room in rooms._files()}
    assert folders == set(rooms.ROOMS) - {"core"}
    assert all(room.purpose for room in rooms.ROOMS.values())


def test_the_check_sees_a_forbidden_import(tmp_path, monkeypatch):
    file = tmp_path / "mfopt" / "domains" / "bad.py"
    file.parent.mkdir(parents=True)
    file.write_text("def f():\n    from mfopt.optimizer import Optimizer\n    import mfopt_core\n")
    monkeypatch.setattr(rooms, "ROOT", tmp_path)
    monkeypatch.setattr(rooms, "_files", lambda: iter([(file, "domains")]))
    assert rooms.wrong_imports() == [
        "mfopt/domains/bad.py:2: domains must not import optimizer",
        "mfopt/domains/bad.py:3: domains must not import core",
    ]


def test_the_page_is_drawn_from_the_same_data():
    assert read_section(rooms.PAGE, rooms.SECTION) == rooms.drawing(), "run python tools/rooms.py draw"


def test_there_are_at_most_a_dozen_modules_at_the_top():
    modules = {path.stem for path in (rooms.ROOT / "mfopt").glob("*.py")} - {"__main__"}  # a call, no module to read
    assert len(modules) <= 12
