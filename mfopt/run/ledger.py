"""Ledger: the state of a run, kept from its events (events.py) in their order.

It is the only place that knows which trials are pending, what remains of the capital and how often the strategy was
asked. As it enters an event it returns what the strategy is to be shown for it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from mfopt.checks import integer
from mfopt.domains.params import namer_of, takes_params
from mfopt.errors import AlreadyTold, Exhausted, UnknownTrial
from mfopt.fidelities import Fidelity
from mfopt.protocols import Array, Domain, Query, Record, View
from mfopt.run.events import Added, Asked, CapitalSet, Event, Refused, Told
from mfopt.run.history import History
from mfopt.run.prices import Prices
from mfopt.run.trial import Best, Trial

# Ten queries of 0.1 fit into a capital of 1.0 although the products are rounded: amounts closer than this, relative
# to the capital, count as equal.
_ROUNDING = 1e-12


class Ledger:
    """Trials, history, best value and capital of a run.

    `sign` is −1 where values are minimised: a strategy is shown values to be maximised.
    `seed` is the root of the random streams that a strategy is given.
    """

    def __init__(
        self, domain: Domain, fidelities: Sequence[Fidelity], capital: float | None, sign: float, seed: int
    ) -> None:
        self._domain = domain
        self.prices = Prices(fidelities, capital)
        self._sign = sign
        self._seed = seed
        self.capital = Capital(capital, self.prices.costs)
        self._params_of = namer_of(domain)
        noises = [one.noise for one in fidelities]
        self.history = History(domain.names, self._params_of, takes_params(domain), noises)
        self.best: Best | None = None
        self.next_id = 0
        self.exhausted: Exhausted | None = None  # what the strategy last said, until something new is told
        self._pending: dict[int, tuple[Trial, Query]] = {}  # a trial as the user and as the strategy sees it
        self._told: set[int] = set()
        self._asks = 0
        # A finite X whose target is known to be noiseless is used up when each of its points was a target query.
        points = domain.points
        self._size = len(points) if points is not None and fidelities[-1].noise == 0.0 else None
        self._used: set[int | None] = set()

    # ---------------------------------------------------------------------------------------------- events

    def enter(self, event: Event) -> View | Record | None:
        """Take in what happened next. Returns what the strategy is to be shown for it, None where that is nothing.

        For an ask, also a refused one, it is the view of the moment before; for a value, its record.
        """
        match event:
            case Asked():
                view = self.view()
                self.hand_out(event)
                return view
            case Refused(message, which):
                view = self.view()
                self.exhausted = Exhausted(message, which)
                return view
            case Told(id, y, bound, cost):
                trial, query = self._pending.pop(id)
                self._told.add(id)
                self.capital.pay(trial.cost, cost)
                if cost is not None and y is not None:
                    self.prices.learn(trial.fidelity, cost)
                self._append(id, trial.x, trial.index, trial.fidelity, y, trial.cost if cost is None else cost, bound)
                value, limit = (None if number is None else self._sign * number for number in (y, bound))
                return Record(id, query.u, query.fidelity, value, asked=True, bound=limit)
            case Added(id, x, u, m, cost, y):
                self.next_id = id + 1
                self.capital.charge(cost)
                self._append(id, x, self._domain.locate(u), m, y, cost)
                return Record(id, u, m, self._sign * y, asked=False)
            case CapitalSet(total):
                self.capital.total = total
                self.exhausted = None
                return None

    def hand_out(self, event: Asked) -> Trial:
        """Enter an ask that the strategy has just answered itself; the trial that is pending now."""
        index, params = self._domain.locate(event.u), self._params_of(event.x)
        trial = Trial(event.id, event.x, event.fidelity, event.cost, index, event.reason, params)
        self._pending[event.id] = trial, Query(event.id, event.u, event.fidelity)
        self.capital.promise(event.cost)
        self.next_id = event.id + 1
        self._asks += 1
        return trial

    def _append(
        self, id: int, x: Array, index: int | None, m: int, y: float | None, cost: float, bound: float | None = None
    ) -> None:
        self.history.append(id, x, m, y, cost, bound)
        self.exhausted = None
        if m == len(self.costs) - 1:
            self._used.add(index)
            if y is not None and (self.best is None or self._sign * y > self._sign * self.best.y):
                self.best = Best(x, y, id, self._params_of(x))

    def withdraw(self, id: int) -> None:
        """Undo an ask, the latest that is pending: its trial never reached anybody."""
        trial, _ = self._pending.pop(id)
        self.capital.release(trial.cost)
        if id == self.next_id - 1:  # another thread may have added data since
            self.next_id -= 1
        self._asks -= 1

    # --------------------------------------------------------------------------------------------- what it says

    def view(self) -> View:
        """What a strategy sees if it is asked now. The t-th ask of a run has a random stream of its own."""
        t = self._asks + 1
        rng = np.random.default_rng([self._seed, t])
        return View(t, self.capital.remaining, self.queries, rng, self.costs)

    @property
    def costs(self) -> tuple[float, ...]:
        """What a query at each fidelity is expected to cost: λ_1 < ... < λ_M as given, unless other costs were told.

        Where costs are learnt from cheap fidelities alone, the target's is a guess. It does not end a run: the first
        target query is expected to cost what remains at most.
        """
        left = self.capital.remaining
        if not self.prices.learnt or left <= 0.0 or self._used or self._asks_target:
            return self.prices.costs
        return (*self.prices.costs[:-1], min(self.prices.costs[-1], left))

    @property
    def _asks_target(self) -> bool:
        """Whether a target query is pending."""
        return any(query.fidelity == len(self.prices.costs) - 1 for query in self.queries)

    @property
    def pending(self) -> list[Trial]:
        """Trials asked and not yet told, in the order asked."""
        return [trial for trial, _ in self._pending.values()]

    @property
    def queries(self) -> tuple[Query, ...]:
        """The pending trials as a strategy sees them."""
        return tuple(query for _, query in self._pending.values())

    def is_pending(self, id: int) -> bool:
        """Whether the trial of this id was asked and not yet told."""
        return id in self._pending

    def is_told(self, id: int) -> bool:
        """Whether the outcome of the trial of this id is known."""
        return id in self._told

    def trial(self, id: int) -> Trial:
        """The pending trial of this id."""
        return self._pending[id][0]

    def find_pending(self, trial: object) -> Trial:
        """The pending trial that a user means by a Trial or an id."""
        id = trial.id if isinstance(trial, Trial) else integer(trial, "a trial")
        if id in self._told:
            raise AlreadyTold(f"a trial must be told once, got trial {id} again")
        if id not in self._pending:
            raise UnknownTrial(f"a trial must be pending to be told, got {id}; pending are {list(self._pending)}")
        ours = self.trial(id)
        if isinstance(trial, Trial) and (
            trial.fidelity != ours.fidelity or not np.array_equal(trial.x, ours.x, equal_nan=True)
        ):
            raise UnknownTrial(f"a trial must come from this optimiser, got another one's trial {id}")
        return ours

    def why_done(self) -> Exhausted | None:
        """Why no further trial can be, by capital and points alone; None where the strategy has the word."""
        left, price = self.capital.remaining, self.costs[-1]
        if left < price:
            return Exhausted(
                f"a target query {'is expected to cost' if self.prices.learnt else 'costs'} {price} and {left} of the "
                f"capital {self.capital.total} remains "
                f"({self.capital.spent} spent, {len(self._pending)} trials pending)",
                "capital",
            )
        if self._size is not None:
            target = len(self.costs) - 1
            pending = {trial.index for trial, _ in self._pending.values() if trial.fidelity == target}
            if len(self._used | pending) >= self._size:
                return Exhausted(f"all {self._size} points of X were queried at the noiseless target", "points")
        return None

    @property
    def strategy_judges(self) -> bool:
        """Whether only the strategy can say that X is used up: X is finite, and its noise is not known."""
        return self._domain.points is not None and self._size is None

    def used_up(self) -> Exhausted:
        """Why there is no further trial where the strategy says that X is used up."""
        points = self._domain.points
        assert points is not None
        return Exhausted(
            f"all {len(points)} points of X were queried at the target, which seems noiseless; "
            "a positive noise would have them queried again",
            "points",
        )


class Capital:
    """Λ and where it went, in the unit of the costs; `total` None is unlimited.

    Trials that cost what was promised for them are counted by that amount and multiplied, so that the sum does not
    depend on their order and its error does not grow with their number.

    A trial may cost more than was promised, so `spent` may come out larger than the total; nothing then remains.
    """

    def __init__(self, total: float | None, costs: Sequence[float]) -> None:
        self.total = total
        self._costs = tuple(costs)
        self._told: Counter[float] = Counter()
        self._pending: Counter[float] = Counter()
        self._other = 0.0

    @property
    def spent(self) -> float:
        """Cost of everything told, failed trials included."""
        return self._clip(self._sum(self._told) + self._other)

    @property
    def remaining(self) -> float:
        """What is neither spent nor promised; inf when unlimited."""
        if self.total is None:
            return math.inf
        left = self.total - (self._sum(self._told + self._pending) + self._other)
        # An amount that is a price up to rounding pays that price.
        for cost in reversed(self._costs):
            if left < cost <= left + _ROUNDING * self.total:
                return cost
        return max(left, 0.0)

    def promise(self, amount: float) -> None:
        """Set the expected cost of a trial aside that was handed out."""
        self._pending[amount] += 1

    def release(self, amount: float) -> None:
        """Take a promise back."""
        self._pending[amount] -= 1

    def pay(self, promised: float, cost: float | None = None) -> None:
        """A trial for which an amount was promised has been told; `cost` is what it cost where it was not that."""
        self._pending[promised] -= 1
        if cost is None:
            self._told[promised] += 1
        else:
            self._other += cost

    def charge(self, cost: float) -> None:
        """Pay for data that nobody asked for."""
        self._other += cost

    def _sum(self, counts: Counter[float]) -> float:
        return math.fsum(n * cost for cost, n in counts.items())

    def _clip(self, amount: float) -> float:
        """The amount, without what only rounding put above the total."""
        if self.total is None or amount > self.total * (1.0 + _ROUNDING):
            return amount
        return min(amount, self.total)
