"""What is remembered about points that come back."""

import numpy as np
import pytest

import mfopt_core
from mfopt_plugins.surrogates.compiled import CAPACITY, Memory, keys_of


@pytest.fixture
def gp():
    rng = np.random.default_rng(0)
    gp = mfopt_core.GP("se", 0.4, 1.0, 1e-4)
    gp.extend(rng.random((20, 8)), rng.standard_normal(20))
    return gp


def bounds(gp, u):
    mean, var = gp.posterior(u)
    return mean + np.sqrt(2.0 * var) + 0.1


def test_remembered_bounds_are_the_bounds(gp):
    memory, rng = Memory(gp), np.random.default_rng(1)
    u = rng.random((50, 8))
    for row in rng.random((5, 8)):
        gp.append(row, 0.3)
        np.testing.assert_allclose(memory.bounds(u, keys_of(u), 2.0, 0.1), bounds(gp, u), rtol=1e-9)


def test_a_point_given_twice_takes_one_place(gp):
    # Twice-given points used to take a place at each call, until the memory was full while it believed it had room.
    memory, rng = Memory(gp), np.random.default_rng(2)
    for _ in range(2 * CAPACITY // 500):
        u = np.repeat(rng.random((250, 8)), 2, axis=0)
        np.testing.assert_allclose(memory.bounds(u, keys_of(u), 2.0, 0.1), bounds(gp, u), rtol=1e-9)
