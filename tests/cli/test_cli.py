import json
import subprocess
import sys

import pytest

import mfopt
from mfopt import cli
from mfopt.cli import demo
from mfopt.registry import plugins


def test_the_version_is_told(capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"mfopt {mfopt.__version__}\n"


@pytest.mark.parametrize("arguments", [[], ["dance"], ["plugins", "--xml"], ["demo", "--seed", "x"]])
def test_wrong_usage_is_exit_code_2(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(arguments)
    assert ended.value.code == 2
    assert "usage: mfopt" in capsys.readouterr().err


def test_plugins_are_listed_as_a_table(capsys):
    assert cli.main(["plugins"]) == 0
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split() == ["group", "name", "distribution", "version", "origin"]
    assert len(rows) == len(plugins())
    assert ["mfopt.strategies", "mf-gp-ucb", "mfopt", mfopt.__version__] in [row.split()[:4] for row in rows]
    assert len({row.index(" ") for row in rows}) == 1


def test_plugins_are_listed_as_json(capsys):
    assert cli.main(["plugins", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [entry["name"] for entry in listed] == [plugin.name for plugin in plugins()]
    assert set(listed[0]) == {"group", "name", "distribution", "version", "origin", "problem"}


def test_listing_imports_no_plugin():
    code = "import sys; from mfopt.cli import main; main(['plugins']); print('mfopt_plugins' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False"


def test_an_error_is_one_line_and_exit_code_1(capsys):
    assert cli.main(["demo", "--capital", "1"]) == 1
    err = capsys.readouterr().err
    assert err.startswith("mfopt: error: capital must pay for a target query")
    assert err.count("\n") == 1


def test_the_demo_tells_what_it_found(tmp_path, capsys, monkeypatch):
    drawn = []

    class Plots:
        @staticmethod
        def plot_run(optimizer, path, optimum):
            drawn.append((len(optimizer.history), path, optimum))

    monkeypatch.setitem(sys.modules, "mfopt.plots.run", Plots)
    out = str(tmp_path / "run.png")
    problem = mfopt.problems.get("currin")
    assert cli.main(["demo", "--out", out, "--capital", str(6 * problem.costs[-1])]) == 0
    text = capsys.readouterr()
    assert f"optimum  {problem.optimum:.8f}" in text.out
    assert "at fidelity 0" in text.out
    assert out in text.out
    assert "queries" in text.err
    assert drawn[0][1:] == (out, problem.optimum)


def test_without_matplotlib_the_demo_says_what_to_install(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "mfopt.plots.run", None)
    problem = mfopt.problems.get("currin")
    demo.demo(str(tmp_path / "none.png"), capital=3 * problem.costs[-1], progress=False)
    assert "pip install 'mfopt[plot]'" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []
