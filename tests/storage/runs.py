"""Runs to be stopped and resumed."""

from __future__ import annotations

import numpy as np

import mfopt

CANDIDATES = np.random.default_rng(5).random((400, 3))


def arguments(kind, capital=800.0, **options):
    """Of an Optimizer on a box or on a finite set, with capital for 160 trials; `options` replace some."""
    domain = mfopt.Box([(-1.0, 2.0), (0.1, 10.0)], log=[False, True]) if kind == "box" else mfopt.FiniteSet(CANDIDATES)
    return {"domain": domain, "costs": [1.0, 5.0], "capital": capital, "rng": 11, **options}


def evaluate(trial):
    """A smooth function with a cheap approximation, and now and then a failure."""
    if trial.id % 17 == 13:
        return None
    peak = -float(np.square(np.asarray(trial.x) - 0.4).sum())
    return peak if trial.fidelity == 1 else peak + 0.2 * float(np.sin(4.0 * trial.x[0]))


def tell(opt, trial):
    y = evaluate(trial)
    if y is None:
        opt.tell(trial, status="failed")
    else:
        opt.tell(trial, y)


def advance(opt, tells):
    """Tell that many trials, with up to three others pending, out of order, and some data that nobody asked for."""
    for _ in range(tells):
        while len(opt.pending) < 1 + opt._session.ledger.next_id % 4:
            opt.ask()
        k = len(opt.history)
        tell(opt, opt.pending[k % len(opt.pending)])
        if k == 20:
            opt.add(opt.history.x[:2], 0, [0.25, -0.5])


def bits(trial):
    """A trial to the last bit, with its reason."""
    return (trial.id, trial.x.tobytes(), trial.fidelity, trial.cost, trial.index, str(trial.reason))


def next_asks(opt, n):
    """The next n trials, asked in twos and told one each time."""
    asked = []
    while len(asked) < n:
        asked += opt.ask(2)
        tell(opt, opt.pending[0])
    return [bits(trial) for trial in asked[:n]]
