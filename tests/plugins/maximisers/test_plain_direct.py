"""DIRECT alone, as mf-sko has it in paper mode."""

import numpy as np

from mfopt import Box, FiniteSet
from mfopt.hooks import AcquisitionDefaults
from mfopt_plugins.maximisers.plain_direct import PlainDirect

PEAK = np.array([0.31, 0.72])


class Bump(AcquisitionDefaults):
    """A smooth maximum at PEAK that counts its evaluations; `rows` are those of the models behind it."""

    rows = 10

    def __init__(self):
        self.count = 0

    def __call__(self, u):
        self.count += len(u)
        return -((u - PEAK) ** 2).sum(axis=1)

    def gradient(self, u):
        raise AssertionError("DIRECT needs no gradients")


class Costly(Bump):
    rows = 100_000


def maximise(bump, domain, t=1):
    return PlainDirect().maximise(bump, domain, np.random.default_rng(0), t)


def test_it_comes_close_to_the_maximum():
    assert np.abs(maximise(Bump(), Box([(0, 1)] * 2)) - PEAK).max() < 1e-3


def test_evaluations_are_bounded_and_fewer_where_rows_are_many():
    few, many = Bump(), Costly()
    for bump in (few, many):
        maximise(bump, Box([(0, 1)] * 2))
    assert 800 < few.count < 1200  # 400 dim + 4t, and what completes the last round
    assert 200 <= many.count < 400  # 100 dim


def test_the_point_satisfies_constraints_even_where_no_centre_does():
    half = Box([(0, 1)] * 2, constraints=lambda x: x[:, 0] > 0.5)
    assert maximise(Bump(), half)[0] > 0.5
    thin = Box([(0, 1)] * 2, constraints=lambda x: np.abs(x[:, 0] - 0.2345678) < 1e-7, feasible=[0.2345678, 0.5])
    assert abs(maximise(Bump(), thin)[0] - 0.2345678) < 1e-6


def test_on_a_finite_set_it_is_the_best_row():
    points = np.random.default_rng(1).random((50, 2))
    domain = FiniteSet(points)
    best = domain.points[np.argmin(((domain.points - PEAK) ** 2).sum(axis=1))]
    np.testing.assert_array_equal(maximise(Bump(), domain), best)
