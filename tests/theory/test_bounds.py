"""Thresholds solve their conditions; the bounds are those of the theorems."""

from functools import partial
from math import ceil, log, pi, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mfopt import theory
from mfopt.errors import InputError

BETA = partial(theory.beta_mf_discrete, size=40, fidelities=3, delta=0.1)


def left_sides(labels, gammas, costs, noise, capital):
    """Eqs. (costonecondn) and (costtwocondn), written out."""
    top = len(costs) - 1
    b = BETA(max(1, capital // costs[0]))
    h = [np.count_nonzero(labels == m) for m in range(top + 1)]
    h_up = [h[m] + sum(h[m + 1 :]) for m in range(top)]
    one = sum(costs[m] * h[m - 1] for m in range(1, top + 1))
    one += sum(costs[m] * h_up[m] * ceil(noise / gammas[m] ** 2 * b) for m in range(top))
    two = costs[-1] * (len(labels) + sum(h_up[m] * ceil(noise / gammas[m] ** 2 * b) for m in range(top)))
    return one, two


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0.01, 1.0), st.floats(1e-4, 1.0))
def test_the_discrete_conditions_are_tight_at_the_thresholds_and_hold_from_there_on(seed, gamma, noise):
    labels = np.random.default_rng(seed).integers(0, 3, 40)
    gammas, costs = [gamma, gamma / 2], [1.0, 3.0, 20.0]
    found = theory.discrete_thresholds(labels, gammas, costs, noise, BETA)
    for which, threshold in enumerate((found.first, found.second)):
        for factor in (1.0, 1.0001, 1.001, 1.01, 1.1, 2.0, 17.0, 1e4):
            capital = factor * threshold
            assert left_sides(labels, gammas, costs, noise, capital)[which] <= capital / 2 * (1 + 1e-12)
        assert left_sides(labels, gammas, costs, noise, threshold)[which] == pytest.approx(threshold / 2, rel=1e-12)
    assert found.first <= found.second


def grid_problem(gamma=0.2):
    points = np.linspace(0, 1, 200)[:, None]
    labels = np.where(np.abs(points[:, 0] - 0.5) < 0.1, 1, 0)
    beta = partial(theory.beta_mf_compact, d=1, fidelities=2, delta=0.1)
    return {
        "points": points, "labels": labels, "gammas": [gamma], "costs": [1.0, 10.0], "noise": 0.01,
        "beta": beta, "c_kappa": theory.c_kappa_se(1),
    }  # fmt: skip


def test_the_compact_condition_holds_from_the_threshold_on_and_not_just_below():
    problem = grid_problem()
    found = theory.compact_thresholds(**problem)

    def left(capital, price):
        n, most = capital // 10, capital // 1
        dilated = theory.dilation(problem["points"], problem["labels"], 0, sqrt(n) ** -0.5)
        volume = theory.volume(dilated | (problem["labels"] > 0))
        # p = d/2 for SE: β^{p+1}/γ^{2p+2}
        return 10 * sqrt(most) + problem["c_kappa"] * 0.01 * problem["beta"](most) ** 1.5 * price * volume / 0.2**3

    for threshold, price in ((found.first, 1.0), (found.second, 10.0)):
        for factor in (1.0001, 1.5, 100.0):
            assert left(factor * threshold, price) <= factor * threshold / 2
        assert left(0.999 * threshold, price) > 0.999 * threshold / 2
    assert found.first < found.second


SIDE = (np.arange(20) + 0.5) / 10
SQUARE = np.array(np.meshgrid(SIDE, SIDE)).reshape(2, -1).T  # of side 2
POWERS = {
    ("se", False): (2.0, 4.0),
    ("se", True): (1.5, 1.0),
    ("matern", False): (3.0, 6.0),
    ("matern", True): (2.0, 2.0),
}


@pytest.mark.parametrize(("kernel", "printed"), POWERS)
def test_the_exponents_are_those_of_the_kernel_in_two_dimensions(kernel, printed):
    """β^{p+1}/γ^{2p+2} with p = d/2 and d as the covering argument has it; β^{p+1}/γ^{2p} with 1/2 and 1 as printed."""
    of_beta, of_gamma = POWERS[kernel, printed]
    labels = np.where(np.hypot(*(SQUARE - 1.0).T) < 0.4, 2, np.where(SQUARE[:, 0] < 0.7, 0, 1))
    gammas, costs, c_kappa, noise = [0.3, 0.2], [1.0, 4.0, 20.0], 30.0, 0.01
    beta = partial(theory.beta_mf_compact, d=2, fidelities=3, delta=0.1, r=2.0)
    found = theory.compact_thresholds(
        SQUARE, labels, gammas, costs, noise, beta, c_kappa, kernel, r=2.0, printed=printed
    )

    def left(capital, prices):
        radius = 2 * sqrt(2) / sqrt(capital // 20) ** 0.25
        covered = [theory.dilation(SQUARE, labels, m, radius) | theory.above(labels, m) for m in range(2)]
        volumes = [4 * theory.volume(mask) / gamma**of_gamma for mask, gamma in zip(covered, gammas, strict=True)]
        most = capital // 1
        return 20 * sqrt(most) + c_kappa * noise * beta(most) ** of_beta * np.dot(prices, volumes)

    for threshold, prices in ((found.first, [1.0, 4.0]), (found.second, [20.0, 20.0])):
        assert left(1.0001 * threshold, prices) <= 1.0001 * threshold / 2
        assert left(0.999 * threshold, prices) > 0.999 * threshold / 2


def test_a_smaller_gamma_waits_longer_and_the_printed_form_less():
    assert theory.compact_thresholds(**grid_problem(0.05)).second > theory.compact_thresholds(**grid_problem()).second
    assert theory.compact_thresholds(**grid_problem(), printed=True).second < (
        theory.compact_thresholds(**grid_problem()).second
    )


def test_c1_is_that_of_the_proofs_and_of_gp_ucb():
    assert theory.c1(0.01) == pytest.approx(8 / log(1 + 100))
    assert theory.c1(0.01) < theory.c1(0.1)  # the printed 8/log(1 + η²) would fall
    assert theory.c1(0.04, scale=4.0) == pytest.approx(4 * theory.c1(0.01))  # a matter of units


def test_the_constant_bounds_the_variances_by_the_information_gain_for_any_scale():
    # Lemma (IGBoundLemma): Σ σ² ≤ C_1/4 · I, the step that fixes C_1
    rng = np.random.default_rng(0)
    for scale, noise in ((1.0, 0.01), (9.0, 0.5), (0.2, 1.0)):
        variances = rng.uniform(0, scale, 50)
        gain = 0.5 * np.log1p(variances / noise).sum()
        assert variances.sum() <= theory.c1(noise, scale) / 4 * gain
        assert variances.sum() <= 1.0001 * scale * 50


def test_the_kernel_constants_are_those_of_the_proofs():
    assert theory.c_kappa_se(2, lengthscale=0.5, scale=3.0) == pytest.approx(8 * 2 * 3.0 / 0.25)
    assert theory.c_kappa_matern(2, lipschitz=0.5, scale=3.0) == pytest.approx(16 * 9.0 * 2)


def test_the_bounds_are_those_of_the_theorems():
    thresholds, costs = theory.Thresholds(1000.0, 5000.0), [1.0, 10.0]
    beta = partial(theory.beta_mf_discrete, size=40, fidelities=2, delta=0.1)
    bound = partial(theory.mf_bound, costs=costs, thresholds=thresholds, beta=beta, information=7.0, noise=0.01)
    c1 = theory.c1(0.01)
    assert bound(1000.0) == np.inf
    assert bound(2000.0) == pytest.approx(sqrt(2 * c1 * beta(2000) * 7.0 / 200))
    assert bound(6000.0) == pytest.approx(sqrt(2 * c1 * beta(1200) * 7.0 / 600))
    assert bound(6000.0, compact=True) == pytest.approx(bound(6000.0) + pi**2 / 1800)
    assert theory.gpucb_bound(200, 30.0, 7.0, 0.01) == pytest.approx(sqrt(c1 * 30.0 * 7.0 / 200))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"gammas": [0.0]}, "gammas must be positive"),
        ({"gammas": [0.1, 0.1, 0.1]}, "gammas must hold M or M - 1 values"),
        ({"costs": [10.0, 1.0]}, "strictly increasing"),
        ({"noise": 0.0}, "noise must be positive"),
        ({"kernel": "cubic"}, 'kernel must be "se" or "matern"'),
    ],
)
def test_wrong_arguments_are_named(change, message):
    with pytest.raises(InputError, match=message):
        theory.compact_thresholds(**(grid_problem() | change))
