"""Values of one point that differ: what the models then learn from few values."""

import numpy as np
import pytest

from mfopt_plugins.surrogates.matern import Matern
from mfopt_plugins.surrogates.rows import show_noise
from mfopt_plugins.surrogates.se import SE


def sample(seed, repeats, noise=0.5):
    """Values of a wave with much noise; the first point `repeats` times."""
    rng = np.random.default_rng(seed)
    u = rng.random((16, 1))
    u = np.vstack([u, np.repeat(u[:1], repeats - 1, axis=0)])
    return u, np.sin(9 * u[:, 0]) + noise * rng.standard_normal(len(u))


def test_repeated_points_show_noise_where_their_values_differ():
    u, y = sample(0, 3)
    assert show_noise([(u, y)])
    assert not show_noise([(u[:16], y[:16])])
    assert not show_noise([(u, np.where(np.arange(18) < 16, y, y[0]))])
    assert not show_noise([(np.empty((0, 1)), np.empty(0)), (u[:1], y[:1])])
    assert show_noise([(u[:2], y[:2]), (u, y)])


@pytest.mark.parametrize("surrogate", [SE(), Matern()])
def test_a_noise_that_shows_is_learnt_within_reason_from_few_values(surrogate):
    learnt = []
    for seed in range(20):
        model = surrogate.model(1)
        model.fit(*sample(seed, 2), np.random.default_rng(seed))
        learnt.append(model.describe()["noise"])
    assert 0.1 < np.median(learnt) < 0.6  # it is 0.25
    assert np.mean(np.array(learnt) > 0.02) >= 0.85


def test_a_model_that_did_not_know_of_the_noise_learns_it_from_the_pair_that_shows_it():
    u, y = sample(3, 2)
    model = SE().model(1)
    model.fit(u[:-1], y[:-1], np.random.default_rng(0))
    model.fit(u, y, np.random.default_rng(0))
    fresh = SE().model(1)
    fresh.fit(u, y, np.random.default_rng(0))
    assert model.describe()["noise"] == pytest.approx(fresh.describe()["noise"], rel=0.1)


def test_several_fidelities_learn_it_together():
    u, y = sample(1, 2)
    model = SE().coupled(1, [None, None])
    model.fit([(u, y), (u[:6], y[:6])], np.random.default_rng(0))
    assert model.models[0].describe()["noise"] > 0.02
