"""φ = min_m μ_m + β^½ σ_m + ζ_m, and its gradient."""

import numpy as np
import pytest

from mfopt_core import GP, mf_ucb

SIZES = [(1,), (50,), (200, 40), (300, 150, 40), (0, 0), (40, 0), (7, 100, 33, 60)]


def make(sizes, d=3):
    gps = []
    for m, n in enumerate(sizes):
        rng = np.random.default_rng(m)
        gp = GP(("se", "matern52", "matern32")[m % 3], np.linspace(0.3, 0.8, d), 1.0 + m, 1e-4, 0.1 * m)
        x = rng.random((n, d))
        if n:
            gp.extend(x, np.sin(5 * x.sum(axis=1)) + 0.1 * m)
        gps.append(gp)
    return gps


def bounds(gps, x, beta, zetas):
    return np.array(
        [m + np.sqrt(beta * v) + z for (m, v), z in zip((gp.posterior(x) for gp in gps), zetas, strict=True)]
    )


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("q", [1, 2, 97, 700])
@pytest.mark.parametrize("beta", [0.0, 3.0])
def test_phi_is_the_smallest_bound(sizes, q, beta):
    gps = make(sizes)
    zetas = 0.2 * np.arange(len(sizes))[::-1]
    x = np.random.default_rng(9).random((q, 3))
    np.testing.assert_allclose(mf_ucb(gps, x, beta, zetas), bounds(gps, x, beta, zetas).min(axis=0), atol=1e-11)


@pytest.mark.parametrize("sizes", SIZES)
def test_the_gradient_is_that_of_the_active_bound(sizes):
    gps = make(sizes)
    zetas = 0.2 * np.arange(len(sizes))[::-1]
    x = np.random.default_rng(9).random((200, 3))
    phi, gradient = mf_ucb(gps, x, 2.0, zetas, grad=True)
    np.testing.assert_array_equal(phi, mf_ucb(gps, x, 2.0, zetas))
    ordered = np.sort(bounds(gps, x, 2.0, zetas), axis=0)
    smooth = np.ones(len(x), dtype=bool) if len(sizes) == 1 else ordered[1] - ordered[0] > 1e-3
    step = 1e-6
    for c in range(3):
        e = step * np.eye(3)[c]
        numeric = (mf_ucb(gps, x + e, 2.0, zetas) - mf_ucb(gps, x - e, 2.0, zetas)) / (2 * step)
        np.testing.assert_allclose(gradient[smooth, c], numeric[smooth], rtol=1e-4, atol=1e-4)


def test_where_the_function_is_known_the_gradient_is_finite():
    gp = GP("se", 0.5, 1.0, 0.0)
    gp.extend([[0.2], [0.7]], [1.0, 2.0])
    _, gradient = mf_ucb([gp], [[0.2], [0.7]], 4.0, [0.0], grad=True)
    assert np.all(np.isfinite(gradient))


def test_bad_arguments_are_refused():
    gps = make((5, 5))
    x = np.zeros((2, 3))
    with pytest.raises(ValueError, match="one GP per fidelity is needed"):
        mf_ucb([], x, 1.0, [])
    with pytest.raises(ValueError, match="one GP per fidelity is needed"):
        mf_ucb([1], x, 1.0, [0.0])
    with pytest.raises(ValueError, match=r"zetas must have shape \(2,\), got shape \(1,\)"):
        mf_ucb(gps, x, 1.0, [0.0])
    with pytest.raises(ValueError, match="beta must not be negative, got -1"):
        mf_ucb(gps, x, -1.0, [0.0, 0.0])
    with pytest.raises(ValueError, match=r"x must have shape \(q, 3\)"):
        mf_ucb(gps, np.zeros((2, 2)), 1.0, [0.0, 0.0])
    with pytest.raises(ValueError, match="points must have 2 dimensions like those before, got 3"):
        mf_ucb([GP("se", [0.5, 0.5], 1.0, 0.1), gps[0]], x, 1.0, [0.0, 0.0])
    with pytest.raises(ValueError, match="zetas must be finite"):
        mf_ucb(gps, x, 1.0, [np.nan, 0.0])
