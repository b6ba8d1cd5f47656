"""Several levels of one process: mixtures, pairs of levels and their likelihood, against plain NumPy and 60 digits."""

import pickle

import mpmath as mp
import numpy as np
import pytest

from mfopt_core import GP, Bound, Improvement, Kernel, Level, LevelLikelihood, Mixture, Pair
from tests.core.reference import ExactGP, covariance
from tests.core.test_accuracy import EPS, as_mp

D = 3
ELLS = np.array([[0.4, 0.7, 1.3], [0.9, 0.3, 0.6]])
WEIGHTS = np.array([[1.0, 0.0], [-0.8, 0.5], [0.4, 2.0]])
UNIT = WEIGHTS / np.linalg.norm(WEIGHTS, axis=1, keepdims=True)
KINDS = [("se", None), ("matern32", None), ("matern52", None), ("matern", 1.7)]
FACTORS, SHIFTS, NOISES = np.array([2.0, -0.7, 1.3]), np.array([0.4, -1.0, 0.2]), np.array([0.02, 0.05, 0.01])


def rows(n=140, seed=0):
    """More than a block of points (u, level), and values."""
    rng = np.random.default_rng(seed)
    x = np.column_stack([rng.random((n, D)), rng.integers(0, 3, n)])
    return x, np.sin(3 * x[:, 0]) + x[:, 1] * x[:, 3]


def mixture(name="se", nu=None):
    return Mixture([Kernel(name, ell, 7.0, nu) for ell in ELLS], 3.0 * WEIGHTS)


def dense(name, nu, x, z, weights=UNIT, ells=ELLS):
    """The correlation of a mixture, by its definition."""
    k, m = x[:, -1].astype(int), z[:, -1].astype(int)
    parts = [covariance(name, ell, 1.0, x[:, :-1], z[:, :-1], nu) for ell in ells]
    return sum(np.outer(weights[k, j], weights[m, j]) * part for j, part in enumerate(parts))


@pytest.mark.parametrize(("name", "nu"), KINDS)
def test_the_posterior_of_a_mixture_is_that_of_the_dense_covariance(name, nu):
    x, y = rows()
    gp = GP.mixed(mixture(name, nu))
    gp.extend(x[:90], y[:90], np.full(90, 0.01))
    for i in range(90, len(x)):
        gp.extend(x[i : i + 1], y[i : i + 1], [0.01])
    z = rows(40, 1)[0]
    inverse, cross = np.linalg.inv(dense(name, nu, x, x) + 0.01 * np.eye(len(x))), dense(name, nu, x, z)
    mean, var = gp.posterior(z)
    np.testing.assert_allclose(mean, cross.T @ inverse @ y, atol=1e-9)
    np.testing.assert_allclose(var, 1.0 - np.einsum("iq,ij,jq->q", cross, inverse, cross), atol=1e-9)
    np.testing.assert_allclose(gp.covariance(z), dense(name, nu, z, z) - cross.T @ inverse @ cross, atol=1e-9)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(gp)).posterior(z), gp.posterior(z))
    _, _, dmean, dvar = gp.posterior_gradient(z)
    assert not dmean[:, -1].any()
    for c in range(D):
        step = 1e-6 * np.eye(D + 1)[c]
        (high, low), (up, down) = zip(gp.posterior(z + step), gp.posterior(z - step), strict=True)
        np.testing.assert_allclose(dmean[:, c], (high - low) / 2e-6, atol=1e-6)
        np.testing.assert_allclose(dvar[:, c], (up - down) / 2e-6, atol=1e-6)


class ExactMixture(ExactGP):
    """The same with 60 digits."""

    def _kernel(self, a, b):
        total = mp.mpf(0)
        for j, ell in enumerate(ELLS):
            weight = mp.mpf(float(self.weights_of[int(a[-1]), j])) * mp.mpf(float(self.weights_of[int(b[-1]), j]))
            square = sum(((p - q) / mp.mpf(float(w))) ** 2 for p, q, w in zip(a[:-1], b[:-1], ell, strict=True))
            total += weight * mp.exp(-square / 2)
        return total


@pytest.mark.parametrize("noise", [1e-2, 1e-8, 0.0])
def test_a_mixture_is_as_accurate_as_one_kernel(noise):
    n = 40
    x, y = rows(n)
    gp = GP.mixed(mixture())
    gp.extend(x, y, np.full(n, noise))
    ExactMixture.weights_of = gp.kernel.weights
    exact = ExactMixture(np.ones(D + 1), 1.0, noise + gp.jitter, 0.0, x, y)
    lower = as_mp(gp.cholesky())
    assert mp.mnorm(lower * lower.T - exact.k, "f") <= 16 * EPS * mp.mnorm(exact.k, "f")
    norm = mp.mpf(np.linalg.norm(np.array(exact.k.tolist(), dtype=float), 2))
    targets = rows(8, 3)[0]
    for target, got_mean, got_var in zip(targets, *gp.posterior(targets), strict=True):
        true_mean, true_var, weights = exact.posterior(target)
        limit = n * EPS * norm * mp.norm(weights)
        assert abs(got_mean - true_mean) <= 0.05 * limit * mp.norm(exact.weights) + EPS * abs(true_mean)
        assert abs(got_var - true_var) <= 0.2 * limit * mp.norm(weights) + 2 * EPS


def test_a_bound_over_levels_of_a_mixture_is_the_bound_of_their_posteriors():
    x, y = rows()
    gp = GP.mixed(mixture("matern52"))
    gp.extend(x, y, np.full(len(x), 0.01))
    bound = Bound([Level(gp, [k], FACTORS[k], SHIFTS[k]) for k in range(3)], 4.0, [0.3, 0.2, 0.0])
    u = np.random.default_rng(1).random((31, D))
    expected = []
    for k, zeta in enumerate([0.3, 0.2, 0.0]):
        mean, var = gp.posterior(np.column_stack([u, np.full(31, k)]))
        expected.append(FACTORS[k] * mean + SHIFTS[k] + 2 * abs(FACTORS[k]) * np.sqrt(var) + zeta)
    np.testing.assert_allclose(bound(u), np.min(expected, axis=0), atol=1e-12)
    np.testing.assert_allclose(bound.recurring(u), bound(u), atol=1e-9)


@pytest.mark.parametrize("mixed", [True, False])
def test_a_pair_tells_both_levels_and_their_covariance(mixed):
    x, y = rows(150)
    if mixed:
        gp, tails = GP.mixed(mixture("matern52")), [[0.0], [2.0]]
    else:
        gp, tails = GP("se", [0.4, 0.7, 1.3, 0.9], 1.7, 1e-2, 0.3), [[0.1], [0.8]]
    levels = [
        Level(gp, tail, factor, shift) for tail, factor, shift in zip(tails, [2.0, -0.5], [1.0, 3.0], strict=True)
    ]
    pair = Pair(*levels)
    u = np.random.default_rng(1).random((300, D))  # more than one pass
    for n in (0, 100, 150, 120):
        if n < gp.n:
            gp.truncate(n)
        else:
            gp.extend(x[gp.n : n], y[gp.n : n], np.full(n - gp.n, 0.01))
        both = [np.column_stack([u, np.full(len(u), tail[0])]) for tail in tails]
        means, variances = zip(*[gp.posterior(z) for z in both], strict=True)
        joint = np.array([gp.covariance(np.array([a, b]))[0, 1] for a, b in zip(*both, strict=True)])
        for mean, var, cov in (pair(u), pair.gradient(u)[:3]):
            np.testing.assert_allclose(mean, [2.0 * means[0] + 1.0, -0.5 * means[1] + 3.0], atol=1e-9)
            np.testing.assert_allclose(var, [4.0 * variances[0], 0.25 * variances[1]], atol=1e-9)
            np.testing.assert_allclose(cov, -joint, atol=1e-9)
    slopes = pair.gradient(u)[3:]
    for c in range(D):
        step = 1e-6 * np.eye(D)[c]
        for slope, high, low in zip(slopes, pair(u + step), pair(u - step), strict=True):
            np.testing.assert_allclose(slope[..., c], (high - low) / 2e-6, atol=2e-6)


# -- improvement ---------------------------------------------------------------------------------------------


def improve(mean, var, cov, best, unit, noises, offsets):
    """v_k of every level, (levels, q), by its definition, from means, variances and covariances with the last level."""
    sigma = np.maximum(np.sqrt(var[-1]), 1e-12 * unit)
    z = (mean[-1] - best) / sigma
    share = 1.0 - np.sqrt(noises)[:, None] / np.sqrt(var + noises[:, None])
    correlation = np.clip(np.abs(cov) / np.sqrt(var * var[-1]), 1e-8, 1.0)
    return log_h(z) + np.log(sigma / unit) + np.log(share * correlation) + offsets[:, None]


def log_h(z):
    """log(φ(z) + z Φ(z)) with 60 digits."""
    with mp.workdps(60):
        exact = [mp.npdf(one) + one * mp.erfc(-one / mp.sqrt(2)) / 2 for one in map(mp.mpf, np.ravel(z).tolist())]
        return np.array([float(mp.log(one)) for one in exact]).reshape(np.shape(z))


@pytest.mark.parametrize("best", [-5.0, 1.0, 4.0, 30.0, 300.0])
@pytest.mark.parametrize("left_out", [None, 0, 2])
def test_the_improvement_is_the_best_of_all_levels(best, left_out):
    x, y = rows(150)
    gp = GP.mixed(mixture("matern52"))
    levels = [Level(gp, [k], FACTORS[k], SHIFTS[k]) for k in range(3)]
    offsets = np.array([2.0, 1.0, 0.0])
    if left_out is not None:
        offsets[left_out] = -np.inf
    improvement = Improvement(levels, best, 0.7, NOISES, offsets, 20.0)
    u = np.random.default_rng(1).random((300, D))  # more than one pass
    for n in (0, 100, 150, 120):
        if n < gp.n:
            gp.truncate(n)
        else:
            gp.extend(x[gp.n : n], y[gp.n : n], np.full(n - gp.n, 0.01))
        pairs = [Pair(level, levels[-1])(u) for level in levels]
        mean, var, cov = np.array([p[0][0] for p in pairs]), np.array([p[1][0] for p in pairs]), [p[2] for p in pairs]
        plain = improve(mean, var, np.array(cov), best, 0.7, NOISES, offsets)
        value = Improvement(levels, best, 0.7, NOISES, offsets, 1e300)(u)
        np.testing.assert_allclose(value, plain.max(axis=0), rtol=1e-8, atol=1e-8)
        drawn_in = np.where(value < -20.0, -20.0 * (1.0 + np.log(np.maximum(-value / 20.0, 1.0))), value)
        for values in (improvement(u), improvement.gradient(u)[0], improvement.recurring(u), improvement.recurring(u)):
            np.testing.assert_allclose(values, drawn_in, rtol=1e-7, atol=1e-7)
        np.testing.assert_array_equal(improvement(u[:3]), pickle.loads(pickle.dumps(improvement))(u[:3]))


def test_the_bits_of_an_improvement_do_not_depend_on_when_a_point_was_first_looked_at():
    """A study that is reopened remembers nothing, and goes on as one that was not."""
    (x, y), u = rows(150), np.random.default_rng(1).random((60, D))
    gp = GP.mixed(mixture("matern52"))

    def make():
        levels = [Level(gp, [k], FACTORS[k], SHIFTS[k]) for k in range(3)]
        return Improvement(levels, 1.0, 0.7, NOISES, [2.0, 1.0, 0.0], 20.0)

    improvement = make()
    for n in (20, 24, 21, 90, 150):
        if n < gp.n:
            gp.truncate(n)
        else:
            gp.extend(x[gp.n : n], y[gp.n : n], np.full(n - gp.n, 1e-6))
        improvement.recurring(u[n % 20 :: 3])
    expected = improvement.recurring(u)
    np.testing.assert_array_equal(make().recurring(u), expected)
    np.testing.assert_array_equal([make().recurring(point[None])[0] for point in u], expected)


def find_best_level(levels, best, offsets, u):
    alone = [np.where(np.arange(3) == k, offsets, -np.inf) for k in range(3) if offsets[k] > -np.inf]
    return np.argmax([Improvement(levels, best, 0.7, NOISES, one, 20.0)(u) for one in alone], axis=0)


@pytest.mark.parametrize("best", [-5.0, 1.0, 4.0, 300.0])
@pytest.mark.parametrize("offsets", [[2.0, 1.0, 0.0], [-np.inf, 1.0, -np.inf], [-np.inf, -np.inf, 0.0]])
def test_the_improvement_has_its_gradient(best, offsets):
    x, y = rows(150)
    gp = GP.mixed(mixture("matern52"))
    gp.extend(x, y, np.full(150, 0.01))
    levels = [Level(gp, [k], FACTORS[k], SHIFTS[k]) for k in range(3)]
    improvement = Improvement(levels, best, 0.7, NOISES, offsets, 20.0)
    u = np.random.default_rng(1).random((100, D))
    slope = improvement.gradient(u)[1]
    np.testing.assert_allclose(slope[:2], improvement.gradient(u[:2])[1], rtol=1e-7, atol=1e-7)  # another kind of pass
    for c in range(D):
        step = 1e-6 * np.eye(D)[c]
        numeric = (improvement(u + step) - improvement(u - step)) / 2e-6
        same = find_best_level(levels, best, offsets, u + step) == find_best_level(levels, best, offsets, u - step)
        np.testing.assert_allclose(slope[same, c], numeric[same], rtol=1e-4, atol=1e-4)
        assert same.mean() > 0.9  # elsewhere there is a kink between


def test_the_improvement_is_accurate_for_every_distance_from_the_incumbent():
    """Without rows the target has mean `shift` and deviation |factor| everywhere: z is what the test says."""
    gp = GP.mixed(mixture())
    gp.extend(*rows(1), [0.01])
    gp.truncate(0)
    level = Level(gp, [0.0], 1.0, 0.0)
    z = np.concatenate([-np.geomspace(1e6, 1e-3, 200), [-5.0, -1.0, 0.0], np.geomspace(1e-3, 30.0, 50)])
    values = [Improvement([level], -one, 1.0, [1e-300], [0.0], 1e300)(np.full((1, D), 0.5))[0] for one in z]
    np.testing.assert_allclose(values, log_h(z), rtol=1e-12, atol=1e-13)


# -- likelihood ----------------------------------------------------------------------------------------------


def log_density(matrix, residual):
    return -0.5 * (residual @ np.linalg.solve(matrix, residual) + np.linalg.slogdet(2 * np.pi * matrix)[1])


def check_gradient(value, parameters, gradient):
    steps = 1e-5 * np.eye(len(parameters))
    numeric = [(value(parameters + step) - value(parameters - step)) / 2e-5 for step in steps]
    np.testing.assert_allclose(gradient, numeric, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("name", "nu"), KINDS)
def test_the_likelihood_of_levels_under_one_kernel_has_its_value_and_gradient(name, nu):
    x, y = rows()
    level = x[:, -1].astype(int)
    likelihood = LevelLikelihood(x, level, y, 3)

    def evaluate(p):
        """p: log ℓ (4), log scale, mean, log noises, log |factors|, shifts."""
        kernel = Kernel(name, np.exp(p[:4]), np.exp(p[4]), nu)
        return likelihood(kernel, p[5], np.exp(p[6:9]), np.sign(FACTORS) * np.exp(p[9:12]), p[12:])

    p = np.concatenate([np.log([0.5, 0.8, 1.1, 2.0, 1.4]), [0.3], np.log(NOISES), np.log(np.abs(FACTORS)), SHIFTS])
    value, *gradient = evaluate(p)
    k = covariance(name, np.exp(p[:4]), np.exp(p[4]), x, x, nu)
    matrix = np.outer(FACTORS[level], FACTORS[level]) * k + np.diag(NOISES[level])
    assert value == pytest.approx(log_density(matrix, y - FACTORS[level] * p[5] - SHIFTS[level]), rel=1e-10)
    check_gradient(lambda p: evaluate(p)[0], p, np.concatenate(gradient))


@pytest.mark.parametrize(("name", "nu"), KINDS)
def test_the_likelihood_of_a_mixture_has_its_value_and_gradient(name, nu):
    x, y = rows()
    level = x[:, -1].astype(int)
    likelihood = LevelLikelihood(x, level, y, 3)
    sizes = np.linalg.norm(WEIGHTS, axis=1)

    def by_hand(p):
        """p: log ℓ (6), weights (6), log noises, shifts; factors are part of the weights."""
        k = dense(name, nu, x, x, p[6:12].reshape(3, 2), np.exp(p[:6]).reshape(2, 3))
        return log_density(k + np.diag(np.exp(p[12:15])[level]), y - p[15:][level])

    value, own, by_noise, _, by_shift = likelihood(mixture(name, nu), 0.0, NOISES, sizes, SHIFTS)
    own[6:] /= np.repeat(sizes, 2)  # from weights of unit length to factor times weight
    p = np.concatenate([np.log(ELLS).ravel(), WEIGHTS.ravel(), np.log(NOISES), SHIFTS])
    assert value == pytest.approx(by_hand(p), rel=1e-10)
    check_gradient(by_hand, p, np.concatenate([own, by_noise, by_shift]))


# -- what is refused -----------------------------------------------------------------------------------------

SE = Kernel("se", [0.5, 0.5, 0.5])
ONE = Level(GP("se", 0.5, 1.0, 0.0))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Mixture([], [[1.0]]), "one Kernel per function is needed"),
        (lambda: Mixture([Kernel("se", 0.5)], [[1.0]]), "a length-scale for each of as many dimensions"),
        (lambda: Mixture([SE], [[0.0]]), "not all 0 at a level"),
        (lambda: Mixture([SE], [[np.nan]]), "weights must be finite"),
        (lambda: Mixture([SE], [1.0]), r"weights must be \(levels, 1\)"),
        (lambda: GP.mixed(Mixture([SE], [[1.0]])).extend([[0.1, 0.2]], [1.0]), "4"),
        (lambda: GP.mixed(Mixture([SE], [[1.0]])).log_marginal_likelihood(grad=True), "must be that of one kernel"),
        (lambda: Pair(Level(GP("se", 0.5, 1.0, 0.0)), Level(GP("se", 0.5, 1.0, 0.0))), "both levels must be of one GP"),
        (lambda: Improvement([], 0.0, 1.0, [], [], 20.0), "one Level per fidelity is needed"),
        (lambda: Improvement([ONE, Level(GP("se", 0.5, 1.0, 0.0))], 0.0, 1.0, [1.0] * 2, [0.0] * 2, 20.0), "one GP"),
        (lambda: Improvement([ONE], 0.0, 0.0, [1.0], [0.0], 20.0), "unit and tail must be positive"),
        (lambda: Improvement([ONE], 0.0, 1.0, [0.0], [0.0], 20.0), "noises must be positive"),
        (lambda: Improvement([ONE], 0.0, 1.0, [1.0], [-np.inf], 20.0), "offsets must be 1 numbers"),
        (lambda: Improvement([ONE], 0.0, 1.0, [1.0], [np.nan], 20.0), "offsets must be 1 numbers"),
        (lambda: Level(GP.mixed(Mixture([SE], [[1.0]])), [0.1, 0.0]), "must be the level alone"),
        (lambda: LevelLikelihood([[0.1]], [1], [0.0], 1), "level must be from 0 to 0"),
        (lambda: LevelLikelihood([[0.1]], [0, 0], [0.0], 1), "level must have 1 entries"),
        (
            lambda: LevelLikelihood([[0.1]], [0], [0.0], 1)(Kernel("se", 0.5), 0.0, [0.1], [1.0], [0.0]),
            "kernel must be",
        ),
        (
            lambda: LevelLikelihood([[0.1]], [0], [0.0], 1)(Kernel("se", [0.5]), 0.0, [0.1], [0.0], [0.0]),
            "factors must",
        ),
        (lambda: LevelLikelihood([[0.1]], [0], [0.0], 1)(Kernel("se", [0.5]), 0.0, [-1.0], [1.0], [0.0]), "noise is a"),
    ],
)
def test_a_bad_argument_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_whatever_the_coordinate_of_a_level_it_is_the_nearest_level():
    gp = GP.mixed(mixture())
    gp.extend(*rows(20), np.full(20, 0.01))
    u = np.array([[0.2, 0.4, 0.6]])
    at = [gp.posterior(np.column_stack([u, [level]]))[0][0] for level in (0, 1, 2, -1e300, 0.7, 1e300)]
    assert at[3:] == [at[0], at[1], at[2]]
