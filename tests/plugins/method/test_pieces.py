"""The pieces φ_m of the upper bound, and φ from them."""

import numpy as np

from mfopt_plugins.method.pieces import take_lowest, upper_bound_gradient


def test_the_gradient_of_the_bound_follows_from_that_of_mean_and_variance():
    u = np.array([[0.2, 0.7], [1.0, 0.4]])
    mean, var = u[:, 0] * u[:, 1], u[:, 0] ** 2  # so that σ is the first coordinate
    dmean, dvar = u[:, ::-1], np.stack([2 * u[:, 0], np.zeros(2)], axis=1)
    value, slope = upper_bound_gradient(mean, var, dmean, dvar, 9.0)
    assert np.allclose(value, mean + 3 * u[:, 0])
    assert np.allclose(slope, dmean + np.array([3.0, 0.0]))


def test_where_nothing_is_uncertain_the_mean_alone_has_a_gradient():
    dmean = np.array([[1.0, -2.0]])
    value, slope = upper_bound_gradient(np.array([5.0]), np.zeros(1), dmean, np.ones((1, 2)), 4.0)
    assert value == 5.0
    assert np.array_equal(slope, dmean)


def test_the_lowest_piece_is_taken_at_each_point_and_of_equal_ones_the_first():
    values = np.array([[1.0, 5.0, 2.0], [3.0, 4.0, 2.0]])
    slopes = np.arange(12.0).reshape(2, 3, 2)
    phi, slope = take_lowest(values, slopes)
    assert np.array_equal(phi, [1.0, 4.0, 2.0])
    assert np.array_equal(slope, [slopes[0, 0], slopes[1, 1], slopes[0, 2]])
