"""`mfopt plot`, and the picture of a study."""

import sys

import numpy as np
import pytest

import mfopt
from mfopt import cli
from mfopt.plots.belief import rebuild_belief
from mfopt.plots.run import draw_progress, plot_run
from mfopt.plots.study import plot_study

pytest.importorskip("matplotlib")


def low(x):
    return float(1 - np.square(x - 0.4).sum())


def high(x):
    return float(1 - np.square(x - 0.5).sum())


def study(path, domain, costs=(1.0, 5.0), capital=60.0, name="wing", functions=(low, high), **options):
    opt = mfopt.Optimizer(domain, list(costs), capital=capital, rng=0, storage=str(path), study=name, **options)
    mfopt.loop.run(opt, functions[-len(costs) :], on_error="record")
    opt.close()


def written(path):
    """The texts of an SVG picture, which matplotlib leaves in comments."""
    return path.read_text(encoding="utf-8")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_study_is_drawn(folder):
    box = mfopt.Box([(0, 1), (1e-2, 1)], names=["span", "chord"], log=[False, True])
    study("study.db", box, capital=40.0, strategy="mf-gp-ucb:rule=gamma")
    assert cli.main(["plot", "study.db", "--study", "wing", "--out", "run.svg"]) == 0
    text = written(folder / "run.svg")
    for label in (
        "best observed value",
        "Queries per fidelity",
        "ζ, fidelity 0",
        "γ, fidelity 0",
        "upper bound φ, fidelity 0",
        "upper bound φ, fidelity 1",
        "μ at the target",
        "Through the best point, along chord",
        "deviation σ at the target",
    ):
        assert f"<!-- {label} -->" in text


def test_a_study_that_minimises_has_lower_bounds(folder, capsys):
    study("study.db", [(0, 1)], capital=40.0, direction="minimize")
    assert cli.main(["plot", "study.db"]) == 0
    assert capsys.readouterr().out == "picture  wing.png\n"
    assert (folder / "wing.png").read_bytes().startswith(b"\x89PNG")
    assert cli.main(["plot", "study.db", "--out", "run.svg"]) == 0
    text = written(folder / "run.svg")
    assert "<!-- lower bound φ, fidelity 1 -->" in text
    assert "upper bound" not in text


def test_the_coordinates_can_be_chosen(folder, capsys):
    study("study.db", [(0, 1)] * 5, capital=12.0, strategy="random")
    assert cli.main(["plot", "study.db", "--out", "run.svg", "--dims", "x4", "x1"]) == 0
    text = written(folder / "run.svg")
    assert "along x4" in text
    assert "along x1" in text
    assert "along x0" not in text
    assert cli.main(["plot", "study.db", "--dims", "x9"]) == 1
    assert "coordinates must be among x0, x1, x2, x3, x4, got x9" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("domain", "options"),
    [
        (mfopt.FiniteSet(np.random.default_rng(0).random((60, 2))), {}),
        (mfopt.FiniteSet(np.linspace(0, 1, 40)[:, None]), {"costs": [1.0], "capital": 10.0}),
        (mfopt.Box([(0, 1)] * 2, constraints=lambda x: x.sum(axis=1) <= 0.8), {"strategy": "random"}),
        ([(0, 1)], {"functions": (low, lambda x: np.nan)}),
    ],
    ids=["finite", "finite line", "constrained", "no target value"],
)
def test_other_studies_can_be_drawn(folder, domain, options):
    opt = mfopt.Optimizer(domain, options.pop("costs", [1.0, 5.0]), capital=options.pop("capital", 40.0), rng=0,
                          strategy=options.pop("strategy", "mf-gp-ucb"))  # fmt: skip
    reasons = {}
    functions = options.pop("functions", (low, high))[-len(opt.costs) :]
    mfopt.loop.run(opt, functions, on_error="record", callback=lambda o, t, y: reasons.update({t.id: t.reason}))
    plot_study(opt, "run.png", reasons)
    assert (folder / "run.png").stat().st_size > 10_000


def test_what_cannot_be_drawn_is_said(folder, capsys, monkeypatch):
    mfopt.Optimizer([(0, 1)], [1.0], capital=4.0, storage="study.db", study="empty").close()
    assert cli.main(["plot", "study.db"]) == 1
    assert "a study must have values to be drawn, got none" in capsys.readouterr().err
    study("other.db", [(0, 1)], capital=20.0)
    assert cli.main(["plot", "other.db", "--out", "run.xyz"]) == 1
    said = capsys.readouterr().err
    assert "a picture must be a file of one of these kinds" in said
    assert "got run.xyz" in said
    assert cli.main(["plot", "none.db"]) == 1
    assert "got nothing" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert cli.main(["plot", "other.db"]) == 1
    assert capsys.readouterr().err == "mfopt: error: pictures need matplotlib: pip install 'mfopt[plot]'\n"


@pytest.mark.parametrize("columns", [1, 2, 3])
def test_a_run_on_a_finite_set_is_drawn(tmp_path, columns):
    opt = mfopt.Optimizer(mfopt.FiniteSet(np.random.default_rng(0).random((30, columns))), [1.0, 5.0], rng=0)
    for _ in range(12):
        trial = opt.ask()
        opt.tell(trial, high(trial.x))
    plot_run(opt, tmp_path / "run.svg", optimum=1.0)
    assert ("Where it queried" if columns == 2 else "Values") in written(tmp_path / "run.svg")


MIXED = {
    "rate": mfopt.Real(1e-4, 1e-1, log=True),
    "depth": mfopt.Integer(2, 6),
    "size": mfopt.Ordinal([32, 64, 128]),
    "kind": mfopt.Categorical(["tree", "dart", "linear"]),
    "drop": mfopt.Real(0, 1, when={"kind": "dart"}),
}


@pytest.mark.parametrize("dims", [None, ["kind", "drop"], ["size", "depth"], ["drop", "rate"]])
def test_parameters_of_every_kind_are_drawn_with_their_labels(folder, dims):
    opt = mfopt.Optimizer(MIXED, [1.0, 5.0], capital=60.0, strategy="random", rng=0)
    mfopt.loop.run(opt, [lambda p: p["depth"] + p["size"] / 32.0 + p.get("drop", 0.0)] * 2)
    plot_study(opt, "run.svg", {}, dims)
    text = written(folder / "run.svg")
    expected = {"kind": ["<!-- tree -->", "<!-- dart -->"], "size": ["<!-- 64 -->"], "drop": ["along drop"]}
    for name in dims or []:
        assert all(label in text for label in expected.get(name, [f"along {name}"]))
    assert "<!-- nan -->" not in text


def test_a_table_with_words_is_drawn(folder):
    rng = np.random.default_rng(0)
    rows = [
        [int(n), float(h), str(c)]
        for n, h, c in zip(rng.integers(0, 9, 40), rng.random(40), rng.choice(["oak", "elm"], 40), strict=True)
    ]
    opt = mfopt.Optimizer(
        mfopt.FiniteSet(rows, names=["n", "h", "tree"]), [1.0], capital=12.0, strategy="random", rng=0
    )
    mfopt.loop.run(opt, [lambda p: p["n"] + (p["tree"] == "oak")])
    plot_study(opt, "run.svg", {}, ["tree", "n"])
    text = written(folder / "run.svg")
    assert "<!-- oak -->" in text
    assert "<!-- elm -->" in text


def test_two_parameters_that_are_no_numbers_are_an_area(tmp_path):
    opt = mfopt.Optimizer({"n": mfopt.Integer(1, 9), "c": ["one", "two"]}, [1.0], capital=6.0, strategy="random", rng=0)
    mfopt.loop.run(opt, [lambda p: p["n"]])
    plot_run(opt, tmp_path / "run.svg")
    text = written(tmp_path / "run.svg")
    assert "Where it queried" in text
    assert "<!-- two -->" in text


def test_a_noisy_run_shows_its_recommendation():
    from matplotlib.figure import Figure

    rng = np.random.default_rng(0)
    opt = mfopt.Optimizer([(0.0, 1.0)] * 2, [1.0], strategy="random", noise=0.25, capital=12.0, rng=1)
    while not opt.done:
        opt.tell(opt.ask(), float(rng.standard_normal()))
    axes = Figure().subplots()
    draw_progress(axes, opt, None)
    assert any(text.get_text().startswith("recommended: ") for text in axes.get_legend().get_texts())


@pytest.mark.parametrize(
    ("values", "drawn"),
    [
        ([0.2, 0.5, 0.9], "simple regret S(Λ)"),
        ([0.2, 1.3, 0.9], "value at the target"),  # no optimum, or noisy: a regret of nothing would be a lie
        ([0.2, 0.5, 0.6, 0.9], "value at the target"),  # two values of one point
    ],
    ids=["f", "beyond the optimum", "noisy"],
)
def test_a_regret_is_drawn_only_of_values_that_may_be_f(values, drawn):
    from matplotlib.figure import Figure

    opt = mfopt.Optimizer([(0.0, 1.0)], [1.0], strategy="random", rng=0)
    for x, y in zip((0.1, 0.5, 0.5 if len(values) == 4 else 0.7, 0.9), values, strict=False):
        opt.add([x], 0, y, cost=1.0)
    axes = Figure().subplots()
    draw_progress(axes, opt, 1.0)
    assert axes.get_ylabel() == drawn


def test_the_recommendation_of_a_noisy_study_is_not_cut_off(tmp_path, monkeypatch):
    from matplotlib.figure import Figure

    drawn = []
    monkeypatch.setattr(Figure, "savefig", lambda figure, *_, **__: drawn.append(figure))
    opt = mfopt.Optimizer([(0.0, 1.0)] * 2, [1.0], strategy="random", noise=0.25, capital=12.0, rng=1)
    while not opt.done:
        opt.tell(opt.ask(), float(np.sin(len(opt.history))))
    plot_study(opt, tmp_path / "study.png", {})
    assert drawn[0].subfigs[0].axes[0].get_xlim()[1] > 12.0


def test_failed_trials_are_drawn(folder):
    def crashes(x):
        if x[0] > 0.6:
            raise RuntimeError("no mesh")
        return high(x)

    study("study.db", [(0, 1), (0, 1)], costs=(1.0,), capital=20.0, functions=(crashes,))
    opt = mfopt.Study.open("study.db", "wing")
    assert (opt.history.status == "failed").any()
    plot_run(opt, "run.svg")
    assert "<!-- failed -->" in written(folder / "run.svg")
    plot_study(opt, "study.svg", opt.reasons())
    assert "<!-- failed -->" in written(folder / "study.svg")


def draw_discrete(folder, monkeypatch):
    """The figure of a run on a space that is listed, with a failure for one category."""
    from matplotlib.figure import Figure

    drawn = []
    monkeypatch.setattr(Figure, "savefig", lambda figure, *_, **__: drawn.append(figure))
    opt = mfopt.Optimizer({"kind": ["a", "b", "c"], "n": mfopt.Integer(1, 4)}, [1.0], capital=9.0, rng=0)
    while not opt.done:
        trial = opt.ask()
        works = trial.params["kind"] != "b"
        opt.tell(trial, float(trial.params["n"])) if works else opt.tell(trial, status="failed")
    plot_study(opt, folder / "study.png", {})
    return drawn[0]


def test_a_space_that_is_listed_is_cut_through_the_best_point_like_any_other(folder, monkeypatch):
    from matplotlib.collections import QuadMesh

    figure = draw_discrete(folder, monkeypatch)
    titles = [axes.get_title() for axes in figure.subfigs[1].axes]
    assert titles == ["Through the best point, along kind", "Through the best point, along n"]
    areas = [axes for axes in figure.subfigs[2].axes if axes.get_title()]
    assert all(any(isinstance(drawn, QuadMesh) for drawn in axes.collections) for axes in areas)


def test_failures_stand_out_from_the_colours_of_a_map(folder, monkeypatch):
    panel = draw_discrete(folder, monkeypatch).subfigs[2].axes[0]
    (crosses,) = [drawn for drawn in panel.collections if drawn.get_label() == "failed"]
    assert crosses.get_path_effects()


@pytest.mark.parametrize(("costs", "shown"), [((None, None), "cost ≈ 4"), ((1.0, 5.0), "cost ≈ 4")])
def test_costs_that_were_learnt_are_those_of_the_legend(folder, costs, shown):
    functions = [lambda x: {"value": low(x), "cost": 0.8}, lambda x: {"value": high(x), "cost": 4.0}]
    result = mfopt.Optimizer([(0, 1)], list(costs), capital=40.0, rng=0, storage="study.db", study="wing")
    mfopt.loop.run(result, functions, cost="reported")
    result.close()
    assert cli.main(["plot", "study.db", "--out", "study.svg"]) == 0
    plot_run(mfopt.Study.open("study.db", "wing"), "run.svg")
    for picture in ("study.svg", "run.svg"):
        assert f"fidelity 1 ({shown})" in written(folder / picture)


def test_costs_that_nobody_told_are_shown_as_they_were_given(folder):
    study("study.db", [(0, 1)], costs=(1.5, 1234.5), capital=2e4, strategy="random")
    plot_run(mfopt.Study.open("study.db", "wing"), "run.svg")
    assert "fidelity 1 (cost 1234.5)" in written(folder / "run.svg")


def test_penalties_do_not_widen_what_is_drawn():
    def penalised(x):
        return -1e18 if x[0] > 0.7 else low(x)

    opt = mfopt.Optimizer([(0, 1)], [1.0, 5.0], capital=60.0, rng=0)
    mfopt.loop.run(opt, [penalised, penalised])
    assert (opt.history.y == -1e18).sum() > 2
    mean, sigma, _ = rebuild_belief(opt, []).at(np.linspace(0.0, 1.0, 50)[:, None])
    assert np.abs(mean).max() < 10
    assert sigma.max() < 10


def test_penalties_are_drawn_as_failed(folder):
    study("study.db", mfopt.Box([(0, 1)]), functions=[lambda x: -1e18 if x[0] > 0.7 else low(x)] * 2)
    assert cli.main(["plot", "study.db", "--out", "run.svg"]) == 0
    text = written(folder / "run.svg")
    assert "<!-- failed -->" in text
    assert "<!-- 1e18 -->" not in text  # the unit of an axis
