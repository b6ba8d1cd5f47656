"""One optimiser in several threads: each trial is handed out once, all are told, and the study replays to the bit."""

import hashlib
import itertools
import os
import pickle
import signal
import sys
import threading
import warnings
from contextlib import suppress

import numpy as np
import pytest

from mfopt import Exhausted, FiniteSet, InputError, Optimizer, PluginError, Study
from mfopt.protocols import Suggestion
from tests.storage.studies import BOX, state

FULL = os.environ.get("MFOPT_FAULTS") == "full"
CYCLES = 10_000 if FULL else 400
THREADS = 8


class Chained:
    """A strategy whose every suggestion depends on all calls before it, and which checks that nothing is missing."""

    def start(self, problem):
        self.seen = hashlib.sha256()
        self.told = []

    def ask(self, view):
        pending = [query.id for query in view.pending]
        assert len(pending) + len(self.told) == view.t - 1
        assert not set(pending) & set(self.told[-100:])
        self.seen.update(repr((view.t, view.remaining, pending)).encode())
        u = np.frombuffer(self.seen.digest()[:16], dtype=np.uint64) / 2.0**64
        return Suggestion(u, int(self.seen.digest()[-1] % 2), "as seen")

    def tell(self, record):
        self.told.append(record.id)
        self.seen.update(repr((record.id, record.y)).encode())

    def __getstate__(self):
        return {name: kept for name, kept in vars(self).items() if name != "seen"}  # no hash can be copied by pickle


@pytest.fixture
def often():
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def place(request, tmp_path):
    """The storage of an optimiser, None for one in memory."""
    if request.param == "memory":
        return None
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'study.db'}"
    return request.getfixturevalue("server").url()


def in_threads(work, n=THREADS):
    """Run `work(k)` in n threads at once; what they raised."""
    raised, start = [], threading.Barrier(n)

    def guarded(k):
        start.wait()
        try:
            work(k)
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=guarded, args=(k,), daemon=True) for k in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return raised


def value(trial):
    return None if trial.id % 13 == 5 else float(trial.x[0])


def check_what_is_read(opt):
    """What one thread reads while others write."""
    told = opt.history.snapshot()
    columns = [told.x, told.fidelity, told.y, told.cost, told.status, told.id]
    assert len({len(column) for column in columns}) == 1
    assert len(set(told.id.tolist())) == len(told)
    assert np.array_equal(np.isnan(told.y), told.status == "failed")
    assert np.array_equal(told.y[told.status == "ok"], told.x[told.status == "ok", 0])
    assert opt.spent >= told.cost.sum() - 1e-6
    assert 0.0 <= opt.remaining <= 1e6


def test_eight_threads_share_an_optimiser(place, often):
    opt = Optimizer(BOX, (1.0, 10.0), capital=1e6, rng=0, strategy=Chained(), storage=place)
    turns, handed_out = itertools.count(), [[] for _ in range(THREADS)]

    def work(k):
        while (turn := next(turns)) < CYCLES:
            trials = opt.ask(2) if turn % 50 == 7 else [opt.ask()]
            handed_out[k] += [trial.id for trial in trials]
            for trial in trials:
                y = value(trial)
                opt.tell(trial, y, "ok" if y is not None else "failed")
            if turn % 20 == 3:
                check_what_is_read(opt)
            if turn % 100 == 11:
                assert not opt.done
                opt.refresh()
            if turn % 500 == 13:
                opt.close()  # others are at it

    assert in_threads(work) == []
    ids = sorted(itertools.chain(*handed_out))
    assert ids == list(range(len(ids)))  # each once
    assert len(ids) >= CYCLES
    assert opt.pending == []
    assert sorted(opt.history.id.tolist()) == ids
    assert opt.spent == opt.history.cost.sum()
    assert opt.remaining == 1e6 - opt.spent
    if place is None:
        assert opt.strategy.told == opt.history.id.tolist()
        assert state(pickle.loads(pickle.dumps(opt))) == state(opt)
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # a ReplayWarning: the order of events is not what the strategy has seen
            again = Study.open(place, strategy=Chained())
            assert state(again) == state(opt)
            assert again.ask().id == len(ids)
        again.close()
    opt.close()


def test_data_added_by_other_threads_never_overdraw_the_capital(place, often):
    opt = Optimizer(BOX, (1.0, 10.0), capital=300.0, rng=0, strategy="random", storage=place)

    def work(k):
        while not opt.done:
            if k % 2:
                with suppress(InputError):  # another thread was faster
                    opt.add([0.5, 0.5], 0, 1.0, cost=min(2.5, opt.remaining))
            else:
                with suppress(Exhausted):
                    opt.tell_many([(trial, 1.0) for trial in opt.ask(2)])

    assert in_threads(work) == []
    assert opt.spent <= 300.0
    assert opt.history.cost.sum() == pytest.approx(opt.spent, abs=1e-9)
    assert opt.spent <= opt.history.cost.sum() + 1e-9
    opt.close()


def test_a_finite_set_is_used_up_by_threads_each_point_once(place, often):
    points = FiniteSet(np.linspace(0.0, 1.0, 40)[:, None])
    opt = Optimizer(points, (1.0,), rng=0, strategy="direct", storage=place)
    asked = []

    def work(k):
        while not opt.done:
            with suppress(Exhausted):  # another thread was faster
                trial = opt.ask()
                asked.append(trial.index)
                opt.tell(trial, float(trial.x[0]))

    assert in_threads(work) == []
    assert sorted(asked) == list(range(40))
    opt.close()


class Slow:
    """A strategy whose second ask takes until it is let go."""

    def start(self, problem):
        self.asking, self.go_on, self.told = threading.Event(), threading.Event(), []

    def ask(self, view):
        if view.t > 2:
            self.asking.set()
            assert self.go_on.wait(60)
        return Suggestion(view.rng.random(2), 1, "slow")

    def tell(self, record):
        self.told.append(record.id)


def test_a_tell_in_memory_does_not_wait_for_the_ask_of_another_thread():
    opt = Optimizer(BOX, (1.0, 10.0), capital=1000.0, rng=0, strategy=Slow())
    slow = opt.strategy
    first, second = opt.ask(2)
    asked = []
    thread = threading.Thread(target=lambda: asked.append(opt.ask()))
    thread.start()
    try:
        assert slow.asking.wait(60)
        opt.tell(first, 1.0)
        opt.tell(second, status="failed")
        opt.add([0.5, 0.5], 0, 2.0, cost=3.0)
        assert opt.spent == 23.0
        assert opt.best.y == 1.0
        assert opt.pending == []
        assert not opt.done
        assert len(opt.history) == 3
        assert asked == []
        assert slow.told == []  # the strategy is at work
    finally:
        slow.go_on.set()
        thread.join(60)
    assert asked[0].id == 3
    assert opt.strategy.told == [0, 1, 2]
    assert opt.remaining == 1000.0 - 33.0


def test_data_that_take_the_capital_during_an_ask_leave_no_trial_unpaid():
    opt = Optimizer(BOX, (1.0, 10.0), capital=35.0, rng=0, strategy=Slow())
    slow = opt.strategy
    opt.tell_many([(trial, 1.0) for trial in opt.ask(2)])
    raised = []

    def ask():
        try:
            opt.ask()
        except Exception as error:
            raised.append(type(error).__name__)

    thread = threading.Thread(target=ask)
    thread.start()
    assert slow.asking.wait(60)
    opt.add([0.5, 0.5], 0, 2.0, cost=15.0)
    slow.go_on.set()
    thread.join(60)
    assert raised == ["Exhausted"]
    assert (opt.pending, opt.spent) == ([], 35.0)


class Failing(Slow):
    """Its third ask fails."""

    def ask(self, view):
        super().ask(view)
        if view.t > 3:
            raise RuntimeError("no idea")
        return Suggestion(view.rng.random(2), 1, "slow")


def test_an_ask_that_fails_takes_nothing_back_that_others_have_told():
    opt = Optimizer(BOX, (1.0, 10.0), capital=1000.0, rng=0, strategy=Failing())
    slow = opt.strategy
    kept = opt.ask(2)
    raised = []

    def ask():
        try:
            opt.ask(2)
        except PluginError as error:
            raised.append(str(error.__cause__))

    slow.go_on.set()
    thread = threading.Thread(target=ask)
    slow.go_on.clear()
    thread.start()
    assert slow.asking.wait(60)
    opt.tell(kept[0], 1.0)
    opt.add([0.5, 0.5], 0, 2.0)
    slow.go_on.set()
    thread.join(60)
    assert raised == ["no idea"]
    assert [trial.id for trial in opt.pending] == [1]
    assert opt.history.id.tolist() == [0, 2]
    assert opt.spent == 10.0
    assert opt.remaining == 980.0
    opt.tell(kept[1], 1.0)


# Ctrl-C may come between opening a file and the block that closes it: then the collector does, and Python says so.
@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.posix_only
def test_ctrl_c_leaves_no_lock_behind(place):
    """Real signals at random moments in the main thread, while another thread must be able to go on."""
    opt = Optimizer(BOX, (1.0, 10.0), capital=1e6, rng=0, strategy="random", storage=place)
    rng, interrupted = np.random.default_rng(3), 0
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    remaining = signal.alarm(0)
    try:
        for _ in range(500 if FULL else 30):
            try:
                signal.setitimer(signal.ITIMER_REAL, rng.uniform(2e-4, 4e-3 if place is None else 2e-2))
                while True:
                    opt.tell(opt.ask(), 1.0)
            except KeyboardInterrupt:
                interrupted += 1
            done = threading.Event()
            threading.Thread(target=lambda done=done: (opt.tell(opt.ask(), 1.0), done.set()), daemon=True).start()
            assert done.wait(20)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        signal.alarm(remaining)
    assert interrupted > 20
    opt.refresh()
    ids = sorted([*opt.history.id.tolist(), *(trial.id for trial in opt.pending)])
    assert ids == list(range(len(ids)))
    opt.close()


@pytest.mark.posix_only
def test_a_forked_process_does_not_wait_for_threads_of_its_parent():
    opt = Optimizer(BOX, (1.0, 10.0), capital=1000.0, rng=0, strategy=Slow())
    slow = opt.strategy
    first, _ = opt.ask(2)
    thread = threading.Thread(target=opt.ask)
    thread.start()
    assert slow.asking.wait(60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # newer Pythons warn of forks with threads
        child = os.fork()
    if child == 0:
        signal.alarm(30)
        opt.tell(first, 1.0)
        told = len(opt.strategy.told)
        os._exit(7 if told == 1 else 1)
    _, status = os.waitpid(child, 0)
    slow.go_on.set()
    thread.join(60)
    assert os.waitstatus_to_exitcode(status) == 7
