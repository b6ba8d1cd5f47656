"""The GIL is released, and objects shared between threads stay sound."""

import os
import threading
import time

import numpy as np
import pytest

from mfopt_core import GP, Bound, Level, argmax_ucb, mf_ucb


def grown(n, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.random((n, 3))
    gp = GP("se", 0.5, 1.0, 1e-3)
    gp.extend(x, np.sin(x.sum(axis=1)))
    return gp


def test_python_goes_on_while_the_core_computes():
    """A thread that only counts must get its turns during one long call into the core."""
    gp = grown(1500)
    x = np.random.default_rng(1).random((4000, 3))
    count, running = 0, True

    def tick():
        nonlocal count
        while running:
            count += 1
            time.sleep(0.0005)

    ticker = threading.Thread(target=tick)
    ticker.start()
    try:
        while count == 0:
            time.sleep(0.001)
        before = count
        gp.posterior(x)
        during = count - before
    finally:
        running = False
        ticker.join()
    assert during >= 5


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="needs two cores")
def test_two_gps_overlap_in_two_threads():
    """Each call records when it ran: the intervals of the two threads must overlap, which a held GIL would forbid."""
    x = np.random.default_rng(1).random((1500, 3))
    gps = [grown(800, seed) for seed in (0, 1)]
    spans: list[list[tuple[float, float]]] = [[], []]
    barrier = threading.Barrier(2)

    def work(k):
        barrier.wait()
        for _ in range(5):
            start = time.thread_time_ns(), time.perf_counter()
            gps[k].posterior(x)
            spans[k].append((start[1], time.perf_counter()))

    threads = [threading.Thread(target=work, args=(k,)) for k in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    shared = sum(max(0.0, min(a[1], b[1]) - max(a[0], b[0])) for a in spans[0] for b in spans[1])
    assert shared > 0.0


def test_one_gp_used_by_many_threads_gives_only_true_answers():
    """Readers see the GP at some moment between two appends, never in between."""
    gp = grown(60)
    x = np.random.default_rng(2).random((40, 3))
    tracked, other = gp.track(x), grown(40, seed=3)
    other_tracked = other.track(x)
    base = gp.n
    states = [gp.posterior(x)]
    extra = np.random.default_rng(3).random((30, 3))
    for row in extra:
        gp.append(row, 0.5)
        states.append(gp.posterior(x))
    gp.truncate(base)
    allowed = {mean.tobytes() for mean, _ in states}
    errors = []

    def read():
        try:
            for _ in range(150):
                if gp.posterior(x)[0].tobytes() not in allowed:
                    errors.append("a posterior of no moment")
                mf_ucb([gp, other], x, 1.0, [0.1, 0.0])
                argmax_ucb([tracked, other_tracked], 1.0, [0.1, 0.0])
                argmax_ucb([other_tracked, tracked], 1.0, [0.1, 0.0])
                assert len(tracked.mean) == 40
        except Exception as error:  # a thread's exception would be lost otherwise
            errors.append(repr(error))

    def write():
        for _ in range(20):
            for row in extra:
                gp.append(row, 0.5)
            gp.truncate(base)

    threads = [threading.Thread(target=read) for _ in range(3)] + [threading.Thread(target=write)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def test_points_remembered_from_several_threads_all_find_their_place():
    gp = grown(50)
    level = Level(gp)
    points = [np.random.default_rng(k).random((20, 3)) for k in range(8)]
    errors = []

    def remember(k):
        try:
            for _ in range(30):
                assert np.isfinite(Bound([level], 1.0, [0.0]).recurring(points[k])).all()
        except AssertionError as error:
            errors.append(error)

    threads = [threading.Thread(target=gp.extend, args=(np.random.default_rng(1).random((1500, 3)), np.zeros(1500)))]
    threads += [threading.Thread(target=remember, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert level.remembered == 160
    bound = Bound([level], 1.0, [0.0])
    for x in points:
        np.testing.assert_allclose(bound.recurring(x), bound(x), atol=1e-9)
