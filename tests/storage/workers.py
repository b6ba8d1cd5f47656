"""Processes that work on a study, to be let down in the middle of it.

They are forked from a server that has everything imported, so that a run takes milliseconds.
"""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import signal
from pathlib import Path

import mfopt
from mfopt.storage import sqlite

BOX = mfopt.Box([(0.0, 1.0), (-5.0, 5.0)])


def processes():
    """The context from which processes are started."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.storage.warm"])
    return context


def study(storage, strategy="random", capital=1e6, **options):
    """The study that all of them share."""
    return mfopt.Optimizer(BOX, [1.0, 10.0], capital=capital, rng=0, strategy=strategy, storage=storage, **options)


def value(trial_id):
    """What a trial is told: known to the checking process too."""
    return trial_id / 7 - 3


def work(storage, strategy, tells, connection):
    """Ask and tell, and say so: ("asked" | "told", id) after the call has returned; at the end "done"."""
    try:
        opt = study(storage, strategy)
        connection.send(("open", 0))
        for _ in range(tells):
            trial = opt.ask()
            connection.send(("asked", trial.id))
            opt.tell(trial, value(trial.id))
            connection.send(("told", trial.id))
        connection.send(("done", 0))
    except BaseException as error:
        connection.send(("error", f"{type(error).__name__}: {error}"))
        raise


def everything(connection):
    """All that a process said before it ended."""
    said = []
    with contextlib.suppress(EOFError):
        while True:
            said.append(connection.recv())
    return said


def start(target, *arguments):
    """A process running target(*arguments, connection), and the connection to listen at."""
    context = processes()
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_announced, args=(target, *arguments, there), daemon=True)
    process.start()
    there.close()
    assert here.recv() == "here"  # the first process of all waits for the server's imports
    return process, here


def _announced(target, *arguments):
    arguments[-1].send("here")
    target(*arguments)


def fill(storage, limit, tells, seldom, connection):
    """Work with files that may not grow beyond `limit` bytes (None: any size); when that hurts, make room and go on.

    What is committed is moved into the main file after `seldom` seconds, so that 0 and inf give files of one size on
    every machine. Reports what failed, the state of the ledger right then, the ids and points of the trials in their
    order, and the size of the largest file.
    """
    import resource  # not on Windows

    if seldom == math.inf:
        sqlite.SQLite._checkpoint = lambda self, connection: None
    else:
        sqlite._SELDOM = seldom
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    errors, states = [], []

    def tried(call):
        nonlocal limited
        try:
            return call()
        except mfopt.MfoptError as error:
            if not limited:
                raise
            errors.append((type(error).__name__, str(error)))
            if opt is not None:
                states.append((len(opt.history), len(opt.pending), opt.spent, opt.remaining))
            resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
            limited = False
            if opt is not None:
                again = mfopt.Study.open(storage)
                states.append((len(again.history), len(again.pending), again.spent, again.remaining))
            return call()

    try:
        opt, limited = None, True
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard if limit is None else limit, hard))
        opt = tried(lambda: study(storage, "mf-gp-ucb", capital=200.0))
        trace = []
        for _ in range(tells):
            trial = tried(opt.ask)
            trace.append((trial.id, trial.x.tobytes(), trial.fidelity))
            tried(lambda trial=trial: opt.tell(trial, float(trial.x[0])))
        largest = max(file.stat().st_size for file in Path(storage).parent.iterdir())
        connection.send((errors, states, trace, largest))
    except BaseException as error:
        connection.send(f"{type(error).__name__}: {error}")
        raise
