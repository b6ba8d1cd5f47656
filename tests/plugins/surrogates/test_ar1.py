"""The autoregressive surrogate: against the dense joint covariance, its gradients, its learning, and what it is for."""

from dataclasses import replace

import numpy as np
import pytest

import mfopt
import mfopt_core
from mfopt.protocols import Query, Record
from mfopt_plugins.surrogates.ar1 import AR1
from mfopt_plugins.surrogates.ar1.learning import Scales, lay_out, log_likelihood, pack
from mfopt_plugins.surrogates.ar1.model import JointGP
from mfopt_plugins.surrogates.ar1.process import Autoregression
from mfopt_plugins.surrogates.gp.process import Hyper
from mfopt_plugins.surrogates.se import SE
from tests.plugins.runs import FUNCTIONS, SQUARE, fidelity_models, quick, run, show

HYPERS = [
    Hyper(np.array([0.4, 0.6]), 2.0, 0.01, 0.3),
    Hyper(np.array([0.3, 0.9]), 0.5, 0.02, -0.7),
    Hyper(np.array([0.8, 0.2]), 0.1, 0.0, 1.1),
]
RHOS = [1.7, -0.6]
DRAW = {"nested": ([9, 6, 3], True), "not nested": ([8, 5, 4], False), "without cheap rows": ([0, 5, 4], False)}


def rows(counts, nested, dim=2):
    rng = np.random.default_rng(4)
    u = rng.random((sum(counts), dim))
    level = np.repeat(np.arange(len(counts)), counts)
    if nested:
        u = np.vstack([u[:n] for n in counts])
    return u, level, rng.standard_normal(len(level))


def se(hyper, a, b):
    return hyper.scale * np.exp(-0.5 * np.square((a[:, None] - b[None]) / hyper.lengthscale).sum(axis=2))


def prior(k, other, a, b, hypers=HYPERS, rhos=RHOS):
    """cov(f_k(a), f_other(b)) by the recursion of the definition."""
    if k > other:
        return prior(other, k, b, a, hypers, rhos).T
    if other > k:
        return rhos[other - 1] * prior(k, other - 1, a, b, hypers, rhos)
    own = se(hypers[k], a, b)
    return own if k == 0 else rhos[k - 1] ** 2 * prior(k - 1, k - 1, a, b, hypers, rhos) + own


def prior_mean(k):
    return HYPERS[0].mean if k == 0 else RHOS[k - 1] * prior_mean(k - 1) + HYPERS[k].mean


def dense(u, level, y, query):
    """Posterior means (3, q) and covariances (3, 3, q) by one big matrix."""
    cov = np.array(
        [[prior(k, m, u[i : i + 1], u[j : j + 1])[0, 0] for j, m in enumerate(level)] for i, k in enumerate(level)]
    )
    inverse = np.linalg.inv(cov + np.diag([HYPERS[k].noise for k in level]))
    residual = y - np.array([prior_mean(k) for k in level])
    cross = np.array([[prior(k, m, query, u[i : i + 1])[:, 0] for i, m in enumerate(level)] for k in range(3)])
    means = [prior_mean(k) + cross[k].T @ inverse @ residual for k in range(3)]
    covs = [
        [np.diag(prior(k, m, query, query)) - np.einsum("iq,ij,jq->q", cross[k], inverse, cross[m]) for m in range(3)]
        for k in range(3)
    ]
    return np.array(means), np.array(covs), cov + np.diag([HYPERS[k].noise for k in level]), residual


def by_level(u, level, y):
    return [(u[level == k], y[level == k]) for k in range(3)]


def conditioned(u, level, y):
    process = Autoregression("se", None, HYPERS, RHOS)
    process.follow(by_level(u, level, y))
    return process


@pytest.mark.parametrize("design", DRAW)
def test_the_posterior_is_that_of_the_dense_joint_covariance(design):
    u, level, y = rows(*DRAW[design])
    process = conditioned(u, level, y)
    query = np.random.default_rng(1).random((7, 2))
    means, covs, _, _ = dense(u, level, y, query)
    for k in range(3):
        mean, var = process.posterior(query, k)
        assert np.allclose(mean, means[k], atol=1e-9)
        assert np.allclose(var, covs[k, k], atol=1e-9)
        for other in range(3):
            mean, var, cov = process.pair(k, other)(query)
            assert np.allclose(mean, means[[k, other]], atol=1e-9)
            assert np.allclose(var, [covs[k, k], covs[other, other]], atol=1e-9)
            assert np.allclose(cov, covs[k, other], atol=1e-9)


def improvement(process):
    levels = [process.level(k) for k in range(3)]
    return mfopt_core.Improvement(levels, 0.5, 1.0, [0.01, 0.01, 0.01], [2.0, 1.0, 0.0], 20.0)


def test_rows_that_come_one_by_one_make_the_posterior_of_all_at_once():
    u, level, y = rows([8, 5, 4], False)
    grown = Autoregression("matern32", None, HYPERS, RHOS)
    query = np.random.default_rng(1).random((7, 2))
    for i in np.random.default_rng(2).permutation(len(y)):
        have = np.concatenate([np.array(grown._order, dtype=int), level[[i]]])
        grown.follow([(u[level == k][: np.sum(have == k)], y[level == k][: np.sum(have == k)]) for k in range(3)])
        improvement(grown).recurring(query)  # columns that are remembered grow with the rows
    whole = Autoregression("matern32", None, HYPERS, RHOS)
    whole.follow(by_level(u, level, y))
    for ours, theirs in zip(grown.pair(0, 2)(query), whole.pair(0, 2)(query), strict=True):
        assert np.allclose(ours, theirs, atol=1e-10)
    assert np.allclose(improvement(grown).recurring(query), improvement(whole)(query), atol=1e-9)


@pytest.mark.parametrize("kernel", ["se", "matern52"])
def test_the_likelihood_is_that_of_the_dense_covariance_and_has_its_gradient(kernel):
    u, level, y = rows([7, 5, 3], False)
    layout = lay_out([0, 1], [None] * 3, None)
    theta = pack(layout, Scales(tuple(replace(h, noise=0.01) for h in HYPERS), tuple(RHOS)))
    likelihood = log_likelihood(kernel, None, by_level(u, level, y), layout, [None] * 3)

    def value(theta):
        return likelihood(theta)[0][0]

    numeric = [(value(theta + s) - value(theta - s)) / 2e-6 for s in 1e-6 * np.eye(len(theta))]
    assert np.allclose(likelihood(theta)[0][1], numeric, rtol=1e-5, atol=1e-5)
    if kernel == "se":
        _, _, matrix, residual = dense(u, level, y, u[:1])
        matrix += np.diag([0.01 - HYPERS[k].noise for k in level])
        expected = -0.5 * (residual @ np.linalg.solve(matrix, residual) + np.linalg.slogdet(2 * np.pi * matrix)[1])
        assert value(theta) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize(("k", "other"), [(0, 0), (2, 2), (0, 2), (2, 1)])
def test_means_and_covariances_have_their_gradients(k, other):
    pair = conditioned(*rows([7, 5, 3], False)).pair(k, other)
    query = np.random.default_rng(1).random((6, 2))
    values, slopes = pair.gradient(query)[:3], pair.gradient(query)[3:]
    for ours, plain in zip(values, pair(query), strict=True):
        assert np.array_equal(ours, plain)
    for j in range(2):
        step = 1e-6 * np.eye(2)[j]
        for slope, high, low in zip(slopes, pair(query + step), pair(query - step), strict=True):
            assert np.allclose(slope[..., j], (high - low) / 2e-6, atol=1e-6)


def cheap(u):
    return np.sin(8 * u[:, 0]) + u[:, 0]


def expensive(u):
    return -3 * cheap(u) + 20 + u[:, 0] ** 2


@pytest.mark.parametrize("scale", [1.0, 2.0**-30, 2.0**35])
def test_scale_and_offset_between_fidelities_are_learnt_in_any_unit(scale):
    rng = np.random.default_rng(0)
    low, high = rng.random((25, 1)), np.array([[0.1], [0.3], [0.5], [0.7], [0.9]])
    joint = AR1().joint(1, [None, None])
    joint.fit([(low, scale * cheap(low)), (high, scale * expensive(high))], rng)
    assert joint.models[1].describe()["rho"] == pytest.approx(-3, rel=0.1)
    query = np.linspace(0.0, 1.0, 50)[:, None]
    error = joint.models[1].posterior(query)[0] / scale - expensive(query)
    assert np.abs(error).max() < 0.15
    alone = SE().model(1)
    alone.fit(high, expensive(high), rng)
    assert np.abs(alone.posterior(query)[0] - expensive(query)).max() > 1.0


def test_a_given_rho_stays():
    rng = np.random.default_rng(0)
    u = rng.random((10, 1))
    joint = AR1(rho=1.0).joint(1, [0.0, 0.0, 0.0])
    joint.fit([(u, 100 * cheap(u)), (u[:5], expensive(u[:5])), (u[:2], expensive(u[:2]))], rng)
    assert [model.describe()["rho"] for model in joint.models] == [None, 1.0, 1.0]
    assert [model.describe()["noise"] for model in joint.models] == [0.0] * 3


def test_rows_of_one_fidelity_come_and_go_and_move_the_others():
    rng = np.random.default_rng(0)
    u = rng.random((12, 1))
    joint = AR1().joint(1, [None, None])
    joint.fit([(u[:8], cheap(u[:8])), (u[:4], expensive(u[:4]))], rng)
    first, second = joint.models
    query = rng.random((9, 1))
    before = second.posterior(query)
    first.extend(u[8:], cheap(u[8:]))
    assert (first.n, second.n) == (12, 4)
    after = second.posterior(query)
    assert (after[1] <= before[1] + 1e-12).all()
    assert after[1].sum() < before[1].sum()
    first.truncate(8)
    for now, then in zip(second.posterior(query), before, strict=True):
        assert np.array_equal(now, then)


@pytest.mark.parametrize("counts", [(0, 0), (3, 0), (0, 2), (1, 1), (2, 1)])
@pytest.mark.parametrize("values", [lambda u: np.full(len(u), 5.0), cheap])
def test_few_or_constant_values_do_no_harm(counts, values):
    u = np.random.default_rng(0).random((3, 1))
    joint = AR1().joint(1, [None, 0.0])
    joint.fit([(u[:n], values(u[:n])) for n in counts], np.random.default_rng(0))
    for model in joint.models:
        for part in model.posterior_gradient(np.array([[0.2], [0.7]])):
            assert np.isfinite(part).all()


# ---------------------------------------------------------------------------------------------- within the framework


def record(u, fidelity, y):
    return Record(0, np.atleast_1d(u), fidelity, float(y), True)


def test_one_surrogate_for_all_fidelities_makes_one_joint_model():
    one = AR1()
    both = fidelity_models([one, one], [None, None], [0, 1], 1, 0)
    assert isinstance(both.joint, JointGP)
    assert fidelity_models([one, AR1()], [None, None], [0, 1], 1, 0).joint is None
    assert fidelity_models([one, one], [None, None], [1], 1, 0).joint is None
    for x in np.linspace(0.0, 1.0, 9):
        show(both, record(x, 0, cheap(np.array([[x]]))[0]))
    show(both, record(0.5, 1, 3.0))
    both.update()
    assert [model.n for model in both.models] == [9, 1]
    mean, sigma = both.at(np.array([0.5]))
    assert mean[1] == pytest.approx(3.0, abs=0.05)
    assert sigma[1] < 0.2


def test_the_joint_model_relearns_when_any_fidelity_has_grown():
    one = AR1()
    both = fidelity_models([one, one], [None, None], [0, 1], 1, 0)
    fits = []
    inner = both.joint.fit
    both.joint.fit = lambda rows, rng: (fits.append([len(y) for _, y in rows]), inner(rows, rng))
    for i in range(24):
        show(both, record(i / 24, 0, np.sin(i)))
    both.update()
    show(both, record(0.3, 0, 0.0))
    both.update()
    assert fits == [[24, 0]]
    assert [model.n for model in both.models] == [25, 0]
    show(both, record(0.3, 1, 1.0))
    both.update()
    assert fits == [[24, 0], [25, 1]]


def test_pending_points_shrink_the_joint_posterior_for_a_while():
    one = AR1()
    both = fidelity_models([one, one], [0.0, 0.0], [0, 1], 1, 0)
    for i in range(6):
        show(both, record(i / 5, 0, np.sin(i)))
        show(both, record(i / 5, 1, np.sin(i) + 0.1 * i))
    both.update()
    at = np.array([0.33])
    before = both.at(at)
    with both.hallucinate([Query(0, at, 0)]):
        during = both.at(at)
    assert np.allclose(during[0], before[0], atol=1e-6)
    assert (during[1] < before[1]).all()
    assert np.array_equal(both.at(at), before)


def test_mf_gp_ucb_runs_over_the_joint_posterior():
    opt = mfopt.Optimizer(SQUARE, [1.0, 10.0], surrogate="ar1", capital=150.0, rng=0, maximiser=quick())
    run(opt, FUNCTIONS)
    assert opt.strategy._models.joint is not None
    assert opt.best.y > 1.95
    assert set(opt.history.fidelity) == {0, 1}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: AR1(rho=float("nan")), "rho must be finite, got nan"),
        (lambda: AR1(nu=-1.0), "nu must be positive and finite, got -1.0"),
    ],
)
def test_a_bad_option_is_named(call, message):
    with pytest.raises(mfopt.InputError, match=message):
        call()
