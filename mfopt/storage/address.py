"""Addresses of storages, as they may be shown: without passwords, however the address is written."""

from __future__ import annotations

import re
from urllib.parse import unquote

from mfopt.checks import show

_PLAIN = re.compile(r"[\w.:,/\[\]-]*")  # of a host or a database: nothing that could be a piece of a password with an @
_SECRETS = re.compile(r"(?:password|passwd|pwd|\bpass|\bpw)\s*=\s*('(?:[^'\\]|\\.)*'|[^&\s]*)", re.IGNORECASE)
_PORT = re.compile(r"\[.*\](?::\d*)?|[^:]*(?::\d*)?")  # one host, and a port that is a number
_PAIRS = re.compile(r"(?:host|hostaddr|port|user|dbname|service)\s*=")


def looks_like_address(storage: str) -> bool:
    """Whether it can hardly be meant as a path: a URL, well or badly written, or a string of key=value pairs."""
    start = storage.lstrip().lower()
    is_url = "://" in start or (re.match(r"[\w+.-]*:?//", start) is not None and not start.startswith("/"))
    rest = start[2:] if re.match(r"[a-z]:[/\\]", start) else start  # without the letter of a drive
    has_user = re.search(r":[^@]*@|@[^/@]*:\d+(/|$)", rest) is not None  # user:password@host, user/password@host:1
    is_server = re.match(r"\W*postgres\w*\W*:", start) is not None
    has_pairs = _PAIRS.match(start) is not None or _SECRETS.search(start) is not None
    return is_url or has_user or is_server or has_pairs


def show_safely(storage: object) -> str:
    """What a user gave as a storage, for an error message; of an address or of what may be one only how it begins."""
    if not isinstance(storage, str) or not (looks_like_address(storage) or "@" in storage):
        return show(storage)
    return show(re.split(r"\W", storage.lstrip(), maxsplit=1)[0] + "...")


def show_address(url: str) -> str:
    """Host and database of a PostgreSQL URL; what cannot be told from a piece of a password is left out."""
    rest = url.partition("://")[2].rpartition("@")[2]
    place = re.split(r"[?#]", rest, maxsplit=1)[0]
    host, _, database = place.partition("/")
    ports = all(_PORT.fullmatch(one) for one in host.split(","))  # another one is a password, and no host was given
    safe = ports and _PLAIN.fullmatch(unquote(place)) and not _pieces(url).intersection(re.split(r"[.:,/]", place))
    return f"postgresql://{host or 'localhost'}/{database}" if safe else "postgresql://..."


def hide_password(message: str, url: str) -> str:
    """The message of a server or a library, unless a piece of the password is in it."""
    if any(piece in message for piece in _pieces(url)):
        return "its message is not shown, since it repeats a part of the password"
    return message


def _pieces(url: str) -> set[str]:
    """The password, and its parts where somebody forgot to escape what separates the parts of a URL."""
    given = url.partition("://")[2]
    found = {
        given.rpartition("@")[0].partition(":")[2],
        *(match.strip("'") for match in _SECRETS.findall(unquote(url))),
    }
    hosts = re.split(r"[/?#]", given.rpartition("@")[2], maxsplit=1)[0]
    found |= {one.partition(":")[2] for one in hosts.split(",") if not _PORT.fullmatch(one)}
    found |= {match.strip("'") for match in _SECRETS.findall(url)}
    found |= {unquote(piece) for piece in found}
    return {part for piece in found for part in (piece, *re.split(r"[@/:?#&=%]", piece)) if part}
