"""What the theorems promise, measured on samples of the generative process with theory settings; fixed seeds."""

import numpy as np
import pytest

from mfopt import regret, theory
from mfopt_plugins.surrogates.se import SE
from tests.theory import gp_runs

SEEDS = range(8)


@pytest.fixture(scope="session")  # expensive to make
def lines():
    """Problems on a line with the runs of MF-GP-UCB on them."""
    problems = [gp_runs.line(zeta, seed) for seed in SEEDS for zeta in (0.3, 1.0)]
    return [(problem, gp_runs.run(problem, 400.0, seed)) for seed, problem in enumerate(problems)]


@pytest.fixture(scope="session")  # expensive to make
def squares():
    """By ζ: problems on a square with the runs of both methods on them."""
    return {
        zeta: [
            (problem, gp_runs.run(problem, 2000.0, seed), gp_runs.run(problem, 2000.0, seed, "gp-ucb"))
            for seed, problem in ((seed, gp_runs.square(zeta, seed)) for seed in SEEDS)
        ]
        for zeta in (0.2, 4.0)
    }


def violations(problem, run, factor=1.0):
    """How often |f⁽ᵐ⁾(x) − μ_{t−1}(x)| > (factor·β_t)^½ σ_{t−1}(x), over all t, m and x."""
    models = [
        SE(lengthscale=gp_runs.LENGTHSCALE, scale=1.0, mean=0.0).model(problem.points.shape[1], gp_runs.NOISE)
        for _ in problem.costs
    ]
    count = 0
    for t, (row, m, y) in enumerate(zip(run.rows, run.fidelity, run.y, strict=True), start=1):
        for values, model in zip(problem.values, models, strict=True):
            mean, var = model.posterior(problem.points)
            count += int((np.abs(values - mean) > np.sqrt(factor * problem.beta(t) * var)).sum())
        models[m].extend(problem.points[row : row + 1], np.array([y]))
    return count


def test_the_confidence_bound_holds_at_least_as_often_as_promised(lines):
    broken = [violations(problem, run) > 0 for problem, run in lines]
    assert np.mean(broken) <= gp_runs.DELTA / 2  # Lemma (discreteUCB)


def test_the_confidence_bound_is_not_so_wide_that_it_must_hold(lines):
    assert all(violations(problem, run, 0.05) > 0 for problem, run in lines[:4])


def test_measured_regret_stays_below_the_bound(lines):
    checked = 0
    for problem, run in lines:
        optimum = problem.values[-1].max()
        thresholds = theory.discrete_thresholds(
            problem.labels, problem.gammas, problem.costs, gp_runs.NOISE, problem.beta
        )
        inside = problem.points[problem.labels == 1]
        capital, simple = run.regret(optimum)
        for spent in np.linspace(capital[0], capital[-1], 10):
            information = theory.information_bound(gp_runs.KERNEL, inside, max(1, int(spent // 10)), gp_runs.NOISE)
            bound = theory.mf_bound(spent, problem.costs, thresholds, problem.beta, information, gp_runs.NOISE)
            checked += np.isfinite(bound)
            assert regret.at_capital((capital, simple), np.array([spent]))[0] <= bound
    assert checked > 20  # capital beyond Λ_1, where the theorem says something


@pytest.mark.parametrize("n", [5, 20, 40])
def test_gp_ucb_stays_below_its_own_bound(squares, n):
    points = squares[0.2][0][0].points
    information = theory.information_bound(gp_runs.KERNEL, points, n, gp_runs.NOISE)
    beta = theory.beta_gpucb_discrete(n, len(points), gp_runs.DELTA)
    bound = theory.gpucb_bound(n, beta, information, gp_runs.NOISE)
    measured = [run.regret(problem.values[-1].max())[1][n - 1] for problem, _, run in squares[0.2]]
    assert max(measured) <= bound < np.inf


def test_target_queries_outside_the_last_set_grow_sublinearly(squares, lines):
    outside = inside = 0
    for problem, run in [*lines, *(pair[:2] for pair in squares[0.2])]:
        counts = theory.queries_inside(run.exact, problem.labels[run.rows] != 1, 2)[:, 1]
        half = np.searchsorted(np.cumsum(run.exact.cost), run.exact.cost.sum() / 2)
        # Lemma (TmnxBounds): at most one query above m for each point of H⁽ᵐ⁾, all early.
        assert counts[-1] - counts[half] <= max(1, counts[half])
        outside += counts[-1]
        inside += (run.fidelity == 1).sum() - counts[-1]
    assert outside <= 0.05 * inside
    volumes = [theory.volumes(problem.labels, 2)[1] for problem, _, _ in squares[0.2]]
    assert np.mean(volumes) < 0.3  # the set is small: by chance few would be in it


def test_good_cheap_approximations_pay(squares):
    multi, single = mean_regret(squares[0.2])
    assert (multi[1:] <= 0.1 * single[1:]).all()
    assert single[1] > 0.05


def test_bad_ones_cost_no_more_than_a_constant(squares):
    # Λ_0, the capital spent before the first target queries, is what they cost: here at most doubling the capital
    multi, single = mean_regret(squares[4.0], np.array([1000.0, 2000.0]), np.array([500.0, 1000.0]))
    assert (multi <= single + 1e-9).all()


def mean_regret(runs, multi_at=None, single_at=None):
    """Mean simple regret of both methods at these capitals."""
    default = np.array([250.0, 500.0, 1000.0])
    curves = []
    for which, at in ((1, multi_at), (2, single_at)):
        at = default if at is None else at
        curves.append(
            np.mean([regret.at_capital(run[which].regret(run[0].values[-1].max()), at) for run in runs], axis=0)
        )
    return curves
