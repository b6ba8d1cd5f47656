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


def test_the_examples_are_there():
    assert [title for title, _ in BLOCKS] == ["Ask and tell", "A finite set", "A constrained box", "In parallel"]


@pytest.mark.parametrize(("title", "code"), BLOCKS, ids=[title for title, _ in BLOCKS])
def test_an_example_runs(title, code, tmp_path):
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
