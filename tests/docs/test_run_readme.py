"""The files and commands of the pages on simulators (README.md, docs/simulator.md) and of docs/parallel.md, run."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import mfopt
from tests.processes import started, wait_for
from tests.storage.studies import told

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.posix_only


def page(path, heading=""):
    text = (ROOT / path).read_text(encoding="utf-8")
    return re.split(r"\n## ", text.split(heading, 1)[1])[0] if heading else text


def files(text):
    """{name: content} of the code blocks that begin with a comment naming a file."""
    return dict(re.findall(r"```\w+\n(?:#!\S+\n)?# (\S+\.\w+)[^\n]*\n(.*?)```", text, re.DOTALL))


def whole(text, name):
    """A file as it stands in its block, with its first lines."""
    return next(block for block in re.findall(r"```\w+\n(.*?)```", text, re.DOTALL) if f"# {name}" in block[:60])


def commands(text):
    blocks = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    return [block for block in blocks if not re.match(r"(#!\S+\n)?# \S+\.\w+", block)]


def laid_out(text, folder):
    for name in files(text):
        (folder / name).write_text(whole(text, name), encoding="utf-8")
        (folder / name).chmod(0o755)


def environment():
    """In which `mfopt` and `python3` are those of this environment."""
    return {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}


def shell(script, folder):
    return subprocess.run(
        ["bash", "-c", script], cwd=folder, env=environment(), capture_output=True, text=True, timeout=600
    )


def press_ctrl_c(script, folder):
    """What a run prints that is interrupted when the first values have come in."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with started(["bash", "-c", script], cwd=folder, env=environment(), **pipes) as run:
        wait_for(lambda: told(folder / "throw.db") >= 3, run)
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=600)
    assert run.returncode == 130, err
    return out


def test_from_a_simulator_to_a_finished_parallel_run(tmp_path):
    text = page("README.md", "## From a simulator to a finished parallel run")
    laid_out(text, tmp_path)
    assert sorted(files(text)) == ["problem.py", "throw.py"]
    interrupted, resumed, rest = commands(text)
    patience, command = interrupted.split("\\\n")
    assert patience.split() == ["timeout", "--foreground", "-s", "INT", "10"]
    out = press_ctrl_c(f"exec {command.strip()}", tmp_path)  # by what was done, not by the clock
    assert "ended    interrupted by the user" in out
    second = shell(resumed, tmp_path)
    assert second.returncode == 0, second.stderr
    assert "of the capital 200.0 remains" in second.stdout
    study = mfopt.Study.open(str(tmp_path / "throw.db"))
    assert study.pending == []
    assert sorted(study.history.id.tolist()) == list(range(len(study.history)))
    assert 185 < study.spent <= 200
    assert study.best.y > 55.0
    study.close()
    third = shell(rest, tmp_path)
    assert third.returncode == 0, third.stderr
    assert "value  5" in third.stdout
    assert (tmp_path / "throw.png").stat().st_size > 10_000
    assert len((tmp_path / "throw.csv").read_text().splitlines()) == len(study.history) + 1


def test_the_examples_of_the_page_on_parallel_runs(tmp_path):
    blocks = re.findall(r"```python\n(.*?)```", page("docs/parallel.md"), re.DOTALL)
    assert len(blocks) == 3
    for number, code in enumerate(blocks):
        (tmp_path / f"example{number}.py").write_text(code, encoding="utf-8")
        done = shell(f"python3 example{number}.py", tmp_path)
        assert done.returncode == 0, done.stderr


def test_the_page_on_simulators(tmp_path):
    text = page("docs/simulator.md")
    laid_out(text, tmp_path)
    assert sorted(files(text)) == ["beam.py", "beam.sh"]
    assert len(commands(text)) == 2
    for command in commands(text):
        done = shell(command, tmp_path)
        assert done.returncode == 0, (command, done.stderr)
