"""SQLite on a network file system is warned about."""

import pytest

from mfopt import NetworkFileSystemWarning, Study
from mfopt.storage import mounts
from tests.storage.studies import make


@pytest.fixture
def mount(tmp_path, monkeypatch):
    """Makes a directory seem to be mounted with a file system of that type, last of all."""
    table = tmp_path / "mountinfo"
    lines = [
        "22 1 254:0 / / rw,relatime - ext4 /dev/vda rw",
        "a line that is none",
        "23 22 0:21 / /proc rw - proc proc rw",
    ]

    def add(place, kind):
        escaped = str(place).replace("\\", "\\134").replace(" ", "\\040")
        lines.append(f"{len(lines) + 30} 22 0:50 / {escaped} rw,relatime shared:1 - {kind} server:/export rw")
        table.write_text("\n".join(lines), encoding="utf-8")

    monkeypatch.setattr(mounts, "_TABLE", table)
    add("/elsewhere", "nfs4")
    return add


@pytest.mark.parametrize(
    "kind", ["nfs", "nfs4", "cifs", "smb3", "9p", "lustre", "ceph", "fuse.sshfs", "fuse.glusterfs"]
)
def test_making_and_opening_a_study_there_warns(tmp_path, mount, kind):
    home = tmp_path / "a home"
    home.mkdir()
    mount(home, kind)
    with pytest.warns(NetworkFileSystemWarning, match=rf"a home.study\.db on a network file system \({kind}\)"):
        make(home / "study.db").close()
    with pytest.warns(NetworkFileSystemWarning, match="PostgreSQL"):
        Study.open(home / "study.db").close()


@pytest.mark.parametrize("kind", ["ext4", "xfs", "btrfs", "tmpfs", "overlay", "fuseblk", "fuse.mergerfs", "zfs"])
def test_a_local_disk_is_no_cause(tmp_path, mount, kind):
    mount(tmp_path, kind)
    make(tmp_path / "study.db").close()


def test_the_innermost_mount_and_of_those_the_last_one_counts(tmp_path, mount):
    inner = tmp_path / "inner"
    inner.mkdir()
    mount(inner, "ext4")
    mount(tmp_path, "nfs")
    assert mounts.find_network_file_system(inner / "a.db") is None
    assert mounts.find_network_file_system(tmp_path / "a.db") == "nfs"
    assert mounts.find_network_file_system(tmp_path.with_name(f"{tmp_path.name}2") / "a.db") is None
    mount(inner, "cifs")
    assert mounts.find_network_file_system(inner / "a.db") == "cifs"
    (tmp_path / "link").symlink_to(inner)
    mount(inner, "nfs4")
    assert mounts.find_network_file_system(tmp_path / "link" / "a.db") == "nfs4"


def test_where_the_platform_does_not_tell_nothing_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(mounts, "_TABLE", tmp_path / "missing")
    assert mounts.find_network_file_system(tmp_path) is None
