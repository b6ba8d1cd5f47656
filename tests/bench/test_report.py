"""Tables and pictures of an experiment."""

import csv
import io
import math
import re

import numpy as np
import pytest

from mfopt import bench, cli
from mfopt.bench import report
from mfopt.bench.cells import Cell, Task
from mfopt.bench.store import Store
from mfopt.errors import InputError


def cell(problem="currin", method="gp-ucb", seed=0, regret=(4.0, 1.0), spent=(1.0, 30.0), code="a", **changed):
    task = Task(problem, method, seed, changed.pop("capital", 100.0), "1", code)
    given = {"label": method, "status": "done", "seconds": 1.0, "limit": None, "queries": (3, 5)} | changed
    return Cell(task, spent=spent, regret=regret, **given)


CELLS = [
    *(cell(seed=seed, regret=(4.0, 1.0 + seed)) for seed in range(4)),
    cell(method="random", regret=(), spent=()),
    cell(method="mf-gp-ucb:beta_factor=0.4", label="wide", regret=(2.0, 0.0), spent=(19.999999999999, 60.0)),
    cell("park", method="gp-ucb", regret=(3.0, 0.0), status="cut"),
    cell("park", method="gp-ucb", seed=1, regret=(), spent=(), status="failed", error="oh"),
]


def test_the_rows_hold_the_statistics_at_each_capital():
    lines = {(r.problem, r.method, r.capital): r for r in report.rows(report.series(CELLS))}
    assert len(lines) == 12
    early, late = lines["currin", "gp-ucb", 20.0], lines["currin", "gp-ucb", 50.0]
    assert (early.median, early.lower, early.upper, early.mean, early.error) == (4, 4, 4, 4, 0)
    assert (late.median, late.lower, late.upper, late.mean, late.runs) == (2.5, 1, 3, 2.5, 4)
    assert late.error == pytest.approx(np.std([1, 2, 3, 4], ddof=1) / 2)
    assert lines["currin", "random", 100.0].median == math.inf
    assert lines["currin", "wide", 20.0].median == 2.0
    assert (lines["park", "gp-ucb", 20.0].cut, lines["park", "gp-ucb", 20.0].failed) == (1, 1)


def test_a_cost_sum_that_rounding_lifted_above_the_capital_counts():
    found = report.series([cell(spent=(1.0, 20.000000000004))])
    assert report.rows(found, [20.0])[0].median == 1.0


def test_capitals_beyond_the_runs_are_left_out():
    lines = report.rows(report.series([cell(capital=50.0), cell("park")]))
    assert [(line.problem, line.capital) for line in lines] == [
        ("currin", 20), ("currin", 50), ("park", 20), ("park", 50), ("park", 100),
    ]  # fmt: skip
    assert "| – | – |" not in report.as_markdown(lines)


def test_of_cells_of_different_code_the_last_counts_and_capitals_are_kept_apart():
    cells = [cell(code="a"), cell(code="b", regret=(4.0, 0.5)), cell(capital=50.0, regret=(9.0, 8.0))]
    found = report.series(cells)
    assert [(one.label, one.cells[0].regret[-1]) for one in found] == [
        ("gp-ucb (Λ = 100)", 0.5),
        ("gp-ucb (Λ = 50)", 8.0),
    ]


def test_series_are_selected_and_ordered():
    found = report.series(CELLS, ["park", "currin"], ["wide", "gp-ucb"])
    assert [(one.problem, one.label) for one in found] == [
        ("park", "gp-ucb"), ("currin", "wide"), ("currin", "gp-ucb"),
    ]  # fmt: skip
    with pytest.raises(InputError, match=r"a method must be one of .*wide.* got 'narrow'"):
        report.series(CELLS, methods=["narrow"])


def test_the_table_reads_in_every_format():
    lines = report.rows(report.series(CELLS))
    table = list(csv.DictReader(io.StringIO(report.as_csv(lines))))
    assert len(table) == len(lines)
    assert float(table[0]["median"]) == 4.0
    text, markdown = report.as_text(lines), report.as_markdown(lines)
    for form in (text, markdown):
        assert "2.5 [1, 3]" in form
        assert "1 (1 cut, 1 failed)" in form
    blocks = markdown.strip().split("\n\n")
    assert [block for block in blocks if block.startswith("**")] == ["**currin**", "**park**"]
    assert len({line.count("|") for line in blocks[1].splitlines()}) == 1


def test_the_command_writes_tables_and_pictures(tmp_path, capsys):
    store = Store(tmp_path)
    for one in CELLS:
        store.append(one)
    store.close()
    assert cli.main(["bench", "report", "--out", str(tmp_path), "--capitals", "20", "50", "--mean"]) == 0
    told = capsys.readouterr()
    assert told.out.startswith("currin\n")
    assert told.err.count("wrote") == 5
    names = {path.name for path in (tmp_path / "report").iterdir()}
    assert names == {"table.md", "table.csv", "curves.csv", "regret.png", "regret.svg"}
    assert (tmp_path / "report" / "regret.png").read_bytes().startswith(b"\x89PNG")
    first = (tmp_path / "report" / "regret.svg").read_bytes()
    assert cli.main(["bench", "report", "--out", str(tmp_path), "--capitals", "20", "50", "--mean"]) == 0
    assert (tmp_path / "report" / "regret.svg").read_bytes() == first


def test_the_command_refuses_an_empty_directory(tmp_path, capsys):
    assert cli.main(["bench", "report", "--out", str(tmp_path)]) == 1
    assert "must hold finished cells" in capsys.readouterr().err


def drawn(cells, mean=False):
    """The panels that plot_regret draws, by title."""
    from mfopt.bench.plots import curves

    kept = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(curves, "save", lambda figure, paths: kept.append(figure))
        curves.plot_regret(report.series(cells), [], mean=mean)
    return {axes.get_title().split(",")[0]: axes for axes in kept[0].axes if axes.lines}, kept[0]


def test_a_regret_of_zero_stands_on_the_lowest_line():
    panels, figure = drawn([cell(regret=(1.0, 1e-3, 0.0), spent=(5.0, 10.0, 20.0))])
    (axes,) = panels.values()
    y = axes.lines[0].get_ydata()
    assert y[-1] == 1e-4
    assert axes.yaxis.get_major_formatter()(1e-4) == "0"
    assert axes.get_ylim()[0] < 1e-4
    figure.canvas.draw()


@pytest.mark.parametrize("least", [1e-3, 1e-5, 1e-6, 1e-7, 1e-8])
def test_the_lowest_line_is_named_however_many_decades_there_are(least):
    panels, figure = drawn([cell(regret=(100.0, least, 0.0), spent=(5.0, 10.0, 20.0))])
    (axes,) = panels.values()
    figure.canvas.draw()
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels.count("0") == 1
    assert labels[0] == "0"


def test_nothing_is_drawn_before_the_first_target_query():
    panels, _ = drawn([cell(regret=(1.0,), spent=(40.0,))])
    (axes,) = panels.values()
    x, y = axes.lines[0].get_data()
    assert np.isnan(y[x < 39.9]).all()
    assert (y[x > 40.1] == 1.0).all()


def test_a_strategy_has_its_colour_in_every_picture_and_no_two_curves_look_alike():
    cells = [cell(method=m) for m in ("gp-ei", "gp-ucb", "gp-ucb:beta_factor=1", "mf-gp-ucb", "gp-ei:xi=1")]
    panels, figure = drawn(cells)
    looks = [(line.get_color(), line.get_linestyle()) for line in panels["currin"].lines]
    assert len(set(looks)) == 5
    alone, _ = drawn([cell(method="gp-ei")])
    assert alone["currin"].lines[0].get_color() == looks[0][0]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [c.task.method for c in cells]


DEUTERANOPE = np.array([[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]])
PROTANOPE = np.array([[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]])


@pytest.mark.parametrize("eye", [np.eye(3), DEUTERANOPE, PROTANOPE], ids=["normal", "deuteranope", "protanope"])
def test_the_colours_of_the_strategies_can_be_told_apart(eye):
    """As simulated by Machado et al. (2009)."""
    from mfopt.bench.plots import STYLES

    rgb = np.array([[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c, _ in STYLES.values()]) / 255
    seen = rgb @ eye.T
    apart = np.linalg.norm(seen[:, None] - seen[None], axis=2) + 9 * np.eye(len(seen))
    assert apart.min() > 0.14


def test_cells_of_a_problem_that_is_not_here_are_reported_by_name(tmp_path):
    found = report.series([cell("somewhere.else:size=3")])
    assert len(report.write(found, tmp_path)) == 5
    assert re.search(r"somewhere\.else", (tmp_path / "table.md").read_text())


def test_what_run_gives_can_be_reported(tmp_path):
    cells = bench.run(["tests.bench.makers.hill"], ["random", "direct"], [0, 1], 6, tmp_path)
    lines = report.rows(report.series(cells), [5.0])
    assert [line.runs for line in lines] == [2, 2]
    assert lines[1].error == 0.0
