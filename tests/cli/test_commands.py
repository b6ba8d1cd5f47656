"""The study commands, and a whole run as a shell script."""

import contextlib
import csv
import io
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mfopt import Categorical, Integer, Ordinal, Real, Space, Study, cli


@pytest.fixture
def mfopt(capsys):
    """Runs a command: exit code, standard output, standard error."""

    def run(*arguments):
        code = cli.main([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


CREATE = ["--study", "wing", "--dim", "chord=0.1:2", "--dim", "rate=1e-4:1:log", "--costs", "1", "10", "--seed", "3"]


@pytest.fixture
def wing(tmp_path, mfopt):
    """A study with three trials: one told, one failed, one pending."""
    path = tmp_path / "study.db"
    assert mfopt("create", path, *CREATE, "--capital", "60", "--strategy", "random")[0] == 0
    assert mfopt("ask", path, "-n", 3)[0] == 0
    assert mfopt("tell", path, 0, "-1e-05")[0] == 0
    assert mfopt("fail", path, 1)[0] == 0
    return path


def test_a_study_is_made_with_all_that_is_given(tmp_path, mfopt):
    path = tmp_path / "study.db"
    arguments = ["create", path, *CREATE, "--minimize", "--noise", "0.1", "--strategy", "mf-gp-ucb:beta_factor=0.4"]
    arguments += ["--surrogate", "matern:nu=1.5", "--maximiser", "multistart"]
    code, out, _ = mfopt(*arguments)
    assert code == 0
    assert "study wing" in out
    assert mfopt(*arguments)[0] == 0  # it is there already, and the same
    code, _, err = mfopt(*arguments, "--capital", "100")
    assert code == 1
    assert "capital: stored None, given 100.0" in err
    spec = json.loads(mfopt("studies", path, "--json")[1])[0]["spec"]
    assert spec["direction"] == "minimize"
    given = {
        key: {what: spec[key][what] for what in ("name", "options")} for key in ("strategy", "surrogate", "maximiser")
    }
    assert given["strategy"] == {"name": "mf-gp-ucb", "options": {"beta_factor": 0.4}}
    assert given["surrogate"] == {"name": "matern", "options": {"nu": 1.5}}
    assert given["maximiser"] == {"name": "multistart", "options": {}}
    assert [dimension["name"] for dimension in spec["domain"]["dimensions"]] == ["chord", "rate"]
    assert [dimension["log"] for dimension in spec["domain"]["dimensions"]] == [False, True]
    assert [fidelity["noise"] for fidelity in spec["fidelities"]] == [0.1, 0.1]


def test_an_option_that_a_plugin_does_not_have_is_refused_with_those_it_has(tmp_path, mfopt):
    code, _, err = mfopt("create", tmp_path / "study.db", *CREATE, "--surrogate", "matern:mu=1.5")
    assert code == 1
    assert err.startswith("mfopt: error: options of matern must be among nu")
    assert err.endswith("got mu\n")


def test_candidates_come_from_a_table(tmp_path, mfopt):
    (tmp_path / "alloys.csv").write_text("cu,zn\n0.5,0.25\n0.75,0.125\n")
    path = tmp_path / "study.db"
    create = ["create", path, "--candidates", tmp_path / "alloys.csv", "--costs", "2", "--noise", "0"]
    assert mfopt(*create, "--strategy", "random")[0] == 0
    trials = [json.loads(line) for line in mfopt("ask", path, "-n", 5, "--json")[1].splitlines()]
    assert sorted((trial["index"], trial["x"]["cu"], trial["x"]["zn"]) for trial in trials) == [
        (0, 0.5, 0.25),
        (1, 0.75, 0.125),
    ]
    assert mfopt("ask", path)[0] == 3


@pytest.mark.parametrize(
    ("option", "bad"),
    [
        ("--dim", "chord"),
        ("--dim", "chord=0:x"),
        ("--dim", "chord=0:1:square"),
        ("--dim", "=0:1"),
        ("--dim", "chord=2:1"),
        ("--strategy", "nonsense"),
        ("--strategy", "mf-gp-ucb:nonsense=1"),
        ("--costs", "-1"),
    ],
)
def test_bad_studies_are_refused(tmp_path, mfopt, option, bad):
    code, _, err = mfopt("create", tmp_path / "study.db", *CREATE, option, bad)
    assert code == 1
    assert err.startswith("mfopt: error: ")
    assert list(tmp_path.iterdir()) == []


def test_a_table_may_begin_with_a_mark_and_must_be_utf_8(tmp_path, mfopt):
    table, path = tmp_path / "alloys.csv", tmp_path / "study.db"
    create = ["create", path, "--candidates", table, "--costs", "2", "--strategy", "random"]
    for bad in ("größe\n1\n".encode("latin-1"), b'a\n"' + b"1" * 200_000):
        table.write_bytes(bad)
        code, _, err = mfopt(*create)
        assert code == 1
        assert "must be a CSV file, got " in err
    assert not path.exists()
    table.write_text("größe\n1\n2\n", encoding="utf-8-sig")
    assert mfopt(*create)[0] == 0
    assert Study.open(path).domain.names == ("größe",)


MIXED = ["--dim", "depth=2:12:int", "--dim", "units=16:1024:int:log", "--dim", "loss=squared,absolute"]
MIXED += ["--dim", "size=32,64,128:ordered", "--dim", "rate=1e-4:1:log", "--dim", "bias=true,false"]


def test_parameters_of_every_kind_are_made_asked_and_listed(tmp_path, mfopt):
    path = tmp_path / "study.db"
    assert mfopt("create", path, *MIXED, "--costs", "1", "5", "--strategy", "random", "--seed", "1")[0] == 0
    study = Study.open(path)
    assert (
        study.domain.describe()
        == Space(
            {
                "depth": Integer(2, 12),
                "units": Integer(16, 1024, log=True),
                "loss": Categorical(["squared", "absolute"]),
                "size": Ordinal([32, 64, 128]),
                "rate": Real(1e-4, 1, log=True),
                "bias": Categorical([True, False]),
            }
        ).describe()
    )
    shown = json.loads(mfopt("ask", path, "--json")[1])["x"]
    assert {name: type(value) for name, value in shown.items()} == {
        "depth": int,
        "units": int,
        "loss": str,
        "size": int,
        "rate": float,
        "bias": bool,
    }
    words = mfopt("ask", path)[1].split()
    assert words[2:] == [str(value) for value in Study.open(path).pending[1].params.values()]
    assert mfopt("tell", path, 0, 1.5, 1, 2.5)[0] == 0
    assert json.loads(mfopt("best", path, "--json")[1])["x"] == Study.open(path).best.params
    assert "loss = '" in mfopt("best", path)[1]
    (first, _) = csv.DictReader(io.StringIO(mfopt("history", path, "--csv")[1]))
    assert {name: first[name] for name in shown} == {name: str(value) for name, value in shown.items()}


def test_what_does_not_count_is_an_empty_cell_and_a_dash(tmp_path, mfopt):
    path = tmp_path / "study.db"
    space = Space({"kind": ["a", "b"], "n": Integer(1, 5, when={"kind": "b"})})
    study = Study(space, [1.0], storage=path, strategy="random", rng=0)
    study.add([{"kind": "a"}, {"kind": "b", "n": 3}], 0, [1.0, 2.0])
    assert mfopt("history", path, "--csv")[1].splitlines()[1:] == ["0,a,,0,1.0,0.0,ok", "1,b,3,0,2.0,0.0,ok"]
    assert [row["x"] for row in json.loads(mfopt("history", path, "--json")[1])] == [
        {"kind": "a"},
        {"kind": "b", "n": 3},
    ]
    lines = mfopt("ask", path, "-n", 12)[1].splitlines()
    assert {tuple(line.split()[2:])[1] for line in lines if line.split()[2] == "a"} == {"-"}


def test_candidates_may_have_columns_of_words(tmp_path, mfopt):
    table, path = tmp_path / "alloys.csv", tmp_path / "study.db"
    table.write_text("metal,parts,hot\niron,3,true\ntin,5,false\ntin,4,true\n")
    assert mfopt("create", path, "--candidates", table, "--costs", "2", "--strategy", "random")[0] == 0
    shown = json.loads(mfopt("ask", path, "--json")[1])
    assert shown["x"] == [{"metal": "iron", "parts": 3, "hot": True}, {"metal": "tin", "parts": 5, "hot": False},
                          {"metal": "tin", "parts": 4, "hot": True}][shown["index"]]  # fmt: skip
    table.write_text("metal,parts\niron,3\n,5\n")
    code, _, err = mfopt("create", path, "--study", "holes", "--candidates", table, "--costs", "2")
    assert code == 1
    assert "candidates must have no missing values, got None in row 1 of metal" in err


@pytest.mark.parametrize("bad", ["a=1:5:integer", "a=x,y:log", "a=", "a=1:5:int:int", "a=1.5:3:int", "a=1:int", "=a,b"])
def test_a_parameter_that_cannot_be_read_is_refused(tmp_path, mfopt, bad):
    code, _, err = mfopt("create", tmp_path / "study.db", "--dim", bad, "--costs", "1")
    assert code == 1
    assert "--dim must be NAME=LO:HI" in err


def test_trials_are_lines_that_a_shell_can_read(tmp_path, mfopt, wing):
    code, out, _ = mfopt("ask", wing, "-n", 2)
    assert code == 0
    study = Study.open(wing)
    for line, trial in zip(out.splitlines(), study.pending[-2:], strict=True):
        id, fidelity, *x = line.split()
        assert (int(id), int(fidelity)) == (trial.id, trial.fidelity)
        assert [float(value) for value in x] == trial.x.tolist()  # to the bit


def test_trials_are_objects_with_names_and_reasons(mfopt, wing):
    trial = json.loads(mfopt("ask", wing, "--json")[1])
    assert trial["id"] == 3
    assert trial["name"] == "fidelity 1"
    assert trial["cost"] == 10.0
    assert set(trial["x"]) == {"chord", "rate"}
    assert trial["reason"].startswith("random: fidelity 1")


def test_a_lease_hands_a_trial_out_again(mfopt, wing):
    first = mfopt("ask", wing, "--lease", "0.05", "--worker", "a")[1]
    time.sleep(0.1)
    assert mfopt("ask", wing, "--lease", "60", "--worker", "b")[1] == first
    assert mfopt("ask", wing)[1] != first


def test_several_values_are_told_at_once_or_not_at_all(mfopt, wing):
    mfopt("ask", wing, "-n", 2)
    code, _, err = mfopt("tell", wing, 2, 1.5, 3, "nan")
    assert (code, err.count("\n")) == (1, 1)
    assert "got 3 nan; where there is no value use mfopt fail" in err
    assert len(Study.open(wing).history) == 2
    assert mfopt("tell", wing, 2, 1.5, 3, "-2.5")[0] == 0
    assert Study.open(wing).history.y[-2:].tolist() == [1.5, -2.5]


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        (["tell", "0", "1.0"], "told once"),
        (["tell", "9", "1.0"], "pending"),
        (["tell", "2", "high"], "mfopt fail"),
        (["tell", "2"], "pairs"),
        (["tell", "2", "inf"], "finite"),
        (["fail", "1"], "told once"),
        (["best", "--study", "keel"], "'wing'"),
    ],
)
def test_what_is_refused_is_exit_code_1_and_changes_nothing(mfopt, wing, arguments, rule):
    command, *rest = arguments
    before = mfopt("history", wing, "--csv", "--pending")[1]
    code, out, err = mfopt(command, wing, *rest)
    assert code == 1
    assert out == ""
    assert rule in err
    assert mfopt("history", wing, "--csv", "--pending")[1] == before


def test_the_end_is_exit_code_3(mfopt, wing):
    assert mfopt("ask", wing, "-n", 100)[0] == 0
    code, out, err = mfopt("ask", wing)
    assert code == 3
    assert out == ""
    assert "nothing to evaluate" in err
    assert "4 trials pending" in err


def test_the_history_is_a_table_a_csv_file_or_json(mfopt, wing):
    head, *rows = mfopt("history", wing)[1].splitlines()
    assert head.split() == ["id", "chord", "rate", "fidelity", "y", "cost", "status"]
    assert [row.split()[-1] for row in rows] == ["ok", "failed"]
    table = list(csv.DictReader(io.StringIO(mfopt("history", wing, "--csv")[1])))
    assert [row["y"] for row in table] == ["-1e-05", ""]
    listed = json.loads(mfopt("history", wing, "--json", "--pending")[1])
    assert [row["status"] for row in listed] == ["ok", "failed", "pending"]
    assert [row["y"] for row in listed] == [-1e-05, None, None]
    assert listed[0]["x"]["chord"] == float(table[0]["chord"]) == Study.open(wing).history.x[0, 0]


def test_the_best_is_told_with_where_it_was(mfopt, wing):
    best = json.loads(mfopt("best", wing, "--json")[1])
    assert (best["id"], best["y"], best["spent"], best["capital"]) == (0, -1e-05, 20.0, 60.0)
    assert "rate = " in mfopt("best", wing)[1]


def test_without_a_target_value_there_is_no_best(tmp_path, mfopt):
    mfopt("create", tmp_path / "a.db", *CREATE)
    code, _, err = mfopt("best", tmp_path / "a.db")
    assert (code, "no value at the target" in err) == (1, True)


def test_studies_are_listed(mfopt, wing):
    mfopt("create", wing, "--dim", "x=0:1", "--costs", "1")
    head, *rows = mfopt("studies", wing)[1].splitlines()
    assert head.split() == ["study", "created", "told", "pending", "spent", "capital", "best"]
    assert [row.split()[0] for row in rows] == ["wing", "default"]
    assert rows[0].split()[2:] == ["2", "1", "20", "60", "-1e-05"]
    code, _, err = mfopt("ask", wing)
    assert (code, "'wing', 'default'" in err) == (1, True)
    assert mfopt("ask", wing, "--study", "default")[0] == 0


def test_a_study_that_cannot_be_opened_is_listed_with_its_error(mfopt, wing):
    mfopt("create", wing, "--dim", "x=0:1", "--costs", "1")
    with contextlib.closing(sqlite3.connect(wing)) as connection:
        connection.execute("UPDATE mfopt_events SET y = 2.0 WHERE seq = 4")
        connection.commit()
    code, out, _ = mfopt("studies", wing)
    assert code == 0
    _, *rows = out.splitlines()
    assert "cannot be opened: " in rows[0]
    assert "event 4 is not what was written" in rows[0]
    assert rows[1].split()[0] == "default"
    broken, whole = json.loads(mfopt("studies", wing, "--json")[1])
    assert "study 'wing' is damaged" in broken["error"]
    assert whole["told"] == 0


def test_a_storage_that_is_not_there_is_an_error_and_is_not_made(tmp_path, mfopt):
    for command in (["ask"], ["tell", 0, 1.0], ["fail", 0], ["best"], ["history"], ["studies"]):
        code, _, err = mfopt(command[0], tmp_path / "no.db", *command[1:])
        assert (code, "got nothing" in err) == (1, True)
    assert list(tmp_path.iterdir()) == []


SCRIPT = r"""
set -eu
mfopt create study.db --study bowl --dim x=-1:1 --dim y=-1:1 --costs 1 4 --capital 8 --minimize --seed 1 > made
simulate() { awk -v m="$1" -v x="$2" -v y="$3" 'BEGIN { print (x - 0.3)^2 + (y + 0.2)^2 + (m == 0 ? 0.1 * x : 0) }'; }
while true; do
    code=0
    trial=$(mfopt ask study.db --lease 600 --worker script) || code=$?
    if [ "$code" -eq 3 ]; then break; elif [ "$code" -ne 0 ]; then exit 1; fi
    set -- $trial
    if [ "$1" -eq 1 ]; then mfopt fail study.db "$1"; continue; fi
    mfopt tell study.db "$1" "$(simulate "$2" "$3" "$4")"
done
mfopt best study.db --json
mfopt history study.db --csv > history.csv
"""


@pytest.mark.posix_only
def test_a_whole_run_is_a_shell_script(tmp_path):
    """As a real one: a new process for each command."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    assert shutil.which("mfopt", path=path), "the command mfopt must be installed beside Python"
    done = subprocess.run(
        ["sh", "-c", SCRIPT],
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    best = json.loads(done.stdout)
    study = Study.open(tmp_path / "study.db")
    assert (
        best["y"]
        == study.best.y
        == study.history.y[(study.history.fidelity == 1) & (study.history.status == "ok")].min()
    )
    assert study.history.status.tolist().count("failed") == 1
    assert study.done
    assert study.pending == []
    assert 4 < study.spent <= 8
    assert (tmp_path / "history.csv").read_text().count("\n") == len(study.history) + 1


def test_the_history_tells_the_bound_of_a_failure(wing, mfopt):
    assert mfopt("fail", wing, 2, "--bound", "0.5")[0] == 0
    rows = json.loads(mfopt("history", wing, "--json")[1])
    assert [(row["status"], row.get("bound")) for row in rows] == [("ok", None), ("failed", None), ("failed", 0.5)]
    table = list(csv.DictReader(io.StringIO(mfopt("history", wing, "--csv")[1])))
    assert [(row["status"], row["bound"]) for row in table] == [("ok", ""), ("failed", ""), ("failed", "0.5")]
    head, *lines = mfopt("history", wing)[1].splitlines()
    assert head.split()[-2:] == ["status", "bound"]
    assert [line.split()[-1] for line in lines] == ["ok", "failed", "0.5"]


@pytest.mark.posix_only
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("words", [("history", "--json"), ("best",), ("studies",), ("--help",)])
def test_a_command_whose_reader_goes_away_ends_without_a_word(wing, words, unbuffered):
    """As `mfopt history study.db --json | head` does."""
    ours, theirs = os.pipe()
    os.close(ours)
    with os.fdopen(theirs, "wb") as unread:
        done = subprocess.run(
            [sys.executable, "-m", "mfopt", words[0], *([wing] if words[0] != "--help" else []), *words[1:]],
            stdout=unread,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
            timeout=60,
        )
    assert done.stderr == b""
    # argparse itself passes over a help that cannot be printed.
    assert done.returncode in ((0, 141) if words[0] == "--help" else (141,))


@pytest.mark.posix_only
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no such device here")
def test_a_result_that_cannot_be_written_is_an_error(wing):
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "mfopt", "history", wing], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60
        )
    assert done.returncode == 1
    assert done.stderr == "mfopt: error: [Errno 28] No space left on device\n"
