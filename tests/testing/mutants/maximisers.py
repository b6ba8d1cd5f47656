"""Maximisers with one mistake each."""

import os
import time
from types import MappingProxyType

import numpy as np

from mfopt import Box
from mfopt.testing import MaximiserConformance
from tests.optimizer.toys import RandomMaximiser


class Suite(MaximiserConformance):
    def __init__(self, kind=RandomMaximiser):
        self.kind = kind

    def maximiser(self):
        return self.kind()


class OptionsSuite(Suite):
    options = MappingProxyType({"points": 50})


def changed(act):
    """One whose answer is changed: act(maximise, acquisition, domain, rng, t)."""

    class Mutant(RandomMaximiser):
        def maximise(self, acquisition, domain, rng, t):
            return act(super().maximise, acquisition, domain, rng, t)

    return Mutant


def afterwards(act):
    return changed(lambda find, a, d, rng, t: act(find(a, d, rng, t)))


def before(act):
    return changed(lambda find, a, d, rng, t: (act(), find(a, d, rng, t))[1])


class Remembers(RandomMaximiser):
    """Finds the maximum once."""

    def maximise(self, acquisition, domain, rng, t):
        if getattr(self, "found", None) is None or len(self.found) != domain.dim:
            self.found = super().maximise(acquisition, domain, rng, t)
        return self.found


class KeepsDimension(RandomMaximiser):
    def maximise(self, acquisition, domain, rng, t):
        self.dim = getattr(self, "dim", domain.dim)
        return super().maximise(acquisition, domain, rng, t)[: self.dim]


class StartsFromZero(RandomMaximiser):
    def maximise(self, acquisition, domain, rng, t):
        best = super().maximise(acquisition, domain, rng, t)
        return best if acquisition(best[None])[0] > 0.0 else domain.sample(1, rng)[0]


class KeepsTheBest(RandomMaximiser):
    """Compares with what an earlier acquisition was worth."""

    def maximise(self, acquisition, domain, rng, t):
        u = super().maximise(acquisition, domain, rng, t)
        found = float(acquisition(u[None])[0]), u
        kept = getattr(self, "kept", found)
        self.kept = found if len(kept[1]) != len(u) else max(kept, found, key=lambda one: one[0])
        return self.kept[1]


class AnswersInPlace(RandomMaximiser):
    def maximise(self, acquisition, domain, rng, t):
        out = self.__dict__.setdefault("buffers", {}).setdefault(domain.dim, np.empty(domain.dim))
        out[:] = super().maximise(acquisition, domain, rng, t)
        return out


class HidesErrors(RandomMaximiser):
    def maximise(self, acquisition, domain, rng, t):
        try:
            return super().maximise(acquisition, domain, rng, t)
        except ArithmeticError:
            return domain.sample(1, rng)[0]


class CannotBePickled(RandomMaximiser):
    def __init__(self):
        self._key = lambda u: u


class Options(RandomMaximiser):
    def __init__(self, points=500, other=0):
        self._count = points

    def maximise(self, acquisition, domain, rng, t):
        rng.random(self._count)
        return super().maximise(acquisition, domain, rng, t)

    def options(self):
        return {"points": self._count}


class WrongOptions(Options):
    def __init__(self, points=500):
        self._count = points

    def options(self):
        return {"points": 500}


MUTANTS = {
    "lazy": (changed(lambda find, a, d, rng, t: d.sample(1, rng)[0]), "test_beats_a_thousand_random_points"),
    "minimises": (changed(lambda find, a, d, rng, t: find(lambda u: -a(u), d, rng, t)), "test_reaches_a_corner"),
    "ignores constraints": (
        changed(lambda find, a, d, rng, t: find(a, Box([(0, 1)] * d.dim), rng, t)),
        "test_stays_in_a_constrained_box",
    ),
    "off the cube": (afterwards(lambda u: u + 1e-9), "test_reaches_a_corner"),
    "a row": (afterwards(lambda u: u[None]), "test_a_flat_acquisition_is_harmless"),
    "a list": (afterwards(lambda u: u.tolist()), "test_a_flat_acquisition_is_harmless"),
    "float32": (afterwards(lambda u: u.astype(np.float32)), "test_a_flat_acquisition_is_harmless"),
    "unseeded": (
        changed(lambda find, a, d, rng, t: find(a, d, np.random.default_rng(), t)),
        "test_the_same_rng_gives_the_same_point",
    ),
    "draws globally": (before(lambda: np.random.random()), "test_the_global_random_state_is_not_touched"),  # noqa: NPY002
    "seeds globally": (before(lambda: np.random.seed(0)), "test_the_global_random_state_is_not_touched"),  # noqa: NPY002
    "prints": (before(lambda: print("searching")), "test_nothing_is_printed"),
    "slow": (before(lambda: time.sleep(0.3)), "test_no_call_is_slow"),
    "remembers": (Remembers, "test_one_instance_serves_a_run"),
    "keeps its dimension": (KeepsDimension, "test_one_instance_serves_a_run"),
    "starts from 0": (StartsFromZero, "test_one_instance_serves_a_run"),
    "keeps the best": (KeepsTheBest, "test_one_instance_serves_a_run"),
    "answers in place": (AnswersInPlace, "test_one_instance_serves_a_run"),
    "hides errors": (HidesErrors, "test_an_error_of_the_acquisition_is_not_hidden"),
    "cannot be pickled": (CannotBePickled, "test_a_copy_finds_the_same_point"),
    "a library prints": (before(lambda: os.write(1, b"searching\n")), "test_nothing_is_printed"),
    "incomplete options": (Options, "test_it_is_made_again_from_its_options"),
    "wrong options": (WrongOptions, "test_it_is_made_again_from_its_options"),
}


def make_suite(name):
    suite = (OptionsSuite if name == "wrong options" else Suite)(MUTANTS[name][0])
    if name == "slow":
        suite.time_limit = 0.03
    return suite
