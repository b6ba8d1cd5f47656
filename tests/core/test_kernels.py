"""Kernels: values, blocks and gradients."""

import mpmath as mp
import numpy as np
import pytest

from mfopt_core import KERNELS, Kernel
from tests.core.reference import covariance

ALL = [(name, 1.7 if name == "matern" else None) for name in KERNELS]
SIZES = [(1, 1, 1), (97, 101, 3), (5, 130, 8), (33, 7, 11)]


@pytest.mark.parametrize(("name", "nu"), ALL)
@pytest.mark.parametrize(("p", "q", "d"), SIZES)
@pytest.mark.parametrize("isotropic", [True, False])
def test_a_block_holds_k_of_every_pair(name, nu, p, q, d, isotropic):
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=(p, d)), rng.normal(size=(q, d))
    ell = 0.7 if isotropic else rng.uniform(0.3, 2, d)
    block = Kernel(name, ell, 1.9, nu)(x, z)
    np.testing.assert_allclose(block, covariance(name, ell, 1.9, x, z, nu), rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("name", ["se", "matern12", "matern32", "matern52"])
def test_values_are_accurate_to_rounding_at_any_distance(name):
    """Against 60 digits; the error of r² of the argument is amplified by r²."""
    mp.mp.dps = 60
    true = {
        "se": lambda t: mp.exp(-t * t / 2),
        "matern12": lambda t: mp.exp(-t),
        "matern32": lambda t: (1 + mp.sqrt(3) * t) * mp.exp(-mp.sqrt(3) * t),
        "matern52": lambda t: (1 + mp.sqrt(5) * t + 5 * t * t / 3) * mp.exp(-mp.sqrt(5) * t),
    }[name]
    r = np.concatenate([[0.0], 10.0 ** np.linspace(-12, 1.55, 400)])
    values = Kernel(name, 1.0)(np.zeros((1, 1)), r[:, None])[0]
    for distance, value in zip(r, values, strict=True):
        exact = true(mp.mpf(float(distance)))
        limit = (2 + float(distance) ** (2 if name == "se" else 1) * 2.5) * np.finfo(float).eps
        assert abs(mp.mpf(float(value)) - exact) <= limit * exact + mp.mpf("1e-307")


def test_kernels_are_one_at_distance_zero_and_zero_far_away():
    for name, nu in ALL:
        kernel = Kernel(name, 1.0, 1.0, nu)
        assert kernel([[3.0]], [[3.0]])[0, 0] == 1.0
        assert kernel([[0.0]], [[1e200], [1e5]])[0].tolist() == [0.0, 0.0]


def test_the_general_matern_contains_the_closed_forms():
    rng = np.random.default_rng(1)
    x, z = rng.normal(size=(20, 2)), rng.normal(size=(30, 2))
    for nu, name in ((0.5, "matern12"), (1.5, "matern32"), (2.5, "matern52")):
        general, closed = Kernel("matern", 0.8, 2.0, nu), Kernel(name, 0.8, 2.0)
        assert general.nu == closed.nu == nu
        np.testing.assert_allclose(general(x, z), closed(x, z), rtol=1e-11)
        np.testing.assert_allclose(general.gradient(x, z), closed.gradient(x, z), rtol=1e-10)


@pytest.mark.parametrize(("name", "nu"), ALL)
def test_gradients_agree_with_central_differences(name, nu):
    rng = np.random.default_rng(2)
    d, step = 3, 1e-6
    x, z = rng.normal(size=(4, d)), rng.normal(size=(5, d))
    ell, scale = rng.uniform(0.5, 2, d), 1.4
    gradient = Kernel(name, ell, scale, nu).gradient(x, z)
    hyper = Kernel(name, ell, scale, nu).hyper_gradient(x, z)
    for c in range(d):
        e = step * np.eye(d)[c]
        kernel = Kernel(name, ell, scale, nu)
        np.testing.assert_allclose(gradient[:, :, c], (kernel(x + e, z) - kernel(x - e, z)) / (2 * step), atol=1e-8)
        up, down = (Kernel(name, ell * np.exp(s * np.eye(d)[c]), scale, nu)(x, z) for s in (step, -step))
        np.testing.assert_allclose(hyper[:, :, c], (up - down) / (2 * step), atol=1e-8)
    np.testing.assert_allclose(hyper[:, :, d], Kernel(name, ell, scale, nu)(x, z))
    one = Kernel(name, 0.9, scale, nu).hyper_gradient(x, z)
    assert one.shape == (4, 5, 2)
    up, down = (Kernel(name, 0.9 * np.exp(s), scale, nu)(x, z) for s in (step, -step))
    np.testing.assert_allclose(one[:, :, 0], (up - down) / (2 * step), atol=1e-8)


@pytest.mark.parametrize(("name", "nu"), ALL)
def test_gradients_are_finite_where_points_coincide(name, nu):
    kernel = Kernel(name, 1.0, 1.0, nu)
    assert np.all(kernel.gradient([[0.5, 0.5]], [[0.5, 0.5]]) == 0.0)
    assert np.all(np.isfinite(kernel.hyper_gradient([[0.5, 0.5]], [[0.5, 0.5]])))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("rbf", 1.0), "kernel must be one of se, matern12, matern32, matern52, matern, got 'rbf'"),
        (("se", 0.0), "lengthscale must be positive"),
        (("se", [1.0, -1.0]), "lengthscale must be positive"),
        (("se", []), "lengthscale must be positive"),
        (("se", [1.0, np.nan]), "lengthscale must be finite"),
        (("se", [[1.0]]), "lengthscale must have shape"),
        (("se", 1.0, -2.0), "scale must be positive, got -2.0"),
        (("se", 1.0, np.inf), "scale must be finite"),
        (("matern", 1.0), "nu is given with kernel"),
        (("se", 1.0, 1.0, 2.5), "nu is given with kernel"),
        (("matern", 1.0, 1.0, -1.0), "nu must be positive"),
        (("matern", 1.0, 1.0, 200.0), "nu must be at most 100"),
        (("se", 1e-310), "lengthscale must be above 1e-150"),
    ],
)
def test_bad_parameters_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        Kernel(*arguments)
