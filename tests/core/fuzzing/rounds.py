"""Rounds: many calls on a fresh world, from one thread or from several."""

import contextlib
import sys
import threading
from collections import Counter

import numpy as np

from tests.core.fuzzing.arguments import D
from tests.core.fuzzing.calls import DECLARED, Calls
from tests.core.fuzzing.world import World

CALLS = 100
THREADED = 10
WORKERS = 3


def run_alone(calls, count):
    """Calls one after the other; after every error the world must be as it was."""
    world = calls.world
    before = world.snapshot()
    for k in range(count):
        world.touched, refusal = False, None
        try:
            calls.step()
        except DECLARED as error:
            refusal = error
        after = world.snapshot()
        if refusal is not None and not world.touched:
            assert after == before, f"call {k} has left something behind: {refusal!r}"
        before = after


def run_together(world, seed, count):
    """Calls from several threads, while one more overwrites the arrays that are given."""
    shared = [np.zeros((6, D)), np.zeros(6), np.zeros(6, dtype=np.intp), np.zeros(12, dtype=bool)]
    workers = [Calls(world, np.random.default_rng([*seed, k]), shared) for k in range(WORKERS)]
    failures, done = [], threading.Event()

    def work(calls):
        try:
            for _ in range(count // WORKERS):
                with contextlib.suppress(*DECLARED):
                    calls.step()
        except BaseException as error:  # a thread's exception would be lost otherwise
            failures.append(error)

    def overwrite(rng):
        while not done.is_set():
            for array in shared:
                array.fill(rng.choice([0, 1, 5, 10**15]) if array.dtype.kind == "i" else rng.choice([0.0, 0.5, np.nan]))
            shared[0].shape = (D, 6) if rng.random() < 0.5 else (6, D)
            done.wait(1e-5)

    threads = [threading.Thread(target=work, args=(calls,)) for calls in workers]
    writer = threading.Thread(target=overwrite, args=(np.random.default_rng(seed),))
    for thread in (*threads, writer):
        thread.start()
    for thread in threads:
        thread.join()
    done.set()
    writer.join()
    if failures:
        raise failures[0]
    return sum((calls.made for calls in workers), Counter())


def run_round(seed, number):
    """The calls that were made, by name."""
    rng = np.random.default_rng([seed, number])
    world = World(rng)
    try:
        if number % THREADED == THREADED - 1:
            made = run_together(world, [seed, number], CALLS)
        else:
            calls = Calls(world, rng)
            run_alone(calls, CALLS)
            made = calls.made
        world.verify()
    except Exception as error:
        raise AssertionError(f"round {number} of seed {seed} went wrong: {error!r}") from error
    return made


def run(calls, seed=0):
    """At least so many calls; how many of each kind were made."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with np.errstate(all="ignore"):
            return sum((run_round(seed, number) for number in range(-(-calls // CALLS))), Counter())
    finally:
        sys.setswitchinterval(interval)


if __name__ == "__main__":
    print(run(int(sys.argv[1]), int(sys.argv[2])))
