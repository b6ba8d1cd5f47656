"""The tutorials are run as they stand there."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGES = sorted((Path(__file__).resolve().parents[2] / "docs" / "tutorials").glob("*.md"))
PROMISED = {
    "calibrate-a-simulator": r"log-likelihood (-\d+\.?\d*) of the true parameters (-\d+\.?\d*)",
    "epochs-as-fidelity": r"log-loss (0\.\d+) with",
    "tune-a-scikit-learn-model": r"as it comes (0\.\d+)\n(?:.*\n)*?tuned (0\.\d+)",
}


def test_every_tutorial_is_there():
    assert [page.stem for page in PAGES] == sorted(PROMISED)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_tutorial_runs_and_keeps_its_promise(page, tmp_path):
    code = "\n".join(re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL))
    (tmp_path / "tutorial.py").write_text(code, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "error", "tutorial.py"], cwd=tmp_path, capture_output=True, text=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr
    found = re.search(PROMISED[page.stem], done.stdout)
    assert found, done.stdout
    numbers = [float(number) for number in found.groups()]
    if page.stem == "epochs-as-fidelity":
        assert numbers[0] < 0.4
    if page.stem == "tune-a-scikit-learn-model":
        assert numbers[1] > numbers[0] + 0.1
    if page.stem == "calibrate-a-simulator":
        assert numbers[0] > numbers[1] - 2.0
