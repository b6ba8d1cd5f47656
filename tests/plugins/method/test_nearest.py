"""The row of a finite set that a point is."""

import numpy as np
import pytest

from mfopt.protocols import SAME
from mfopt_plugins.method.nearest import NearestRow


@pytest.mark.parametrize("away", [0.0, 0.3 * SAME, 0.99 * SAME, 0.2])
def test_it_is_the_nearest_row(away):
    rng = np.random.default_rng(0)
    points = np.vstack([rng.random((500, 3)), rng.integers(0, 3, (50, 3)) / 2])
    points[7] = points[3] + 0.4 * SAME  # two rows within reach of one point
    nearest = NearestRow(points)
    for i in range(0, len(points), 7):
        u = points[i] + rng.uniform(-away, away, 3)
        assert nearest.find(u) == np.argmin(np.abs(points - u).max(axis=1))
        assert nearest.find(u) == np.argmin(np.abs(points - u).max(axis=1))


def test_of_equal_rows_it_is_the_first():
    points = np.array([[0.5, 0.5], [0.25, 0.75], [0.5, 0.5]])
    assert NearestRow(points).find(np.array([0.5, 0.5])) == 0


def test_a_million_rows_are_not_compared_with_every_point():
    points = np.random.default_rng(1).random((1_000_000, 2))
    nearest = NearestRow(points)
    assert [nearest.find(u) for u in points[:3000]] == list(range(3000))  # in seconds, not in an hour
