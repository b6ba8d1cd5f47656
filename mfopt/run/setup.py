"""Setup: what a run is made with. With its events (events.py) it determines the state of the run."""

from __future__ import annotations

import copy
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from mfopt import registry
from mfopt.checks import direction_sign, integer, one_or_each, real_number
from mfopt.domains import as_domain
from mfopt.errors import InputError
from mfopt.fidelities import Fidelity, as_fidelities
from mfopt.hooks import PrefersSurrogate, tie_scales, use_threads
from mfopt.protocols import Domain, Maximiser, Problem, Surrogate
from mfopt.run.blame import Culprit
from mfopt.run.guarded_models import guard_surrogate
from mfopt.run.guarded_search import guard_maximiser
from mfopt.run.ledger import Ledger
from mfopt.run.prices import first_costs
from mfopt.run.strategist import Strategist

MOST_THREADS = 256
SURROGATE = "se"  # where neither the user nor the strategy names one


@dataclass(frozen=True, eq=False)
class Setup:
    """The arguments of an Optimizer, checked; plugins as they were given."""

    domain: Domain
    fidelities: tuple[Fidelity, ...]
    direction: str
    strategy: object
    surrogate: object
    maximiser: object
    capital: float | None  # Λ at the start; it may be raised later
    seed: int  # root of every random stream
    seed_is_free: bool  # nobody has chosen the seed: a study that exists keeps its own
    threads: int  # for the models, here and now: no part of a study

    @classmethod
    def from_arguments(
        cls,
        domain: object,
        costs: Sequence[float | None] | None = None,
        *,
        fidelities: Sequence[Fidelity] | None = None,
        strategy: object = "mf-gp-ucb",
        surrogate: object = None,
        maximiser: object = "direct",
        direction: str = "maximize",
        capital: float | None = None,
        noise: object = None,
        rng: int | np.random.Generator | None = None,
        threads: int = 1,
    ) -> Setup:
        """What mfopt.Optimizer takes, which documents it; an InputError where it breaks a rule."""
        space = as_domain(domain)
        levels = as_fidelities(costs, fidelities, noise)
        direction_sign(direction)
        if capital is not None:
            capital = real_number(capital, "capital")
            price = levels[-1].cost
            if price is not None and capital < price:
                raise InputError(f"capital must pay for a target query, which costs {price}, got {capital}")
            if capital <= 0.0:
                raise InputError(f"capital must be positive, got {capital}")
        strategy = registry.read(registry.STRATEGIES, strategy)
        surrogate = registry.read(
            registry.SURROGATES, _prefer_surrogate(strategy, len(levels)) if surrogate is None else surrogate
        )
        maximiser = registry.read(registry.MAXIMISERS, maximiser)
        seed, is_free = _as_seed(rng), rng is None
        return cls(
            space, levels, direction, strategy, surrogate, maximiser, capital, seed, is_free, as_threads(threads)
        )

    @property
    def costs(self) -> tuple[float, ...]:
        """λ_1 < ... < λ_M, as given or as guessed at the start."""
        return first_costs(self.fidelities, self.capital)

    @property
    def sign(self) -> float:
        """What turns the user's values into ones to be maximised."""
        return direction_sign(self.direction)

    def describe(self, ledger: Ledger) -> str:
        """A run with this setup, and how far it is, in one line."""
        capital, best = ledger.capital, ledger.best
        total = "" if capital.total is None else f" of {capital.total:g}"
        return (
            f"{len(self.domain.names)} coordinates, costs {list(map(float, ledger.costs))}, {self.direction}, "
            f"spent {capital.spent:g}{total}, {len(ledger.history)} told, {len(ledger.pending)} pending, "
            f"best {'none' if best is None else f'{best.y:.6g}'}"
        )

    def make_ledger(self) -> Ledger:
        """An empty ledger: nothing has happened yet."""
        return Ledger(self.domain, self.fidelities, self.capital, self.sign, self.seed)

    def make_surrogates(self) -> tuple[Surrogate, ...]:
        """The kinds of model, one per fidelity; those given by name are made anew."""
        return self._make_surrogates(self.surrogate, self._blame(registry.STRATEGIES, self.strategy))

    def make_maximiser(self) -> Maximiser:
        """The maximiser; one given by name is made anew."""
        return self._make_maximiser(self.maximiser, self._blame(registry.STRATEGIES, self.strategy), own=True)

    def start_strategist(self, copies: bool) -> Strategist:
        """The strategy before the first event.

        An instance serves one run. With `copies` the given plugins are copied first, so that a fresh strategy can be
        started again and shown the run anew; without, a copy of them is laid by for that.
        """
        spare = self if copies else self._copy_plugins()
        self.domain.sample(1, np.random.default_rng([self.seed, 0]))  # an empty X is reported here
        used = self._must_copy_plugins() if copies else self
        instance = registry.resolve(registry.STRATEGIES, used.strategy)
        culprit = self._blame(registry.STRATEGIES, used.strategy)
        problem = Problem(
            domain=self.domain,
            costs=self.costs,
            zetas=tuple(fidelity.zeta for fidelity in self.fidelities),
            noises=tuple(fidelity.noise for fidelity in self.fidelities),
            capital=self.capital,
            surrogates=self._make_surrogates(used.surrogate, culprit),
            maximiser=self._make_maximiser(used.maximiser, culprit, own=registry.is_built_in(instance)),
            seed=self.seed,
            threads=self.threads,
        )
        restart = None if spare is None else partial(spare.start_strategist, copies=True)
        return Strategist(instance, culprit, problem, restart)

    # --------------------------------------------------------------------------------------------- plugins

    def _blame(self, group: str, given: object) -> Culprit:
        return Culprit.of(group, given, self.domain)

    def _make_surrogates(self, given: object, caller: Culprit) -> tuple[Surrogate, ...]:
        """One per fidelity; those that are not built in behind a guard, which has seen a model of theirs."""
        count = len(self.fidelities)
        names = one_or_each(given, count, "surrogate")
        guarded: dict[int, Surrogate] = {}  # one that serves several fidelities is still one
        made = registry.resolve_each(registry.SURROGATES, given, count)
        for name, one, fidelity in zip(names, made, self.fidelities, strict=True):
            if id(one) not in guarded:
                guarded[id(one)] = one
                if not registry.is_built_in(one):
                    guarded[id(one)] = guard_surrogate(one, self._blame(registry.SURROGATES, name), caller)
                    guarded[id(one)].model(self.domain.dim, fidelity.noise)  # a method that it lacks is found now
        return use_threads(tie_scales([guarded[id(one)] for one in made], self.domain), self.threads)

    def _make_maximiser(self, given: object, caller: Culprit, own: bool) -> Maximiser:
        """The maximiser, behind a guard unless it and the strategy (`own`) are built in."""
        made: Maximiser = registry.resolve(registry.MAXIMISERS, given)
        if own and registry.is_built_in(made):
            return made
        return guard_maximiser(made, self._blame(registry.MAXIMISERS, given), caller)

    def _must_copy_plugins(self) -> Setup:
        """The same with plugins that nobody has used; a PluginError names one that cannot be copied."""
        copied = self._copy_plugins()
        if copied is not None:
            return copied
        for what, group in registry.GROUPS.items():
            given = getattr(self, what)
            for one in given if isinstance(given, list | tuple) else [given]:
                try:
                    copy.deepcopy(one)
                except Exception as error:
                    raise self._blame(group, one).error(
                        f"an instance must be one that can be copied, as a study needs it, got {type(error).__name__}: "
                        f"{error}"
                    ) from error
        raise AssertionError("plugins that can be copied one by one can be copied together")

    def _copy_plugins(self) -> Setup | None:
        """The same with plugins that nobody has used; None where one of them cannot be copied."""
        try:
            strategy, surrogate, maximiser = copy.deepcopy((self.strategy, self.surrogate, self.maximiser))
        except Exception:  # whatever a plugin holds: a lock, a connection
            return None
        return replace(self, strategy=strategy, surrogate=surrogate, maximiser=maximiser)


def _prefer_surrogate(strategy: object, fidelities: int) -> str:
    """The surrogate of users who name none."""
    instance = registry.resolve(registry.STRATEGIES, strategy)
    return instance.prefer_surrogate(fidelities) if isinstance(instance, PrefersSurrogate) else SURROGATE


def as_threads(threads: object) -> int:
    """How many threads models may use; an InputError where it is no such number."""
    count = integer(threads, "threads")
    if not 1 <= count <= MOST_THREADS:
        raise InputError(f"threads must be from 1 to {MOST_THREADS}, got {count}")
    return count


def _as_seed(rng: object) -> int:
    if rng is None:
        return secrets.randbits(63)
    if isinstance(rng, np.random.Generator):
        return int(rng.integers(2**63 - 1))
    seed = integer(rng, "rng, unless it is a numpy Generator or None,")
    if seed < 0:
        raise InputError(f"rng must be a non-negative seed, a numpy Generator or None, got {seed}")
    return seed
