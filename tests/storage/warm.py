"""Imported by the server that forks the workers: all that they would import is then there."""

import mfopt.storage.sqlite
from tests.storage.workers import BOX

for strategy in ("random", "mf-gp-ucb"):
    opt = mfopt.Optimizer(BOX, [1.0, 10.0], capital=30.0, strategy=strategy, rng=0)
    for _ in range(8):
        if not opt.done:
            opt.tell(opt.ask(), 1.0)
