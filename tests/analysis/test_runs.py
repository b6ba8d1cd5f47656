"""Report: where the queries of a run went, and whether the ζ given held."""

import numpy as np
import pytest

import mfopt
from mfopt.analysis.runs import report
from mfopt.errors import InputError
from mfopt.loop import run
from mfopt_plugins.strategies.mf_gp_ucb import MFGPUCB
from mfopt_plugins.surrogates.se import SE

COSTS = [1.0, 10.0]


def target(x):
    return float(np.sin(6 * x[0]))


def cheap(x):
    return target(x) + 0.1 * float(np.cos(20 * x[0]))


def told(rows, zeta=0.1, direction="maximize", noise=None):
    """An optimiser that was told these (x, fidelity, y)."""
    fidelities = [mfopt.Fidelity("cheap", 1.0, zeta, noise), mfopt.Fidelity("target", 10.0, None, noise)]
    optimizer = mfopt.Optimizer([(0.0, 1.0)], fidelities=fidelities, direction=direction, strategy="gp-ucb", rng=0)
    for x, m, y in rows:
        optimizer.add([x], m, y, cost=COSTS[m])
    return optimizer


def grid(sign=1.0):
    points = np.linspace(0, 1, 15)
    rows = [(x, 0, sign * cheap([x])) for x in points]
    return rows + [(x, 1, sign * target([x])) for x in (0.2, 0.25, 0.3, 0.9)]


def test_queries_are_sorted_by_the_sets_of_known_functions():
    found = report(told(grid()), [cheap, target])
    assert found.queries == (15, 4)
    assert found.spent == (15.0, 40.0)
    assert found.zetas == (0.1,)
    assert found.gammas == pytest.approx([0.1 * np.sqrt(0.1)])
    limit = 1.0 - 0.1 - 3 * found.gammas[0]
    inside = sum(cheap([x]) >= limit for x in np.linspace(0, 1, 15))
    assert found.sets.tolist() == [[15 - inside, 1], [inside, 3]]
    assert found.target_inside == 0.75
    assert sum(found.volumes) == pytest.approx(1.0)
    assert found.volumes[1] == pytest.approx(np.mean([cheap([x]) >= limit for x in np.linspace(0, 1, 999)]), abs=0.03)


def test_the_sets_are_estimated_from_the_posterior_when_the_functions_are_unknown():
    known, estimated = report(told(grid()), [cheap, target]), report(told(grid()))
    assert estimated.estimated
    assert not known.estimated
    assert np.abs(estimated.sets - known.sets).sum() <= 2
    assert estimated.volumes == pytest.approx(known.volumes, abs=0.05)


def test_without_a_given_zeta_it_is_taken_from_the_differences_seen():
    rows = [(x, m, y + 0.4 * (m == 0)) for x, m, y in grid()]
    found = report(told(rows, zeta=None))
    seen = max(abs(cheap([x]) + 0.4 - target([x])) for x in (0.2, 0.25, 0.3, 0.9))
    assert found.zetas[0] == pytest.approx(seen, abs=0.02)
    assert report(told(rows, zeta=None), zetas=[0.2], gammas=[0.05]).gammas == (0.05,)


def test_minimisation_mirrors_everything():
    up = report(told(grid()), [cheap, target])
    down = report(told(grid(-1.0), direction="minimize"), [lambda x: -cheap(x), lambda x: -target(x)])
    assert down.sets.tolist() == up.sets.tolist()
    assert down.volumes == up.volumes
    assert down.best == -up.best
    assert report(told(grid(-1.0), direction="minimize")).sets.tolist() == report(told(grid())).sets.tolist()


def test_a_larger_known_optimum_excludes_more():
    assert report(told(grid()), [cheap, target], optimum=2.0).sets[1].tolist() == [0, 0]


def test_a_violation_of_the_zetas_given_is_told_with_its_value():
    rows = [(0.5, 0, 1.0), (0.1, 0, 0.0), (0.5, 1, 1.05), (0.1, 1, 0.7), (0.3, 1, 0.2)]
    found = report(told(rows))
    assert found.void_since == 4
    assert [v.n for v in found.violations] == [4]
    text = str(found)
    assert "zetas: 1 pairs of values contradict those given, the first at value 4" in text
    assert "fidelities 0 and 1 differ by 0.7 at [0.1]" in text


def test_a_contract_that_holds_is_said_to_hold_and_noise_does_not_break_it():
    rows = [(0.5, 0, 1.0), (0.5, 1, 1.05)]
    assert report(told(rows)).void_since is None
    assert "contradict" not in str(report(told(rows)))
    noisy = [(0.5, 0, 1.0), (0.5, 1, 1.3)]
    assert report(told(noisy, noise=0.0)).void_since == 2
    assert report(told(noisy, noise=0.01)).void_since is None


@pytest.mark.parametrize("mode", ["practical", "paper", "theory"])
def test_a_guarantee_is_spoken_of_in_theory_mode_only(mode):
    given = {"zetas": [0.1], "initial_capital": 0.0} | ({"xi": 1.0} if mode == "theory" else {})
    points = mfopt.FiniteSet(np.linspace(0, 1, 20)[:, None])
    surrogate = SE(lengthscale=0.3, scale=1.0, mean=0.0)
    optimizer = mfopt.Optimizer(
        points, [1.0, 5.0], noise=0.01, strategy=MFGPUCB(mode, **given), surrogate=surrogate, rng=0
    )
    optimizer.tell(optimizer.ask(), 0.0)
    text = str(report(optimizer))
    assert ("guarantee" in text) == (mode == "theory")
    if mode == "theory":
        assert text.splitlines()[-1] == "guarantee of Theorem (discreteThm): no value contradicts the zetas given"


GIVEN = SE(lengthscale=0.3, scale=1.0, mean=0.0)
FINITE = mfopt.FiniteSet(np.linspace(0, 1, 20)[:, None])
MIXED = mfopt.Space({"x": (0.0, 1.0), "k": mfopt.Integer(1, 3)})
LONG = mfopt.Space({"x": (0.0, 1.0), "k": mfopt.Integer(1, 1_000_000)})  # no list of its values is kept
RING = mfopt.Box([(0.0, 1.0)] * 2, constraints=lambda x: ((x - 0.5) ** 2).sum(axis=1) > 0.05)
NOOK = mfopt.Box([(0.0, 1.0)] * 2, constraints=lambda x: x.max(axis=1) < 0.9999)


@pytest.mark.parametrize(
    ("domain", "surrogate", "noise", "options", "theorem"),
    [
        (FINITE, GIVEN, 0.01, {}, "Theorem (discreteThm)"),
        ([(0.0, 1.0)], GIVEN, 0.01, {}, "Theorem (compactThm)"),
        (FINITE, SE(lengthscale=0.3, scale=1.0), 0.01, {}, None),
        (FINITE, "se", 0.01, {}, None),
        (FINITE, "ar1", 0.01, {}, None),
        (FINITE, GIVEN, None, {}, None),
        (FINITE, GIVEN, 0.01, {"initial_capital": 20.0}, None),
        (MIXED, GIVEN, 0.01, {}, None),
        (LONG, GIVEN, 0.01, {}, None),
        (RING, GIVEN, 0.01, {}, None),
        (NOOK, GIVEN, 0.01, {}, None),
    ],
    ids=[
        *("finite", "box", "mean learnt", "all learnt", "says nothing", "noise learnt", "initial design"),
        *("mixed", "many integers", "not convex", "not all of the cube"),
    ],
)
def test_a_guarantee_needs_what_the_theorems_assume(domain, surrogate, noise, options, theorem):
    method = MFGPUCB("theory", zetas=[0.1], xi=1.0, a=1.0, b=1.0, **options)
    optimizer = mfopt.Optimizer(domain, [1.0, 5.0], noise=noise, strategy=method, surrogate=surrogate, rng=0)
    optimizer.tell(optimizer.ask(), 0.0)
    assert report(optimizer).theorem == theorem
    assert ("guarantee" in str(report(optimizer))) == (theorem is not None)


def in_theory_mode(**options):
    method = MFGPUCB("theory", zetas=[0.1], xi=1.0, **options)
    return mfopt.Optimizer(FINITE, [1.0, 5.0], noise=1e-6, strategy=method, surrogate=GIVEN, capital=90.0, rng=0)


def add_a_value(optimizer):
    optimizer.add(FINITE.points[3], 1, 0.3)


def fail(optimizer):
    optimizer.tell(optimizer.ask(), status="failed")


def ask_two_at_once(optimizer):
    for trial in [optimizer.ask(), optimizer.ask()]:
        optimizer.tell(trial, 0.0)


def pay_more(optimizer):
    trial = optimizer.ask()
    optimizer.tell(trial, 0.0, cost=1.5 * COSTS[trial.fidelity])


@pytest.mark.parametrize("stray", [add_a_value, fail, ask_two_at_once, pay_more])
def test_a_guarantee_is_about_runs_of_which_every_query_is_the_algorithms_own(stray):
    optimizer = in_theory_mode()
    optimizer.tell(optimizer.ask(), 0.0)
    assert report(optimizer).theorem == "Theorem (discreteThm)"
    stray(optimizer)
    for _ in range(3):
        optimizer.tell(optimizer.ask(), 0.0)
    assert report(optimizer).theorem is None
    assert "guarantee" not in str(report(optimizer))


def test_values_of_fidelities_that_a_method_does_not_use_take_no_guarantee_away():
    optimizer = mfopt.Optimizer(FINITE, [1.0, 5.0], noise=0.01, strategy="gp-ucb:mode=theory", surrogate=GIVEN, rng=0)
    optimizer.add(FINITE.points[3], 0, 0.3)
    optimizer.tell(optimizer.ask(), 0.0)
    assert report(optimizer).theorem == "Theorem (gpucb)"


def test_zetas_given_to_the_strategy_are_held_against_the_values_too():
    optimizer = in_theory_mode(gammas=[2.0])
    with pytest.warns(mfopt.ZetaWarning, match="differ by at most 0.1 at a point"):
        run(optimizer, [target, lambda x: target(x) + 0.5], progress=False)
    found = report(optimizer)
    first = found.void_since
    assert first is not None
    assert found.violations[0].allowed == 0.1
    assert str(found).splitlines()[-1].endswith(f"void since value {first}, which contradicts the zetas given")
    assert (found.zetas, found.gammas) == ((0.1,), (2.0,))
    assert report(optimizer, zetas=[0.3], gammas=[0.2]).gammas == (0.2,)


def test_a_run_with_values_of_one_fidelity_only_says_nothing_about_sets():
    found = report(told([(0.5, 0, 1.0), (0.2, 0, 0.3)]))
    assert found.sets is None
    assert found.best is None
    assert np.isnan(found.target_inside)
    assert "best at the target: none" in str(found)
    assert "good set" not in str(found)


def test_one_fidelity_makes_no_sets_and_an_empty_run_is_told_too():
    optimizer = mfopt.Optimizer([(0.0, 1.0)], costs=[5.0], rng=0)
    assert report(optimizer).queries == (0,)
    optimizer.add([0.5], 0, 1.0)
    assert report(optimizer).sets is None
    assert str(report(optimizer)).splitlines()[:2] == ["best at the target: 1", "fidelity 0: 1 queries at 5, 0 spent"]


def test_most_target_queries_of_runs_are_in_the_last_set():
    problem = mfopt.problems.get("hartmann3")
    fidelities = [
        mfopt.Fidelity(f"f{m}", c, z) for m, (c, z) in enumerate(zip(problem.costs, problem.zetas, strict=True))
    ]
    sets = np.zeros((3, 3), dtype=int)
    for seed in range(3):
        optimizer = mfopt.Optimizer(problem.domain, fidelities=fidelities, capital=800.0, rng=seed)
        run(optimizer, problem.functions, progress=False)
        found = report(optimizer, problem.functions, optimum=problem.optimum)
        assert found.sets.sum() == len(optimizer.history)
        assert found.volumes[2] < 0.05
        sets += found.sets
    assert sets[2, 2] > 0.5 * sets[:, 2].sum()
    lines = str(found).splitlines()
    assert "guarantee" not in str(found), "the default has none, whatever ζ was given"
    assert [line.split()[0] for line in lines[6:9]] == ["H(1)", "H(2)", "H(3)"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([cheap],), "functions, one per fidelity, must have 2 entries"),
        (([cheap, 3],), "functions must be callable"),
    ],
)
def test_wrong_functions_are_named(arguments, message):
    with pytest.raises(InputError, match=message):
        report(told(grid()), *arguments)


def test_a_noisy_run_tells_its_recommendation():
    rng = np.random.default_rng(0)
    for sd in (0.5, 0.0):
        opt = mfopt.Optimizer([(0.0, 1.0)], [1.0], strategy="gp-ei", noise=sd**2, capital=15.0, rng=1)
        while not opt.done:
            trial = opt.ask()
            opt.tell(trial, float(np.sin(5 * trial.x[0])) + sd * rng.standard_normal())
        found = report(opt)
        assert (found.recommended is not None) == (sd > 0)
        assert ("recommended: x0 = " in str(found)) == (sd > 0)


@pytest.mark.parametrize("direction", ["maximize", "minimize"])
def test_penalties_are_no_differences_between_fidelities(direction):
    sign = 1.0 if direction == "maximize" else -1.0

    def penalised(x):
        return sign * (-1e18 if x[0] > 0.7 else 1.0 - (x[0] - 0.4) ** 2)

    opt = mfopt.Optimizer([(0, 1)], [1.0, 5.0], capital=60.0, rng=0, direction=direction)
    mfopt.loop.run(opt, [penalised, lambda x: penalised(x) + 0.1])
    assert (np.abs(opt.history.y) == 1e18).sum() > 2
    found = report(opt)
    assert found.zetas[0] < 1.0
    assert sum(found.queries) == len(opt.history)
