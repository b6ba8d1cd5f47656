"""Kernels and their thin factors."""

import numpy as np
import pytest

import mfopt_core
from mfopt import theory
from mfopt.errors import InputError

KERNELS = {
    "se": (theory.squared_exponential(0.4, 2.0), "se"),
    "matern12": (theory.matern(0.5, 0.4, 2.0), "matern12"),
    "matern32": (theory.matern(1.5, 0.4, 2.0), "matern32"),
    "matern52": (theory.matern(2.5, 0.4, 2.0), "matern52"),
}


@pytest.mark.parametrize(("kernel", "name"), KERNELS.values(), ids=KERNELS)
def test_a_kernel_is_the_compiled_one(kernel, name):
    x = np.random.default_rng(0).random((7, 3))
    gp = mfopt_core.GP(name, 0.4, 2.0, 0.5)
    gp.extend(x[:1], np.ones(1))
    shrink = 1 - gp.posterior(x)[1] / 2.0  # κ(x, x_1)²/(κ_0 (κ_0 + η²))
    np.testing.assert_allclose(kernel(x, x[:1])[:, 0], np.sqrt(shrink * 2.0 * 2.5), rtol=1e-6)


@pytest.mark.parametrize(("kernel", "name"), KERNELS.values(), ids=KERNELS)
def test_a_factor_gives_the_matrix_back_and_is_triangular_at_its_pivots(kernel, name):
    x = np.random.default_rng(1).random((60, 2))
    thin = theory.factor(kernel, x)
    np.testing.assert_allclose(thin.phi @ thin.phi.T, kernel(x, x), atol=2.0 * 1e-6 * np.sqrt(2.0))
    at_pivots = thin.phi[thin.pivots]
    assert (np.triu(at_pivots, 1) == 0).all()
    assert (thin.diagonal > 0).all()
    assert (np.diff(thin.diagonal) <= 1e-12).all()


def test_a_smooth_kernel_on_ten_thousand_points_needs_few_columns():
    grid = np.linspace(0, 1, 10_000)[:, None]
    assert theory.factor(theory.squared_exponential(), grid).rank < 15


def test_repeated_points_add_no_column():
    x = np.repeat(np.random.default_rng(2).random((4, 2)), 3, axis=0)
    assert theory.factor(theory.matern(0.5), x).rank == 4


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: theory.squared_exponential(0.0), "lengthscale must be positive, got 0.0"),
        (lambda: theory.matern(1.0), "nu must be one of"),
        (lambda: theory.factor(theory.matern(0.5), np.zeros(3)), "points must be a finite array"),
    ],
)
def test_wrong_parameters_are_named(make, message):
    with pytest.raises(InputError, match=message):
        make()
