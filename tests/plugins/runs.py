"""Short runs for the tests of strategies."""

from __future__ import annotations

import numpy as np

import mfopt
from mfopt_plugins.maximisers.multistart import Multistart
from mfopt_plugins.method.models import FidelityModels
from mfopt_plugins.method.observations import Observations


def quick():
    """A maximiser that is good enough to tell strategies apart and costs little."""
    return Multistart(samples=60, climbs=1)


def low(x):
    return float(np.sin(5 * x[0]) + x[-1] - 0.1 * np.cos(9 * x[0]))


def high(x):
    return float(np.sin(5 * x[0]) + x[-1])


FUNCTIONS = [low, high]


def run(optimizer, functions, most=10**6):
    """Ask and tell until the optimiser is done or `most` trials were told; the trials."""
    trials = []
    while len(trials) < most and not optimizer.done:
        try:
            trial = optimizer.ask()
        except mfopt.Exhausted:
            break
        optimizer.tell(trial, functions[trial.fidelity](trial.x))
        trials.append(trial)
    return trials


def trace(trials):
    return np.array([[*trial.x, trial.fidelity] for trial in trials])


SQUARE = [(0.0, 1.0)] * 2


def fidelity_models(surrogates, noises, used, dim, seed, own=None, coupled=False):
    """Models of a unit cube that have seen nothing."""
    observations = Observations(used, mfopt.Box([(0.0, 1.0)] * dim))
    return FidelityModels(surrogates, noises, observations, dim, seed, own, coupled)


def show(models, record):
    """Tell models an outcome, as a strategy would; one of a fidelity not in use is ignored."""
    if record.fidelity in models.used:
        models.observations.add(record.u, models.used.index(record.fidelity), record.y)
