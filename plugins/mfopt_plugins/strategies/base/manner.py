"""Manner: how a method with models goes about everything but its own choice.

    PRACTICAL   the default of every method here
    PAPER       the section "Some Implementation Details", and nothing else
    EXACT       what the theorems are about: an algorithm, without an initial design or any rule of ours

What a manner changes is what a run does by itself. Pending queries and failures, of which the paper knows nothing, are
allowed for in every manner; without any, they change nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Literal

from mfopt.errors import InputError
from mfopt.hooks import HowToLearn, vary_learning
from mfopt.protocols import Problem, Surrogate
from mfopt_plugins.maximisers.nlopt_direct import NloptDirect
from mfopt_plugins.maximisers.plain_direct import PlainDirect

Mode = Literal["practical", "paper"]

ITERATIONS = 25  # after which the paper updates its kernels


@dataclass(frozen=True)
class Manner:
    """What is done around the choice of a method.

    design        Λ₀ of the initial design in units of λ_M, where it is not given; None: see method/design.py
    isotropic     one length-scale for all coordinates; None: as the surrogate was made
    learning      how hyper-parameters are learnt (hooks.VariesLearning); None: as the surrogate was made
    learn_every   iterations after which the models learn again; 0: when the rows have grown by a tenth
    polished      the problem's maximiser finds x_t. Otherwise DIRECT does, without corners or ascents
    outliers      values far off the rest are not taken at their word (method/outliers.py)
    noise_tests   points are asked twice where values may be noisy, and what that says of the noise counts
    distinct      a noiseless fidelity is never asked twice for a point, nor for one close to a pending one
    last_query    λ_M is kept for a last target query
    """

    design: float | None = None
    isotropic: bool | None = None
    learning: HowToLearn | None = None
    learn_every: int = 0
    polished: bool = True
    outliers: bool = True
    noise_tests: bool = True
    distinct: bool = True
    last_query: bool = True

    def vary(self, surrogates: Sequence[Surrogate]) -> Sequence[Surrogate]:
        """The surrogates as they learn in this manner."""
        if self.isotropic is None and self.learning is None:
            return surrogates
        return vary_learning(surrogates, self.isotropic, self.learning)

    def adapt(self, problem: Problem, batched: bool) -> Problem:
        """The problem with the maximiser of this manner; `batched`: a DIRECT that evaluates a round at once."""
        if self.polished:
            return problem
        plain = PlainDirect() if batched else NloptDirect(polished=False, biased=False)
        return replace(problem, maximiser=plain)

    def choose_initial_capital(self, given: float | None, problem: Problem) -> float | None:
        """Λ₀ as it was given, or as this manner has it; None: see method/design.py."""
        return self.design * problem.costs[-1] if given is None and self.design is not None else given


PRACTICAL = Manner()
EXACT = Manner(design=0.0, outliers=False, noise_tests=False, distinct=False, last_query=False)
PAPER = replace(EXACT, design=10.0, isotropic=True, learning="likelihood", learn_every=ITERATIONS, polished=False)
_MANNERS = {"practical": PRACTICAL, "paper": PAPER}


def find_manner(mode: Mode) -> Manner:
    """The manner of this mode of a baseline."""
    if mode not in _MANNERS:
        raise InputError(f'mode must be "practical" or "paper", got {mode!r}')
    return _MANNERS[mode]


def check_initial_capital(given: float | None) -> float | None:
    """Λ₀ as an option of a strategy."""
    if given is not None and not 0 <= given < inf:
        raise InputError(f"initial_capital must be finite and not negative, got {given}")
    return given
