"""Mounts: whether a file lies on another machine, where SQLite's locks cannot be relied on."""

from __future__ import annotations

import os
import re
import warnings
from pathlib import Path

from mfopt.errors import NetworkFileSystemWarning

_TABLE = Path("/proc/self/mountinfo")  # Linux; other platforms do not tell
_NETWORK = (
    " 9p acfs afpfs afs beegfs ceph cifs coda cvmfs davfs fhgfs gfs gfs2 glusterfs gpfs lustre ncpfs nfs nfs4 ocfs2 "
    "orangefs panfs pvfs2 smb2 smb3 smbfs vboxsf virtiofs wekafs "
)
_FUSE = re.compile("fuse[.](ceph|curlftp|davfs|gcs|gluster|gpfs|juicefs|lustre|nfs|rclone|s3|smb|ssh)")


def warn_of_network(path: Path) -> None:
    """Warn if the database at `path` lies on a network file system."""
    kind = find_network_file_system(path)
    if kind is not None:
        warnings.warn(
            f"an SQLite study must be on a disk of this machine, got {path} on a network file system ({kind}): "
            "its locks may fail, and two machines then damage the study; move the file, or use PostgreSQL",
            NetworkFileSystemWarning,
            stacklevel=2,
        )


def find_network_file_system(path: Path) -> str | None:
    """The type of the network file system that `path` lies on, such as "nfs4"; None if it is local, or unknown."""
    try:
        table = _TABLE.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return None
    place = os.path.realpath(path)
    found, depth = "", -1
    for line in table.splitlines():
        point, kind = _parse(line)
        inside = point is not None and (place == point or place.startswith(point.rstrip("/") + "/"))
        if inside and point is not None and len(point) >= depth:  # of several at one place the last one counts
            found, depth = kind, len(point)
    return found if _is_network(found) else None


def _parse(line: str) -> tuple[str | None, str]:
    """Where a line of the table mounts what type: fields, a separate "-", then the type."""
    before, _, after = line.partition(" - ")
    fields, kinds = before.split(" "), after.split(" ")
    if len(fields) < 5 or not kinds[0]:
        return None, ""
    return re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), fields[4]), kinds[0]


def _is_network(kind: str) -> bool:
    return f" {kind} " in _NETWORK or _FUSE.match(kind) is not None
