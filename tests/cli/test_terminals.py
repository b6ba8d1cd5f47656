"""Commands where the terminal knows few letters, or is narrow."""

import dataclasses
import io
import os
import subprocess
import sys

import pytest

import mfopt
from mfopt.parallel.progress import Progress
from mfopt_plugins.strategies.random_search import RandomSearch


def run(*words, encoding="ascii", folder=None):
    environment = {**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    command = [sys.executable, "-m", "mfopt", *words]
    return subprocess.run(command, env=environment, cwd=folder, capture_output=True, timeout=60)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where a study is whose parameter not every terminal can show."""
    folder = tmp_path_factory.mktemp("wing")
    space = {"größe": (0.0, 1.0)}
    with_storage = mfopt.Optimizer(space, [1.0], capital=20.0, rng=0, storage=str(folder / "study.db"))
    with_storage.tell(with_storage.ask(), 0.5)
    with_storage.close()
    return folder


@pytest.mark.parametrize(
    "words", [("best", "study.db"), ("history", "study.db"), ("history", "study.db", "--csv"), ("plot", "--help")]
)
def test_letters_that_a_terminal_does_not_know_are_written_by_their_codes(folder, words):
    plain = run(*words, folder=folder)
    assert (plain.returncode, plain.stderr) == (0, b"")
    whole = run(*words, encoding="utf-8", folder=folder).stdout.decode()
    assert not whole.isascii()
    # In a table a column is as wide as what is in it: what is cut into words is the same.
    assert plain.stdout.split() == whole.encode("ascii", "backslashreplace").split()


@pytest.mark.parametrize("width", [20, 40, 65])
def test_a_line_that_is_cut_says_so(monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    opt = mfopt.Optimizer([(0, 1)], [1.0, 10.0], capital=60.0, rng=0)
    opt.add([0.5], 1, -0.0003286101765837092)
    trial = opt.ask()
    opt.tell(trial, 1.0)
    terminal = Terminal()
    Progress(terminal).close(opt, trial)
    first, last = terminal.getvalue().replace("\x1b[K", "").strip().split("\n")
    assert max(len(first), len(last)) == width - 1
    assert last.endswith("...")
    assert first.endswith("..." if width < 65 else "queries 1 + 1")


def test_the_bar_of_a_run_that_overdrew_its_capital_is_full():
    opt = mfopt.Optimizer([(0, 1)], [1.0], capital=2.0, rng=0)
    trial = opt.ask()
    opt.tell(trial, 1.0, cost=3.0)
    pipe = io.StringIO()
    Progress(pipe).close(opt)
    assert pipe.getvalue().startswith("[" + "#" * 20 + "] 3/2 ")


class Telling(RandomSearch):
    """A strategy whose reasons are not fit for a terminal."""

    def __init__(self, reason):
        super().__init__()
        self.reason = reason

    def ask(self, view):
        return dataclasses.replace(super().ask(view), reason=self.reason)


class Mute:
    def __str__(self):
        raise ValueError("no words")


@pytest.mark.parametrize(("reason", "shown"), [("a\x1b[2Jb", "a\\x1b[2Jb"), (Mute(), "(its reason cannot be shown)")])
def test_a_reason_can_neither_command_a_terminal_nor_end_a_run(capsys, reason, shown):
    result = mfopt.maximize([lambda x: x[0]], [(0, 1)], [1], 3, strategy=Telling(reason), progress=True)
    assert result.nfev == 3
    assert f"last 2: {shown}\n" in capsys.readouterr().err
