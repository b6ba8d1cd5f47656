"""DIRECT: rectangles that partition the cube, centres on a lattice, and maxima found."""

import numpy as np
import pytest

from mfopt_core import Direct


def run(f, d, budget, **options):
    search = Direct(d, **options)
    while len(search) <= budget:
        centres = search.centres()
        if len(centres) == 0:
            break
        search.tell(f(centres))
    return search.seen()


def branin(x):
    a, b = 15 * x[:, 0] - 5, 15 * x[:, 1]
    return -((b - 5.1 / (4 * np.pi**2) * a**2 + 5 / np.pi * a - 6) ** 2) - 10 * (1 - 1 / (8 * np.pi)) * np.cos(a) - 10


@pytest.mark.parametrize("d", [1, 2, 3, 5, 8])
def test_the_first_round_is_the_centre_and_then_a_third_from_it_along_every_side(d):
    search = Direct(d)
    np.testing.assert_array_equal(search.centres(), np.full((1, d), 0.5))
    search.tell([0.0])
    second = search.centres()
    assert second.shape == (2 * d, d)
    np.testing.assert_allclose(np.abs(second - 0.5).sum(axis=1), 1 / 3)
    assert len(np.unique(second, axis=0)) == 2 * d


@pytest.mark.parametrize(("d", "f", "best"), [(1, lambda x: -((x[:, 0] - 0.3) ** 2), 0.0), (2, branin, -0.397887)])
def test_known_maxima_are_approached(d, f, best):
    _, values = run(f, d, 600)
    assert best - 2e-3 <= values.max() <= best + 1e-6


def test_all_centres_are_different_points_of_the_lattice_inside_the_cube():
    points, _ = run(branin, 2, 2000)
    assert len(np.unique(points, axis=0)) == len(points)
    assert points.min() > 0
    assert points.max() < 1
    # a centre is (k + ½) 3^−l: twice it times a power of three is an odd integer
    scaled = points[:, :, None] * 2 * 3.0 ** np.arange(19)
    assert (np.abs(scaled - np.round(scaled)).min(axis=2) < 1e-6).all()


def test_a_point_that_comes_back_in_another_search_has_the_same_bits():
    first, _ = run(branin, 2, 500)
    second, _ = run(lambda x: branin(x) + 20 * np.sin(9 * x[:, 0]), 2, 500)
    common = {row.tobytes() for row in first} & {row.tobytes() for row in second}
    near = [row for row in second if np.abs(first - row).max(axis=1).min() < 1e-12]
    assert len(common) == len(near) > 30


def test_no_region_is_forgotten():
    """The function is flat but for a narrow peak far from the centre: sizes alone must lead there."""

    def f(x):
        return np.exp(-2000 * ((x - [0.91, 0.07]) ** 2).sum(axis=1))

    points, values = run(f, 2, 3000)
    assert values.max() > 0.9
    gaps = [np.abs(points - corner).max(axis=1).min() for corner in np.array([[0, 0], [0, 1], [1, 0], [1, 1.0]])]
    assert max(gaps) < 0.1


def test_adding_a_constant_or_scaling_changes_nothing():
    a, _ = run(branin, 2, 400)
    for scale, shift in ((1.0, 1024.0), (2.0**-30, 0.0), (2.0**40, 0.0)):
        b, _ = run(lambda x, scale=scale, shift=shift: scale * (branin(x) + shift), 2, 400)
        np.testing.assert_array_equal(a, b) if shift == 0.0 else np.testing.assert_allclose(a[:50], b[:50])


def test_infeasible_centres_are_passed_over():
    def f(x):
        return np.where(x.sum(axis=1) < 0.6, -((x - 0.28) ** 2).sum(axis=1), -np.inf)

    _, values = run(f, 2, 1500)
    assert values.max() > -1e-3
    search = Direct(2)
    for _ in range(5):  # nothing feasible at all: it goes on dividing the largest
        search.tell(np.full(len(search.centres()), -np.inf))
    assert len(search.centres()) > 0


def test_a_search_ends_when_everything_is_as_small_as_it_gets():
    search = Direct(1)
    rounds = 0
    while len(search.centres()) and rounds < 400:
        search.tell(-np.abs(search.centres()[:, 0] - 0.5))
        rounds += 1
    assert rounds < 400 or len(search) > 400


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Direct(0), "d must be at least 1 and at most 10000, got 0"),
        (lambda: Direct(2, -0.1), "epsilon must be at least 0"),
        (lambda: Direct(2).tell([1.0, 2.0]), r"values must have shape \(1,\), one per centre, got shape \(2,\)"),
        (lambda: Direct(2).tell([np.nan]), "values must be finite"),
        (lambda: Direct(2).tell([np.inf]), "values must be finite"),
    ],
)
def test_bad_arguments_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
