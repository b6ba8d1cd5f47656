"""Surrogates: the posterior, the learning, and the compiled ones against the plain one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mfopt.errors import InputError
from mfopt.protocols import Surrogate
from mfopt_plugins.surrogates.gp.process import Hyper
from mfopt_plugins.surrogates.gp.python_process import PythonGP
from mfopt_plugins.surrogates.matern import Matern
from mfopt_plugins.surrogates.priors import NOISE_FLOOR
from mfopt_plugins.surrogates.se import SE
from mfopt_plugins.surrogates.se_python import SEPython

ALL = [SE, SEPython, Matern, lambda: Matern(0.5), lambda: Matern(1.8)]


def data(n, dim, seed=0, scale=1.0, offset=0.0):
    u = np.random.default_rng(seed).random((n, dim))
    return u, scale * (np.sin(4 * u[:, 0]) + u.sum(axis=1) ** 2) + offset


@pytest.mark.parametrize("make", ALL)
def test_every_surrogate_follows_the_protocol(make):
    assert isinstance(make(), Surrogate)


def test_the_plain_process_solves_its_textbook_equations():
    u, y = data(12, 3)
    hyper = Hyper(np.array([0.3, 0.5, 0.9]), 1.7, 0.01, 0.4)
    gp = PythonGP(hyper)
    gp.extend(u, y)
    query = np.random.default_rng(1).random((5, 3))

    def kernel(a, b):
        return 1.7 * np.exp(-0.5 * (((a[:, None] - b[None]) / hyper.lengthscale) ** 2).sum(axis=2))

    inverse = np.linalg.inv(kernel(u, u) + 0.01 * np.eye(12))
    cross = kernel(query, u)
    mean, var = gp.posterior(query)
    assert np.allclose(mean, 0.4 + cross @ inverse @ (y - 0.4), atol=1e-10)
    assert np.allclose(var, 1.7 - np.einsum("qi,ij,qj->q", cross, inverse, cross), atol=1e-10)
    expected = -0.5 * (y - 0.4) @ inverse @ (y - 0.4) + 0.5 * np.linalg.slogdet(inverse)[1] - 6 * np.log(2 * np.pi)
    assert gp.log_marginal_likelihood() == pytest.approx(expected, rel=1e-10)


def test_the_plain_process_has_the_gradients_of_its_likelihood_and_posterior():
    u, y = data(10, 2)
    theta = np.array([np.log(0.4), np.log(0.7), np.log(1.3), np.log(0.02), 0.3])

    def process(theta):
        gp = PythonGP(Hyper(np.exp(theta[:2]), np.exp(theta[2]), np.exp(theta[3]), theta[4]))
        gp.extend(u, y)
        return gp

    steps = 1e-6 * np.eye(5)
    numeric = [
        (process(theta + s).log_marginal_likelihood() - process(theta - s).log_marginal_likelihood()) / 2e-6
        for s in steps
    ]
    assert np.allclose(process(theta).log_marginal_likelihood(grad=True)[1], numeric, rtol=1e-5, atol=1e-5)
    query = np.array([[0.3, 0.8], [0.6, 0.1]])
    _, _, dmean, dvar = process(theta).posterior_gradient(query)
    for j in range(2):
        step = 1e-6 * np.eye(2)[j]
        above, below = process(theta).posterior(query + step), process(theta).posterior(query - step)
        assert np.allclose(dmean[:, j], (above[0] - below[0]) / 2e-6, atol=1e-6)
        assert np.allclose(dvar[:, j], (above[1] - below[1]) / 2e-6, atol=1e-6)


@pytest.mark.parametrize(("n", "dim"), [(0, 2), (1, 1), (7, 3), (97, 6)])
def test_the_compiled_posterior_equals_the_plain_one(n, dim):
    u, y = data(n, dim)
    options = {"lengthscale": 0.4 * np.sqrt(dim), "scale": 2.0, "mean": 0.5}
    fast, plain = SE(**options).model(dim, 1e-4), SEPython(**options).model(dim, 1e-4)
    query = np.random.default_rng(5).random((101, dim))
    for model in (fast, plain):
        model.fit(u, y, np.random.default_rng(0))
    for ours, theirs in zip(fast.posterior_gradient(query), plain.posterior_gradient(query), strict=True):
        assert np.allclose(ours, theirs, rtol=0, atol=1e-9)
    for ours, theirs in zip(fast.posterior(query), plain.posterior(query), strict=True):
        assert np.allclose(ours, theirs, rtol=0, atol=1e-9)


def test_compiled_and_plain_learn_the_same():
    u, y = data(25, 2)
    described = []
    for surrogate in (SE(), SEPython()):
        model = surrogate.model(2)
        model.fit(u, y, np.random.default_rng(0))
        described.append(model.describe())
    assert np.allclose(described[0]["lengthscale"], described[1]["lengthscale"], rtol=1e-3)
    assert described[0]["scale"] == pytest.approx(described[1]["scale"], rel=1e-2)


@pytest.mark.parametrize("make", ALL)
def test_learning_makes_a_good_prediction_with_an_honest_width(make):
    u, y = data(40, 2)
    model = make().model(2)
    model.fit(u, y, np.random.default_rng(0))
    query, truth = data(200, 2, seed=9)
    mean, var = model.posterior(query)
    error = mean - truth
    assert np.sqrt(np.mean(error**2)) < 0.1 * np.std(y)
    assert np.mean(np.abs(error) < 3 * np.sqrt(var)) > 0.9


def test_an_irrelevant_coordinate_gets_a_long_length_scale():
    u = np.random.default_rng(0).random((40, 2))
    model = SE().model(2)
    model.fit(u, np.sin(6 * u[:, 0]), np.random.default_rng(0))
    relevant, irrelevant = model.describe()["lengthscale"]
    assert irrelevant > 10 * relevant


def test_learnt_noise_is_near_the_truth_or_at_the_floor():
    rng = np.random.default_rng(0)
    u = rng.random((150, 1))
    clean = np.sin(6 * u[:, 0])
    for deviation in (0.0, 0.1):
        model = SE().model(1)
        model.fit(u, clean + deviation * rng.standard_normal(150), rng)
        noise = model.describe()["noise"]
        if deviation:
            assert 0.5 * deviation**2 < noise < 2 * deviation**2
        else:
            assert NOISE_FLOOR * np.var(clean) * 0.99 <= noise < 1e-6


def test_known_noise_and_given_hyper_parameters_stay():
    u, y = data(20, 2)
    model = SE(lengthscale=[0.3, 0.6], scale=4.0, mean=-1.0).model(2, 0.05)
    model.fit(u, y, np.random.default_rng(0))
    described = model.describe()
    assert described["noise"] == 0.05
    assert described["scale"] == 4.0
    assert described["mean"] == -1.0
    assert described["lengthscale"] == pytest.approx([0.3, 0.6])


@pytest.mark.parametrize("make", ALL)
@pytest.mark.parametrize("noise", [None, 0.0, 0.1])
@pytest.mark.parametrize("values", [[], [3.0], [3.0, 3.0], [1.0, 2.0], [5.0] * 10])
def test_few_constant_or_repeated_values_do_no_harm(make, noise, values):
    u = np.full((len(values), 2), 0.5)
    u[: len(values) // 2] = 0.25
    model = make().model(2, noise)
    model.fit(u, np.array(values), np.random.default_rng(0))
    assert model.n == len(values)
    mean, var, dmean, dvar = model.posterior_gradient(np.array([[0.5, 0.5], [0.1, 0.9]]))
    for part in (mean, var, dmean, dvar):
        assert np.isfinite(part).all()
    assert (var >= 0).all()
    if len(set(values)) == 1:
        assert np.allclose(mean, values[0], rtol=0.5)


@pytest.mark.parametrize("make", ALL[:3])
@settings(max_examples=8, deadline=None)
@given(exponent=st.integers(-27, 40), seed=st.integers(0, 5))
def test_a_change_of_unit_changes_nothing_but_the_unit(make, exponent, seed):
    """Powers of two, 1e-8 to 1e12, so that not even rounding differs before the optimiser runs."""
    scale = 2.0**exponent
    u, y = data(15, 2, seed)
    query = np.random.default_rng(1).random((7, 2))
    posteriors = []
    for factor in (1.0, scale):
        model = make().model(2)
        model.fit(u, factor * y, np.random.default_rng(0))
        mean, var = model.posterior(query)
        posteriors.append((mean / factor, var / factor**2))
    assert np.allclose(posteriors[0][0], posteriors[1][0], rtol=1e-9)
    assert np.allclose(posteriors[0][1], posteriors[1][1], rtol=1e-6, atol=1e-12)


def test_a_change_of_offset_moves_the_mean_along():
    u, y = data(15, 2)
    query = np.random.default_rng(1).random((7, 2))
    means = []
    for offset in (0.0, 1e6):
        model = SE().model(2)
        model.fit(u, y + offset, np.random.default_rng(0))
        means.append(model.posterior(query)[0] - offset)
    assert np.allclose(means[0], means[1], atol=1e-5)


@pytest.mark.parametrize("make", ALL)
def test_truncate_undoes_extend(make):
    u, y = data(12, 2)
    model = make().model(2, 1e-4)
    model.fit(u[:8], y[:8], np.random.default_rng(0))
    before = model.posterior(u)
    model.extend(u[8:], y[8:])
    assert model.n == 12
    assert not np.allclose(model.posterior(u)[1], before[1])
    model.truncate(8)
    for now, then in zip(model.posterior(u), before, strict=True):
        assert np.allclose(now, then, rtol=1e-12, atol=1e-13)


def test_a_fit_on_many_rows_conditions_on_all_of_them():
    u, y = data(350, 1)
    model = SE().model(1)
    model.fit(u, y, np.random.default_rng(0))
    assert model.n == 350


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: SE(lengthscale=0.0), "lengthscale must be positive and finite, got"),
        (lambda: SEPython(scale=-1.0), "scale must be positive and finite, got -1.0"),
        (lambda: SE(mean=float("nan")), "mean must be finite, got nan"),
        (lambda: Matern(nu=0.0), "nu must be positive and finite, got 0.0"),
        (lambda: SE(lengthscale=[1.0, 2.0]).model(3), "lengthscale must hold 1 or 3 values, got 2"),
    ],
)
def test_a_bad_option_is_named(call, message):
    with pytest.raises(InputError, match=message):
        call()
