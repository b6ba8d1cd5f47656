"""The covering argument for compact X, and the table of query counts."""

import numpy as np
import pytest

import mfopt
from mfopt import theory
from tests.theory import gp_runs

AXIS = (np.arange(60) + 0.5) / 60
POINTS = np.array(np.meshgrid(AXIS, AXIS)).reshape(2, -1).T
VALUES = np.array([1 - np.hypot(*(POINTS - c).T) for c in (0.4, 0.45, 0.5)])
ZETAS, GAMMAS = [0.15, 0.08, 0.0], [0.05, 0.02]


def test_the_cells_of_f_lie_outside_j_and_are_disjoint():
    found = theory.cells(POINTS, VALUES, ZETAS, GAMMAS, nu_n=400.0)
    excess = theory.gaps(VALUES, ZETAS)
    assert len(found.labels) == np.ceil(400.0**0.25) ** 2
    for i, label in enumerate(found.labels):
        inside = found.cell == i
        outside = [bool((excess[m, inside] > 3 * gamma).all()) for m, gamma in enumerate(GAMMAS)]
        assert label == (outside.index(True) if True in outside else 2)
    assert found.sizes(3).sum() == len(found.labels)
    assert (found.sizes(3) > 0).all()


def test_what_is_in_no_lower_cell_is_in_the_dilation_or_above():
    """complement(H_n⁽ᵐ⁾ ∪ Ĥ⁽ᵐ⁾) ⊂ F⁽¹⁾ ∪ .. ∪ F⁽ᵐ⁻¹⁾, the step behind eq. (TmnBreakdown)."""
    nu = 20_000.0
    found = theory.cells(POINTS, VALUES, ZETAS, GAMMAS, nu)
    labels = theory.partition(VALUES, ZETAS, GAMMAS)
    for m in (1, 2):
        covered = theory.dilation(POINTS, labels, m, theory.dilation_radius(nu, 2)) | theory.above(labels, m)
        lower = found.labels[found.cell] < m
        assert (covered | lower).all()


@pytest.mark.parametrize(("kernel", "c"), [("se", 1.0 / 0.3**2), ("matern", 2 * 3.0)])
def test_the_variance_in_a_small_set_falls_as_the_lemma_says(kernel, c):
    kappa = theory.squared_exponential(0.3) if kernel == "se" else theory.matern(0.5, 1 / 3.0)
    rng, noise = np.random.default_rng(0), 0.05
    for s in (1, 4, 30):
        at = 0.02 * rng.random((s, 2))
        look = 0.02 * rng.random((50, 2))
        k = kappa(look, at)
        var = 1.0 - np.einsum("ij,ji->i", k, np.linalg.solve(kappa(at, at) + noise * np.eye(s), k.T))
        assert (var <= theory.variance_bound(0.02 * np.sqrt(2), s, noise, c, kernel)).all()


@pytest.mark.parametrize("kernel", ["se", "matern"])
def test_after_its_queries_a_ball_is_left_alone(kernel):
    gamma, beta, noise, c = 0.1, 9.0, 0.02, 4.0
    radius, s = theory.ball_radius(gamma, beta, c, kernel), theory.queries_per_ball(gamma, beta, noise)
    assert theory.variance_bound(2 * radius, s, noise, c, kernel) <= gamma**2 / beta * (1 + 1e-12)
    assert s == np.ceil(2 * noise * beta / gamma**2)


def test_numbers_of_balls_and_cells():
    assert theory.ball_count(1.0, 1, 0.1) == pytest.approx(5.0)
    assert theory.ball_count(0.5, 2, 0.1) == pytest.approx(0.5 * 2 / 0.04)
    assert theory.queries_above_cell(10_000.0, 0.01) == 100.0
    assert theory.queries_above_cell(1.0, 1e-6) == pytest.approx((3e-3) ** (-2 / 3))


def test_the_table_of_query_counts():
    values = np.array([[0.0, 0.95, 0.5], [0.0, 1.0, 0.8]])
    zetas, gammas, noise, beta = [0.2, 0.0], [0.1], 0.01, 20.0
    # Δ⁽¹⁾ = 1 − f⁽¹⁾ − 0.2 is 0.8 and −0.15 at the first two: H⁽¹⁾, as 0.8 > 0.3, and H⁽²⁾
    assert theory.partition(values, zetas, gammas).tolist()[:2] == [0, 1]
    bounds = theory.query_bounds(values, zetas, gammas, noise, beta)
    assert bounds[0, 0] == np.ceil(5 * noise * beta / 0.8**2)
    assert bounds[1, 0] == 1.0
    assert bounds[0, 1] == np.ceil(noise * beta / gammas[0] ** 2)
    assert bounds[1, 1] == np.inf, "the optimum may be queried for ever"
    by_set = theory.query_bounds_by_set(values, zetas, gammas, noise, beta)
    assert by_set[0].tolist() == bounds[:, theory.partition(values, zetas, gammas) == 0].sum(axis=1).tolist()


def test_below_its_own_set_each_fidelity_has_its_own_threshold():
    """γ_l for l < m as in the table, not the γ_m that the lemma prints: three fidelities, where the two differ."""
    values = np.array([[0.2, 1.0, 0.9, 1.0], [0.9, 0.3, 0.95, 1.0], [0.0, 0.4, 0.77, 1.0]])
    zetas, gammas, noise, beta = [0.2, 0.1, 0.0], [0.15, 0.05], 0.01, 20.0
    assert theory.partition(values, zetas, gammas).tolist() == [0, 1, 2, 2]
    first, second = np.ceil(noise * beta / 0.15**2), np.ceil(noise * beta / 0.05**2)
    own = np.ceil(5 * noise * beta / 0.6**2), np.ceil(5 * noise * beta / 0.6**2), np.ceil(5 * noise * beta / 0.23**2)
    found = theory.query_bounds(values, zetas, gammas, noise, beta)
    assert found.tolist() == [
        [own[0], first, first, first],
        [1.0, own[1], second, second],
        [1.0, 1.0, own[2], np.inf],
    ]


def test_runs_of_theory_mode_stay_within_the_table():
    problem = gp_runs.line(0.3, seed=5)
    for seed in range(3):
        run = gp_runs.run(problem, 600.0, seed)
        bounds = theory.query_bounds(
            problem.values, problem.zetas, problem.gammas, gp_runs.NOISE, problem.beta(len(run.rows))
        )
        counts = np.zeros_like(bounds)
        np.add.at(counts, (run.fidelity, run.rows), 1)
        assert (counts <= bounds).all()


def test_gp_ucb_on_a_compact_set_pays_two_over_n():
    finite = theory.gpucb_bound(50, 9.0, 4.0, 0.1)
    assert theory.gpucb_bound(50, 9.0, 4.0, 0.1, compact=True) == pytest.approx(finite + 2 / 50)


def test_information_grows_with_the_volume():
    assert theory.growth_se(100, 3, r=2.0) == pytest.approx(8 * theory.growth_se(100, 3))
    assert theory.growth_matern(100, 2, 2.5, r=3.0) == pytest.approx(9 * theory.growth_matern(100, 2, 2.5))


def test_an_unknown_kernel_is_refused():
    with pytest.raises(mfopt.InputError, match='kernel must be "se" or "matern", got \'rbf\''):
        theory.variance_bound(0.1, 3, 0.1, 1.0, "rbf")
