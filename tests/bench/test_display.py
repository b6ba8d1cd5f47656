"""The progress of an experiment on a terminal and elsewhere."""

import io

import pytest

from mfopt.bench.cells import Cell, Task
from mfopt.bench.display import Display, format_seconds


class Terminal(io.StringIO):
    def isatty(self):
        return True


def task(seed=0):
    return Task("currin", "gp-ucb", seed, 20.0, "1", "a")


def cell(seed=0, **changed):
    given = {"queries": (0, 20), "spent": (1.0, 20.0), "regret": (4.0, 0.25), "status": "done"} | changed
    return Cell(task(seed), "gp-ucb", seconds=3.0, limit=None, **given)


def test_a_terminal_has_a_line_per_cell_and_one_that_is_redrawn():
    stream = Terminal()
    display = Display(4, 1, None, stream)
    display.advance(task(1), 0.0)
    display.finish(cell(0))
    display.advance(task(1), 0.5)
    display.close()
    told = stream.getvalue()
    assert told.startswith("1 of 4 cells are there already\n")
    assert "2/4  currin  gp-ucb  seed 0  regret 2.50e-01  queries 0 + 20  3.0 s\n" in told
    assert "\r\x1b[K[##########..........] 2/4, about 0.0 s left  currin gp-ucb 1: 0%" in told
    assert told.endswith("\r\x1b[K2 of 4 cells finished\n")


def test_a_file_has_plain_lines_only_and_only_when_wished():
    silent, wished = io.StringIO(), io.StringIO()
    for stream, on in ((silent, None), (wished, True)):
        display = Display(2, 0, on, stream)
        display.advance(task(0), 0.3)
        display.finish(cell(0, status="failed", error="Traceback\nValueError: no\n", spent=(), regret=()))
        display.finish(cell(1, status="cut", spent=(), regret=()))
        display.close()
    assert silent.getvalue() == ""
    assert wished.getvalue().splitlines() == [
        "1/2  currin  gp-ucb  seed 0  FAILED: ValueError: no",
        "2/2  currin  gp-ucb  seed 1  regret none  queries 0 + 20  3.0 s, cut by the time limit",
        "2 of 2 cells finished, 1 failed",
    ]


def test_the_line_fits_the_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    stream = Terminal()
    display = Display(2, 0, None, stream)
    display.advance(task(0), 0.2)
    assert len(stream.getvalue().rpartition("\x1b[K")[2]) == 39


@pytest.mark.parametrize(("seconds", "text"), [(3.14, "3.1 s"), (61, "1 min"), (5000, "83 min"), (9000, "2.5 h")])
def test_durations_are_readable(seconds, text):
    assert format_seconds(seconds) == text
