"""What docs/bench.md says is done as it stands there."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from mfopt import bench, cli, problems

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "bench.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def test_the_python_of_the_page_runs(tmp_path):
    done = subprocess.run([sys.executable, "-c", BLOCKS[0]], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "mf-gp-ucb" in done.stdout
    assert len(bench.load(tmp_path / "out" / "bench")) == 4


def test_the_problem_of_the_page_can_be_run_from_its_directory(tmp_path):
    (tmp_path / "hills.py").write_text(BLOCKS[1])
    command = re.search(r"    mfopt (bench run --problems hills.hill .*)", PAGE)[1]
    command = command.replace("--seeds 0-4", "--seeds 0").replace("mf-gp-ucb random", "random")
    done = subprocess.run([sys.executable, "-m", "mfopt.cli", *shlex.split(command)], cwd=tmp_path, text=True)
    assert done.returncode == 0
    assert [cell.status for cell in bench.load(tmp_path / "out" / "bench")] == ["done"] * 2


def test_every_method_of_the_page_can_be_built():
    section = PAGE.split("## Methods")[1].split("\n\n")[2]
    methods = [shlex.split(line)[0] for line in section.splitlines()]
    assert len(methods) == 5
    for text in methods:
        bench.Method.parse(text)


def test_the_table_lists_every_problem():
    listed = re.findall(r"^\| ([a-z][^|]*) \|", PAGE, re.MULTILINE)
    assert {name.strip() for line in listed for name in line.split(",")} - {"name"} == set(problems.names())


@pytest.mark.parametrize("part", ["run", "report", "figure"])
def test_the_help_names_what_the_page_names(part, capsys):
    with pytest.raises(SystemExit):
        cli.main(["bench", part, "--help"])
    told = capsys.readouterr().out
    for option in {"run": ["--history", "--any-code"], "report": ["--mean", "--capitals"], "figure": ["gamma"]}[part]:
        assert option in told
