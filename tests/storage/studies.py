"""Studies for the tests."""

import numpy as np

from mfopt import Box, NotAStorage, Optimizer, Study, UnknownStudy
from mfopt.protocols import Suggestion
from tests.storage.runs import bits

BOX = Box([(0.0, 1.0), (-5.0, 5.0)])


def make(storage, study="wing", domain=BOX, costs=(1.0, 10.0), capital=300.0, rng=0, strategy="random", **options):
    return Optimizer(
        domain, costs, capital=capital, rng=rng, strategy=strategy, storage=storage, study=study, **options
    )


def state(opt):
    history = opt.history
    columns = [history.x, history.fidelity, history.y, history.cost, history.status, history.id]
    best = None if opt.best is None else (opt.best.x.tolist(), opt.best.y, opt.best.trial_id)
    return repr(([c.tolist() for c in columns], [bits(t) for t in opt.pending], opt.spent, opt.remaining, best))


class Custom:
    """A strategy that is not installed."""

    def __init__(self, level=0.5):
        self.level = level

    def start(self, problem):
        self.told = 0

    def ask(self, view):
        return Suggestion(np.array([self.level, view.rng.random()]), 1, "as told")

    def tell(self, record):
        self.told += 1


def told(path):
    """How many trials of the only study were told; 0 before there is one."""
    try:
        study = Study.open(path)
    except (UnknownStudy, NotAStorage):
        return 0
    study.close()
    return len(study.history)
