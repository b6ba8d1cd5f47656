"""Preflight: estimates close to the truth, verdicts that make sense, bad input refused."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

import mfopt
from mfopt import cli
from mfopt.errors import InputError

BOX, COSTS = [(0.0, 1.0)], [1.0, 10.0]


def f(x):
    return float(np.sin(8 * x[0]) + x[0])


def shifted(x):
    return 0.3 * f(x) - 5.0


def noise_of(sigma, function, seed):
    rng = np.random.default_rng(seed)
    return lambda x: function(x) + sigma * rng.standard_normal()


@pytest.mark.parametrize(
    ("low", "verdict"),
    [
        (lambda x: f(x) + 0.05 * float(np.cos(20 * x[0])), "use"),
        (shifted, "correct"),
        (lambda x: -f(x), "correct"),
        (lambda x: float(np.sin(977.0 * x[0])), "drop"),
        (lambda x: 0.0, "drop"),
    ],
    ids=["close", "shifted and scaled", "upside down", "unrelated", "constant"],
)
@pytest.mark.parametrize("seed", range(3))
def test_verdicts_make_sense(low, verdict, seed):
    assert mfopt.preflight([low, f], BOX, COSTS, pairs=15, rng=seed).verdicts == (verdict,)


def test_minimisation_gives_the_verdicts_of_the_mirrored_problem():
    upward = mfopt.preflight([shifted, f], BOX, COSTS, rng=0)
    down = [lambda x: -shifted(x), lambda x: -f(x)]
    downward = mfopt.preflight(down, BOX, COSTS, direction="minimize", rng=0)
    assert downward.verdicts == upward.verdicts
    assert downward.checks[0].share == upward.checks[0].share
    assert downward.checks[0].corrected(down[0])(np.array([0.3])) == pytest.approx(-f([0.3]), abs=1e-6)


def test_the_correction_of_a_shifted_fidelity_is_exact():
    (check,) = mfopt.preflight([shifted, f], BOX, COSTS, rng=0).checks
    assert (check.slope, check.intercept) == (pytest.approx(1 / 0.3), pytest.approx(5 / 0.3))
    assert check.corrected_zeta.high < 1e-6
    assert check.corrected(shifted)(np.array([0.3])) == pytest.approx(f([0.3]))


def test_zeta_is_bracketed_when_the_difference_is_smooth():
    inside = 0
    for seed in range(10):
        low = lambda x: f(x) + 0.5 * float(np.cos(5 * x[0] + 1))  # noqa: E731
        (check,) = mfopt.preflight([low, f], BOX, COSTS, pairs=8, rng=seed).checks
        assert check.zeta.low <= check.zeta.value <= check.zeta.high
        inside += check.zeta.low - 1e-9 <= 0.5 <= check.zeta.high + 1e-3
    assert inside >= 8


def test_noise_is_estimated_and_not_taken_for_a_difference():
    functions = [noise_of(0.1, f, 1), noise_of(0.1, f, 2)]
    found = [mfopt.preflight(functions, BOX, COSTS, pairs=20, rng=seed) for seed in range(10)]
    assert sum(one.checks[0].noise.low <= 0.1 <= one.checks[0].noise.high for one in found) >= 8
    assert np.median([one.target_noise.value for one in found]) == pytest.approx(0.1, rel=0.5)
    assert np.median([one.checks[0].zeta.low for one in found]) < 0.1
    assert {one.verdicts for one in found} == {("use",)}


def test_correlation_and_cost_ratio_are_told():
    (check,) = mfopt.preflight([lambda x: -f(x), f], BOX, COSTS, rng=0).checks
    assert check.correlation.value == pytest.approx(-1.0)
    assert check.cost_ratio == mfopt.preflight([shifted, f], BOX, [2.0, 20.0], rng=1).checks[0].cost_ratio
    assert check.cost_ratio.value == pytest.approx(0.1)


def test_costs_may_be_measured():
    (check,) = mfopt.preflight([shifted, f], BOX, rng=0).checks
    assert 0 < check.cost_ratio.value < np.inf
    assert check.cost_ratio.low < check.cost_ratio.value < check.cost_ratio.high


def history(low, n=12):
    x = np.linspace(0, 1, n)[:, None]
    y = np.array([[g(p) for p in x] for g in (low, f)])
    return SimpleNamespace(
        x=np.vstack([x, x, [[0.123]]]),
        fidelity=np.repeat([0, 1, 1], [n, n, 1]),
        y=np.append(y.ravel(), np.nan),
        cost=np.repeat([1.0, 10.0, 10.0], [n, n, 1]),
    )


def test_a_history_is_judged_by_its_pairs_and_its_own_costs():
    (check,) = mfopt.preflight(history(shifted), BOX, rng=0).checks
    assert (check.pairs, check.verdict, check.noise) == (12, "correct", None)
    assert check.cost_ratio.value == pytest.approx(0.1)


def test_a_runs_history_is_judged_too():
    x = np.random.default_rng(0).random((10, 1))
    optimizer = mfopt.Optimizer(BOX, COSTS, rng=0)
    for m, function in enumerate((shifted, f)):
        optimizer.add(x, m, [function(p) for p in x])
    assert mfopt.preflight(optimizer.history, BOX, COSTS, rng=0).verdicts == ("correct",)
    with pytest.raises(InputError, match="costs must be given where the history does not tell them"):
        mfopt.preflight(optimizer.history, BOX, rng=0)


@pytest.mark.parametrize("name", mfopt.problems.SYNTHETIC)
def test_the_six_synthetic_problems_get_the_verdicts_that_runs_confirm(name):
    problem = mfopt.problems.get(name)
    expected = {"borehole": "correct", "bad-currin": "correct"}.get(name, "use")
    verdicts = [mfopt.preflight(problem.functions, problem.domain, problem.costs, rng=s).verdicts for s in range(5)]
    assert verdicts.count((expected,) * (len(problem.costs) - 1)) >= 4


def test_it_prints_as_a_table_with_advice():
    text = str(mfopt.preflight([shifted, f], BOX, COSTS, rng=0))
    head, row, advice = text.splitlines()
    assert head.split()[:3] == ["fidelity", "pairs", "ζ"]
    assert row.startswith("0 ")
    assert advice.startswith("fidelity 0: use it as 16.67 + 3.333·y: predicted to need ")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mfopt.preflight([f], BOX, COSTS), "at least two callables"),
        (lambda: mfopt.preflight([f, 3], BOX, COSTS), "at least two callables"),
        (lambda: mfopt.preflight([f, f], BOX, [10.0, 1.0]), "strictly increasing"),
        (lambda: mfopt.preflight([f, f], BOX, COSTS, pairs=3), "pairs must be at least 4, got 3"),
        (lambda: mfopt.preflight([f, f], BOX, COSTS, direction="up"), '"maximize" or "minimize"'),
        (lambda: mfopt.preflight(3, BOX, COSTS), "a list of functions or a history"),
        (lambda: mfopt.preflight(history(f, 3), BOX, COSTS), "share at least 4 points with the target, got 3"),
        (lambda: mfopt.preflight([f, lambda x: np.nan], BOX, COSTS), "the value of function 1"),
    ],
)
def test_wrong_input_is_named(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_the_command_judges_a_problem(capsys):
    assert cli.main(["check", "bad-currin", "--pairs", "8"]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[1].split()[:2] == ["0", "8"]
    assert "fidelity 0: use it as" in out


def test_the_command_judges_a_file(tmp_path, capsys):
    told = history(shifted)
    path = tmp_path / "run.csv"
    rows = zip(told.x[:, 0], told.fidelity, told.y, told.cost, strict=True)
    lines = [f"{i},{x},{m},{'' if np.isnan(y) else y},{c},ok" for i, (x, m, y, c) in enumerate(rows)]
    path.write_text("\n".join(["id,x0,fidelity,y,cost,status", *lines]))
    assert cli.main(["check", str(path), "--json"]) == 0
    (check,) = json.loads(capsys.readouterr().out)
    assert (check["verdict"], check["pairs"]) == ("correct", 12)
    assert cli.main(["check", str(path), "--costs", "1", "2", "--minimize"]) == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n", "must have a header with fidelity, y"),
        ("x,fidelity,y\n1,0,one\n", "must hold numbers"),
        ("x,fidelity,y\n1,0,1\n1,1,1\n", "coordinates that vary, got x constant"),
        ("", "must have a header"),
    ],
)
def test_a_bad_file_is_one_line_and_exit_code_1(tmp_path, capsys, text, message):
    path = tmp_path / "bad.csv"
    path.write_text(text)
    assert cli.main(["check", str(path)]) == 1
    assert message in capsys.readouterr().err
    assert cli.main(["check", str(tmp_path / "none.csv")]) == 1


def test_points_with_parameters_that_do_not_count_are_paired():
    space = mfopt.Space({"r": (0, 1), "c": ["a", "b"], "d": mfopt.Real(0, 1, when={"c": "b"})})
    asked = mfopt.Optimizer(space, [1.0, 5.0], strategy="random", rng=0)
    points = [trial.params for trial in asked.ask(8)]
    assert {"d" in point for point in points} == {True, False}
    asked.add(points, 0, [point["r"] + 0.1 for point in points])
    asked.add(points, 1, [point["r"] for point in points])
    assert mfopt.preflight(asked.history, space, [1.0, 5.0], rng=0).checks[0].pairs == 8
    seen = []
    mfopt.preflight([lambda p: seen.append(p) or p["r"], lambda p: p["r"]], space, [1.0, 5.0], pairs=5, rng=0)
    assert {type(point) for point in seen} == {dict}


def test_a_table_may_have_words_and_empty_cells(tmp_path, capsys):
    table = tmp_path / "pairs.csv"
    rows = [
        f"{m},{k / 10 + 0.01 * m},{k},{'oak' if k % 2 else 'elm'},{k if k % 2 else ''}"
        for k in range(8)
        for m in (0, 1)
    ]
    table.write_text("\n".join(["fidelity,y,size,tree,rings", *rows]))
    assert cli.main(["check", str(table), "--costs", "1", "10", "--json"]) == 0
    (check,) = json.loads(capsys.readouterr().out)
    assert check["pairs"] == 8
    table.write_text("fidelity,y,size\nx,1,2\n")
    assert cli.main(["check", str(table)]) == 1
    assert "must hold the number of a fidelity in every row" in capsys.readouterr().err
