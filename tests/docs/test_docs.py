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
    expected = ["mfopt_shrinking.py", "test_shrinking.py", "pyproject.toml", "use.py", "mfopt_coin.py", "test_coin.py"]
    expected += ["mfopt_heads.py"]
    assert list(files()) == expected


@pytest.mark.parametrize("name", ["test_shrinking.py", "test_coin.py"])
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
