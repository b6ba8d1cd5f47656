"""Experiments: what is run, what is kept, what is not run again."""

import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from mfopt import bench, cli, problems
from mfopt.bench.cells import Cell, Task, code_digest, run_cell
from mfopt.bench.store import Store
from mfopt.errors import InputError
from mfopt.regret import simple_regret
from tests.processes import started, wait_for

HILL = "tests.bench.makers.hill"


def task(problem=HILL, method="random", seed=0, capital=5.0):
    return Task(problem, method, seed, capital, "1", "code")


def lines(out):
    return (out / "cells.jsonl").read_text().splitlines()


def test_a_run_gives_every_cell_and_keeps_it(tmp_path):
    cells = bench.run([HILL, f"{HILL}:peak=0.8"], ["random", "mf-naive-random"], [0, 1], 5, tmp_path, jobs=2)
    keys = {(cell.task.problem, cell.task.method, cell.task.seed) for cell in cells}
    assert len(keys) == len(cells) == 8
    assert all(cell.status == "done" for cell in cells)
    assert sorted(map(str, bench.load(tmp_path))) == sorted(map(str, cells))


def test_a_finished_cell_is_not_run_again(tmp_path):
    bench.run([HILL], ["random"], [0, 1], 5, tmp_path)
    before = lines(tmp_path)
    again = bench.run([HILL], ["other=random"], range(3), 5, tmp_path)
    assert [cell.label for cell in again] == ["other"] * 3
    assert lines(tmp_path)[:2] == before
    assert [json.loads(line)["seed"] for line in lines(tmp_path)] == [0, 1, 2]


def test_another_capital_or_other_code_makes_another_cell(tmp_path, monkeypatch):
    bench.run([HILL], ["random"], [0], 5, tmp_path)
    bench.run([HILL], ["random"], [0], 6, tmp_path)
    monkeypatch.setattr("mfopt.bench.runner.code_digest", lambda: "other")
    bench.run([HILL], ["random"], [0], 6, tmp_path, any_code=True)
    assert len(lines(tmp_path)) == 2
    bench.run([HILL], ["random"], [0], 6, tmp_path)
    assert [json.loads(line)["code"] for line in lines(tmp_path)] == [code_digest()] * 2 + ["other"]


def test_the_curve_of_a_cell_is_the_simple_regret_of_its_run():
    cell = run_cell(task("currin", "mf-naive-random", 3, 12.0), "", history=True)
    problem = problems.get("currin")
    told = type("Told", (), {name: np.array(column) for name, column in cell.history.items()})
    told.cost = np.array(problem.costs)[told.fidelity]
    capital, regret = simple_regret(told, problem.optimum, target=1)
    at = np.searchsorted(cell.spent, capital / 10, side="right")
    assert np.append(np.inf, cell.regret)[at].tolist() == regret.tolist()
    assert cell.spent[-1] == capital[-1] / 10
    assert list(cell.queries) == np.bincount(told.fidelity).tolist()


def test_the_same_cell_is_the_same_run_here_and_in_a_worker(tmp_path):
    (kept,) = bench.run(["currin"], ["mf-gp-ucb:maximiser=multistart"], [4], 8, tmp_path)
    here = run_cell(kept.task, kept.label)
    assert (here.spent, here.regret, here.queries) == (kept.spent, kept.regret, kept.queries)


def test_methods_with_one_seed_share_their_initial_points():
    runs = [run_cell(task("currin", method, 5, 12.0), "", history=True) for method in ("gp-ucb", "gp-ei", "random")]
    first = [run.history["x"][:3] for run in runs]
    assert first[0] == first[1] == first[2]
    assert runs[0].history["kind"][:3] == ["initial design"] * 3


def test_a_raising_function_fails_its_cell_alone_and_is_tried_again(tmp_path):
    for _ in range(2):
        bad, good = bench.run(["tests.bench.makers.raising", HILL], ["random"], [0], 5, tmp_path)
        assert (bad.status, good.status) == ("failed", "done")
        assert "no such luck" in bad.error
    assert [json.loads(line)["status"] for line in lines(tmp_path)] == ["failed", "done", "failed"]


def test_a_dying_process_fails_its_cell_alone(tmp_path):
    cells = bench.run(["tests.bench.makers.dying", HILL], ["random"], [0, 1], 5, tmp_path)
    assert [cell.status for cell in cells] == ["failed", "done", "failed", "done"]
    assert "ended with code 3" in cells[0].error


def test_what_a_function_prints_disturbs_nothing(tmp_path):
    (cell,) = bench.run(["tests.bench.makers.talking"], ["random"], [0], 5, tmp_path)
    assert cell.status == "done"
    assert "something for the user" in (tmp_path / "workers.log").read_text()


def test_a_time_limit_cuts_a_cell_and_a_longer_one_runs_it_again(tmp_path):
    slow = "tests.bench.makers.slow:seconds=0.05"
    (cut,) = bench.run([slow], ["random"], [0], 8, tmp_path, time_limit=0.2)
    assert cut.status == "cut"
    assert cut.spent[-1] < 8
    (same,) = bench.run([slow], ["random"], [0], 8, tmp_path, time_limit=0.1)
    assert same == cut
    (whole,) = bench.run([slow], ["random"], [0], 8, tmp_path)
    assert whole.status == "done"
    assert whole.spent[-1] == 8


def test_a_torn_line_is_skipped_and_does_not_spoil_the_next(tmp_path):
    bench.run([HILL], ["random"], [0, 1], 5, tmp_path)
    path = tmp_path / "cells.jsonl"
    path.write_bytes(path.read_bytes()[:-40])
    assert [cell.task.seed for cell in bench.load(tmp_path)] == [0]
    bench.run([HILL], ["random"], [0, 1], 5, tmp_path)
    assert [cell.task.seed for cell in bench.load(tmp_path)] == [0, 1]
    assert len(lines(tmp_path)) == 3


def test_a_cell_survives_the_file(tmp_path):
    cell = Cell(task(), "näme", "cut", 0.1, None, (3, 1), (1.0, 5.0), (0.5, 0.0), "why", {"x": [[0.1]]})
    store = Store(tmp_path)
    store.append(cell)
    store.close()
    assert bench.load(tmp_path) == [cell]


def test_an_empty_directory_has_no_cells(tmp_path):
    assert bench.load(tmp_path / "nowhere") == []


@pytest.mark.posix_only
def test_an_interrupted_run_is_resumed(tmp_path):
    command = [sys.executable, "-m", "mfopt.cli", "bench", "run", "--problems", "tests.bench.makers.slow",
               "--methods", "random", "--seeds", "0-3", "--capital", "4", "--any-code",
               "--out", str(tmp_path)]  # fmt: skip
    with started(command, stderr=subprocess.PIPE) as process:
        wait_for(lambda: bench.load(tmp_path), process)
        process.send_signal(signal.SIGINT)
        told = process.communicate(timeout=600)[1]
    assert process.returncode == 130
    assert told.splitlines()[-1] == "mfopt: error: interrupted"
    first = bench.load(tmp_path)
    assert 1 <= len(first) < 4
    assert cli.main(command[3:]) == 0
    assert bench.load(tmp_path)[: len(first)] == first
    assert len(bench.load(tmp_path)) == len(lines(tmp_path)) == 4


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"problems": []}, "problems must name at least one"),
        ({"problems": ["nowhere"]}, "got 'nowhere'"),
        ({"problems": ["tests.bench.makers.number"]}, "must return a Benchmark, got 3"),
        ({"problems": ["tests.bench.makers.nothing"]}, "must be that of a function"),
        ({"problems": [f"{HILL}:costs=[2,1]"]}, r"strictly increasing, got \[2.0, 1.0\]"),
        ({"seeds": [-1]}, "seeds must not be negative, got -1"),
        ({"capital": 0.5}, "capital must be at least 1 target query, got 0.5"),
        ({"jobs": 0}, "jobs must be at least 1, got 0"),
        ({"time_limit": 0.0}, "time_limit must be positive, got 0.0"),
    ],
)
def test_wrong_input_is_refused_before_anything_is_written(tmp_path, change, message):
    arguments = {"problems": [HILL], "methods": ["random"], "seeds": [0], "capital": 5} | change
    with pytest.raises(InputError, match=message):
        bench.run(**arguments, out=tmp_path / "new")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("seeds", ["", "3-1", "a", "1-", "-1", "1,,2"])
def test_the_command_refuses_seeds_that_are_none(tmp_path, capsys, seeds):
    assert cli.main(["bench", "run", f"--seeds={seeds}", "--out", str(tmp_path / "new")]) == 1
    assert "seeds must be numbers" in capsys.readouterr().err


def test_the_command_tells_what_it_finished(tmp_path, capsys):
    command = ["bench", "run", "--problems", HILL, "tests.bench.makers.raising", "--methods", "random", "--seeds", "0",
               "--capital", "5", "--out", os.fspath(tmp_path)]  # fmt: skip
    assert cli.main(command) == 1
    told = capsys.readouterr().err.splitlines()
    assert told[0].startswith(f"1/2  {HILL}  random  seed 0  regret")
    assert told[1] == "2/2  tests.bench.makers.raising  random  seed 0  FAILED: RuntimeError: no such luck"
    assert told[2] == "2 of 2 cells finished, 1 failed"
    assert cli.main(command) == 1
    assert capsys.readouterr().err.startswith("1 of 2 cells are there already\n")
