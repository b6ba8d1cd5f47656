"""The latent process behind failures, against sums over draws of it and against what is known exactly."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.stats import norm

from mfopt_plugins.method.crash_learning import Shape, learn
from mfopt_plugins.method.crashes import LEVEL, LINK, MEAN, VARIANCE, Crashes, Outcomes, Theta


def uniform(count, dim, seed=0):
    return np.random.default_rng(seed).random((count, dim))


def predict(crashes, theta, u, k):
    """Mean and variance of the latent at rows of u."""
    belief = crashes.believe()
    distances = cdist(u @ theta.metric.T, belief.z)
    cross = theta.coupling ** np.abs(k - belief.k) * (LEVEL + np.exp(-distances))
    return MEAN + cross @ belief.weights, VARIANCE - np.einsum("ij,jk,ik->i", cross, belief.inverse, cross)


@pytest.mark.parametrize("rate", [0.002, 0.1])
def test_evidence_and_posterior_are_those_of_draws(rate):
    u, k = uniform(6, 2), np.array([0, 0, 1, 0, 1, 1])
    failed = u[:, 0] > 0.5
    theta = Theta(np.eye(2) / 0.7, rate, 0.9)
    crashes = Crashes(Outcomes(u, k, failed), theta)
    crashes.settle()
    fresh = uniform(4, 2, seed=1)
    everything, positions = np.vstack([u, fresh]), np.append(k, [0] * 4)
    distances = cdist(everything / 0.7, everything / 0.7)
    covariance = 0.9 ** np.abs(positions[:, None] - positions) * (LEVEL + np.exp(-distances))
    draws = np.random.default_rng(2).multivariate_normal(np.full(10, MEAN), covariance, 200_000)
    chance = rate + (1.0 - rate) * norm.cdf(draws[:, :6] / np.sqrt(LINK))
    weights = np.where(failed, chance, 1.0 - chance).prod(axis=1)
    assert crashes.evidence() == pytest.approx(np.log(weights.mean()), abs=0.06)
    weights /= weights.sum()
    mean, var = predict(crashes, theta, fresh, 0)
    assert mean == pytest.approx(weights @ draws[:, 6:], abs=0.06)
    assert var == pytest.approx(weights @ draws[:, 6:] ** 2 - (weights @ draws[:, 6:]) ** 2, rel=0.1)


def test_sites_of_many_values_near_one_point_settle():
    near = 0.3 + 1e-3 * uniform(60, 2)
    u = np.vstack([uniform(30, 2, seed=1), near])
    crashes = Crashes(Outcomes(u, np.zeros(90, dtype=np.intp), u[:, 0] > 0.6), Shape.typical(2).theta)
    for _ in range(4):  # each goes on from the sites of the one before, as a run does
        crashes.settle()
    before = crashes._mean
    crashes.settle()
    assert np.abs(crashes._mean - before).max() < 0.01


def test_a_failure_that_chance_explains_says_nothing_of_its_surroundings():
    u = np.vstack([uniform(60, 2), [[0.5, 0.5]]])
    outcomes = Outcomes(u, np.zeros(61, dtype=np.intp), np.arange(61) == 60)
    means = []
    for rate in (0.1, 1e-9):
        theta = Theta(np.eye(2), rate, 0.9)
        crashes = Crashes(outcomes, theta)
        crashes.settle()
        means.append(predict(crashes, theta, np.array([[0.5, 0.51]]), 0)[0][0])
    assert means[0] < -0.5 < means[1]


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_sum_of_coordinates_is_found_and_nothing_like_it_where_there_is_none(sign):
    u = uniform(60, 3)
    k = np.zeros(60, dtype=np.intp)
    shape = Shape.typical(3)
    sum_of_two = u[:, 0] + sign * u[:, 2]
    for _ in range(3):
        shape = learn(Outcomes(u, k, np.abs(sum_of_two - np.median(sum_of_two)) > 0.15), shape)
    assert shape.oblique[0] == sign * shape.oblique[2] != 0.0
    assert shape.oblique[1] == 0.0
    plain = learn(Outcomes(u, k, u[:, 0] > 0.5), Shape.typical(3))
    assert not plain.oblique.any()
    assert plain.lengths[0] < plain.lengths[1:].min()


@pytest.mark.parametrize(("share", "rate"), [(0.05, 0.03), (0.3, 0.3)])
def test_failures_at_random_are_taken_for_such(share, rate):
    u = uniform(100, 3)
    outcomes = Outcomes(u, np.zeros(100, dtype=np.intp), np.random.default_rng(1).random(100) < share)
    assert learn(outcomes, Shape.typical(3)).rate == rate


@pytest.mark.parametrize("alike", [True, False])
def test_fidelities_are_coupled_where_they_fail_alike(alike):
    u, k = uniform(60, 2), np.arange(60) % 2
    failed = (u[:, 0] > 0.6) & (alike | (k == 0))
    assert (learn(Outcomes(u, k, failed), Shape.typical(2)).coupling == 0.99) == alike
