"""Optimizer: the ask/tell cycle.

    ask    the strategy suggests a point and a fidelity; it becomes a pending Trial, its cost is promised
    tell   the trial's value (or failure) goes into the history and to the strategy; its cost is spent
    add    values that nobody asked for are treated in the same way

What a run says of its functions, predict and recommend, is in run/answers.py. Without a storage an optimiser can be
pickled and deep-copied: the copy goes on exactly as the original would.

Each of these is an event (run/events.py). The session (run/session.py) writes it to a log, in memory or in a storage,
enters it in the ledger (run/ledger.py), which holds the state, and shows it to the strategy (run/strategist.py).

User units and the user's direction end here: a strategy sees unit coordinates and values to be maximised. Every call
checks all it was given before it changes anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, overload

import numpy as np

from mfopt.checks import integer, show
from mfopt.errors import AlreadyTold, Exhausted, InputError
from mfopt.fidelities import Fidelity
from mfopt.hooks import ShowsCosts, TurnsSign
from mfopt.protocols import Array, Domain
from mfopt.run.answers import Answers
from mfopt.run.events import Added, Told
from mfopt.run.history import History
from mfopt.run.inputs import parse_data, parse_outcomes
from mfopt.run.ledger import Ledger
from mfopt.run.session import MemoryLog, Session
from mfopt.run.setup import Setup
from mfopt.run.trial import Best, Trial


class Optimizer(Answers):
    """Decides where (x) and how accurately (fidelity) to evaluate next; the user's code evaluates.

        opt = mfopt.Optimizer([(0, 1), (0, 1)], costs=[1.0, 10.0], capital=200.0)
        while not opt.done:
            trial = opt.ask()
            opt.tell(trial, simulate(trial.x, trial.fidelity))
        print(opt.best)

    domain      mfopt.Space (or a dict), mfopt.Box (or [(lo, hi), ...]), mfopt.FiniteSet, or another protocols.Domain
    costs       λ_1 < ... < λ_M, one per fidelity, the last is the target; or `fidelities`, a list of mfopt.Fidelity.
                None for each, [None, None]: not known, learnt from the costs told with the values (docs/costs.md)
    strategy    the method: the name of a plugin (`mfopt plugins` lists them), "name:option=value,...", or an instance
    surrogate   the model of the function, given in the same way; or a list of M, one per fidelity. None: the one that
                the strategy prefers, "matern" for mf-gp-ucb and gp-pi, otherwise "se"
    maximiser   how the maximum of the acquisition is found, given in the same way; finite sets do not use it
    direction   "maximize" or "minimize"
    capital     Λ, the total budget in the unit of the costs; None for no limit
    noise       known noise variance of the values, one for all or one per fidelity; None: to be learnt
    rng         seed or numpy Generator (one number is drawn from it); None: a fresh seed
    threads     how many threads the models may compute with; the trials do not depend on it (docs/parallel.md)
    storage     where the study lives: "sqlite:///study.db", a path, "postgresql://..."; None: in memory only
    study       its name there. A study that exists is resumed, with the same arguments (rng may be left out)
    lease       seconds after which a trial of this optimiser is handed out again unless told or renewed; None: never
    worker      a name to be noted with each trial, for people to read

    With a storage every ask and tell is durable before it returns, and other processes may ask and tell meanwhile; what
    they did is read by every call that changes something, by `done` and by `refresh`. Threads may share an optimiser;
    each trial goes to one of them, asks take turns, and a tell waits for an ask under way only with a storage.
    """

    def __init__(
        self,
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
        storage: object = None,
        study: str | None = None,
        lease: float | None = None,
        worker: str | None = None,
    ) -> None:
        setup = Setup.from_arguments(
            domain,
            costs,
            fidelities=fidelities,
            strategy=strategy,
            surrogate=surrogate,
            maximiser=maximiser,
            direction=direction,
            capital=capital,
            noise=noise,
            rng=rng,
            threads=threads,
        )
        if storage is not None:
            from mfopt.storage import attach

            self._session = attach(setup, storage, study, lease, worker)
        elif any(given is not None for given in (study, lease, worker)):
            raise InputError("study, lease and worker belong to a storage, got no storage")
        else:
            self._session = Session(setup, MemoryLog(), setup.start_strategist(copies=False))

    # ------------------------------------------------------------------------------------------------ ask

    @overload
    def ask(self) -> Trial: ...

    @overload
    def ask(self, n: int) -> list[Trial]: ...

    def ask(self, n: int | None = None) -> Trial | list[Trial]:
        """The next trial to evaluate; with `n` a list of them, shorter when there are not so many.

        Trials of a study whose lease has run out come first. Raises Exhausted when there is not even one.
        """
        if n is not None and integer(n, "n") < 1:
            raise InputError(f"n must be at least 1, got {n}")
        session, count, why = self._session, 1 if n is None else n, None
        with session.asking.held:
            session.prepare(count)
            with session.ask_hold, session.ask_transaction():
                trials = session.claim(count)
                while len(trials) < count and (why := session.why_done()) is None:
                    suggestion = session.suggest()
                    trial = None if suggestion is None else self._hand_out(*suggestion)
                    if trial is not None:
                        trials.append(trial)
        if not trials:
            assert why is not None
            raise Exhausted(str(why), why.which)
        return trials[0] if n is None else trials

    def _hand_out(self, u: Array, m: int, reason: Any) -> Trial | None:
        """A new trial from what the strategy suggests, in the user's units and direction."""
        setup = self._session.setup
        x = setup.domain.decode(u[None])[0]
        x.flags.writeable = False
        if setup.direction == "minimize" and isinstance(reason, TurnsSign):
            reason = reason.negated()
        if self._session.ledger.prices.learnt and isinstance(reason, ShowsCosts):
            reason = reason.priced(self.cost_estimates)
        return self._session.hand_out(x, u, m, reason)

    # ----------------------------------------------------------------------------------------------- tell

    def tell(self, trial: Trial | int, y: object = None, status: str = "ok", cost: object = None) -> None:
        """Record the outcome of a trial (or of its id): a finite value, or status="failed" when there is none.

        A failed trial costs as much as any other; a y told with it is a bound, its value is known to be no better.
        Trials may be told in any order, each once. Where a trial was handed out again after its lease, the first value
        counts; that it failed is for its last holder to say (LeaseLost).
        cost: what the trial really cost. From the first one told on the costs of later ones are learnt (docs/costs.md).
        """
        self.tell_many([(trial, y, status, cost)])

    def tell_many(self, outcomes: Iterable[Sequence[Any]]) -> None:
        """Record outcomes, (trial, y), (trial, y, status) or (trial, y, status, cost), in one step: all or none."""
        given = parse_outcomes(outcomes)

        def tell(ledger: Ledger) -> list[Told]:
            told = [Told(ledger.find_pending(one.trial).id, one.y, one.bound, one.cost) for one in given]
            self._session.check_claims(one.trial for one in given if one.y is None)
            if len({event.id for event in told}) < len(told):
                raise AlreadyTold(f"a trial must be told once, got trials {[event.id for event in told]}")
            return told

        self._session.record(tell)

    def add(self, x: object, fidelity: object, y: object, cost: object = None) -> None:
        """Add values that you have already: one point, or arrays x (q, d), fidelity (q,) or one for all, y (q,).

        Points may be params or a DataFrame. They cost `cost` (one for all, or each) or nothing. All are added or none.
        """
        rows = parse_data(self.domain, len(self.fidelities), x, fidelity, y, cost)
        costs = [row.cost for row in rows]

        def add(ledger: Ledger) -> list[Added]:
            remaining = ledger.capital.remaining
            if min(costs) < 0.0 or sum(costs) > remaining:
                raise InputError(f"cost must be from 0 to the remaining {remaining}, got {show(cost)}")
            return [Added(ledger.next_id + k, *row) for k, row in enumerate(rows)]

        self._session.record(add)

    # ------------------------------------------------------------------------------------------- studies

    def refresh(self) -> None:
        """Take in what other processes asked and told; nothing to do without a storage."""
        self._session.refresh()

    def renew(self, trial: Trial | int) -> None:
        """Start the lease of a pending trial anew: a sign of life from its worker, from any thread.

        Raises LeaseLost when the lease ran out and the trial was handed out again: somebody else is at it now.
        """
        if self.lease is None:
            raise InputError("renew needs an optimiser with a storage and a lease, got one without")
        self._session.renew(trial)

    def close(self) -> None:
        """Let go of the storage; the next call that needs it opens it again."""
        self._session.close()

    @property
    def lease(self) -> float | None:
        """Seconds after which a trial handed out here is handed out again unless told or renewed; None: never."""
        return self._session.log.lease

    # ---------------------------------------------------------------------------------------------- state

    @property
    def domain(self) -> Domain:
        """X, as a Space, a Box, a FiniteSet or the object that was given."""
        return self._session.setup.domain

    @property
    def fidelities(self) -> tuple[Fidelity, ...]:
        """From the cheapest to the target."""
        return self._session.setup.fidelities

    @property
    def costs(self) -> tuple[float, ...]:
        """λ_1 < ... < λ_M as given; once other costs were told, what a query at each fidelity is expected to cost."""
        return self._session.look(lambda ledger: ledger.costs)

    @property
    def direction(self) -> str:
        """Which value is wanted: "maximize" or "minimize"."""
        return self._session.setup.direction

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._session.look(self._session.setup.describe)}>"

    @property
    def strategy(self) -> Any:
        """The strategy's instance, after it has been shown all that was told."""
        return self._session.strategist().strategy

    @property
    def seed(self) -> int:
        """Root of every random stream of this run."""
        return self._session.setup.seed

    @property
    def history(self) -> History:
        """All that was told or added, as arrays: x, fidelity, y, cost, status, id, params; it grows with the run."""
        return self._session.ledger.history

    @property
    def pending(self) -> list[Trial]:
        """Trials asked and not yet told, in the order asked."""
        return self._session.look(lambda ledger: ledger.pending)

    @property
    def best(self) -> Best | None:
        """The best value observed at the target fidelity; None before the first. The first of equal values stays."""
        return self._session.ledger.best

    @property
    def capital(self) -> float | None:
        """Λ; None when unlimited."""
        return self._session.ledger.capital.total

    @property
    def spent(self) -> float:
        """Cost of all that was told, failed trials included; the last may have cost more than was left."""
        return self._session.look(lambda ledger: ledger.capital.spent)

    @property
    def remaining(self) -> float:
        """Capital neither spent nor promised to pending trials; inf when unlimited."""
        return self._session.look(lambda ledger: ledger.capital.remaining)

    @property
    def done(self) -> bool:
        """Whether the next ask would raise Exhausted: no target query can be paid, or a finite set is used up.

        The target is then noiseless (noise = 0, or in the judgement of the strategy) and knows every point.
        """
        return self._session.is_done()
