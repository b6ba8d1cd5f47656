"""Files that mfopt did not write, or that somebody has changed with care, checksums and all.

Each is refused when it is opened, within a second or so, with a StorageDamaged error that names what is wrong.
"""

import contextlib
import json
import sqlite3
import time
import zlib

import numpy as np
import pytest

from mfopt import Box, FiniteSet, Integer, MfoptError, NotAStorage, Real, Space, StorageDamaged, Study
from mfopt.storage import connect
from mfopt.storage.rows import EventRow
from tests.storage.studies import make
from tests.storage.workers import study, value

COLUMNS = "e.seq, e.kind, e.trial, e.y, e.detail, t.x, t.u, t.fidelity, t.cost, t.reason"


def filled(storage, tells=3, **options):
    opt = make(storage, **options) if options else study(storage)
    for _ in range(tells):
        trial = opt.ask()
        opt.tell(trial, value(trial.id))
    opt.ask()
    opt.close()


def tamper(storage, *statements):
    """Change the tables and make all checksums right again."""
    database = connect(storage).database
    database.exists()
    for statement in statements:
        database.run(statement)
    for name, spec in database.query("SELECT name, spec FROM mfopt_studies"):
        crc = zlib.crc32(str(spec).encode())
        database.run("UPDATE mfopt_studies SET crc = ? WHERE name = ?", (crc, name))
        rows = database.query(
            f"SELECT {COLUMNS} FROM mfopt_events e LEFT JOIN mfopt_trials t ON t.study = e.study AND t.id = e.trial "
            "WHERE e.study = ? ORDER BY e.seq",
            (name,),
        )
        for seq, *columns in rows:
            crc = EventRow(*columns).checksum(crc, seq)
            database.run("UPDATE mfopt_events SET crc = ? WHERE study = ? AND seq = ?", (crc, name, seq))
    database.close()


def refused(storage, match, openings=(Study.open,)):
    for opening in openings:
        start = time.process_time()
        with pytest.raises(StorageDamaged, match=match) as caught:
            opening(storage)
        assert time.process_time() - start < 1.0
        assert str(caught.value).isprintable()


def test_making_the_checksums_right_again_leaves_a_study_that_opens(storage):
    filled(storage)
    tamper(storage, "UPDATE mfopt_events SET y = 77.0 WHERE seq = 4")
    assert Study.open(storage).history.y[1] == 77.0


# ------------------------------------------------------------------------------------------------------ rows


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ("mfopt_trials SET x = '[0.5]' WHERE id = 1", r"event 3: x must have shape \(2,\), got \(1,\)"),
        ("mfopt_trials SET x = '[]' WHERE id = 1", "x must have shape"),
        ("mfopt_trials SET x = '[[0.5], [0.5]]' WHERE id = 1", "x must have shape"),
        ("mfopt_trials SET x = '[0.5, [1]]' WHERE id = 1", "a point must be a list of numbers"),
        ("mfopt_trials SET x = '{\"a\": 1}' WHERE id = 1", "a point must be a list of numbers"),
        ("mfopt_trials SET x = '[0.5, 1" + "0" * 40 + "]' WHERE id = 1", "x must be the point that u stands for"),
        ("mfopt_trials SET x = '[NaN, 0.5]' WHERE id = 1", "x must be the point that u stands for, got .nan, 0.5"),
        ("mfopt_trials SET x = '[7.0, 0.5]' WHERE id = 1", "x must be the point that u stands for, got .7.0, 0.5"),
        ("mfopt_trials SET u = '[0.5, 0.5, 0.5]' WHERE id = 1", "u must have shape"),
        ("mfopt_trials SET u = '[NaN, 0.5]' WHERE id = 1", "u must be a point of X in unit coordinates"),
        ("mfopt_trials SET u = '[0.5, 1.5]' WHERE id = 1", "u must be a point of X in unit coordinates"),
        ("mfopt_trials SET fidelity = 2 WHERE id = 1", "fidelity must be from 0 to 1, got 2"),
        ("mfopt_trials SET cost = 3.0 WHERE id = 1", r"fidelity 1 must cost 10.0, got 3.0"),
        ("mfopt_trials SET reason = '[]' WHERE id = 1", "a reason must be as mfopt writes it"),
        ("mfopt_trials SET reason = '{}' WHERE id = 1", "a reason must be as mfopt writes it"),
        ("mfopt_events SET kind = 'tell' WHERE seq = 7", "a trial must be pending to be told, got 3"),
        ("mfopt_events SET kind = 'capital', trial = NULL, y = NULL WHERE seq = 7", "'capital' lacks some"),
        ("mfopt_events SET kind = 'capital', trial = NULL, y = -1.0 WHERE seq = 7", "a capital must be positive"),
        ("mfopt_events SET kind = 'refuse', trial = NULL, detail = '7' WHERE seq = 7", "list of two strings"),
    ],
)
def test_rows_that_do_not_fit_the_header_are_refused(storage, change, match):
    filled(storage)
    tamper(storage, f"UPDATE {change}")
    refused(storage, match)


@pytest.mark.parametrize(
    ("table", "column"), [("trials", "x"), ("trials", "u"), ("trials", "reason"), ("studies", "spec")]
)
@pytest.mark.parametrize("size", [2_000, 30_000_000])
def test_nested_and_oversized_json_is_refused(storage, table, column, size):
    filled(storage)
    key = "id = 1" if table == "trials" else "name = 'default'"
    written = "[" * (size // 2) + "]" * (size // 2) if size == 2_000 else "[" + "1," * (size // 2) + "1]"
    database = connect(storage).database
    database.exists()
    database.run(f"UPDATE mfopt_{table} SET {column} = ? WHERE {key}", (written,))
    database.close()
    tamper(storage)
    start = time.process_time()
    with pytest.raises(StorageDamaged) as caught:
        Study.open(storage)
    assert time.process_time() - start < 1.5
    assert len(str(caught.value)) < 1000


def test_ids_out_of_order_are_refused(storage):
    filled(storage)
    tamper(
        storage,
        "INSERT INTO mfopt_trials SELECT study, 9, x, u, fidelity, cost, reason, worker, lease FROM mfopt_trials "
        "WHERE id = 3",
        "UPDATE mfopt_events SET trial = 9 WHERE seq = 7",
    )
    refused(storage, "the next trial must have the id 3, got 9")


def test_a_value_beyond_all_measure_is_refused_by_the_database(storage):
    filled(storage)
    with pytest.raises(StorageDamaged):
        tamper(storage, "UPDATE mfopt_events SET y = 1e300 WHERE seq = 4")


def test_points_outside_of_constraints_and_of_finite_sets_are_refused(tmp_path):
    from scipy.optimize import LinearConstraint

    box = Box([(0.0, 1.0), (0.0, 1.0)], constraints=LinearConstraint([[1.0, 1.0]], -np.inf, 1.0))
    filled(tmp_path / "box.db", domain=box)
    tamper(tmp_path / "box.db", "UPDATE mfopt_trials SET x = '[0.75, 0.75]', u = '[0.75, 0.75]' WHERE id = 2")
    refused(tmp_path / "box.db", "x must satisfy the linear constraints")
    filled(tmp_path / "set.db", domain=FiniteSet([[1.0], [2.0], [4.0], [8.0]]))
    tamper(tmp_path / "set.db", "UPDATE mfopt_trials SET x = '[3.0]', u = '[0.2]' WHERE id = 2")
    refused(tmp_path / "set.db", "u must be a point of X")
    space = Space({"n": Integer(1, 5), "k": ["a", "b"], "r": Real(0, 1, when={"k": "a"})})
    for x, u, match in (
        ("[3.5, 0, 0.5]", "[0.625, 0.0, 0.5]", "u must be a point of X"),
        ("[3.0, 1, 0.25]", "[0.5, 1.0, 0.25]", "u must be a point of X"),
        ("[4.0, 0, 0.5]", "[0.5, 0.0, 0.5]", "x must be the point"),
    ):
        file = tmp_path / f"{len(x)}{x[1]}.db"
        filled(file, domain=space)
        tamper(file, f"UPDATE mfopt_trials SET x = '{x}', u = '{u}' WHERE id = 2")
        refused(file, match)


def test_points_that_another_machine_would_round_differently_are_accepted(tmp_path):
    from scipy.optimize import LinearConstraint

    box = Box([(1e-6, 1.0), (-1.0, 1e6)], log=[True, False], constraints=LinearConstraint([[1.0, 1.0]], -np.inf, 1e5))
    opt = make(tmp_path / "a.db", domain=box)
    opt.add([[1e-3, 0.1], [0.3, 1e5 - 0.3], [1.0, 1e-9]], 0, [1.0, 2.0, 3.0])
    for trial in opt.ask(5):
        opt.tell(trial, 1.0)
    opt.close()
    database = connect(tmp_path / "a.db").database
    database.exists()
    for id, x in database.query("SELECT id, x FROM mfopt_trials"):
        nudged = json.dumps([float(np.nextafter(one, 1e9)) for one in json.loads(x)])
        database.run("UPDATE mfopt_trials SET x = ? WHERE id = ?", (nudged, id))
    database.close()
    tamper(tmp_path / "a.db")
    assert len(Study.open(tmp_path / "a.db").history) == 8


# ---------------------------------------------------------------------------------------------------- leases


NO_CLAIM = "the claim on trial 1 must be an integer from 1|CHECK constraint failed in mfopt_claims"


def leased(path):
    opt = make(path, lease=60.0)
    opt.tell(opt.ask(3)[0], 1.0)
    opt.close()


def execute(path, *statements):
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


@pytest.mark.parametrize("written", ["'abc'", "''", "x'00ff'", "9e999", "-9e999"])
@pytest.mark.parametrize(
    ("column", "match"),
    [
        ("mfopt_trials SET lease = {} WHERE id = 1", "the lease of trial 1 must be made of numbers"),
        ("mfopt_claims SET seconds = {} WHERE trial = 1", "the lease of trial 1 must be made of numbers"),
        ("mfopt_claims SET epoch = {} WHERE trial = 1", "the lease of trial 1 must be made of numbers"),
        ("mfopt_claims SET claim = {} WHERE trial = 1", NO_CLAIM),
    ],
)
def test_leases_that_are_no_numbers_are_refused(tmp_path, column, match, written):
    leased(tmp_path / "a.db")
    execute(tmp_path / "a.db", "PRAGMA ignore_check_constraints = ON", f"UPDATE {column.format(written)}")
    refused(tmp_path / "a.db", match)


@pytest.mark.parametrize("claim", ["9223372036854775807", "-5", "0", "1e308", "1.5"])
def test_claims_that_cannot_be_counted_on_are_refused(tmp_path, claim):
    leased(tmp_path / "a.db")
    opt = Study.open(tmp_path / "a.db", lease=60.0)
    execute(
        tmp_path / "a.db",
        "PRAGMA ignore_check_constraints = ON",
        f"UPDATE mfopt_claims SET claim = {claim} WHERE trial = 1",
        "UPDATE mfopt_trials SET lease = 0 WHERE id = 1",
    )
    refused(tmp_path / "a.db", NO_CLAIM)
    for call in (opt.ask, lambda: opt.renew(1)):
        with pytest.raises(StorageDamaged, match=NO_CLAIM):
            call()
    opt.close()


def test_leases_of_trials_that_were_told_or_never_asked_for_are_ignored(tmp_path):
    leased(tmp_path / "a.db")
    execute(
        tmp_path / "a.db",
        "UPDATE mfopt_trials SET lease = 0 WHERE id <> 2",
        "INSERT INTO mfopt_trials SELECT study, 99, x, u, fidelity, cost, reason, worker, 0 FROM mfopt_trials "
        "WHERE id = 1",
    )
    assert sorted(trial.id for trial in Study.open(tmp_path / "a.db", lease=60.0).ask(2)) == [1, 3]


@pytest.mark.parametrize("version", [0, -1, -(2**62)])
def test_a_version_that_never_was_is_refused(tmp_path, version):
    leased(tmp_path / "a.db")
    execute(tmp_path / "a.db", f"UPDATE mfopt_schema SET version = {version}")
    refused(tmp_path / "a.db", f"must state its version, got {version}", (Study.open, study, Study.headers))


@pytest.mark.parametrize("column", ["created", "mfopt", "name"])
def test_a_header_that_is_no_text_is_refused(tmp_path, column):
    leased(tmp_path / "a.db")
    execute(tmp_path / "a.db", "PRAGMA foreign_keys = OFF", f"UPDATE mfopt_studies SET {column} = x'00ff'")
    refused(tmp_path / "a.db", "the header of study .* cannot be read", (Study.open, Study.headers))


# --------------------------------------------------------------------------------------------------- headers


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("capital", "much"),
        ("capital", [1.0]),
        ("direction", "sideways"),
        ("fidelities", []),
        ("fidelities", [{"name": "a", "cost": -1.0}]),
        ("fidelities", [{"name": "a", "cost": 2.0}, {"name": "b", "cost": 1.0}]),
        ("fidelities", "none"),
        ("seed", "x"),
        ("domain", {"kind": "box", "dimensions": [{"kind": "real", "name": "x", "lo": 1.0, "hi": 0.0, "log": False}]}),
        ("domain", {"kind": "box", "dimensions": []}),
        ("domain", {"kind": "finite", "names": ["a"], "count": 10**18, "sha256": ""}),
        ("domain", None),
        ("strategy", 7),
    ],
)
def test_a_header_that_no_optimiser_has_is_refused(storage, field, wrong):
    filled(storage)
    spec = dict(Study.headers(storage)[0].spec)
    spec[field] = wrong
    database = connect(storage).database
    database.exists()
    database.run("UPDATE mfopt_studies SET spec = ?", (json.dumps(spec),))
    database.close()
    tamper(storage)
    refused(storage, "the header of study|candidates of study|damaged")


# ---------------------------------------------------------------------------------------------------- tables


ENDLESS = "WITH RECURSIVE n(version) AS (SELECT 1 UNION ALL SELECT version + 1 FROM n) SELECT version FROM n"


@pytest.mark.parametrize(
    ("statement", "match"),
    [
        (
            "CREATE TRIGGER t BEFORE INSERT ON mfopt_events BEGIN SELECT RAISE(IGNORE); END",
            "got the trigger 't' on 'mfopt_events'",
        ),
        ("CREATE TRIGGER t AFTER INSERT ON MFOPT_TRIALS BEGIN DELETE FROM mfopt_trials; END", "got the trigger 't'"),
        ("DROP TABLE mfopt_schema; CREATE VIEW mfopt_schema AS SELECT 1 AS version", "got the view 'mfopt_schema'"),
        (f"DROP TABLE mfopt_schema; CREATE VIEW mfopt_schema AS {ENDLESS}", "got the view 'mfopt_schema'"),
        (f"DROP TABLE mfopt_schema; CREATE VIEW MFopt_Schema AS {ENDLESS}", "got the view 'MFopt_Schema'"),
        (
            "ALTER TABLE mfopt_events RENAME TO real_events; CREATE VIEW mfopt_events AS SELECT * FROM real_events",
            "got the view 'mfopt_events'",
        ),
        ("DROP TABLE mfopt_events", "the table 'mfopt_events' is missing"),
        ("DROP INDEX mfopt_told_once", "the index 'mfopt_told_once' is missing"),
        ("CREATE INDEX more ON mfopt_events (length(zeroblob(1000)))", "the index 'more' is unknown"),
        ('CREATE TABLE "mfopt_\x1b[31m" (a)', r"the table 'mfopt_\\x1b\[31m' is unknown"),
        ("ALTER TABLE mfopt_events ADD COLUMN more AS (y + 1)", "the table 'mfopt_events' is not as mfopt makes it"),
        ("CREATE VIRTUAL TABLE mfopt_words USING fts5(a)", "is unknown"),
    ],
)
def test_foreign_things_among_the_tables_are_refused(tmp_path, statement, match):
    filled(tmp_path / "a.db")
    with contextlib.closing(sqlite3.connect(tmp_path / "a.db")) as connection:
        connection.executescript(statement)
    refused(tmp_path / "a.db", match, (Study.open, study, Study.headers))


def test_what_else_the_file_holds_does_not_matter(tmp_path):
    filled(tmp_path / "a.db")
    with contextlib.closing(sqlite3.connect(tmp_path / "a.db")) as connection:
        connection.executescript(
            "CREATE TABLE notes (a); CREATE TRIGGER n AFTER INSERT ON notes BEGIN DELETE FROM notes; END; "
            "CREATE VIEW told AS SELECT y FROM mfopt_events WHERE kind = 'tell'"
        )
    assert len(Study.open(tmp_path / "a.db").history) == 3


def test_a_database_with_a_view_of_our_name_alone_is_no_storage_of_ours(tmp_path):
    with contextlib.closing(sqlite3.connect(tmp_path / "a.db")) as connection:
        connection.execute(f"CREATE VIEW mfopt_schema AS {ENDLESS}")
    for opening in (Study.open, study):
        with pytest.raises((StorageDamaged, NotAStorage)):
            opening(tmp_path / "a.db")


def test_an_insert_that_is_swallowed_is_noticed_by_a_study_that_is_open(tmp_path):
    opt = study(tmp_path / "a.db")
    trial = opt.ask()
    with contextlib.closing(sqlite3.connect(tmp_path / "a.db")) as connection:
        for when, action in (("BEFORE", "SELECT RAISE(IGNORE)"), ("AFTER", "DELETE FROM mfopt_events WHERE seq > 1")):
            connection.executescript(f"CREATE TRIGGER t {when} INSERT ON mfopt_events BEGIN {action}; END")
            for call in (lambda: opt.tell(trial, 1.0), opt.ask):
                with pytest.raises(StorageDamaged, match=r"must (take|keep) what is written to it"):
                    call()
            connection.executescript("DROP TRIGGER t")
    opt.tell(trial, 1.0)
    assert len(Study.open(tmp_path / "a.db").history) == 1


# ------------------------------------------------------------------------------------------------- PostgreSQL


def run_on_server(storage, statement):
    import psycopg

    with psycopg.connect(storage, autocommit=True) as connection:
        connection.execute(statement)


SWALLOW = "CREATE FUNCTION swallow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'"


@pytest.mark.parametrize(
    ("statements", "match"),
    [
        (
            [SWALLOW, "CREATE TRIGGER t BEFORE INSERT ON mfopt_events FOR EACH ROW EXECUTE FUNCTION swallow()"],
            "a trigger or a rule on mfopt_events",
        ),
        (["CREATE RULE r AS ON INSERT TO mfopt_trials DO INSTEAD NOTHING"], "a trigger or a rule on mfopt_trials"),
        (["DROP TABLE mfopt_schema", f"CREATE VIEW mfopt_schema AS {ENDLESS}"], "no table as mfopt_schema"),
    ],
)
def test_foreign_things_on_a_server_are_refused_and_swallowed_inserts_noticed(server, statements, match):
    storage = server.url()
    opt = study(storage)
    trial = opt.ask()
    for statement in statements:
        run_on_server(storage, statement)
    refused(storage, match, (Study.open, study, Study.headers))
    if "mfopt_schema" not in match:
        with pytest.raises(StorageDamaged, match=r"must (take|keep) what is written to it"):
            opt.tell(trial, 1.0) if "events" in match else opt.ask()


def test_a_server_whose_owner_keeps_a_record_of_changes_is_served(server):
    storage = server.url()
    opt = study(storage)
    run_on_server(storage, SWALLOW)
    run_on_server(storage, "CREATE TRIGGER t AFTER INSERT ON mfopt_events FOR EACH ROW EXECUTE FUNCTION swallow()")
    trial = opt.ask()
    opt.tell(trial, 1.0)
    assert len(Study.open(storage).history) == 1


# ------------------------------------------------------------------------------------------------------ names


EVIL = "wing\x1b[2J\r\n\u202e"


def test_control_characters_in_names_are_escaped_when_they_are_printed(tmp_path, capsys):
    from mfopt.cli import main

    path = tmp_path / "a.db"
    filled(path, study="wing")
    database = connect(path).database
    database.exists()
    database.run("PRAGMA foreign_keys = OFF")
    for table in ("studies", "trials", "events"):
        database.run(f"UPDATE mfopt_{table} SET {'name' if table == 'studies' else 'study'} = ?", (EVIL,))
    spec = Study.headers(path)[0].spec
    spec["domain"]["dimensions"][0]["name"] = EVIL
    spec["fidelities"][0]["name"] = EVIL
    database.run("UPDATE mfopt_studies SET spec = ?", (json.dumps(spec),))
    database.run("UPDATE mfopt_trials SET worker = ?", (EVIL,))
    database.close()
    tamper(path)
    for command in (["studies"], ["history"], ["history", "--csv"], ["best"], ["ask"], ["tell", "99", "1.0"]):
        with contextlib.suppress(SystemExit):
            main([command[0], str(path), *command[1:]])
    with contextlib.suppress(MfoptError):
        Study.open(path, "none")
    printed = capsys.readouterr()
    shown = (printed.out + printed.err).replace("\n", "")
    assert "wing" in shown
    assert shown.isprintable(), repr(shown)


def test_control_characters_in_a_path_are_escaped_in_errors(tmp_path):
    path = tmp_path / "a\x1b[2J\n.db"
    path.write_bytes(b"something else")
    with pytest.raises(NotAStorage) as caught:
        Study.open(path)
    assert str(caught.value).isprintable()
