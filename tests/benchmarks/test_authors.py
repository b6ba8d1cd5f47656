"""What the authors' code does otherwise: patches of what is there, and rules as they have them."""

from unittest.mock import patch

import authors_differences as differences
import numpy as np
import pytest

from mfopt_plugins.strategies.ucb.schedule import GammaRule


@pytest.mark.parametrize("name", differences.CHANGES)
def test_what_is_patched_is_there(name):
    for owner, attribute, new in differences.CHANGES[name][0]:
        with patch.object(owner, attribute, new):
            assert getattr(owner, attribute) is new


def test_all_gammas_have_one_count_and_rise_together():
    with patch.object(*differences.LATER["counter"][0]):
        rule = GammaRule([1.0, 3.0, 30.0], None, 1.0)
        rule.start(100.0)
        assert rule.values[:-1] == pytest.approx([1.0, 1.0])
        for k in (0, 0, 2, 0, 0):  # the target begins the count anew
            rule.count(k, np.zeros(3))
        assert rule.values[:-1] == pytest.approx([1.0, 1.0])
        rule.count(0, np.zeros(3))
        assert rule.values[:-1] == pytest.approx([5.0, 5.0])
        for _ in range(10):
            rule.count(1, np.zeros(3))
        assert rule.values[:-1] == pytest.approx([25.0, 25.0])


def test_initial_points_are_centres_of_clusters_that_both_fidelities_share():
    import mfopt

    box = mfopt.Box([(0.0, 1.0)] * 2)
    assert differences._count_design([1.0, 10.0], None, None, 2) == (40, 5)
    points = np.array([differences._find_centre(box, 3, 0, i) for i in range(40)])
    assert np.array_equal(points[0], differences._find_centre(box, 3, 1, 0))
    apart = np.linalg.norm(points[:, None] - points[None], axis=2) + np.eye(40)
    assert apart.min() > 0.03
    assert ((points > 0.0) & (points < 1.0)).all()
