"""What other threads do between two lines of a call: test_threads.py leaves it to chance, these tests do not."""

import itertools
import sys
import threading
from collections import Counter, deque

import pytest

from mfopt import Optimizer
from mfopt.run.history import History
from mfopt.run.session import Session, replay
from tests.storage.studies import BOX


class Meanwhile:
    """Calls `act` in another thread, once armed, and goes on when that has returned or after half a second."""

    def __init__(self, act):
        self.act, self.armed, self.threads = act, False, []

    def __call__(self):
        if self.armed:
            self.armed = False
            self.threads.append(threading.Thread(target=self.act, daemon=True))
            self.threads[-1].start()
            self.threads[-1].join(0.5)


@pytest.mark.parametrize("strategy", ["random", "mf-gp-ucb"])
@pytest.mark.parametrize("answer", [Optimizer.recommend, Optimizer.expected_gain, lambda opt: opt.predict([0.5, 0.5])])
def test_answers_are_given_while_another_thread_tells(strategy, answer, monkeypatch):
    opt = Optimizer(BOX, (1.0, 10.0), capital=1e6, rng=0, strategy=strategy)
    opt.add([[0.1, 0.2], [0.6, 0.7], [0.3, 0.3]], [0, 1, 1], [1.0, 2.0, 1.5])
    meanwhile, column, calls = Meanwhile(lambda: opt.add([0.5, 0.1], 1, 0.5)), History._column, itertools.count()

    def told_between_columns(history, name):
        meanwhile()
        found = column(history, name)
        meanwhile.armed = next(calls) < 6
        return found

    monkeypatch.setattr(History, "_column", told_between_columns)
    meanwhile.armed = True
    answer(opt)  # from columns of one length
    assert meanwhile.threads


@pytest.mark.parametrize("name", ["plot_run", "plot_study"])
def test_a_run_is_drawn_while_another_thread_tells(name, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    from mfopt import plots

    opt = Optimizer(BOX, (1.0, 10.0), capital=1e6, rng=0, strategy="random")
    opt.add([[0.1, 0.2], [0.6, 0.7], [0.3, 0.3]], [0, 1, 1], [1.0, 2.0, 1.5])
    monkeypatch.setattr(History, "x", property(lambda history, x=History.x.fget: (tell(), x(history))[1]))
    monkeypatch.setattr(History, "_column", lambda history, name, of=History._column: (tell(), of(history, name))[1])
    told = itertools.count()

    def tell():
        if next(told) < 60:
            opt.add([0.5, 0.1], 1, 0.5)

    rest = [{}] if name == "plot_study" else []
    getattr(plots, name)(opt, str(tmp_path / "run.svg"), *rest)
    assert next(told) > 10


def test_what_is_pending_is_counted_while_another_thread_asks():
    opt = Optimizer(BOX, (1.0, 10.0), rng=0, strategy="random")
    opt.ask(3)
    meanwhile = Meanwhile(opt.ask)

    class Pending(dict):
        def values(self):
            for one in super().values():
                meanwhile()
                yield one

    opt._session.ledger._pending = Pending(opt._session.ledger._pending)
    for look in (repr, lambda opt: opt.pending):
        meanwhile.armed = True
        look(opt)
        meanwhile.threads[-1].join()
    assert len(opt.pending) == 5


def test_the_gain_is_estimated_while_another_thread_asks():
    opt = Optimizer(BOX, (1.0, 10.0), capital=1e3, rng=0, strategy="random")
    opt.add([0.1, 0.2], 1, 1.0)
    opt.tell(opt.ask(3)[0], 0.5, cost=1.7)  # from now on costs are learnt: each promise is another amount
    meanwhile, reader = Meanwhile(lambda: opt.tell(opt.ask(), 0.5, cost=1.7)), threading.current_thread()

    class Promises(Counter):
        def items(self):
            for one in super().items():
                yield one
                meanwhile.armed = threading.current_thread() is reader
                meanwhile()

    opt._session.ledger.capital._pending = Promises(opt._session.ledger.capital._pending)
    assert opt.expected_gain() >= 0.0
    for thread in meanwhile.threads:
        thread.join()
    assert len(opt.history) == 2 + len(meanwhile.threads)


def test_a_state_to_skip_asks_with_is_looked_for_while_another_thread_tells():
    opt = Optimizer(BOX, (1.0, 10.0), rng=0)
    opt.add([[0.1, 0.2], [0.6, 0.7], [0.3, 0.3]], [0, 1, 1], [1.0, 2.0, 1.5])
    strategist = opt._session.setup.start_strategist(copies=True)
    steps = replay(opt._session.setup, opt._session.log.read_again())[1]
    meanwhile = Meanwhile(lambda: strategist.queue(steps[2]))

    class Queue(deque):
        def __iter__(self):
            for step in super().__iter__():
                meanwhile()
                yield step

    strategist._queue = Queue(steps[:2])
    meanwhile.armed = True
    assert not strategist.can_skip(3)
    meanwhile.threads[-1].join()
    assert strategist.behind == 3


class Forgetting:
    """Makes a session forget its strategist before the n-th line of a tell that enters events into the ledger."""

    def __init__(self, session, n):
        self.session, self.left = session, n

    def __enter__(self):
        sys.settrace(lambda frame, *_: self.line if frame.f_code is Session._enter.__code__ else None)
        return self

    def __exit__(self, *_):
        sys.settrace(None)

    def line(self, frame, event, argument):
        self.left -= event == "line"
        if self.left == 0:
            self.session._forget_strategist(simple=True)
        return self.line


def test_a_tell_is_entered_while_another_thread_forgets_a_strategy_that_failed(tmp_path):
    """As a prediction does that a plugin fails at; it holds no lock that a tell waits for."""
    opt, lines, ended = Optimizer(BOX, (1.0, 10.0), rng=0, storage=str(tmp_path / "study.db")), 0, False
    while not ended:
        lines += 1
        trials = opt.ask(2)
        with Forgetting(opt._session, lines) as forgetting:
            opt.tell_many([(trial, float(trial.id)) for trial in trials])
        ended = forgetting.left > 0
        assert len(opt.history) == 2 * lines
        assert not opt.pending
    assert lines > 5
