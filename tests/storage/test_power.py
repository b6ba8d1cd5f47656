"""Power cuts: the write path against a simulated disk that drops, tears and reorders what was not synced.

`make faults` cuts at every operation (MFOPT_FAULTS=full); the test suite at some.
"""

import os
import random
import shutil
import tempfile
from pathlib import Path

import pytest

from mfopt import MfoptError, Study
from tests.storage.disk.model import HOW, Disk
from tests.storage.disk.record import build, compiler, record
from tests.storage.workers import study, value

FULL = os.environ.get("MFOPT_FAULTS") == "full"
CUTS = 10_000 if FULL else 25  # at most, of a scenario

pytestmark = pytest.mark.skipif(compiler() is None, reason="needs Linux and a C compiler")


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return build(tmp_path_factory.mktemp("recorder"))


@pytest.fixture
def place():
    """A directory in memory where there is such a thing: thousands of studies are opened there."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as directory:
        yield Path(directory)


def go_on(files, words, place):
    """Put the files that a power cut left in their place, open the study, check it against the words, and go on."""
    shutil.rmtree(place / "after", ignore_errors=True)
    (place / "after").mkdir()
    for name, content in files.items():
        if name != "acknowledged" and not name.endswith("-shm"):  # -shm is memory, made anew after a crash
            (place / "after" / name).write_bytes(content)
    path = place / "after" / "study.db"
    told = [int(id) for what, id in words if what == "told"]
    asked = {int(id) for what, id in words if what == "asked"}
    opt = Study.open(path) if words else study(path)  # before it is made it may be there or not
    try:
        history = opt.history
        assert history.id[: len(told)].tolist() == told
        assert history.y.tolist() == [value(id) for id in history.id.tolist()]
        assert asked <= {*history.id.tolist(), *(trial.id for trial in opt.pending)}
        trial = opt.ask()
        opt.tell(trial, value(trial.id))
        assert trial.id == len(opt.history) + len(opt.pending) - 1
    finally:
        opt.close()


def cut_everywhere(operations, directory, place, cuts):
    """How many cuts there were, and those after which something was lost or the study did not open."""
    chance = random.Random(len(operations))
    chosen = set(chance.sample(range(len(operations)), min(cuts, len(operations))))
    disk, tried, lost = Disk(directory), 0, []
    for k, operation in enumerate(operations):
        disk.apply(operation)
        if k in chosen:
            words = [line.split() for line in disk.content("acknowledged").decode().splitlines()]
            how = chance.choice(HOW)
            tried += 1
            try:
                go_on(disk.cut(how, chance), words, place)
            except (AssertionError, MfoptError) as error:
                lost.append(f"{how} after operation {k} ({operation.kind}): {type(error).__name__} {error}")
    return tried, lost


@pytest.mark.parametrize("scenario", ["as usual", "moved on", "log only", "closed", "two", "beside a child", "in bulk"])
def test_a_power_cut_at_any_operation_costs_nothing_that_was_acknowledged(tmp_path, library, place, scenario):
    directory = tmp_path / "disk"
    directory.mkdir()
    operations = record(library, directory, scenario, "60" if scenario == "in bulk" else "12")
    kinds = "".join(operation.kind for operation in operations)
    assert kinds.count("S") > 12
    assert "L" in kinds  # the making is part of it
    tried, lost = cut_everywhere(operations, directory, place, CUTS)
    print(f"{scenario}: {tried} cuts in {len(operations)} operations, {len(lost)} lost")
    assert lost == []
    assert tried >= min(CUTS, 100)


def test_a_disk_that_does_not_sync_is_found_out(tmp_path, library, place):
    """The model would show a loss if there were one."""
    directory = tmp_path / "disk"
    directory.mkdir()
    operations = record(library, directory, "unsynced", "12")
    _, lost = cut_everywhere(operations, directory, place, 100)
    assert lost


def test_the_record_replayed_in_full_is_what_the_process_left(tmp_path, library):
    directory = tmp_path / "disk"
    directory.mkdir()
    operations = record(library, directory, "closed", "8")
    disk = Disk(directory)
    for operation in operations:
        disk.apply(operation)
    left = disk.cut("all", random.Random(0))
    assert {path.name: path.read_bytes() for path in directory.iterdir()} == left
