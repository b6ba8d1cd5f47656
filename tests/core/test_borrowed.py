"""What the core lends out and what it borrows: arrays and objects that change behind its back do no harm."""

import pickle

import numpy as np
import pytest

from mfopt_core import GP, Bound, Direct, Kernel, Level, Mixture
from tests.core.alone import run

# -- lent out ------------------------------------------------------------------------------------------------


def test_the_tail_of_a_level_that_is_looked_at_is_not_the_levels_own():
    gp = GP("se", [0.3] * 7, 1.0, 1e-3)
    level = Level(gp)
    level.tail.shape = (5, 0)  # five coordinates, and no memory behind them
    with pytest.raises(ValueError, match="points must have 7 coordinates, got 2"):
        Bound([level], 1.0, [0.0])(np.zeros((3, 2)))
    assert level.tail.shape == (0,)


def test_the_weights_of_a_mixture_that_are_looked_at_are_not_its_own():
    code = """
mixture = Mixture([Kernel("se", [0.5]), Kernel("se", [0.1])], [[1.0, 0.5], [0.5, 1.0]])
gp = GP.mixed(mixture)
gp.extend([[0.1, 0.0], [0.5, 1.0]], [1.0, 2.0], [0.1, 0.1])
before = gp.posterior([[0.3, 1.0]])
mixture.weights.setflags(write=True)
mixture.weights.resize((300, 300))  # would move the memory
for _ in range(20):
    np.full((2, 2), 7.0)  # and this would find it
print(mixture.weights.shape == (2, 2), np.array_equal(before, gp.posterior([[0.3, 1.0]])))
"""
    assert run(code) == ["True", "True"]


# -- borrowed ------------------------------------------------------------------------------------------------


@pytest.fixture
def levels():
    x = np.random.default_rng(0).random((30, 2))
    gps = [GP("se", [0.3, 0.3], 1.0, 1e-3) for _ in range(2)]
    for gp, n in zip(gps, (30, 12), strict=True):
        gp.extend(x[:n], x[:n].sum(axis=1))
    return [Level(gp) for gp in gps]


def test_a_finite_set_that_shrinks_is_not_read_beyond_its_end():
    code = """
levels = [Level(grown()), Level(grown(20))]
points = np.random.default_rng(1).random((200000, 2)).tolist()
Bound(levels[:1], 1.0, [0.0]).argmax(points)
del points[5:]
print(Bound(levels, 1.0, [0.0, 0.0]).argmax(points, np.zeros(5, dtype=bool)) < 5)
"""
    assert run(code) == ["True"]


def test_a_finite_set_that_was_overwritten_is_looked_at_anew(levels):
    bound = Bound(levels, 1.0, [0.0, 0.1])
    points = np.random.default_rng(1).random((100, 2))
    first = bound.argmax(points)
    points[:] = points[::-1].copy()
    assert bound.argmax(points) == np.argmax(bound(points)) == 99 - first


def test_a_finite_set_is_known_by_its_points_after_pickling(levels):
    bound = Bound(levels, 1.0, [0.0, 0.1])
    points = np.random.default_rng(1).random((100, 2))
    expected = bound.argmax(points)
    again = Bound(pickle.loads(pickle.dumps(levels)), 1.0, [0.0, 0.1])
    assert again.argmax(points.copy()) == expected


def test_values_that_look_at_the_search_which_refuses_them_do_not_block_it():
    code = """
import faulthandler
faulthandler.dump_traceback_later(10, exit=True)
search = Direct(2)

class Looking:
    def __array__(self, dtype=None, copy=None):
        search.centres()
        return np.zeros(7)

print(refused(lambda: search.tell(Looking())), len(search.centres()))
"""
    assert run(code) == ["True", "1"]


def test_numbers_that_are_finite_again_before_the_error_is_written_are_a_value_error():
    code = """
gp, points, seen = grown(), np.zeros((2000, 2)), set()
level = Level(gp)
bound = Bound([level], 1.0, [0.0])

def write():
    for number in (np.nan, np.nan, 0.0, 0.0):
        points[7, 1] = number

def call():
    for ask in (gp.posterior, bound, bound.recurring, gp.track):
        try:
            ask(points)
        except Exception as error:
            seen.add(type(error).__name__)

meanwhile(write, call, 1500)
print(*seen)
"""
    assert run(code) == ["ValueError"]


# -- pickles that were damaged -------------------------------------------------------------------------------


def test_draws_of_a_damaged_gp_end():
    code = """
import faulthandler
faulthandler.dump_traceback_later(20, exit=True)
rebuild, given = grown(3).__reduce__()
for rows in (1e-300 * np.eye(3), np.tril(np.full((3, 3), 1e308))):
    gp = rebuild(*given[:10], rows, given[11], 0.0)
    print(refused(lambda: gp.sample(X[:2], 2, np.random.default_rng(0))) or "drawn")
"""
    assert len(run(code)) == 2


@pytest.mark.parametrize("place", range(6))
@pytest.mark.parametrize(
    "instead",
    [None, 0, [], np.zeros(50), np.full(50, 10**9), np.full(50, -5), np.zeros((50, 50)), np.zeros((0, 50)), [10**30]],
)
def test_columns_that_do_not_fit_are_refused(levels, place, instead):
    points = np.random.default_rng(2).random((50, 2))
    Bound(levels[:1], 1.0, [0.0]).recurring(points)
    expected = Bound(levels[:1], 1.0, [0.0])(points)
    rebuild, (gp, tail, factor, shift, (order, columns), listed) = levels[0].__reduce__()
    damaged = [*columns[:place], instead, *columns[place + 1 :]]
    try:
        level = rebuild(gp, tail, factor, shift, (order, tuple(damaged)), listed)
    except (ValueError, TypeError):
        return
    assert Bound([level], 1.0, [0.0]).recurring(points).shape == expected.shape  # what came through does no harm


@pytest.mark.parametrize("order", [[-1], [50], [0, 0], [10**30], [0.5], [[0]], None])
def test_slots_that_are_none_are_refused(levels, order):
    points = np.random.default_rng(2).random((50, 2))
    Bound(levels[:1], 1.0, [0.0]).recurring(points)
    rebuild, (gp, tail, factor, shift, (_, columns), listed) = levels[0].__reduce__()
    with pytest.raises(ValueError, match="order must"):
        rebuild(gp, tail, factor, shift, (order, columns), listed)


@pytest.mark.parametrize("kept", [(), (1,), 5, "ab"])
def test_what_is_no_memory_of_points_is_refused(levels, kept):
    rebuild, (gp, tail, factor, shift, _, listed) = levels[0].__reduce__()
    with pytest.raises((ValueError, TypeError)):
        rebuild(gp, tail, factor, shift, kept, listed)


# -- huge integers of the later classes ----------------------------------------------------------------------

KERNEL = Kernel("se", [0.5, 0.5])


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(
    "call",
    [
        lambda n: Mixture([KERNEL], [[n]]),
        lambda n: GP.mixed(Mixture([KERNEL], [[1.0]])).append([0.1, 0.2, n], 1.0),
        lambda n: Level(GP.mixed(Mixture([KERNEL], [[1.0]])), [n]),
        lambda n: Direct(2).tell([n]),
    ],
)
def test_integers_that_fit_into_nothing_are_a_value_error(call, sign):
    with pytest.raises(ValueError):  # noqa: PT011 (the rules differ from call to call)
        call(sign * 10**30)
