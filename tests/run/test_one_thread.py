"""Strategies compute with one thread of BLAS, and the user's setting comes back."""

import threading

import numpy as np
import pytest
import scipy.linalg  # its BLAS is not NumPy's
from threadpoolctl import ThreadpoolController

import mfopt
from mfopt.run import strategist
from mfopt.run.strategist import OneThread
from tests.run.interrupts import Interrupt

assert scipy.linalg


@pytest.fixture
def several():
    """BLAS with three threads, and a function that tells how many each library has."""
    controller = ThreadpoolController()
    blas = [library for library in controller.info() if library["user_api"] == "blas"]
    assert blas
    with controller.limit(limits=3, user_api="blas"):
        yield lambda: [one["num_threads"] for one in controller.info() if one["user_api"] == "blas"]


class Watching:
    """A strategy that notes how many threads BLAS has while it is asked."""

    def __init__(self, count):
        self._count = count
        self.seen = []

    def start(self, problem):
        self._dim = problem.domain.dim

    def ask(self, view):
        self.seen += self._count()
        return mfopt.protocols.Suggestion(np.full(self._dim, view.t / 100), 0, "one more")

    def tell(self, record):
        self.seen += self._count()


def test_a_strategy_has_one_thread_and_others_have_theirs(several):
    strategy = Watching(several)
    opt = mfopt.Optimizer([(0, 1)], [1.0], capital=10.0, strategy=strategy)
    opt.tell(opt.ask(), 1.0)
    assert set(strategy.seen) == {1}
    assert set(several()) == {3}


def test_a_state_is_told_with_one_thread_as_it_is_restored(several):
    """Its bits depend on that: a state told with others was of no use to the next process, which replayed the run."""
    opt = mfopt.Optimizer([(0, 1)], [1.0, 10.0], capital=100.0, rng=0)
    opt.tell(opt.ask(), 1.0)
    strategist = opt._session.strategist()
    seen, tell = [], opt.strategy.state
    opt.strategy.state = lambda: seen.extend(several()) or tell()
    assert strategist.tell_state() is not None
    assert set(seen) == {1}
    assert set(several()) == {3}


def test_an_ask_in_another_thread_has_one_thread_too(several):
    strategy = Watching(several)
    opt = mfopt.Optimizer([(0, 1)], [1.0], capital=10.0, strategy=strategy)
    threads = [threading.Thread(target=lambda: opt.tell(opt.ask(), 1.0)) for _ in range(3)]
    for thread in threads:
        thread.start()
        thread.join()
    assert len(opt.history) == 3
    assert set(strategy.seen) == {1}
    assert set(several()) == {3}


def test_the_setting_comes_back_after_an_error(several):
    with pytest.raises(ZeroDivisionError), OneThread():
        raise ZeroDivisionError
    assert set(several()) == {3}


def test_it_comes_back_whoever_leaves_last(several):
    entered, leave = threading.Event(), threading.Event()

    def stay():
        with OneThread():
            entered.set()
            leave.wait(10)

    for other_is_last in (True, False):
        entered.clear(), leave.clear()
        thread = threading.Thread(target=stay)
        with OneThread():
            thread.start()
            assert entered.wait(10)
            assert set(several()) == {1}
            if not other_is_last:
                leave.set()
                thread.join()
        leave.set()
        thread.join()
        assert set(several()) == {3}


def test_the_setting_comes_back_after_ctrl_c_at_any_line_of_an_ask(several):
    n, interrupted = 0, True
    while interrupted:
        n += 1
        opt = mfopt.Optimizer([(0, 1)], [1.0], capital=10.0, strategy=Watching(list))
        try:
            with Interrupt(n, strategist.__file__):
                opt.ask()
            interrupted = False
        except KeyboardInterrupt:
            pass
        assert set(several()) == {3}, f"line {n}"
    assert n > 10
