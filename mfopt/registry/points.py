"""Entry points: which plugins are installed, read from the metadata of distributions. Nothing is imported."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import Distribution, EntryPoint, distributions, entry_points

from mfopt.errors import PluginWarning

SURROGATES, MAXIMISERS, STRATEGIES = "mfopt.surrogates", "mfopt.maximisers", "mfopt.strategies"

GROUPS = {"strategy": STRATEGIES, "surrogate": SURROGATES, "maximiser": MAXIMISERS}  # by the word for one plugin
WORDS = {group: word for word, group in GROUPS.items()}

OWN = "mfopt"  # the distribution whose names are reserved


@dataclass(frozen=True)
class Plugin:
    """An installed plugin, not imported."""

    group: str
    name: str
    distribution: str
    version: str
    origin: str  # module:attribute
    problem: str = ""  # why the name does not mean this plugin; empty where it does


def plugins() -> list[Plugin]:
    """Every installed plugin, by group and name."""
    found = []
    for group in WORDS:
        points = find_points(group)
        reserved = {point.name: point.value for point in points if distribution_of(point)[0] == OWN}
        found += [_describe(group, point, reserved.get(point.name)) for point in points]
    return sorted(found, key=lambda plugin: (plugin.group, plugin.name, plugin.distribution))


def find_plugin(group: str, name: str) -> Plugin | None:
    """The installed plugin that this name means; None where there is none, or more than one."""
    points = find_usable(group, name)
    return _describe(group, points[0], None) if len(points) == 1 else None


def _describe(group: str, point: EntryPoint, reserved: str | None) -> Plugin:
    skipped = reserved is not None and point.value != reserved
    problem = f"skipped: the name {point.name!r} is reserved for {OWN}'s own plugin" if skipped else ""
    return Plugin(group, point.name, *distribution_of(point), point.value, problem)


def find_usable(group: str, name: str, tell: bool = False) -> list[EntryPoint]:
    """What this name may mean; one is as it should be.

    Another distribution's plugin under a reserved name is skipped, with a warning if `tell` is set.
    """
    points = list({point.value: point for point in find_points(group, name)}.values())  # found twice on the path is one
    own = [point for point in points if len(points) > 1 and distribution_of(point)[0] == OWN]
    if tell and own:
        others = describe_distributions(point for point in points if point not in own)
        warnings.warn(
            f"the {WORDS[group]} name {name!r} is reserved for {OWN}'s own plugin: that of {others} is skipped",
            PluginWarning,
            stacklevel=2,
        )
    return own or points


def find_points(group: str, name: str | None = None) -> list[EntryPoint]:
    """The entry points of a group, under one name or all; a distribution that cannot be read has none."""
    return [point for point in _read_points(_stat_path()) if point.group == group and name in (None, point.name)]


@lru_cache(maxsize=1)
def _read_points(stats: tuple[object, ...]) -> tuple[EntryPoint, ...]:
    """The entry points of all groups; read again, which takes milliseconds, only when something was installed."""
    try:
        return tuple(point for group in WORDS for point in entry_points(group=group))
    except Exception:  # one distribution's broken metadata: read each by itself
        return tuple(point for _, points in _read_each() if not isinstance(points, Exception) for point in points)


def _stat_path() -> tuple[object, ...]:
    """What changes with every installation: the directories where distributions are looked for."""
    found: list[object] = []
    for path in sys.path:
        try:
            stat = os.stat(path or os.curdir)
            found.append((path, stat.st_ino, stat.st_mtime_ns, stat.st_nlink))
        except (OSError, ValueError):
            found.append(path)
    return tuple(found)


def unreadable() -> list[str]:
    """A line for each distribution whose entry points cannot be read."""
    return [
        f"the entry points of {_locate(one)} cannot be read: {type(points).__name__}: {points}"
        for one, points in _read_each()
        if isinstance(points, Exception)
    ]


def _read_each() -> Iterator[tuple[Distribution, list[EntryPoint] | Exception]]:
    """Every distribution with its entry points, or with why they cannot be read; the first of a name on the path."""
    seen = set()
    for one in distributions():
        try:
            if one.read_text("entry_points.txt") is None:
                continue
            points = list(one.entry_points)
            name = _read_field(one, "Name")
        except Exception as error:  # whatever a damaged file leads to
            yield one, error
            continue
        if name is None or name not in seen:
            seen.add(name)
            yield one, points


def distribution_of(point: EntryPoint) -> tuple[str, str]:
    """Name and version of the distribution behind an entry point."""
    try:
        name, version = (None, None) if point.dist is None else _read_origin(point.dist)
    except Exception:  # whatever a damaged file leads to
        name = version = None
    return name or "unknown distribution", version or "?"


@lru_cache(maxsize=64)
def _read_origin(one: Distribution) -> tuple[str | None, str | None]:
    return _read_field(one, "Name"), _read_field(one, "Version")


def _name_with_version(point: EntryPoint) -> str:
    return " ".join(distribution_of(point))


def describe_distributions(points: Iterable[EntryPoint]) -> str | None:
    """The distributions behind these points, with their versions, for an error; None where there is none."""
    return " and ".join(dict.fromkeys(_name_with_version(point) for point in points)) or None


def _read_field(one: Distribution, field: str) -> str | None:
    """A field of the metadata; None where it is missing."""
    found = one.metadata.get_all(field) or [None]
    return None if found[0] is None else str(found[0])


def _locate(one: Distribution) -> str:
    """Where a distribution lies, as far as it tells."""
    return str(getattr(one, "_path", None) or "a distribution")
