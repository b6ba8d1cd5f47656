"""Disk: a directory of files as a disk holds it, and what may be left of it after a power cut.

What was synced is there. Of what was written since, any part may be there: nothing, all, the first writes with the
last one torn, or any of the 512-byte sectors. The same holds for names: one that was made or removed is sure after a
sync of the directory only, whatever else was synced.
"""

from __future__ import annotations

import os

SECTOR = 512
HOW = ("nothing", "all", "first", "some", "most")


class Inode:
    """The bytes of a file: those that are sure, and the operations on them since."""

    def __init__(self):
        self.sure = bytearray()
        self.since = []  # (offset, data) of a write, (size, None) of a truncation

    def sync(self):
        for place, data in self.since:
            _apply(self.sure, place, data)
        self.since = []

    def cut(self, how, chance):
        """What a power cut may leave."""
        content = bytearray(self.sure)
        kept = _choose(self.since, how, chance)
        torn = how == "first" and chance.random() < 0.5
        for k, (place, data) in enumerate(kept):
            if data is None or how == "all" or (how == "first" and not (torn and k == len(kept) - 1)):
                _apply(content, place, data)
                continue
            share = 0.5 if how in ("some", "first") else 0.9
            end = place + len(data)
            for start in range(place - place % SECTOR, end, SECTOR):
                if chance.random() < share:
                    a, b = max(start, place), min(start + SECTOR, end)
                    _apply(content, a, data[a - place : b - place])
        return bytes(content)


class Disk:
    """Replays operations on one directory."""

    def __init__(self, directory):
        self._directory = os.fsencode(directory)
        self._names = {}  # as the process sees them
        self._sure = {}
        self._since = []  # (name, inode or None)
        self._files = {}  # by descriptor; None: the directory itself

    def apply(self, operation):
        kind, file, place, first, second = operation
        match kind:
            case "O":
                self._open(file, place, self._name(first))
            case "C":
                self._files.pop(file, None)
            case "W":
                self._files[file].since.append((place, first))
            case "T":
                self._files[file].since.append((place, None))
            case "S":
                self._sync(self._files[file])
            case "L":
                self._set(self._name(second), self._names[self._name(first)])
            case "R":
                self._set(self._name(second), self._names[self._name(first)])
                self._set(self._name(first), None)
            case "U":
                self._set(self._name(first), None)

    def cut(self, how, chance):
        """The files that a power cut may leave, by name."""
        names = dict(self._sure)
        for name, inode in _choose(self._since, how, chance):
            names[name] = inode
        return {name: inode.cut(how, chance) for name, inode in names.items() if inode is not None}

    def content(self, name):
        """A file as the process sees it; empty where there is none."""
        inode = self._names.get(name)
        return b"" if inode is None else inode.cut("all", None)

    def _name(self, path):
        return os.fsdecode(path[len(self._directory) :].lstrip(b"/"))

    def _open(self, file, flags, name):
        if name == "":
            self._files[file] = None
            return
        if self._names.get(name) is None:
            self._set(name, Inode())
        elif flags & os.O_TRUNC:
            self._names[name].since.append((0, None))
        self._files[file] = self._names[name]

    def _set(self, name, inode):
        self._names[name] = inode
        self._since.append((name, inode))

    def _sync(self, inode):
        if inode is not None:
            inode.sync()
            return
        self._sure.update(self._since)
        self._since = []


def _apply(content, place, data):
    """A write, or without data a truncation, which may also make the file longer."""
    end = place if data is None else place + len(data)
    if len(content) < end:
        content.extend(bytes(end - len(content)))
    if data is None:
        del content[place:]
    else:
        content[place:end] = data


def _choose(operations, how, chance):
    """Those of which something is left, in their order."""
    match how:
        case "nothing":
            return []
        case "first":
            return operations[: chance.randint(0, len(operations))]
        case "some" | "most":
            return [one for one in operations if chance.random() < (0.5 if how == "some" else 0.9)]
    return operations
