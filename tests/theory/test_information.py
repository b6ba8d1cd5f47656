"""Information gain: the formula, greedy selection, and the bound by relaxation."""

from itertools import combinations_with_replacement
from math import e, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mfopt import theory
from mfopt.errors import InputError
from mfopt_plugins.surrogates.se import SE

NOISE = 0.05


def model(dim=2, lengthscale=0.3):
    return SE(lengthscale=lengthscale, scale=1.0, mean=0.0).model(dim, NOISE)


def log_det(x, lengthscale=0.3):
    k = theory.squared_exponential(lengthscale)(x, x)
    return 0.5 * np.linalg.slogdet(np.eye(len(x)) + k / NOISE)[1]


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 12), st.integers(0, 2**32 - 1))
def test_the_gain_is_half_the_log_determinant_in_any_order(n, seed):
    x = np.random.default_rng(seed).random((n, 2))
    gain = theory.information_gain(model(), x, NOISE)
    assert gain == pytest.approx(log_det(x), rel=1e-9)
    assert theory.information_gain(model(), x[::-1].copy(), NOISE) == pytest.approx(gain, rel=1e-9)


def test_the_model_is_given_back_without_data():
    one = model()
    theory.information_gain(one, np.random.default_rng(0).random((5, 2)), NOISE)
    theory.greedy_information_gain(one, np.random.default_rng(0).random((9, 2)), 3, NOISE)
    assert one.n == 0


def test_lazy_greedy_chooses_what_full_greedy_chooses():
    x = np.random.default_rng(3).random((300, 2))
    chosen = theory.greedy_information_gain(model(), x, 25, NOISE)
    full = model()
    for t, row in enumerate(chosen.rows):
        var = full.posterior(x)[1]
        assert var[row] == pytest.approx(var.max(), rel=1e-9), t
        full.extend(x[row : row + 1], np.zeros(1))
    assert chosen.gain == pytest.approx(theory.information_gain(model(), x[chosen.rows], NOISE), rel=1e-9)
    assert (np.diff(chosen.gains) > 0).all()


@pytest.mark.parametrize("seed", range(5))
def test_greedy_keeps_its_promise_and_the_relaxation_bounds_the_true_maximum(seed):
    x = np.random.default_rng(seed).random((5, 2))
    n = 4
    best = max(log_det(x[list(rows)]) for rows in combinations_with_replacement(range(5), n))
    chosen = theory.greedy_information_gain(model(), x, n, NOISE)
    bound = theory.information_bound(theory.squared_exponential(0.3), x, n, NOISE)
    assert (1 - 1 / e) * best <= chosen.gain <= best * (1 + 1e-12)
    assert best <= chosen.upper
    assert best <= bound <= 1.2 * best  # queries in fractions gain a little


def test_the_bound_is_tight_where_the_answer_is_known():
    far = 1e3 * np.arange(6.0)[:, None]  # independent points: n/6 queries each are best
    bound = theory.information_bound(theory.squared_exponential(), far, 600, NOISE)
    assert bound == pytest.approx(3 * log(1 + 100 / NOISE), rel=2e-3)
    assert bound >= 3 * log(1 + 100 / NOISE)


def test_the_bound_works_far_beyond_what_a_model_holds_and_grows_slowly():
    grid = np.linspace(0, 1, 200)[:, None]
    small, large = (theory.information_bound(theory.squared_exponential(), grid, n, NOISE) for n in (10**3, 10**6))
    assert small < large < 4 * small


def test_the_growth_rates_are_those_of_srinivas_et_al():
    assert theory.growth_se(np.e**2, 3) == pytest.approx(2.0**4)
    assert theory.growth_matern(np.e**2, 2, 2.5) == pytest.approx(np.e ** (2 * 6 / 11) * 2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: theory.information_gain(m, np.zeros((1, 2)), 0.0), "noise must be positive"),
        (lambda m: theory.information_gain(m, np.zeros((1, 2)), 1.0), "noise must be the model's own, 0.05, got 1.0"),
        (lambda m: theory.greedy_information_gain(m, np.zeros((1, 2)), 0, NOISE), "n must be positive"),
    ],
)
def test_wrong_arguments_are_named(call, message):
    with pytest.raises(InputError, match=message):
        call(model())


def test_a_model_with_data_is_refused():
    told = model()
    told.extend(np.zeros((1, 2)), np.zeros(1))
    with pytest.raises(InputError, match="model must hold no data, got 1 rows"):
        theory.information_gain(told, np.zeros((1, 2)), NOISE)
