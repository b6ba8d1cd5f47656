"""The Python of the README is run as it stands there."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).resolve().parents[2] / "README.md"
BLOCKS = [
    (title, code)
    for title, code in re.findall(
        r"## ([^\n]+)\n(?:(?!## ).)*?```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL
    )
    if not re.match(r"# \S+\.py\n", code)  # a file of the page on simulators, see test_run_readme.py
]
NUMBER = r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?"


def test_the_examples_are_there():
    spaces = ["A finite set", "A constrained box", "Integers, categories, conditions"]
    assert [title for title, _ in BLOCKS] == ["Ask and tell", *spaces, "In parallel"]


def test_the_reason_that_is_shown_is_the_one_that_the_first_example_gives():
    text = README.read_text(encoding="utf-8")
    shown = re.search(r"for trial (\d+) of the first example.*?\n\n((?:    .*\n)+)", text)
    trials = []
    exec(BLOCKS[0][1].replace("opt.ask()", "opt.ask()\n    trials.append(trial)"), {"trials": trials})
    printed = str(trials[int(shown[1])].reason)
    assert re.split(NUMBER, printed)[0] == re.split(NUMBER, shown[2].strip())[0]
    # Another BLAS may round differently.
    pairs = zip(re.findall(NUMBER, printed), re.findall(NUMBER, shown[2]), strict=True)
    assert all(float(a) == pytest.approx(float(b), rel=0.2, abs=1e-3) for a, b in pairs)


@pytest.mark.parametrize(("title", "code"), BLOCKS, ids=[title for title, _ in BLOCKS])
def test_an_example_runs(title, code, tmp_path):
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
