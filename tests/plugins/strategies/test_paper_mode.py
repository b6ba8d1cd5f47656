"""Paper mode is the section "Some Implementation Details" and nothing else: its rules, one by one."""

from functools import partial
from itertools import pairwise
from math import log

import nlopt
import numpy as np
import pytest
from scipy.optimize import minimize

import mfopt
from mfopt_plugins.maximisers.nlopt_direct import NloptDirect
from mfopt_plugins.strategies.gp_ucb import GPUCB
from mfopt_plugins.strategies.mf_gp_ucb import MFGPUCB
from mfopt_plugins.strategies.ucb.departures import MODES, NAMES
from mfopt_plugins.surrogates.se import SE
from tests.plugins.runs import FUNCTIONS, SQUARE, high, low, run, trace

COSTS = (1.0, 4.0)
THREE = [lambda x: low(x) + 0.2 * np.sin(3 * x[1]), low, high]


def optimizer(costs=COSTS, strategy="mf-gp-ucb:mode=paper", capital=120.0, rng=0, domain=SQUARE, **options):
    return mfopt.Optimizer(domain, costs, strategy=strategy, capital=capital, rng=rng, **options)


def own(trials):
    """The trials that are iterations of the method."""
    return [trial for trial in trials if trial.reason.kind == "ucb"]


# ---------------------------------------------------------------------------------------------- initialisation


def test_ten_target_costs_are_spent_at_random_half_at_the_first_and_half_at_the_second_fidelity():
    trials = run(optimizer((1.0, 4.0, 20.0), capital=260.0), THREE)
    initial = [trial.fidelity for trial in trials if trial.reason.kind == "initial design"]
    assert initial == [0] * 100 + [1] * 25
    assert [trial.reason.kind for trial in trials[:125]] == ["initial design"] * 125


def test_with_one_fidelity_all_of_it_is_spent_at_the_target():
    trials = run(optimizer(strategy="gp-ucb:mode=paper"), FUNCTIONS, 12)
    assert [trial.reason.kind for trial in trials] == ["initial design"] * 10 + ["ucb"] * 2
    assert {trial.fidelity for trial in trials} == {1}


def test_all_of_it_is_spent_even_where_nothing_is_left_for_the_method():
    trials = run(optimizer(capital=40.0), FUNCTIONS)
    assert [trial.fidelity for trial in trials] == [0] * 20 + [1] * 5
    assert {trial.reason.kind for trial in trials} == {"initial design"}


def test_an_initial_capital_that_is_given_is_spent_instead():
    trials = run(optimizer(strategy=MFGPUCB("paper", initial_capital=24.0)), FUNCTIONS, 20)
    assert [trial.fidelity for trial in trials if trial.reason.kind == "initial design"] == [0] * 12 + [1] * 3


# ---------------------------------------------------------------------------------------------- models


def test_every_fidelity_has_an_isotropic_kernel_of_its_own_learnt_from_its_values_alone():
    opt = optimizer()
    run(opt, FUNCTIONS, 26)
    models = opt.strategy._models.models
    scales = [model.describe()["lengthscale"] for model in models]
    assert all(scale[0] == scale[1] for scale in scales)
    assert scales[0] != scales[1]
    for model, k in zip(models, range(2), strict=True):
        y = opt.history.y[:25][opt.history.fidelity[:25] == k]
        assert model.describe()["mean"] == pytest.approx(y.mean())


def test_the_kernel_is_that_of_the_largest_marginal_likelihood_without_priors():
    rng = np.random.default_rng(4)
    u = rng.random((30, 2))
    y = np.sin(6 * u[:, 0]) + u[:, 1] + 0.2 * rng.standard_normal(30)
    model = SE(isotropic=True, learning="likelihood").model(2)
    model.fit(u, y, rng)
    z = (y - y.mean()) / y.std()
    squares = ((u[:, None] - u[None]) ** 2).sum(axis=2)

    def negative(theta):
        ell, scale, noise = np.exp(theta)
        k = scale * np.exp(-0.5 * squares / ell**2) + noise * np.eye(30)
        return 0.5 * z @ np.linalg.solve(k, z) + 0.5 * np.linalg.slogdet(k)[1]

    best = min((minimize(negative, start) for start in ([-1.0, 0, -3], [0, 1, -2])), key=lambda found: found.fun)
    told = model.describe()
    found = np.array([told["lengthscale"][0], told["scale"] / y.var(), told["noise"] / y.var()])
    assert negative(np.log(found)) == pytest.approx(best.fun, abs=1e-4)


def test_kernels_are_learnt_again_every_25_iterations_and_not_between():
    opt = optimizer(capital=400.0)
    learnt, previous = [], None
    for t in range(1, 62):
        while (trial := opt.ask()).reason.kind != "ucb":
            opt.tell(trial, FUNCTIONS[trial.fidelity](trial.x))
        kernels = [model.describe()["lengthscale"][0] for model in opt.strategy._models.models]
        if kernels != previous:
            learnt.append(t)
        previous = kernels
        opt.tell(trial, FUNCTIONS[trial.fidelity](trial.x))
    assert learnt == [1, 26, 51]


def test_another_rule_does_not_bring_another_kernel():
    for rule in ("gamma", "worth"):
        opt = optimizer(strategy=MFGPUCB("paper", rule=rule))
        assert [type(surrogate) for surrogate in opt.surrogates] == [SE, SE]


# ---------------------------------------------------------------------------------------------- β, φ and x_t


def test_beta_counts_iterations_not_queries_of_the_initial_design():
    betas = [trial.reason.beta for trial in own(run(optimizer(), FUNCTIONS))]
    assert betas == [pytest.approx(0.2 * 2 * log(2 * t)) for t in range(1, len(betas) + 1)]


def test_phi_is_the_least_bound_of_all_fidelities_with_values_or_without():
    trials = run(optimizer((1.0, 4.0, 20.0), capital=260.0), THREE)
    first = own(trials)[0].reason
    assert np.isfinite(first.phi).all(), "the target has no value yet, but a bound"
    for trial in own(trials):
        reason = trial.reason
        assert reason.phi == pytest.approx(np.add(np.add(reason.mean, reason.width), reason.zeta))


def is_centre(x):
    """Whether every coordinate is the middle of a trisected interval, (2 i + 1)/(2 · 3^k): no corner, no ascent."""
    steps = np.array([2 * 3.0**k * x for k in range(21)])
    return bool((np.abs(steps - np.round(steps)) < 1e-4).any(axis=0).all() and ((x > 0) & (x < 1)).all())


def test_the_point_is_what_direct_alone_finds():
    assert all(is_centre(trial.x) for trial in own(run(optimizer(), FUNCTIONS)))


def test_a_noiseless_point_may_be_asked_again():
    trials = run(optimizer((1.0,), capital=40.0), [lambda x: -float(((x - 0.5) ** 2).sum())])
    points = [tuple(trial.x) for trial in own(trials)]
    assert len(set(points)) < len(points)


# ---------------------------------------------------------------------------------------------- ζ and γ


def differing(offset):
    """Two fidelities that differ by a constant."""
    return [lambda x: high(x) - offset, high]


def test_zeta_starts_at_a_hundredth_of_the_range_and_becomes_twice_a_violation():
    opt = optimizer()
    trials = run(opt, differing(0.3))
    initial = [trial for trial in trials if trial.reason.kind == "initial design"]
    values = [[differing(0.3)[m](t.x) for t in initial if t.fidelity == m] for m in range(2)]
    spread = max(np.ptp(y) for y in values)
    assert own(trials)[0].reason.zeta[0] == pytest.approx(0.01 * spread)
    assert {round(trial.reason.zeta[0], 9) for trial in own(trials)} == {round(0.01 * spread, 9), 0.6}


def test_after_a_value_far_from_the_mean_below_the_same_point_is_asked_there_at_once():
    trials = run(optimizer(), differing(0.3))
    checks = [(a, b) for a, b in pairwise(trials) if b.reason.kind == "check of ζ"]
    assert len(checks) == 1, "twice the violation allows every later difference"
    before, check = checks[0]
    assert (before.fidelity, check.fidelity) == (1, 0)
    assert np.array_equal(before.x, check.x)


def test_zeta_is_checked_against_the_mean_before_the_query():
    opt = optimizer()
    trials, wanted = [], False
    while not opt.done:
        trial = opt.ask()
        assert (trial.reason.kind == "check of ζ") == wanted
        y = differing(0.3)[trial.fidelity](trial.x)
        reason = trial.reason
        wanted = reason.kind == "ucb" and trial.fidelity == 1 and abs(y - reason.mean[0]) > reason.zeta[0]
        opt.tell(trial, y)
        trials.append(trial)
    assert any(trial.reason.kind == "check of ζ" for trial in trials)


def test_with_more_fidelities_zeta_is_counted_by_neighbours():
    trials = own(run(optimizer((1.0, 4.0, 20.0), capital=300.0), THREE))
    for trial in trials:
        zeta = trial.reason.zeta
        assert zeta[0] == pytest.approx(2 * zeta[1])
        assert zeta[2] == 0.0


def test_gamma_counts_iterations_whatever_their_fidelity():
    """γ_m is doubled when more than λ_{m+1}/λ_m iterations in a row went no higher than m; then it counts anew."""
    rough = [lambda x, m=m: float(np.sin(25 * x[0]) * np.cos(25 * x[1]) + 0.01 * m) for m in range(3)]
    trials = own(run(optimizer((1.0, 4.0, 20.0), capital=320.0), rough))
    gamma, waited = list(trials[0].reason.gamma[:2]), [0, 0]
    doubled = 0
    for trial in trials:
        assert list(trial.reason.gamma[:2]) == pytest.approx(gamma)
        for m, ratio in enumerate((4.0, 5.0)):
            waited[m] = 0 if trial.fidelity > m else waited[m] + 1
            if waited[m] > ratio:
                gamma[m], waited[m] = 2 * gamma[m], 0
                doubled += 1
    assert doubled > 0


def test_the_fidelity_is_the_first_that_is_uncertain():
    for trial in own(run(optimizer((1.0, 4.0, 20.0), capital=300.0), THREE)):
        reason = trial.reason
        wide = [m for m in range(2) if reason.width[m] >= reason.gamma[m]]
        assert trial.fidelity == (wide[0] if wide else 2)


# ---------------------------------------------------------------------------------------------- reduction and options


@pytest.mark.parametrize("domain", [SQUARE, mfopt.FiniteSet(np.random.default_rng(0).random((40, 2)))])
def test_with_one_fidelity_it_is_gp_ucb(domain):
    traces = [trace(run(optimizer([1.0], one("paper"), 30.0, domain=domain), [high])) for one in (MFGPUCB, GPUCB)]
    assert len(traces[0]) == 30
    assert np.array_equal(*traces)


@pytest.mark.parametrize("name", ["gp-ucb", "gp-ei", "gp-pi", "mf-naive", "mf-sko", "co-kriging"])
def test_the_baselines_have_the_same_mode(name):
    trials = run(optimizer(strategy=f"{name}:mode=paper", capital=80.0), FUNCTIONS)
    counts = [[t.fidelity for t in trials if t.reason.kind == "initial design"].count(m) for m in range(2)]
    several, first = name in ("mf-sko", "co-kriging"), name == "mf-naive"
    assert counts == ([20, 5] if several else [20, 0] if first else [0, 10])
    chosen = [t for t in trials if t.reason.kind not in ("initial design", "decreasing order of the first fidelity")]
    assert all(is_centre(t.x) for t in chosen)


def waves(m):
    return lambda x: float(np.sin(7 * x[0]) * np.cos(5 * x[1]) + 0.15 * (2 - m) * np.sin(9 * x[0]))


def ripples(m):
    return lambda x: float(np.sin(25 * x[0]) * np.cos(25 * x[1]) + 0.01 * m)


def peak(m):
    return lambda x: float(np.exp(-300 * ((x - 0.6 - 0.02 * (1 - m)) ** 2).sum()))


TWO = ([waves(1), waves(2)], 75.0)
ONE = ([waves(2)], 30.0)
# By departure: functions and a capital with which it matters.
SITUATIONS = {
    "distinct": ONE,
    "doubt": ONE,
    "informed": ([waves(m) for m in range(3)], 300.0),
    "by_capital": ([ripples(m) for m in range(3)], 320.0),
    "softened": ([peak(0), peak(1)], 120.0),
    "outliers": ([lambda x: -1e6 if x[0] < 0.3 else high(x)], 30.0),
    "noise_tests": ([lambda x: high(x) + 0.5 * float(np.sin(1e5 * x.sum()))], 40.0),
}
# What is about one process of all fidelities, or about the choice by worth, which needs one.
NEEDING = ("rule", "share", "promoted", "hedged", "muted", "calibrated")


def depart(name, **others):
    """Paper mode with this departure, and the run of it."""
    value = {"isotropic": False, "learning": "map"}.get(name, getattr(MODES["practical"], name))
    strategy = MFGPUCB("paper", **{name: value}, **others)
    functions, capital = SITUATIONS.get(name, TWO)
    costs = (1.0, 4.0, 20.0)[: len(functions)]
    return strategy.departures, trace(run(optimizer(costs, strategy, capital, rng=1), functions))


@pytest.mark.parametrize("name", NAMES)
def test_each_departure_is_switched_on_by_itself(name):
    """It changes the run, and nothing else that an option names; some say nothing before others are switched on."""
    chosen, found = depart(name)
    differing = {other for other in NAMES if getattr(chosen, other) != getattr(MODES["paper"], other)}
    assert differing == {name}
    functions, capital = SITUATIONS.get(name, TWO)
    plain = trace(run(optimizer((1.0, 4.0, 20.0)[: len(functions)], MFGPUCB("paper"), capital, rng=1), functions))
    assert np.array_equal(found, plain) == (name in NEEDING)


def test_the_choice_by_worth_needs_one_process_of_all_fidelities():
    alone, together = (depart("rule", coupled=coupled)[1] for coupled in (False, True))
    assert not np.array_equal(alone, together)
    assert not np.array_equal(depart("calibrated", coupled=True, rule="worth")[1], together)


def test_the_default_with_every_departure_undone_is_the_paper_mode():
    undone = MFGPUCB(initial_capital=40.0, **{name: getattr(MODES["paper"], name) for name in NAMES})
    runs = [trace(run(optimizer(strategy=one), FUNCTIONS)) for one in (MFGPUCB("paper"), undone)]
    assert np.array_equal(*runs)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (partial(MFGPUCB, "print"), 'mode must be "practical", "paper" or "theory", got \'print\''),
        (partial(mfopt.Optimizer, SQUARE, COSTS, strategy="gp-ei:mode=theory"), 'mode must be "practical" or "paper"'),
        (partial(MFGPUCB, learning="guess"), 'learning must be "map" or "likelihood", got \'guess\''),
        (partial(MFGPUCB, learn_every=-1), "learn_every must be a whole number, at least 0, got -1"),
        (partial(SE, isotropic=2), "isotropic must be True or False, got 2"),
        (partial(SE, learning="both"), 'learning must be "map" or "likelihood", got \'both\''),
    ],
)
def test_options_that_make_no_sense_are_refused(make, message):
    with pytest.raises(mfopt.InputError, match=message):
        make()


@pytest.mark.parametrize(("dim", "t", "budget"), [(2, 1, 402), (2, 40, 480), (3, 1500, 3000)])
def test_direct_is_that_of_jones_with_the_documented_budget(dim, t, budget):
    """Point by point NLopt's GN_DIRECT, not its biased variant: 200 d + 2t evaluations, at most 3000."""
    opt = optimizer(domain=mfopt.Box([(0.0, 1.0)] * dim))
    opt.ask()

    def value(u):
        return np.sin(13 * u).sum(axis=-1) - ((u - 0.7) ** 2).sum(axis=-1)

    def looked_at(search):
        seen = []
        search(lambda u: (seen.extend(np.atleast_2d(u).tolist()), value(u))[1])
        return np.array(seen)

    def as_it_is(f):
        direct = nlopt.opt(nlopt.GN_DIRECT, dim)
        direct.set_lower_bounds(np.zeros(dim))
        direct.set_upper_bounds(np.ones(dim))
        direct.set_max_objective(lambda u, gradient: float(f(u)))
        direct.set_maxeval(budget)
        direct.optimize(np.full(dim, 0.5))

    search = opt.strategy._search._maximiser
    ours = looked_at(lambda f: search.maximise(f, opt.domain, np.random.default_rng(0), t))
    assert np.array_equal(ours, looked_at(as_it_is))
    assert len(ours) >= budget


def test_direct_alone_gives_the_best_centre_that_it_saw():
    seen = []

    class Bowl:
        def __call__(self, u):
            seen.extend(np.atleast_2d(u).tolist())
            return -((u - 0.9) ** 2).sum(axis=1)

        def gradient(self, u):
            raise AssertionError("no ascent")

    best = NloptDirect(polished=False, biased=False).maximise(Bowl(), mfopt.Box(SQUARE), np.random.default_rng(0), 1)
    points = np.array(seen)
    assert np.array_equal(best, points[np.argmin(((points - 0.9) ** 2).sum(axis=1))])
    assert len(points) <= 402 + 10, "the documented budget, 200 d + 2t, but for the last round"
