"""A call of a plugin that never returns fails its test, which names it, and the others go on."""

import sys
import threading
import time

import pytest

from mfopt.testing import MaximiserConformance, StrategyConformance, SurrogateConformance
from tests.optimizer.toys import FixedGP, FixedGPModel, RandomMaximiser, RandomSearch

LIMIT = 0.05


def spin():
    while True:
        pass


def block():
    """Wait in C, where no exception reaches a thread."""
    threading.Event().wait(15.0)


class StuckMaximiser(RandomMaximiser):
    def __init__(self, wait=spin):
        self.wait = wait

    def maximise(self, acquisition, domain, rng, t):
        self.wait()


class StuckModel(FixedGPModel):
    def truncate(self, n):
        spin()


class StuckSurrogate(FixedGP):
    def model(self, dim, noise=None):
        return StuckModel(dim, noise or 0.0, self.lengthscale)


class StuckStrategy(RandomSearch):
    def tell(self, record):
        while True:
            try:
                spin()
            except Exception:  # it does not let go easily
                continue


class OfMaximiser(MaximiserConformance):
    time_limit = LIMIT

    def __init__(self, wait=spin):
        self.wait = wait

    def maximiser(self):
        return StuckMaximiser(self.wait)


class OfModel(SurrogateConformance):
    time_limit = LIMIT

    def surrogate(self):
        return StuckSurrogate()


class OfStrategy(StrategyConformance):
    surrogate, maximiser = FixedGP(), RandomMaximiser()
    time_limit = LIMIT

    def strategy(self):
        return StuckStrategy()


class OfMaking(MaximiserConformance):
    time_limit = LIMIT

    def maximiser(self):
        spin()


@pytest.mark.parametrize(
    ("test", "name"),
    [
        (OfMaximiser().test_reaches_a_corner, "StuckMaximiser.maximise"),
        (OfMaximiser().test_no_call_is_slow, "StuckMaximiser.maximise"),
        (OfModel().test_truncate_undoes_extend, "StuckModel.truncate"),
        (OfStrategy().test_one_fidelity_will_do, "StuckStrategy.tell"),
        (OfMaking().test_a_flat_acquisition_is_harmless, "OfMaking.maximiser"),
    ],
)
def test_a_call_that_never_returns_is_interrupted_and_named(test, name):
    threads = threading.active_count()
    with pytest.raises(AssertionError, match=f"{name} must take at most 0.05 s, did not return in 0"):
        test()
    assert threading.active_count() == threads


def test_a_call_that_waits_in_c_is_left_behind_and_the_output_is_as_before():
    stdout = sys.stdout
    began = time.monotonic()
    with pytest.raises(AssertionError, match=r"StuckMaximiser\.maximise must take at most 0\.05 s"):
        OfMaximiser(block).test_nothing_is_printed()
    assert time.monotonic() - began < 10.0
    assert sys.stdout is stdout


def test_calls_that_are_quick_one_by_one_may_be_many():
    class Quick(MaximiserConformance):
        time_limit = 2.0 * LIMIT

        def maximiser(self):
            time.sleep(0.02)
            return RandomMaximiser()

        def test_reaches_a_corner(self):  # overridden: not limited, but it calls tests that are
            for _ in range(40):
                super().test_a_flat_acquisition_is_harmless()

    Quick().test_reaches_a_corner()


def test_what_a_test_raises_is_raised_where_it_was_called():
    class Leaves(MaximiserConformance):
        def maximiser(self):
            sys.exit(3)

    with pytest.raises(SystemExit, match="3"):
        Leaves().test_reaches_a_corner()


def test_without_a_limit_a_test_runs_where_it_is_called():
    where = []

    class Unlimited(MaximiserConformance):
        time_limit = float("inf")

        def maximiser(self):
            where.append(threading.current_thread())
            return RandomMaximiser()

    Unlimited().test_a_flat_acquisition_is_harmless()
    assert where == [threading.current_thread()]
