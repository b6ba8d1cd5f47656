"""Costs on the command line."""

import json
import sys

import pytest

from mfopt import InputError, Study, cli
from mfopt.checks import seconds
from tests.cli.test_run import folder  # noqa: F401

TIMED = """\
import time
domain = [(0.0, 1.0)]
cost = "time"
strategy = "random"
def low(x): return 1 - (x[0] - 0.4) ** 2
def high(x):
    time.sleep(0.01)
    return 1 - (x[0] - 0.5) ** 2
functions = [low, high]
"""
REPORTS = """\
import json, sys
x = json.load(sys.stdin)["x"]
print(json.dumps({"value": x["a"], "cost": 12.5}))
"""


def run(capsys, *arguments):
    code = cli.main(["run", *arguments, "--seed", "1", "--quiet", "--json"])
    said = capsys.readouterr()
    return code, json.loads(said.out) if said.out else said.err


@pytest.mark.parametrize(
    ("given", "expected"),
    [("90s", 90.0), ("30m", 1800.0), ("2h", 7200.0), ("1d", 86400.0), (" 1.5h ", 5400.0), (3, 3.0)],
)
def test_a_time_may_have_a_unit(given, expected):
    assert seconds(given, "capital") == expected
    assert seconds(str(expected), "capital") == expected


@pytest.mark.parametrize("given", ["2 weeks", "h", "", "-1h", "0s", "nanh", "inf"])
def test_a_time_that_is_none_states_the_rule(given):
    with pytest.raises(InputError, match="capital must be"):
        seconds(given, "capital")


def test_a_run_measures_its_costs(folder, capsys):  # noqa: F811
    (folder / "odd.py").write_text(TIMED)
    code, found = run(capsys, "odd.py", "--capital", "0.5s")
    assert code == 0
    count = found["queries"][1]
    assert found["spent"] >= 0.01 * count > 0.0
    assert found["costs"][1]["told"] == count
    assert found["costs"][1]["cost"] == pytest.approx(found["spent"] / count, rel=0.5)


def test_a_capital_with_a_unit_needs_costs_that_are_times(folder, capsys):  # noqa: F811
    code, said = run(capsys, "plain.py", "--capital", "2h")
    assert code == 1
    assert "capital must be a number unless --cost is a time, got 2h" in said


def test_a_program_reports_its_cost(folder, capsys):  # noqa: F811
    (folder / "sim.py").write_text(REPORTS)
    code, found = run(capsys, "wing.py", "--cost", "reported", "--capital", "60")
    assert code == 0
    assert found["spent"] == 12.5 * found["queries"][1]


@pytest.mark.parametrize("how", ["time", "reported"])
def test_with_cost_a_file_need_not_define_costs(folder, capsys, how):  # noqa: F811
    text = TIMED.replace('cost = "time"\n', "")
    if how == "reported":
        text = text.replace("return 1 - ", "return {'cost': 5, 'value': 1 - ").replace("** 2\n", "** 2}\n")
    (folder / "odd.py").write_text(text)
    code, said = run(capsys, "odd.py", "--capital", "30")
    rule = "one of costs and fidelities must be given unless --cost says how costs are found out, got none"
    assert (code, rule in said) == (1, True)
    sys.modules.pop("odd")
    code, found = run(capsys, "odd.py", "--cost", how, "--capital", "0.5" if how == "time" else "30")
    assert code == 0
    assert found["spent"] > 0.0
    assert found["costs"][1]["told"] == found["queries"][1] > 0


def test_a_target_value_ends_a_run(folder, capsys):  # noqa: F811
    code, found = run(capsys, "plain.py", "--capital", "500", "--strategy", "random", "--target", "0.9")
    assert code == 0
    assert (found["status"], found["value"] >= 0.9) == (6, True)
    assert found["spent"] < 500


def test_convergence_ends_a_run(folder, capsys):  # noqa: F811
    code, found = run(capsys, "plain.py", "--capital", "500", "--stop", "converged", "--tolerance", "0.01")
    assert code == 0
    assert found["status"] == 7
    assert found["expected_gain"] < 0.01


def test_a_cost_is_told_from_the_shell(tmp_path, capsys):
    path = str(tmp_path / "study.db")
    create = ["create", path, "--dim", "a=0:1", "--costs", "1", "10", "--capital", "60", "--strategy", "random"]
    assert cli.main(create) == cli.main(["ask", path, "-n", "2"]) == 0
    assert cli.main(["tell", path, "0", "0.5", "1", "0.25", "--cost", "4"]) == 1
    assert "--cost, once for each value, must have 2 entries, got 1" in capsys.readouterr().err
    assert cli.main(["tell", path, "0", "0.5", "1", "0.25", "--cost", "4", "--cost", "6"]) == 0
    assert Study.open(path).history.cost.tolist() == [4.0, 6.0]


def test_a_failure_is_told_with_its_cost(tmp_path, capsys):
    path = str(tmp_path / "study.db")
    create = ["create", path, "--dim", "a=0:1", "--costs", "1", "10", "--capital", "60", "--strategy", "random"]
    assert cli.main(create) == cli.main(["ask", path, "-n", "3"]) == 0
    assert cli.main(["fail", path, "0", "1", "--cost", "4"]) == 1
    assert "--cost, once for each ID, must have 2 entries, got 1" in capsys.readouterr().err
    assert cli.main(["fail", path, "0", "1", "--cost", "4", "--cost", "6"]) == 0
    assert cli.main(["fail", path, "2"]) == 0
    history = Study.open(path).history
    assert history.cost.tolist() == [4.0, 6.0, 10.0]
    assert set(history.status) == {"failed"}


def test_costs_that_are_not_known_are_dashes(tmp_path, capsys):
    path = str(tmp_path / "study.db")
    options = ["--dim", "a=0:1", "--capital", "60", "--strategy", "random", "--seed", "1"]
    assert cli.main(["create", path, *options, "--costs", "-", "-"]) == 0
    assert "costs to be learnt, seed 1" in capsys.readouterr().out
    assert [one.cost for one in Study.open(path).fidelities] == [None, None]
    assert cli.main(["ask", path]) == cli.main(["tell", path, "0", "0.5", "--cost", "4"]) == 0
    assert Study.open(path).spent == 4.0
    assert cli.main(["create", str(tmp_path / "b.db"), *options, "--costs", "-", "10"]) == 1
    assert "costs must be given for every fidelity or for none, got [None, 10.0]" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        cli.main(["create", path, *options, "--costs", "cheap", "10"])
    assert "a cost must be a number, or - where it is not known, got 'cheap'" in capsys.readouterr().err
