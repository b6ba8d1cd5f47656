"""Ascents along the boundary of a constraint that is known by its answers alone."""

import numpy as np
import pytest

from mfopt_plugins.maximisers.boundary import find_normal, move_to_boundary, slide

FREE = np.ones(3, dtype=np.bool_)


def half_space(weights, limit):
    """Which points of the cube have weights · x ≤ limit."""
    return lambda x: ((x >= 0.0) & (x <= 1.0)).all(axis=1) & (x @ weights <= limit)


@pytest.mark.parametrize("end", [0.0, 1e-7, 3e-4, 0.999, 1.0])
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_the_normal_is_found_where_a_coordinate_is_at_the_end_of_its_interval(end, sign):
    weights = np.array([0.6, 0.5, sign])
    x = np.array([0.4, 0.7, end])
    normal = find_normal(half_space(weights, weights @ x + 1e-9), x, np.array([0.5, 0.3, -0.4]), FREE)
    np.testing.assert_allclose(normal, weights / np.linalg.norm(weights), atol=2e-3)


def test_far_from_the_boundary_there_is_no_normal():
    contains = half_space(np.ones(3), 2.5)
    assert find_normal(contains, np.full(3, 0.5), np.array([0.5, 0.3, -0.4]), FREE) is None


def test_a_coordinate_leaves_its_end_when_that_pays_along_the_boundary():
    """φ falls along x₂ by itself, but a larger x₂ makes room for x₀ and x₁: the maximum is not at x₂ = 0."""
    weights, limit, top = np.array([1.0, 1.0, -2.0]), 0.6, np.array([0.6, 0.5, -0.1])
    contains = half_space(weights, limit)

    def pieces(x):
        values = -((x - top) ** 2).sum(axis=1)
        return np.where(contains(x), values, -np.inf)[None], -2.0 * (x - top)[None]

    best = top - (weights @ top - limit) / (weights @ weights) * weights  # the projection lies in the cube
    assert best[2] > 0.05
    end, height = slide(pieces, contains, np.array([0.35, 0.25, 0.0]), FREE, 1.0)
    np.testing.assert_allclose(end, best, atol=1e-3)
    assert height == pytest.approx(-((best - top) ** 2).sum(), abs=1e-6)


def test_rows_are_moved_to_the_boundary_from_both_sides():
    contains = half_space(np.ones(3), 1.5)
    way = np.array([1.0, 0.0, 0.0])
    x = np.array([[0.2, 0.5, 0.5], [0.9, 0.5, 0.5], [0.5, 1.0, 1.0], [0.9, 0.1, 0.1]])
    moved = move_to_boundary(contains, x, way)
    assert contains(moved).all()
    np.testing.assert_allclose(moved, [[0.5, 0.5, 0.5], [0.5, 0.5, 0.5], [1.0, 0.1, 0.1]], atol=2e-3)
    assert len(move_to_boundary(contains, x[2:3], way)) == 0
