"""Passwords never appear in what is shown, whatever the address looks like."""

import traceback

import pytest

from mfopt import MfoptError, Study
from mfopt.storage import connect
from mfopt.storage.address import looks_like_address, show_address
from tests.storage.workers import study

ADDRESSES = [
    "postgresql://me:Xq7Zw9@127.0.0.1:1/db",
    "postgres://me:Xq7Zw9@127.0.0.1:1/db",
    "postgresql://me:Xq7%40Zw9@127.0.0.1:1/db",
    "postgresql://me:Xq7@Zw9@127.0.0.1:1/db",
    "postgresql://me:Xq7/Zw9@127.0.0.1:1/db",
    "postgresql://me:Xq7#Zw9@127.0.0.1:1/db",
    "postgresql://me:Xq7?Zw9@127.0.0.1:1/db",
    "postgresql://me:Xq7:Zw9@127.0.0.1:1/db",
    "postgresql://me:Xq7%zzZw9@127.0.0.1:1/db",
    "postgresql://me:Xq7[Zw9@127.0.0.1:1/db",
    "postgresql://me:[Xq7]Zw9@127.0.0.1:1/db",
    "postgresql://me:Xq7 Zw9@127.0.0.1:1/db",
    "postgresql://me:Xq7Zw9@127.0.0.1:port/db",
    "postgresql://me:Xq7Zw9@no.such.host.invalid/db",
    "postgresql://me@127.0.0.1:1/db?password=Xq7Zw9",
    "postgresql://me@127.0.0.1:1/db?password=Xq7@Zw9",
    "postgresql://me@127.0.0.1:1/db?pass%77ord=Xq7Zw9",
    "postgresql://me@127.0.0.1:1/db?password=Xq7Zw9&nonsense=1",
    "postgresql://me@127.0.0.1:1/db?sslpassword=Xq7Zw9&sslmode=nonsense",
    "postgresql://127.0.0.1:1/db?user=me&password=Xq7%26Zw9",
    "postgresql:///password=Xq7Zw9",
    "postgresql:///host=127.0.0.1 port=1 password=Xq7Zw9",
    "postgresql:/me:Xq7Zw9@127.0.0.1:1/db",
    "postgresql:me:Xq7Zw9@127.0.0.1:1/db",
    "postgresql+psycopg://me:Xq7Zw9@127.0.0.1:1/db",
    "PostgreSQL://me:Xq7Zw9@127.0.0.1:1/db",
    " postgresql://me:Xq7Zw9@127.0.0.1:1/db",
    "mysql://me:Xq7Zw9@127.0.0.1:1/db",
    "//me:Xq7Zw9@127.0.0.1:1/db",
    "me:Xq7Zw9@127.0.0.1:1/db",
    "host=127.0.0.1 port=1 user=me password=Xq7Zw9",
    "host=127.0.0.1 port=1 user=me password = 'Xq7 Zw9'",
    "postgresql://me:Xq7Zw9@127.0.0.1:1/db\0",
    "postgresql://me:Xq7Zw9",
    "postgresql://me:Xq7Zw9/db",
    "postgresql://me:Xq7Zw9?sslmode=disable",
    "sqlite:///me:Xq7Zw9@127.0.0.1/db",
    "jdbc:postgresql://me:Xq7Zw9@127.0.0.1:1/db",
    "'postgresql://me:Xq7Zw9@127.0.0.1:1/db'",
    "<postgresql://me:Xq7Zw9@127.0.0.1:1/db>",
    "url=postgresql://me:Xq7Zw9@127.0.0.1:1/db",
    "\ufeffpostgresql://me:Xq7Zw9@127.0.0.1:1/db",
    "PGPASSWORD=Xq7Zw9 postgresql://127.0.0.1:1/db",
    "host=127.0.0.1 port=1 pass=Xq7Zw9",
    "user=me pw=Xq7Zw9",
    "me:Xq7/Zw9@127.0.0.1/db",
    "me:Xq7\\Zw9@127.0.0.1/db",
    "me/Xq7Zw9@127.0.0.1:1521/db",
    "/me:Xq7Zw9@127.0.0.1/db",
]


def shown(error):
    """All that a person may see of an error: itself, its causes and the traceback without source lines."""
    seen, found = set(), []
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        found += [str(error), repr(error), *map(str, error.args), *getattr(error, "__notes__", [])]
        error = error.__cause__ or error.__context__
    return " ".join(found)


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("opening", [Study.open, study, Study.headers])
def test_no_error_shows_a_piece_of_the_password(address, opening, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(MfoptError) as caught:
        opening(address)
    error = caught.value
    everything = shown(error) + "".join(traceback.format_exception_only(type(error), error))
    assert "Xq7" not in everything
    assert "Zw9" not in everything
    assert list(tmp_path.iterdir()) == []  # nor is it taken for a path


def test_what_shows_a_storage_shows_host_and_database():
    store = connect("postgresql://me:Xq7Zw9@db.example.org:5433/runs?password=Xq7Zw9")
    assert str(store) == "postgresql://db.example.org:5433/runs"
    assert "Xq7" not in repr(store) + repr(store.database)
    assert show_address("postgresql:///runs") == "postgresql://localhost/runs"


def test_a_password_that_the_server_refuses_is_not_repeated(server):
    address = server.url().replace("mfopt@", "nobody:Xq7Zw9@")
    with pytest.raises(MfoptError) as caught:
        study(address)
    assert "Xq7" not in shown(caught.value)
    assert "nobody" in str(caught.value)


def test_a_path_with_an_at_sign_is_a_path(tmp_path):
    assert study(tmp_path / "me@home.db").ask().id == 0


@pytest.mark.parametrize(
    "path",
    [
        "study.db",
        "./runs/me@home.db",
        "runs 10:30.db",
        "C:\\Users\\me@home\\a.db",
        "C:/me@home/a.db",
        "a=1,b=2.db",
        "~/x.db",
    ],
)
def test_what_is_no_address_is_a_path(path):
    assert not looks_like_address(path)
