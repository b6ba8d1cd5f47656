"""The programs of examples/ are run as a stranger would run them, and what they print is what they promise."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import mfopt

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
PROGRAMS = sorted(path.name for path in EXAMPLES.glob("*.py"))


def run(name, folder, *arguments, code=0):
    """What the example prints when it is run in this folder."""
    command = [sys.executable, "-W", "error", str(EXAMPLES / name), *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, encoding="utf-8", timeout=120)
    assert done.returncode == code, done.stderr
    assert done.stderr == ""
    return done.stdout


def number(pattern, printed):
    """The number that the pattern's group finds."""
    return float(re.search(pattern, printed)[1])


def test_the_list_names_every_program():
    listed = re.findall(r"^\| \[(\S+)\]\(\1\)", (EXAMPLES / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(listed) == PROGRAMS


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_is_short_and_begins_with_what_it_shows(name):
    text = (EXAMPLES / name).read_text(encoding="utf-8")
    assert text.startswith('"""')
    assert len(text.splitlines()) <= 70


def test_the_reactor_is_run_at_its_best_for_the_price_of_15_fine_simulations(tmp_path):
    printed = run("reactor.py", tmp_path)
    assert number(r"best profit (\S+) at", printed) == pytest.approx(55.759, abs=0.01)
    assert number(r"at (\S+) K for", printed) == pytest.approx(359.5, abs=1)
    assert number(r"price of (\S+) fine", printed) <= 15
    assert number(r"(\d+) coarse", printed) > number(r"(\d+) fine", printed)
    assert re.search(r"ucb: fidelity 1, .*\n +fidelity +mean μ +width β½σ", printed)


def test_the_best_mixture_is_found_although_the_quick_test_prefers_another(tmp_path):
    printed = run("mixtures.py", tmp_path)
    assert "best mixture: 50% resin, 0% filler, 30% fibre, 20% hardener" in printed
    assert "strength 13.906, number 1 of 1771" in printed
    assert "the quick test's own favourite has only 9.025" in printed
    assert number(r"and (\d+) full tests", printed) < 20


def test_the_damper_comes_close_to_the_textbook_and_every_query_was_allowed(tmp_path):
    printed = run("damper.py", tmp_path)
    found, rule = number(r"worst response (\S+) dB", printed), number(r"promises (\S+) dB", printed)
    assert rule == pytest.approx(16.128, abs=0.001)
    assert rule - 0.05 < found < rule + 0.3
    assert re.search(r"all \d+ queries were allowed: True", printed)


def test_processes_run_at_once_but_never_more_than_two_fine_ones(tmp_path):
    printed = run("processes.py", tmp_path)
    assert number(r"best (\S+) at", printed) > 0.999
    assert "0 failed" in printed
    fine, took = number(r"and (\d+) fine evaluations", printed), number(r"work done in (\S+) s", printed)
    assert fine >= 5
    assert took >= 0.5 * fine / 2 - 0.1  # half a second each, two at once; printed to a tenth


def test_a_power_cut_costs_nothing_but_the_restart(tmp_path):
    first = run("resumable.py", tmp_path, "cut.db", code=1)
    assert "known values: 0, under way: 0" in first
    assert "power cut during trial 25" in first
    second = run("resumable.py", tmp_path, "cut.db")
    assert "known values: 25, under way: 1" in second
    assert number(r"done: best (\S+) at", second) > 0.999
    third = run("resumable.py", tmp_path, "cut.db")
    assert "under way: 0" in third
    study = mfopt.Study.open(tmp_path / "cut.db")
    assert sorted(study.history.id.tolist()) == list(range(len(study.history)))
    study.close()


def test_methods_are_compared_over_several_seeds(tmp_path):
    printed = run("own_maximiser.py", tmp_path)
    rows = re.findall(r"^(\S.*?)  +([-+.e\d]+) +([-+.e\d]+) +([-+.e\d]+)$", printed, re.MULTILINE)
    median = {label: float(middle) for label, middle, _, _ in rows}
    assert list(median) == ["mf-gp-ucb", "mf-gp-ucb, Shrinking", "gp-ucb", "random"]
    assert median["mf-gp-ucb"] < median["gp-ucb"] < median["random"]
    assert median["mf-gp-ucb, Shrinking"] < median["gp-ucb"]
