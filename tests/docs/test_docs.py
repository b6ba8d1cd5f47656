"""The code in docs/write-a-plugin.md is run as it stands there."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from mfopt.testing import StrategyConformance

PAGE = Path(__file__).resolve().parents[2] / "docs" / "write-a-plugin.md"


def files():
    """The named code blocks of the page: {file name: text}."""
    blocks = re.findall(r"```(?:python|toml)\n# (\S+)\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return dict(blocks)


@pytest.fixture
def folder(tmp_path):
    for name, text in files().items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_the_page_has_the_files_it_speaks_of():
    plugins = ["shrinking", "coin", "optimist", "weighing"]
    expected = [name for plugin in plugins for name in (f"mfopt_{plugin}.py", f"test_{plugin}.py")]
    assert sorted(files()) == sorted([*expected, "mfopt_heads.py", "pyproject.toml", "use.py"])


@pytest.mark.parametrize("name", ["test_shrinking.py", "test_coin.py", "test_optimist.py", "test_weighing.py"])
def test_the_plugins_of_the_page_conform(folder, name):
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", name],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout


def test_the_strategy_with_a_state_goes_on_from_it(folder, monkeypatch):
    monkeypatch.syspath_prepend(folder)
    from mfopt_heads import Heads

    class Suite(StrategyConformance):
        def strategy(self):
            return Heads()

    Suite().test_it_goes_on_from_its_state_as_if_it_had_not_been_interrupted()


def test_the_run_of_the_page_works_once_it_is_installed(folder):
    info = folder / "mfopt_shrinking-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mfopt-shrinking\nVersion: 0.1.0\n")
    table = re.search(r'entry-points\."(.*?)"\]\n(.*?)\n', files()["pyproject.toml"])
    (info / "entry_points.txt").write_text(f"[{table[1]}]\n{table[2].replace(chr(34), '')}\n")
    done = subprocess.run([sys.executable, "use.py"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Best(x=array([0.")


def test_the_surrogate_of_the_page_takes_its_option_after_a_colon(folder):
    info = folder / "mfopt_weighing-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mfopt-weighing\nVersion: 0.1.0\n")
    (info / "entry_points.txt").write_text("[mfopt.surrogates]\nweighing = mfopt_weighing:Weighing\n")
    code = (
        "import mfopt\n"
        "opt = mfopt.Optimizer([(0.0, 1.0)], [1.0, 5.0], surrogate='weighing:power=3', capital=20.0, rng=0)\n"
        "while not opt.done:\n"
        "    trial = opt.ask()\n"
        "    opt.tell(trial, -((trial.x[0] - 0.3) ** 2))\n"
        "print(opt.best.y)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) > -0.1
