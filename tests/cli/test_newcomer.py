"""What a newcomer does first, and gets wrong."""

import re
import subprocess
import sys

import pytest

import mfopt
from mfopt import cli, registry
from mfopt.cli.problem_file import load

PROBLEM = """\
domain = [(0, 1)]
costs = [1]
SCALE, cost, limit = 2.0, 3, 4.0
def f(x): return SCALE * x[0] * cost + limit
functions = [f]
label, result, _capitol = "mine", None, 3
"""


def test_python_m_mfopt_is_the_command():
    done = subprocess.run([sys.executable, "-m", "mfopt", "--version"], capture_output=True, text=True)
    assert done.stdout == f"mfopt {mfopt.__version__}\n"


@pytest.fixture
def problem(tmp_path, monkeypatch, request):
    """Writes a problem file under a name of its own, as each is imported as a module."""
    monkeypatch.syspath_prepend(tmp_path)

    def write(text):
        path = tmp_path / f"newcomer_{len(list(tmp_path.iterdir()))}_{abs(hash(request.node.name))}.py"
        path.write_text(text)
        return str(path)

    return write


def test_constants_of_a_problem_file_are_its_own(problem):
    assert load(problem(PROBLEM)).options == {}
    assert load(problem(PROBLEM + "seed = 3\nseeds = [1, 2]\n")).options == {"seed": 3}


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("minimize = True", 'direction = "minimize"'),
        ("capitel = 30", "capital"),
        ("Capital: float = 30", "capital"),
        ("strategie = 'random'", "strategy"),
        ("if True:\n    workes = 2", "workers"),
        ("rng = 0", "seed"),
        ("storage = 'study.db'", "--storage on the command line"),
        ("target = 0.9", "--target on the command line"),
        ("stop = 'converged'", "--stop on the command line"),
        ("tolerance = 0.1", "--tolerance on the command line"),
        ("sense = 'minimize'", "direction"),
        ("MINIMIZE = True", 'direction = "minimize"'),
        ("minimze = True", 'direction = "minimize"'),
        ("objective = 'minimize'", "direction"),
        ("retry = 1", "retries"),
        ("n_trials = 100", "capital"),
        ("maximizer = 'direct'", "maximiser"),
        ("on_error = 'record'", "--give-up on the command line"),
        ("COSTS = [1, 20]", "costs"),
        ("constraint = None", "domain = mfopt.Box([(lo, hi), ...], constraints=...)"),
        ("names = ['a']", "domain = mfopt.Box([(lo, hi), ...], names=...)"),
        ("constraints = []", "domain = mfopt.Box([(lo, hi), ...], constraints=...)"),
    ],
)
def test_a_name_that_looks_like_a_misspelt_option_is_refused(problem, line, meant):
    with pytest.raises(mfopt.InputError, match="must define names that mfopt run knows") as caught:
        load(problem(PROBLEM + line + "\n"))
    assert str(caught.value).endswith(f"did you mean {meant}?")


def test_the_same_holds_for_a_dict_a_namespace_or_a_class_but_not_for_an_object(problem):
    text = PROBLEM + "given = dict(domain=domain, costs=costs, functions=functions, minimise=True)\n"
    with pytest.raises(mfopt.InputError, match="got minimise"):
        load(problem(text) + ":given")
    with pytest.raises(mfopt.InputError, match="got minimise"):
        load(problem(text.replace("minimise=True", "minimise=False")) + ":given")
    text += "import types\nspace = types.SimpleNamespace(**given)\n"
    text += "class Mine:\n    domain, costs, functions, minimise = domain, costs, functions, True\n"
    for name in ("space", "Mine"):
        with pytest.raises(mfopt.InputError, match="got minimise"):
            load(problem(text) + f":{name}")
    text += "import mfopt\nother = mfopt.problems.get('currin')\n"  # has zetas, and more
    assert len(load(problem(text) + ":other").fidelities) == 2


def test_a_picture_that_cannot_be_drawn_is_refused_before_the_run(problem, tmp_path, capsys):
    path = problem(PROBLEM.replace("def f(x): return", "def f(x): raise SystemExit; return"))
    for picture, why in (("run.xyz", "a file of one of these kinds"), ("nowhere/run.png", "a directory that exists")):
        assert cli.main(["run", path, "--capital", "3", "--plot", str(tmp_path / picture)]) == 1
        printed = capsys.readouterr()
        assert why in printed.err
        assert printed.out == ""


def test_a_misspelt_test_problem_is_told_so(capsys):
    assert cli.main(["check", "curin"]) == 1
    assert capsys.readouterr().err == (
        "mfopt: error: SOURCE must be a CSV file that exists or a test problem, got curin; did you mean currin?\n"
    )


def test_a_report_of_short_runs_shows_their_end(tmp_path, capsys):
    common = ["--out", str(tmp_path)]
    assert cli.main(["bench", "run", *common, "--problems", "currin", "--methods", "random", "--seeds", "0-1",
                     "--capital", "5"]) == 0  # fmt: skip
    capsys.readouterr()
    assert cli.main(["bench", "report", *common]) == 0
    assert "median [quartiles] at 5" in capsys.readouterr().out


def test_an_optimizer_shows_where_it_is():
    optimizer = mfopt.Optimizer([(0, 1), (0, 1)], [1.0, 10.0], capital=30, direction="minimize", rng=0)
    optimizer.add([0.5, 0.5], 1, 2.5)
    optimizer.ask()
    assert repr(optimizer) == (
        "<Optimizer: 2 coordinates, costs [1.0, 10.0], minimize, spent 0 of 30, 1 told, 1 pending, best 2.5>"
    )


def test_options_of_a_plugin_may_be_written_in_a_string():
    optimizer = mfopt.Optimizer(
        [(0, 1)], [1.0, 2.0], strategy="mf-gp-ucb:beta_factor=0.4", surrogate="matern:nu=1.5", maximiser="direct"
    )
    assert registry.identify(registry.STRATEGIES, optimizer.strategy) == ("mf-gp-ucb", {"beta_factor": 0.4})
    kinds = {registry.identify(registry.SURROGATES, one)[0] for one in optimizer.surrogates}
    assert kinds == {"matern"}
    assert optimizer.surrogates[0] is optimizer.surrogates[1]
    with pytest.raises(mfopt.InputError, match="options of mf-gp-ucb must be among"):
        mfopt.Optimizer([(0, 1)], [1.0], strategy="mf-gp-ucb:beta=0.4")
    with pytest.raises(mfopt.MfoptError, match="did you mean 'mf-gp-ucb'"):
        mfopt.Optimizer([(0, 1)], [1.0], strategy="mf-gp-ubc:beta_factor=0.4")
    with pytest.raises(mfopt.InputError, match="got beta_facto; did you mean 'beta_factor'"):
        mfopt.Optimizer([(0, 1)], [1.0], strategy="mf-gp-ucb:beta_facto=0.4")
    with pytest.raises(mfopt.MfoptError, match="did you mean 'direct'"):
        mfopt.Optimizer([(0, 1)], [1.0], maximiser="DIRECT")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["create", "study.db", "--costs", "1", "--dim", "a=0:1", "--captial", "50"],
            "--captial; did you mean --capital?",
        ),
        (["ask", "study.db", "--josn"], "--josn; did you mean --json?"),
        (["bench", "run", "--probelms=currin"], "--probelms=currin; did you mean --problems?"),
        (["best", "study.db", "other.db"], "other.db"),
    ],
)
def test_a_misspelt_option_is_answered_with_the_one_of_the_command(capsys, words, said):
    with pytest.raises(SystemExit) as ended:
        cli.main(words)
    assert ended.value.code == 2
    usage, *_, error = capsys.readouterr().err.splitlines()
    command = " ".join(["mfopt", *(word for word in words[:2] if word in ("create", "ask", "bench", "run", "best"))])
    assert usage.startswith(f"usage: {command} ")
    assert error.startswith(f"{command}: error: unrecognized arguments: ")
    assert error.split("arguments: ")[1].replace(" 50", "") == said


def test_what_a_loop_calls_is_looked_at_before_anything_is_evaluated():
    with pytest.raises(mfopt.InputError, match="callback must be callable or None, got 5"):
        mfopt.maximize([abs], [(0, 1)], [1], 10, callback=5)


def test_outcomes_that_are_no_list_are_refused():
    optimizer = mfopt.Optimizer([(0, 1)], [1.0])
    with pytest.raises(mfopt.InputError, match="outcomes must be a list of them, got 5"):
        optimizer.tell_many(5)


@pytest.mark.parametrize(("text", "got"), [("", r"\[\]"), ("alloy,heat\n", r"\['alloy', 'heat'\]")])
def test_a_file_without_candidates_is_named(tmp_path, capsys, text, got):
    path = tmp_path / "alloys.csv"
    path.write_text(text)
    arguments = ["create", tmp_path / "study.db", "--candidates", path, "--costs", "1", "--capital", "5"]
    assert cli.main([str(word) for word in arguments]) == 1
    said = rf"alloys.csv must have a header and below it a row at least, got the header {got} alone\n$"
    assert re.search(said, capsys.readouterr().err)


def test_a_misspelt_problem_is_answered_with_the_one_meant():
    with pytest.raises(mfopt.InputError, match="got 'curin'; did you mean 'currin'"):
        mfopt.problems.get("curin")
