"""The figures by name: what they ask to be run, and what they write."""

import csv
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from mfopt import bench, cli, problems
from mfopt.bench import figures, report
from mfopt.bench.cells import Cell, Task
from mfopt.bench.illustration import PANELS, challenge, steps
from mfopt.bench.methods import METHODS, Method
from mfopt.errors import InputError


@pytest.fixture
def asked(monkeypatch):
    """Nothing is run: every cell is made up at once. What was asked for is listed."""
    calls = []

    def run(names, methods, seeds, capital=100.0, *, history=False, **others):
        calls.append((list(names), [m if isinstance(m, str) else m.text for m in methods], list(seeds), capital))
        return [made_up(name, method, seed, capital, history) for seed in seeds for name in names for method in methods]

    monkeypatch.setattr("mfopt.bench.runner.run", run)
    return calls


def made_up(name, method, seed, capital, history):
    read = method if isinstance(method, Method) else Method.parse(method)
    task = Task(problems.canonical(name), read.text, seed, capital, "1", "a")
    kept = None
    if history:
        rng = np.random.default_rng(seed)
        fidelity = [0] * 150 + [1] * 50 + [0] * 100 + [1] * 60 + [2] * 40
        kinds = ["initial design"] * 200 + ["ucb"] * 200
        kept = {"x": rng.random((400, 3)).tolist(), "fidelity": fidelity, "y": [0.0] * 400, "kind": kinds}
    spent, regret = (5.0, 20.0, capital), (3.0, 0.1 * (seed + 1), 0.0)
    return Cell(task, read.label, "done", 1.0, None, (3, 2), spent, regret, history=kept)


def rows(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def unrendered(monkeypatch):
    """Figures are composed but not rendered, which would take most of the time."""

    def save(figure, path, **options):
        path.write_text(f"{len(figure.axes)} panels")

    monkeypatch.setattr("matplotlib.figure.Figure.savefig", save)
    monkeypatch.setattr("mfopt.bench.plots.animate_steps", lambda every, path: path.write_text("moving"))


def test_every_figure_is_drawn_as_png_and_svg_with_its_data(asked, unrendered, tmp_path, monkeypatch):
    monkeypatch.setattr("mfopt.problems.bandwidth.SIZES", (30, 60))
    for name in figures.FIGURES:
        paths = bench.figure(name, tmp_path, seeds=[0, 1])
        assert {path.suffix for path in paths} >= {".png", ".svg", ".csv"}
        for path in paths:
            assert path.parent == tmp_path / "figures"
            assert path.stem == name
            assert path.stat().st_size > 0


def test_the_synthetic_figure_is_of_all_problems_and_methods(asked, unrendered, tmp_path):
    bench.figure("synthetic", tmp_path, seeds=[4])
    assert asked == [(list(problems.SYNTHETIC), list(METHODS), [4], 100.0)]
    table = rows(tmp_path / "figures" / "synthetic.csv")
    assert {row["problem"] for row in table} == set(problems.SYNTHETIC)
    assert {row["method"] for row in table} == set(METHODS)
    assert [row["capital"] for row in table[:3]] == ["1.0", "2.0", "3.0"]


def test_the_cost_study_varies_the_cheap_cost_and_has_gp_ucb_once(asked, unrendered, tmp_path):
    bench.figure("costs", tmp_path, seeds=[0])
    (_, single, _, _), (cheap, methods, _, _) = asked
    costs = [problems.get(name).costs for name in cheap]
    assert costs[0] == [0.01, 1.0]
    assert costs[-1] == [0.5, 1.0]
    assert (methods, single) == (["mf-gp-ucb"], ["gp-ucb"])
    labels = {row["method"] for row in rows(tmp_path / "figures" / "costs.csv")}
    assert labels == {"gp-ucb", "λ₁ = 0.01", "λ₁ = 0.05", "λ₁ = 0.1", "λ₁ = 0.2", "λ₁ = 0.5"}


def test_the_study_of_gamma_fixes_gamma_and_tells_zeta_with_and_without_an_initial_design(asked, unrendered, tmp_path):
    bench.figure("gamma", tmp_path, seeds=[0])
    assert [call[0] for call in asked] == [["hartmann3-two"]] * 2
    for (_, methods, _, _), option in zip(asked, ("", ",initial_capital=0"), strict=True):
        expected = [f"mf-gp-ucb:zetas=known,gammas=[{value}]{option}" for value in (0.03, 0.1, 0.3, 1.0)]
        assert methods == [Method.parse(text).text for text in expected]
    table = rows(tmp_path / "figures" / "gamma.csv")
    assert len({row["problem"] for row in table}) == 2
    assert [row["method"] for row in table[::100]] == ["γ = 0.03", "γ = 0.1", "γ = 0.3", "γ = 1"] * 2


def test_the_histogram_counts_queries_by_value_fidelity_and_origin(asked, unrendered, tmp_path):
    bench.figure("histogram", tmp_path, seeds=[0, 1])
    table = rows(tmp_path / "figures" / "histogram.csv")
    counts = {name: sum(float(row[name]) for row in table) for name in table[0] if "fidelity" in name}
    assert list(counts.values()) == [150, 100, 50, 60, 0, 40]
    assert {row["method"] for row in table} == {"mf-gp-ucb, mean of 2 runs"}
    target = problems.get("hartmann3").functions[-1]
    value = target(np.vstack([np.random.default_rng(seed).random((400, 3))[200:300] for seed in (0, 1)]))
    assert float(table[0]["fidelity 1 chosen"]) == np.sum(value < 0.5) / 2


def test_in_paper_mode_the_methods_are_those_of_the_paper_and_run_as_it_has_them(asked, unrendered, tmp_path):
    bench.figure("synthetic", tmp_path, seeds=[4], mode="paper")
    assert [names for names, *_ in asked] == [[name] for name in (*problems.SYNTHETIC[:-1], "hartmann6:delta=0.1")]
    strategies = ("mf-gp-ucb", "gp-ucb", "gp-ei", "mf-naive", "mf-sko")
    assert set(asked[0][1]) == {f"{name}:mode=paper" for name in strategies} | {"direct"}
    assert "mf-gp-ucb:initial_capital=400.0,mode=paper" in asked[-1][1]
    table = rows(tmp_path / "figures" / "synthetic-paper.csv")
    assert {row["method"] for row in table} == set(figures.SHOWN)


def test_the_default_may_stand_beside_the_paper(asked, unrendered, tmp_path):
    for name in ("synthetic", "costs", "gamma", "histogram", "bad-approximations"):
        asked.clear()
        paths = bench.figure(name, tmp_path, seeds=[0], mode="paper", default=True)
        assert {path.stem for path in paths} == {f"{name}-paper"}
        methods = [method for _, chosen, _, _ in asked for method in chosen if method.startswith("mf-gp-ucb")]
        assert sum("mode=paper" in method for method in methods) == sum(
            "mode=paper" not in method for method in methods
        )


def test_no_two_curves_of_a_comparison_look_alike():
    plan = figures.Plan(lambda *_: [], Path(), [0], "paper", default=True)
    found = [report.Series("currin", one.text, one.label, 100.0, (), 0) for one in plan.shown("currin")]
    styles = figures._choose_styles(found)
    assert len(styles) == len(found)
    assert len(set(styles.values())) == len(found)


def test_the_histogram_of_the_paper_counts_the_methods_own_queries(asked, unrendered, tmp_path):
    bench.figure("histogram", tmp_path, seeds=[0, 1], mode="paper")
    assert asked == [(["hartmann3"], ["mf-gp-ucb:mode=paper"], [0, 1], 100.0)]
    table = rows(tmp_path / "figures" / "histogram-paper.csv")
    counts = {name: sum(float(row[name]) for row in table) for name in table[0] if "fidelity" in name}
    assert list(counts.values()) == [0, 100, 0, 60, 0, 24], "184 in all"


def test_a_figure_of_what_is_finished_runs_nothing(tmp_path):
    bench.run(["currin"], ["gp-ucb:mode=paper"], [0], 12.0, tmp_path, progress=False)
    cells = bench.run(
        ["currin"], ["gp-ucb:mode=paper", "random"], [0, 1], 12.0, tmp_path, progress=False, finished=True
    )
    assert [(cell.task.method, cell.task.seed) for cell in cells] == [("gp-ucb:mode=paper", 0)]


def test_the_good_set_of_the_challenges_has_the_optimum_in_every_mode_and_the_small_set_has_not():
    _, panels = challenge()
    small, large, good, two = (panel.inside[int(np.argmax(panel.functions[1]))] for panel in panels)
    assert (small, large, good, two) == (False, True, True, True)
    assert panels[2].inside.mean() < panels[1].inside.mean()
    assert np.count_nonzero(np.diff(panels[3].inside.astype(int)) == 1) == 2, "two separate sets"


def test_an_unknown_mode_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"a figure's mode must be one of practical, paper, got 'fast'"):
        bench.figure("costs", tmp_path, mode="fast")


def test_an_unknown_figure_lists_the_known_ones(tmp_path):
    with pytest.raises(InputError, match=r"one of synthetic, histogram, .* got 'mona lisa'"):
        bench.figure("mona lisa", tmp_path)


def test_the_command_draws_what_is_named(asked, tmp_path, capsys):
    assert cli.main(["bench", "figure", "gamma", "--out", str(tmp_path / "a"), "--into", str(tmp_path)]) == 0
    told = capsys.readouterr().err
    assert f"wrote {tmp_path / 'gamma.svg'}" in told
    assert (tmp_path / "gamma.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(SystemExit) as ended:
        cli.main(["bench", "figure", "mona-lisa"])
    assert ended.value.code == 2


def test_each_step_of_the_illustration_follows_the_algorithm():
    every = steps()
    assert [step.t for step in every] == list(range(6, 51))
    for step in every:
        at = int(np.argmin(np.abs(step.grid - step.x)))
        assert step.phi[at] == step.phi.max()
        assert step.fidelity == (0 if step.width[at] >= step.gamma else 1)
        for m, known in enumerate(step.queries):
            rows = np.searchsorted(step.grid, known)
            margin = step.bounds[m, rows] - step.functions[m, rows] - (step.zeta if m == 0 else 0.0)
            assert np.abs(margin).max(initial=0.0) < 0.02
    for before, after in pairwise(every):
        counts = [len(after.queries[m]) - len(before.queries[m]) for m in (0, 1)]
        assert counts == [1 - before.fidelity, before.fidelity]
        assert after.queries[before.fidelity][-1] == before.x


def test_the_illustration_tells_the_papers_story():
    """First the cheap fidelity, then the target near the optimum, and exploration far away at the cheap one again."""
    shown = [step for step in steps() if step.t in PANELS]
    assert [step.fidelity for step in shown] == [0, 0, 0, 1, 1, 0]
    last = shown[-1]
    assert not last.good[np.searchsorted(last.grid, last.x)]
    assert last.good[np.searchsorted(last.grid, last.queries[1])].mean() > 0.9
