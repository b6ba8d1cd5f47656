"""a and b of the assumption on the kernel: they bound what samples do, and reduce to each other."""

import numpy as np
import pytest

import mfopt
from mfopt import theory


def sup_of_derivative(lengthscale, nu, draws, rng):
    """sup |f'| over [0, 1] of samples of the SE kernel, or of Matérn ones, as mixtures of it over length-scales.

    f(x) = Σ_j √(2/m) cos(w_j x + p_j) with frequencies w_j from the spectral density has the kernel's covariance.
    """
    x, m = np.linspace(0.0, 1.0, 200), 400
    u = np.ones((draws, m)) if nu is None else rng.gamma(nu, size=(draws, m)) / nu
    w = rng.standard_normal((draws, m)) / (lengthscale * np.sqrt(u))
    p = rng.uniform(0.0, 2 * np.pi, (draws, m))
    return np.array(
        [
            np.abs((-np.sqrt(2 / m) * a * np.sin(np.outer(x, a) + b)).sum(axis=1)).max()
            for a, b in zip(w, p, strict=True)
        ]
    )


@pytest.mark.parametrize("nu", [None, 2.5, 4.5])
def test_the_tail_of_the_derivative_is_below_the_bound(nu):
    sup = sup_of_derivative(0.3, nu, 300, np.random.default_rng(0))
    a, b = theory.smoothness_se(1, 1.0, 0.3) if nu is None else theory.smoothness_matern(1, nu, 1.0, 0.3)
    for level in np.quantile(sup, [0.0, 0.5, 0.9, 0.99]):
        assert np.mean(sup > level) <= a * np.exp(-((level / b) ** 2))
    # and it says something: beyond some multiple of what is seen the probability is small
    assert a * np.exp(-((30 * sup.max() / b) ** 2)) < 0.01


def test_matern_tends_to_the_squared_exponential():
    assert theory.smoothness_matern(2, 1e7, 1.0, 0.4, 2.0) == pytest.approx(
        theory.smoothness_se(2, 1.0, 0.4, 2.0), rel=1e-4
    )


def test_a_larger_scale_scales_b_alone_and_units_of_x_do_not_matter():
    a, b = theory.smoothness_se(3, 1.0, 0.5)
    assert theory.smoothness_se(3, 1.0, 0.5, 4.0) == pytest.approx((a, 2 * b))
    assert theory.smoothness_se(3, 2.0, 1.0) == pytest.approx((a, b / 2))


def test_rough_kernels_are_refused():
    with pytest.raises(mfopt.InputError, match=r"nu must be above 2, got 1\.5"):
        theory.smoothness_matern(1, 1.5)
