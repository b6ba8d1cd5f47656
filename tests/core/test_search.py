"""Searches in the core: the same with a bound and with functions, and as if every round came through Python."""

import numpy as np
import pytest

from mfopt_core import GP, Ascent, Bound, Direct, Level, ascend, choose_apart, divide, find_distinct


@pytest.fixture
def bound():
    rng = np.random.default_rng(0)
    gp = GP("matern52", [0.4, 0.6, 0.5, 3.0], 1.7, 1e-3)
    x = np.hstack([rng.random((50, 3)), rng.integers(0, 2, (50, 1))])
    gp.extend(x, np.sin(5 * x[:, :3].sum(axis=1)) + 0.2 * x[:, 3])
    return Bound([Level(gp, [0.0], 1.2, 0.1), Level(gp, [1.0])], 3.0, [0.2, 0.0])


def by_rounds(f, d, budget):
    search = Direct(d)
    while len(search) <= budget and len(search.centres()):
        search.tell(f(search.centres()))
    return search.seen()


def test_directs_centres_and_values_are_those_of_round_after_round(bound):
    points, values = divide(bound, 3, 400)
    np.testing.assert_allclose(values, bound(points), rtol=1e-8, atol=1e-8)
    expected, _ = by_rounds(bound, 3, 400)
    np.testing.assert_array_equal(points, expected)
    again, same = divide(bound.recurring, 3, 400)
    np.testing.assert_array_equal(again, points)
    np.testing.assert_allclose(same, values, rtol=1e-8)
    assert 300 < len(points) <= 400


def test_centres_outside_are_infeasible():
    points, values = divide(lambda x: np.where(x.sum(axis=1) < 1.0, x[:, 0], -np.inf), 2, 200)
    assert np.array_equal(values > -np.inf, points.sum(axis=1) < 1.0)


def apart_by_definition(points, values, count, closer):
    chosen = []
    for i in np.argsort(-values, kind="stable"):
        if all(np.abs(points[i] - points[j]).max() > closer for j in chosen) and len(chosen) < count:
            chosen.append(i)
    return chosen


def test_the_best_points_that_are_apart():
    rng = np.random.default_rng(1)
    for n, count in ((1, 3), (50, 1), (200, 7), (200, 500)):
        points, values = rng.random((n, 3)), np.round(rng.random(n), 1)  # some are equal
        for closer in (0.0, 0.1, 0.5):
            chosen = choose_apart(points, values, count, closer)
            assert chosen.tolist() == apart_by_definition(points, values, count, closer)
    assert choose_apart([[0.1], [0.9]], [-np.inf, 1.0], 2, 0.1).tolist() == [1, 0]


def test_equal_points_are_found_once_the_first_of_them():
    rng = np.random.default_rng(3)
    for n, d in ((0, 2), (1, 1), (97, 1), (500, 3)):
        points = rng.integers(0, 4, (n, d)) / 3.0
        points[rng.random((n, d)) < 0.1] *= -1.0  # −0.0 is 0.0
        rows = points.tolist()
        expected = [i for i, row in enumerate(rows) if row not in rows[:i]]
        assert find_distinct(points).tolist() == expected
        assert find_distinct(points[:, ::-1]).tolist() == expected  # not contiguous
    with pytest.raises(ValueError, match=r"points must have shape \(q, d\)"):
        find_distinct([1.0, 2.0])


def test_ascents_end_where_those_of_round_after_round_do(bound):
    starts = np.random.default_rng(2).random((6, 3))
    ends, heights = ascend(bound, starts, 1.0, again=False)
    ascent = Ascent(starts, 1.0)
    for _ in range(40):
        if len(ascent.points()):
            ascent.tell(*bound.pieces(ascent.points()))
    expected, values, _ = ascent.result()
    np.testing.assert_array_equal(ends, expected)
    np.testing.assert_array_equal(heights, values)
    np.testing.assert_allclose(heights, bound(ends), rtol=1e-9)
    for ours, theirs in zip(ascend(bound, starts, 1.0), ascend(bound.pieces, starts, 1.0), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_fewer_rounds_get_less_far_and_more_never_lose(bound):
    starts = np.random.default_rng(3).random((4, 3))
    before = -np.inf
    for rounds in (1, 4, 12, 40):
        top = ascend(bound, starts, 1.0, rounds=rounds, again=False)[1].max()
        assert top >= before
        before = top
    assert ascend(bound, starts, 1.0)[1].max() >= before
    np.testing.assert_array_equal(ascend(bound, starts, 1.0, rounds=1, again=False)[0], starts)


def test_a_start_that_may_not_move_stays(bound):
    starts = np.random.default_rng(4).random((3, 3))
    free = np.array([[False] * 3, [True] * 3, [True] * 3])
    ends, heights = ascend(bound, starts, 1.0, free, again=False)
    np.testing.assert_array_equal(ends[0], starts[0])
    assert heights[0] == bound(starts)[0]
    assert heights[1:].max() > bound(starts)[1:].max()


def held_by_the_function(bound, starts, free):
    """Ascents whose function returns slopes of 0 in coordinates that are not free; the starts differ in the first."""
    masks = {start[0]: mask for start, mask in zip(starts, free, strict=True)}

    def pieces(x):
        heights, slopes = bound.pieces(x)
        return heights, np.where([masks[point[0]] for point in x], slopes, 0.0)

    return pieces


def test_coordinates_that_are_not_free_stay_as_if_their_slopes_were_zero(bound):
    rng = np.random.default_rng(5)
    for k in (1, 2, 7):
        starts, free = rng.random((k, 3)), rng.random((k, 3)) < 0.6
        free[:, 0] = False
        ends, heights = ascend(bound, starts, 1.0, free)
        np.testing.assert_array_equal(ends[~free], starts[~free])
        expected = ascend(held_by_the_function(bound, starts, free), starts, 1.0)
        np.testing.assert_array_equal(ends, expected[0])
        np.testing.assert_array_equal(heights, expected[1])
        np.testing.assert_array_equal(ascend(bound.pieces, starts, 1.0, free)[0], ends)


def test_ascents_that_cannot_meet_are_not_merged(bound):
    starts = np.array([[0.500, 0.1, 0.9], [0.503, 0.1, 0.9]])
    free = np.array([[False, True, True]] * 2)
    alone = [ascend(bound, starts[i : i + 1], 1.0, free[:1])[1][0] for i in (0, 1)]
    together = ascend(bound, starts, 1.0, free)[1]
    np.testing.assert_allclose(together, alone, rtol=0, atol=1e-8)
    merged = ascend(bound, starts, 1.0, np.ones_like(free), again=False)[1]
    assert merged.min() < merged.max() - 1e-3


def test_a_function_keeps_the_slopes_that_it_returned():
    slopes = np.ones((1, 2, 2))
    free = [[False, True], [True, True]]
    ascend(lambda x: (x.sum(axis=1)[None], slopes[:, : len(x)]), [[0.1, 0.2], [0.3, 0.4]], 1.0, free)
    assert (slopes == 1.0).all()


def test_bad_arguments_are_refused(bound):
    with pytest.raises(ValueError, match="budget must be at least 1 and at most 10000000, got 0"):
        divide(bound, 3, 0)
    with pytest.raises(ValueError, match="points must have 3 coordinates, got 2"):
        divide(bound, 2, 10)
    with pytest.raises(ValueError, match=r"values must have shape \(1,\), one per centre"):
        divide(lambda x: np.zeros(2), 2, 10)
    with pytest.raises(ValueError, match="count must be at least 1, got 0"):
        choose_apart([[0.5]], [1.0], 0, 0.1)
    with pytest.raises(ValueError, match=r"values must have shape \(1,\), one per point, got shape \(2,\)"):
        choose_apart([[0.5]], [1.0, 2.0], 1, 0.1)
    with pytest.raises(ValueError, match="rounds must be at least 1, got 0"):
        ascend(bound, [[0.5] * 3], 1.0, rounds=0)
    with pytest.raises(ValueError, match=r"free must have shape \(1, 3\), got shape \(3,\)"):
        ascend(bound, [[0.5] * 3], 1.0, [True] * 3)
    with pytest.raises(ValueError, match="free must be booleans, got an array of dtype float64"):
        ascend(bound, [[0.5] * 3], 1.0, [[1.0] * 3])
    with pytest.raises(ValueError, match="spread must be positive"):
        ascend(bound, [[0.5] * 3], 0.0)
