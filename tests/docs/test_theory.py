"""The worked example of docs/theory.md prints what the page says, up to the last digits."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = (DOCS / "theory.md").read_text(encoding="utf-8")
NUMBER = r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?"


@pytest.mark.rounding
def test_the_worked_example_prints_what_the_page_says(tmp_path):
    code = re.search(r"```python\n# example\.py\n(.*?)```", PAGE, re.DOTALL)[1]
    expected = re.search(r"```text\n(.*?)```", PAGE, re.DOTALL)[1]
    file = tmp_path / "example.py"
    file.write_text(code, encoding="utf-8")
    done = subprocess.run([sys.executable, "-W", "error", str(file)], capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    words, said = re.split(NUMBER, done.stdout), re.split(NUMBER, expected)
    assert [w.split() for w in words] == [w.split() for w in said]
    # Another BLAS may round differently, and a query may then go elsewhere: counts within a few, the rest within 20 %.
    for number, promised in zip(re.findall(NUMBER, done.stdout), re.findall(NUMBER, expected), strict=True):
        count = re.fullmatch(r"\d+", promised)
        assert float(number) == pytest.approx(float(promised), rel=0.2, abs=4 if count else 0.03)


@pytest.mark.parametrize("name", re.findall(r"\]\((theory/[^)]+)\)", PAGE))
def test_the_pictures_of_the_page_are_there(name):
    assert (DOCS / name).stat().st_size > 10_000
