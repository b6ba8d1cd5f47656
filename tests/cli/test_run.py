"""`mfopt run` on problem files and external programs."""

import json
import os
import re
import signal
import subprocess
import sys

import numpy as np
import pytest

import mfopt
from mfopt import cli
from mfopt.cli.problem_file import load
from mfopt.errors import EvaluationError, EvaluationTimeout
from mfopt.parallel.simulator import Simulator
from tests.processes import ends, started, wait_for
from tests.storage.studies import told

PROGRAM = """\
import json, os, sys, time
given = json.load(sys.stdin)
x, fine = given["x"], given["fidelity"] == 1
print("solving", given["name"])
time.sleep(float(os.environ.get("SIM_SECONDS", "0")))
print(5 - (x["a"] - 0.3) ** 2 - (x["b"] - 7) ** 2 / 100 + (0 if fine else 0.05 * x["a"]))
"""
PROBLEM = """\
import sys
import mfopt
domain = mfopt.Box([(0, 1), (5, 9)], names=["a", "b"])
fidelities = [mfopt.Fidelity("coarse", 1), mfopt.Fidelity("fine", 10)]
commands = [sys.executable, "sim.py"],  [sys.executable, "sim.py"]
capital = 60
strategy = "random"
seed = 3
"""
FUNCTIONS = """\
domain = [(0.0, 1.0)]
costs = [1.0, 5.0]
def low(x): return 1 - (x[0] - 0.4) ** 2
def high(x): return 1 - (x[0] - 0.5) ** 2
functions = [low, high]
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # a file that is changed within a second looks the same
    for name, text in (("sim.py", PROGRAM), ("wing.py", PROBLEM), ("plain.py", FUNCTIONS)):
        (tmp_path / name).write_text(text)
    yield tmp_path
    for name in ("wing", "plain", "odd"):
        sys.modules.pop(name, None)


def shell(*arguments, **options):
    """`mfopt` in a process of its own."""
    command = [sys.executable, "-m", "mfopt.cli", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, **options)


# ------------------------------------------------------------------------------------------------- the simulator


def program(code, **options):
    return Simulator([sys.executable, "-c", code], ["a", "b"], **options)


def test_a_program_gets_json_and_its_last_line_is_the_value():
    echo = "import json, sys; g = json.load(sys.stdin); print('# log'); print(g['x']['a'] + 10 * g['x']['b'])"
    assert program(echo)(np.array([0.25, 2.0])) == 20.25
    whole = "import sys; text = sys.stdin.read(); print(text, file=sys.stderr); print(float(len(text)))"
    given = '{"x": {"a": 0.5, "b": 1.0}, "fidelity": 2, "name": "fine"}\n'
    assert program(whole, fidelity=2, name="fine")(np.array([0.5, 1.0])) == len(given)


@pytest.mark.parametrize(
    ("printed", "value"), [("1.5\\n\\n", 1.5), ("-3e2", -300), ('{\\"value\\": 2, \\"t\\": 1}', 2.0), ("log\\n7", 7.0)]
)
def test_ways_to_print_a_value(printed, value):
    assert program(f'print("{printed}")')(np.zeros(2)) == value


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("pass", "must be a number .* got ''"),
        ("print('n/a')", "must be a number .* got 'n/a'"),
        ("print('[1]')", "must be a number"),
        ("import sys; print(1.0); sys.exit(3)", "ended with exit code 3$"),
        ("import sys; print('a\\nmesh failed', file=sys.stderr); sys.exit(3)", "exit code 3: mesh failed"),
        pytest.param("import os; os.kill(os.getpid(), 9)", "ended with signal 9", marks=pytest.mark.posix_only),
    ],
)
def test_what_is_no_value_is_an_evaluation_error(code, said):
    with pytest.raises(EvaluationError, match=said):
        program(code)(np.zeros(2))


@pytest.mark.posix_only
def test_a_program_that_takes_too_long_is_killed_with_its_children(tmp_path):
    script = f"sleep 60 & echo $! > {tmp_path / 'child'}; wait"
    with pytest.raises(EvaluationTimeout, match="may take 2 s"):
        Simulator(["sh", "-c", script], ["a", "b"], timeout=2.0)(np.zeros(2))
    assert ends(int((tmp_path / "child").read_text()))


@pytest.mark.parametrize("command", [[], "", 3, ["sim", 1]])
def test_a_command_must_be_words(command):
    with pytest.raises(mfopt.InputError, match="a command must be"):
        Simulator(command, ["a"])


# ------------------------------------------------------------------------------------------------ problem files


def test_a_problem_file_is_read(folder):
    problem = load("wing.py")
    assert problem.domain.names == ("a", "b")
    assert [fidelity.name for fidelity in problem.fidelities] == ["coarse", "fine"]
    assert [simulator.fidelity for simulator in problem.functions] == [0, 1]
    assert problem.options == {"capital": 60, "strategy": "random", "seed": 3}
    assert problem.functions[1](np.array([0.3, 7.0])) == 5.0


def test_a_problem_may_be_an_object_or_a_dict_of_a_module(folder):
    mine = "mine = mfopt.problems.get('currin')\nd = dict(domain=[(0, 1)], costs=[1], functions=[abs])\n"
    (folder / "odd.py").write_text("import mfopt\n" + mine)
    assert load("odd.py:mine").domain.dim == 2
    assert load("odd:d").domain.dim == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("costs = [1]\nfunctions = [abs]", "must define domain"),
        ("domain = [(0, 1)]\nfunctions = [abs]", "one of costs and fidelities must be given"),
        ("domain = [(0, 1)]\ncosts = [1]", "must define one of functions and commands, got none"),
        ("domain = [(0, 1)]\ncosts = [1]\nfunctions = [abs]\ncommands = ['ls']", "got both"),
        ("domain = [(0, 1)]\ncosts = [1, 2]\nfunctions = [abs]", "functions, one per fidelity, must have 2"),
        ("domain = [(0, 1)]\ncosts = [1]\nfunctions = [3]", "functions must be callable, got 3"),
        ("domain = [(0, 1)]\ncosts = [1]\ncommands = ['no-such-program-here']", "a program that can be run"),
        ("import nothing_of_this_name", "importable, got ModuleNotFoundError"),
        ("1 +", "importable, got SyntaxError"),
    ],
)
def test_a_bad_problem_file_is_refused(folder, text, said, capsys):
    (folder / "odd.py").write_text(text)
    assert cli.main(["run", "odd.py", "--capital", "9"]) == 1
    err = capsys.readouterr().err
    assert err.startswith("mfopt: error: ")
    assert re.search(said, err)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["none.py"], "does not exist"),
        (["no.such.module"], "no.such.module must be importable, got ModuleNotFoundError"),
        (["plain.py:wing"], "must define wing"),
        (["plain.py"], "a capital (--capital, or capital in the problem file) or a --time-limit"),
        (["plain.py", "--capital", "9", "--resume"], "must come with --storage"),
        (["plain.py", "--capital", "9", "--limits", "two"], "--limits must be numbers or -, got two"),
        (["plain.py", "--capital", "9", "--strategy", "guess"], "guess"),
    ],
)
def test_wrong_arguments_are_refused(folder, arguments, said, capsys):
    assert cli.main(["run", *arguments]) == 1
    assert said in capsys.readouterr().err


# ------------------------------------------------------------------------------------------------------- the runs


def test_a_run_of_external_programs_in_parallel(folder, capsys):
    assert cli.main(["run", "wing.py", "--workers", "3", "--limits", "-", "1"]) == 0
    out, err = capsys.readouterr()
    best = float(out.split("best     ")[1].split()[0])
    assert 4.0 < best <= 5.0
    assert "  a = 0." in out
    assert "at coarse" in out
    assert err.startswith("maximize: costs 1 + 10, capital 60, seed 3\n[")


def test_a_run_as_json(folder, capsys):
    assert cli.main(["run", "plain.py", "--capital", "30", "--json", "--quiet", "--seed", "5", "--minimize"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    found = json.loads(out)
    assert set(found["x"]) == {"x0"}
    assert found["value"] == 1 - (found["x"]["x0"] - 0.5) ** 2
    assert found["spent"] == found["queries"][0] + 5 * found["queries"][1] <= 30
    assert found["failures"] == []
    assert found["seed"] == 5
    assert found["status"] == 0


SPACE = """\
import mfopt
domain = {"n": mfopt.Integer(1, 9), "kind": ["a", "b"], "drop": mfopt.Real(0, 1, when={"kind": "b"})}
costs = [1.0, 5.0]
def low(params): return params["n"] + params.get("drop", 0.5)
def high(params): return params["n"] - (params["kind"] == "a")
functions = [low, high]
capital, seed, strategy = 30, 0, "random"
"""


def test_a_problem_file_may_have_a_space(folder, capsys):
    (folder / "odd.py").write_text(SPACE)
    assert cli.main(["run", "odd.py", "--json", "--quiet", "--storage", "odd.db"]) == 0
    found = json.loads(capsys.readouterr().out)["x"]
    assert found == mfopt.Study.open("odd.db").best.params
    assert isinstance(found["n"], int)
    assert cli.main(["run", "odd.py", "--quiet"]) == 0
    assert f"  n = {found['n']}\n" in capsys.readouterr().out


def test_functions_of_a_file_run_in_processes(folder):
    done = shell("run", "plain.py", "--capital", 30, "--workers", 2, "--json", "--quiet", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["status"] == 0


def test_failures_are_told_and_a_hopeless_run_is_given_up(folder, capsys):
    (folder / "sim.py").write_text("import sys; sys.exit('no licence')")
    assert cli.main(["run", "wing.py", "--give-up", "4", "--json", "--quiet"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["message"].startswith("given up: 4 evaluations in a row have failed")
    assert len(found["failures"]) == 4
    assert found["failures"][0]["message"].endswith("ended with exit code 1: no licence")
    assert found["value"] is None


def test_programs_that_hang_are_timed_out_and_retried(folder, capsys):
    (folder / "sim.py").write_text(
        "import pathlib, time\n"
        "if not pathlib.Path('seen').exists():\n"
        "    pathlib.Path('seen').touch(); time.sleep(60)\n"
        "print(1.0)\n"
    )
    assert cli.main(["run", "wing.py", "--capital", "20", "--timeout", "4", "--retries", "1", "--json", "--quiet"]) == 0
    assert json.loads(capsys.readouterr().out)["failures"] == []


def test_a_stored_run_is_resumed_only_on_request_and_its_capital_can_be_raised(folder, capsys):
    stored = ["--storage", "study.db", "--study", "wing", "--quiet", "--json"]
    assert cli.main(["run", "plain.py", "--capital", "20", *stored]) == 0
    first = json.loads(capsys.readouterr().out)
    assert cli.main(["run", "plain.py", "--capital", "20", *stored]) == 1
    assert "study must be a new one without --resume, got 'wing'" in capsys.readouterr().err
    assert cli.main(["run", "plain.py", "--capital", "40", *stored, "--resume"]) == 0
    second = json.loads(capsys.readouterr().out)
    assert second["spent"] > first["spent"]
    assert second["seed"] == first["seed"]
    assert cli.main(["run", "plain.py", *stored, "--resume"]) == 0  # the capital is that of the study
    assert json.loads(capsys.readouterr().out) == second
    (folder / "plain.py").write_text(FUNCTIONS.replace("5.0", "6.0"))
    sys.modules.pop("plain")
    assert cli.main(["run", "plain.py", "--capital", "40", *stored, "--resume"]) == 1
    assert "must be opened with the arguments that it was made with" in capsys.readouterr().err


HANGS = """\
import os, time
with open("started", "a") as file:
    print(os.getpid(), file=file)
if "SIM_HANGS" in os.environ and len(open("started").readlines()) > 3:
    time.sleep(300)
"""


def pids(folder):
    """Of the programs that were started, in their order."""
    path = folder / "started"
    return [int(line) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.mark.posix_only
@pytest.mark.parametrize(
    ("how", "lease"), [(signal.SIGINT, []), (signal.SIGTERM, []), (signal.SIGTERM, ["--lease", "600"])]
)
def test_an_interrupted_run_keeps_what_it_has_kills_its_programs_and_goes_on(folder, how, lease):
    (folder / "sim.py").write_text(HANGS + PROGRAM)
    options = ["run", "wing.py", "--workers", "3", "--storage", "study.db", "--resume", *lease]
    command = [sys.executable, "-m", "mfopt.cli", *options]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with started(command, cwd=folder, env={**os.environ, "SIM_HANGS": "1"}, **pipes) as process:
        # three programs run to their end, the others hang
        wait_for(lambda: told(folder / "study.db") and len(pids(folder)) > 3, process)
        process.send_signal(how)
        out, err = process.communicate(timeout=600)
    assert process.returncode == 130, err
    assert "ended    interrupted by the user" in out
    assert "the same command with --resume goes on" in out
    assert all(ends(pid) for pid in pids(folder))
    study = mfopt.Study.open(str(folder / "study.db"))
    before = len(study.history)
    assert before >= 1
    assert 1 <= len(study.pending) <= 3
    study.close()
    done = shell(*options, "--json", "--quiet", cwd=folder)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert sum(found["queries"]) > before
    assert found["pending"] == 0
    whole = mfopt.Study.open(str(folder / "study.db"))
    assert sorted(whole.history.id.tolist()) == list(range(len(whole.history)))


@pytest.mark.posix_only
def test_a_run_in_the_background_is_not_interrupted_by_ctrl_c(folder):
    (folder / "plain.py").write_text(FUNCTIONS.replace("return 1", "os.kill(os.getpid(), 2); return 1") + "import os")
    command = [sys.executable, "-m", "mfopt.cli", "run", "plain.py", "--capital", "20", "--strategy", "random"]
    for sigint, code, message in [(signal.SIG_IGN, 0, "remains"), (signal.default_int_handler, 130, "interrupted")]:
        with started(command, sigint, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
            out, _ = process.communicate(timeout=600)
        assert process.returncode == code
        assert message in out.splitlines()[0]


def test_a_run_with_a_lease_takes_up_what_one_without_left(folder, capsys):
    problem = load("plain.py")
    options = {"fidelities": problem.fidelities, "capital": 30.0, "storage": "study.db"}
    left = mfopt.Optimizer(problem.domain, **options).ask(2)
    resume = ["run", "plain.py", "--storage", "study.db", "--resume", "--lease", "600", "--json", "--quiet"]
    assert cli.main(resume) == 0
    assert json.loads(capsys.readouterr().out)["pending"] == 0
    assert {trial.id for trial in left} <= set(mfopt.Study.open("study.db").history.id.tolist())
