"""What anyone's strategy must do."""

from __future__ import annotations

import copy
import pickle
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from mfopt import registry
from mfopt.domains.box import Box
from mfopt.domains.dimensions import Real
from mfopt.domains.discrete import Categorical, Integer
from mfopt.domains.finite import FiniteSet
from mfopt.domains.space import Space
from mfopt.errors import Exhausted
from mfopt.hooks import KeepsState
from mfopt.optimizer import Optimizer
from mfopt.protocols import SAME, Array, Strategy
from mfopt.run.trial import Trial
from mfopt.testing._recorder import Recorder, key_of
from mfopt.testing._reopened import reopen
from mfopt.testing._watch import make_again, set_global_state, silent, untouched_random_state, watch

Trace = list[tuple[tuple[float, ...], int]]

# The median regret of 12 random points, of which one is within r of the maximum with probability πr/4, is 0.072.
_CLEARLY_BETTER = 0.072 / 2.0


class _Runs:
    """How the suite runs the Optimizer with the strategy."""

    costs: tuple[float, ...] = (1.0, 5.0)
    surrogate: object = "se"
    maximiser: object = "direct"
    deterministic: bool = False
    learns: bool = True
    uses_added: bool = True
    sees_pending: bool = True
    remakeable: bool = True
    options: Mapping[str, Any] = {}
    time_limit: float = 10.0

    def strategy(self) -> Strategy:
        """The plugin under test, fresh at every call; override it."""
        raise NotImplementedError

    def _optimizer(
        self,
        domain: object = None,
        capital: float | None = 30.0,
        costs: tuple[float, ...] | None = None,
        direction: str = "maximize",
        noise: float | None = None,
        rng: int = 3,
        strategy: Strategy | None = None,
        surrogate: object = None,
    ) -> Optimizer:
        return Optimizer(
            Box([(-1.0, 1.0)] * 2) if domain is None else domain,
            self.costs if costs is None else costs,
            strategy=self.strategy() if strategy is None else strategy,
            surrogate=self.surrogate if surrogate is None else surrogate,
            maximiser=self.maximiser,
            direction=direction,
            capital=capital,
            noise=noise,
            rng=rng,
        )

    def _f(self, trial: Trial, costs: int) -> float:
        """Good approximations of a smooth function with its maximum 1 at 0.3."""
        peak = 1.0 - float(np.square(trial.x - 0.3).sum())
        return peak + 0.05 * (costs - 1 - trial.fidelity) * float(np.cos(5.0 * trial.x[0]))

    def _run(self, opt: Optimizer, fails: Callable[[Trial], bool] = lambda trial: False, sign: float = 1.0) -> Trace:
        """Ask, evaluate and tell until done; which points were asked for, at which fidelity."""
        trace: Trace = []
        while not opt.done:
            try:
                trial = opt.ask()
            except Exhausted:
                break
            trace.append((tuple(trial.x.tolist()), trial.fidelity))
            if fails(trial):
                opt.tell(trial, status="failed")
            else:
                opt.tell(trial, sign * self._f(trial, len(opt.costs)))
            assert len(trace) < 500, "the run must end"
        return trace


class _OnDomains(_Runs):
    """Every kind of domain."""

    def test_candidates_of_a_finite_set_are_asked_for(self) -> None:
        rows = np.random.default_rng(0).random((30, 2))
        opt = self._optimizer(FiniteSet(rows))
        while not opt.done:
            try:
                trial = opt.ask()
            except Exhausted:
                break
            assert trial.index is not None
            assert np.array_equal(rows[trial.index], trial.x)
            opt.tell(trial, self._f(trial, len(opt.costs)))
        assert len(opt.history) > 0

    def _run_space(self, opt: Optimizer) -> list[tuple[bytes, int]]:
        """Ask, evaluate and tell until done; checks that points lie in X, and returns them with their fidelity."""
        domain, asked = opt.domain, []
        while not opt.done:
            try:
                trial = opt.ask()
            except Exhausted:
                break
            u = domain.encode(trial.x[None])
            assert domain.contains(u)[0], f"the point must lie in X, got {trial.x}"
            asked.append((u.tobytes(), trial.fidelity))
            opt.tell(trial, 1.0 - float(np.square(u - 0.3).sum()) + 0.05 * trial.fidelity * float(u[0, -1]))
            assert len(asked) < 500, "the run must end"
        return asked

    def test_a_mixed_space_is_searched_and_nothing_noiseless_is_asked_twice(self) -> None:
        space = Space(
            {
                "kind": Categorical(["a", "b", "c"]),
                "depth": Integer(1, 5),
                "rate": Real(1e-3, 1.0, log=True, when={"kind": ["a", "b"]}),
            },
            constraints=lambda p: p["kind"] != "b" or p["depth"] < 4,
        )
        opt = self._optimizer(space, noise=0.0)
        asked = self._run_space(opt)
        assert len(set(asked)) == len(asked), "no noiseless point needs a second look at a fidelity"
        assert opt.best is not None, "a run must query the target"

    def test_a_discrete_space_is_exhausted_in_the_end(self) -> None:
        space = Space({"kind": Categorical(["a", "b", "c"]), "on": [False, True], "depth": Integer(1, 2)})
        opt = self._optimizer(space, capital=None, noise=0.0)
        asked = self._run_space(opt)
        assert len(set(asked)) == len(asked), "no noiseless point needs a second look at a fidelity"
        assert sum(m == len(self.costs) - 1 for _, m in asked) == 12, "every point is worth a target query"

    def test_a_noiseless_finite_set_is_exhausted_in_the_end(self) -> None:
        opt = self._optimizer(FiniteSet(np.linspace(0.0, 1.0, 6)), capital=None, noise=0.0)
        self._run(opt)
        target = opt.history.x[opt.history.fidelity == len(self.costs) - 1]
        assert len(opt.history) <= 6 * len(self.costs), "no noiseless point needs a second look at a fidelity"
        assert opt.best is not None
        assert len(np.unique(target)) == len(target)

    def test_constraints_hold_from_the_first_point_on(self) -> None:
        def above_the_diagonal(x: Array) -> Any:
            return x[:, 1] >= x[:, 0] + 0.5

        opt = self._optimizer(Box([(-1.0, 1.0)] * 2, constraints=above_the_diagonal), capital=20.0)
        self._run(opt)
        assert above_the_diagonal(opt.history.x).all()


class StrategyConformance(_OnDomains):
    """Runs of the Optimizer with the strategy: capital, pending trials, failures, domains and seeds are honoured.

    `costs` are those of the runs, a single one for a strategy that knows only one fidelity. The runs use the surrogate
    and the maximiser named below. A strategy that is `deterministic` must take the same trials whatever the seed.

    learns          False: it need not find better points than random search in a dozen target queries
    uses_added      False: data that nobody asked for change nothing of what is asked
    sees_pending    False: pending queries are treated otherwise than as rows of the models
    remakeable      False: the plugin cannot tell its options; studies need it given again
    options         keyword arguments, other than the defaults, with which making it again from its options is tried
    time_limit      seconds that a call may take
    """

    def test_has_the_methods_of_a_strategy(self) -> None:
        registry.resolve(registry.STRATEGIES, self.strategy())

    def test_the_capital_is_used_and_never_overspent(self) -> None:
        opt = self._optimizer()
        self._run(opt)
        assert opt.spent <= 30.0
        assert opt.remaining < self.costs[-1], "a run must not stop while a target query can be paid"
        assert opt.best is not None, "a run must query the target"

    def test_little_capital_still_buys_a_target_query(self) -> None:
        opt = self._optimizer(capital=self.costs[-1] + 0.5 * self.costs[0])
        self._run(opt)
        assert opt.best is not None, "capital for one target query must give one"

    def test_one_fidelity_will_do(self) -> None:
        opt = self._optimizer(costs=(2.0,), capital=20.0)
        self._run(opt)
        assert len(opt.history) == 10

    def test_the_same_seed_gives_the_same_trials(self) -> None:
        traces = []
        for number, seed in enumerate((5, 5, 6)):
            set_global_state(number)  # whoever draws from it differs
            traces.append(self._run(self._optimizer(capital=20.0, rng=seed)))
        assert traces[0] == traces[1], "the same seed must give the same trials"
        if self.deterministic:
            assert traces[0] == traces[2], "another seed must give the same trials"
        else:
            assert traces[0] != traces[2], "another seed must give other trials"

    def _use(self, opt: Optimizer) -> None:
        """A run with failures, data that nobody asked for and pending trials."""
        opt.add([0.5, 0.5], 0, 0.9)
        opt.ask()
        self._run(opt, fails=lambda trial: trial.id % 5 == 3)

    def test_the_global_random_state_is_not_touched(self) -> None:
        with untouched_random_state():
            self._use(self._optimizer(capital=20.0))

    def test_nothing_is_printed(self) -> None:
        with silent():
            self._use(self._optimizer(capital=20.0))

    def test_no_call_is_slow(self) -> None:
        watched = watch(self.strategy(), ("start", "ask", "tell"), self.time_limit)
        self._use(self._optimizer(capital=20.0, strategy=watched))

    def test_it_is_made_again_from_its_options(self) -> None:
        if not self.remakeable:
            return
        kind: Any = type(self.strategy())
        for options in (None, self.options) if self.options else (None,):
            one = self.strategy() if options is None else kind(**options)
            again, capital = make_again(one), 8.0 * self.costs[-1]
            first, second = (self._run(self._optimizer(capital=capital, strategy=each)) for each in (one, again))
            assert first == second, "one that is made again from its options must take the same trials"

    def test_it_finds_better_points_than_random_search(self) -> None:
        if not self.learns:
            return
        regrets = []
        for seed in (0, 1, 2):
            opt = self._optimizer(capital=12.0 * self.costs[-1], rng=seed)
            self._run(opt)
            regrets.append(np.inf if opt.best is None else 1.0 - opt.best.y)
        median = float(np.median(regrets))
        assert median <= _CLEARLY_BETTER, (
            f"the median regret over three seeds must be below {_CLEARLY_BETTER}, half that of as many random target "
            f"queries, got {median} (of {regrets}): are values maximised, and used?"
        )

    def test_added_data_changes_what_is_asked(self) -> None:
        if not self.uses_added:
            return
        traces = []
        for peak in (None, -0.5):
            opt = self._optimizer(capital=6.0 * self.costs[-1])
            if peak is not None:
                x = np.random.default_rng(1).uniform(-1.0, 1.0, (12, 2))
                for m in range(len(self.costs)):
                    opt.add(x, m, 5.0 - np.square(x - peak).sum(axis=1))
            traces.append(self._run(opt))
        assert traces[0] != traces[1], "data that was added must change what is asked, the trials are the same"

    def _recorded(self) -> tuple[Optimizer, list[Recorder]]:
        """A run whose models are watched."""
        given = registry.resolve(registry.SURROGATES, self.surrogate)
        recorders = [Recorder(given, m) for m in range(len(self.costs))]
        return self._optimizer(capital=24.0 * self.costs[-1], surrogate=recorders), recorders

    def test_pending_rows_come_and_go(self) -> None:
        opt, recorders = self._recorded()
        known = total = 0
        for _ in range(8):
            trials: list[Trial] = []
            for count in range(3):
                for recorder in recorders:
                    recorder.seen = None
                trials.append(opt.ask())
                if count == 0:
                    _check_rows(opt, recorders)
                for one in trials[:-1]:
                    seen = recorders[one.fidelity].seen
                    if seen is not None:  # the model was asked
                        total += 1
                        known += key_of(opt.domain.encode(one.x[None])[0]) in seen
            for trial in trials:
                opt.tell(trial, self._f(trial, len(opt.costs)))
        # Some queries follow from a rule, whatever the models say.
        enough = not self.sees_pending or 2 * known >= total
        assert enough, f"models must know of pending queries when they are asked, they did of {known} in {total}"

    def test_a_failure_is_no_value(self) -> None:
        opt, recorders = self._recorded()
        for k in range(24):
            trial = opt.ask()
            _check_rows(opt, recorders)
            if k % 4 == 3:
                opt.tell(trial, status="failed")
            else:
                opt.tell(trial, self._f(trial, len(opt.costs)))

    def test_minimising_the_negated_function_asks_the_same(self) -> None:
        up = self._run(self._optimizer(capital=20.0))
        down = self._run(self._optimizer(capital=20.0, direction="minimize"), sign=-1.0)
        assert up == down

    def test_parallel_trials_differ_and_may_be_told_in_any_order(self) -> None:
        opt = self._optimizer(capital=40.0 * self.costs[-1])
        for _ in range(8):
            trials = opt.ask(4)
            asked = {(tuple(trial.x.tolist()), trial.fidelity) for trial in trials}
            assert len(asked) == len(trials), "trials that are pending together must differ"
            for trial in reversed(trials):
                opt.tell(trial, self._f(trial, len(opt.costs)))
        assert not opt.pending

    def test_answers_change_nothing_that_is_asked_later(self) -> None:
        quiet, asked = (self._optimizer(capital=60.0) for _ in range(2))
        for _ in range(12):
            traces = []
            for opt in (quiet, asked):
                trial = opt.ask()
                opt.tell(trial, self._f(trial, len(opt.costs)))
                traces.append((tuple(trial.x.tolist()), trial.fidelity))
            mean, std = asked.predict(asked.history.x)
            assert np.isfinite(mean).all(), "predictions must be finite"
            assert (std >= 0.0).all(), "deviations must not be negative"
            asked.recommend()
            assert traces[0] == traces[1], "trials must not depend on what was predicted"

    def test_a_copy_goes_on_as_the_original(self) -> None:
        opt = self._optimizer(capital=60.0)
        for _ in range(8):
            trial = opt.ask()
            opt.tell(trial, self._f(trial, len(opt.costs)))
        opt.ask()
        copies = [copy.deepcopy(opt), pickle.loads(pickle.dumps(opt))]
        went = self._run(opt)
        for other in copies:
            assert len(other.pending) == 1
            assert self._run(other) == went, "a copy must take the same trials"

    def test_it_goes_on_from_its_state_as_if_it_had_not_been_interrupted(self) -> None:
        opt = self._optimizer(capital=60.0 * self.costs[-1])
        if not isinstance(opt.strategy, KeepsState):
            return
        reopened = 0
        for round in range(6):
            for trial in opt.ask(2)[: 2 if round % 2 else 1]:  # some stay pending
                if trial.id % 5 == 3:
                    opt.tell(trial, status="failed")
                else:
                    opt.tell(trial, self._f(trial, len(opt.costs)))
            opt.ask()
            before, other = copy.deepcopy(opt), reopen(opt)  # which raises what is wrong with the state
            if other is None:
                continue
            reopened += 1
            went, told, follow = (self._ask_and_tell(one) for one in (before, copy.deepcopy(opt), other))
            assert told == went, f"telling a state must change nothing that is asked later, {went}, got {told}"
            assert follow == went, f"with its state it must ask what it would have asked, {went}, got {follow}"
        assert reopened > 0, "a strategy with a method state must tell its state, got None each time"

    def _ask_and_tell(self, opt: Optimizer) -> Trace:
        """The next few trials, while others are pending."""
        trace: Trace = []
        for _ in range(4):
            trial = opt.ask()
            trace.append((tuple(trial.x.tolist()), trial.fidelity))
            opt.tell(opt.pending[0], self._f(opt.pending[0], len(opt.costs)))
        return trace

    def test_failures_cost_and_are_not_repeated_at_once(self) -> None:
        opt = self._optimizer()
        trace = self._run(opt, fails=lambda trial: trial.id % 3 == 2)
        failed = range(2, len(trace) - 1, 3)
        assert len(failed) > 0
        for k in failed:
            for x, m in trace[k + 1 : k + 4]:
                apart = np.abs(np.subtract(x, trace[k][0])).max() / 2.0
                again = m == trace[k][1] and apart <= SAME
                assert not again, f"{trace[k]} failed and was asked for again within three trials"
        assert opt.spent <= 30.0, f"at most 30.0 must be spent, got {opt.spent}"

    def test_a_run_where_everything_fails_ends(self) -> None:
        opt = self._optimizer(capital=100.0)
        self._run(opt, fails=lambda trial: True)
        assert opt.best is None, f"a run without values has no best, got {opt.best}"
        assert opt.spent <= 100.0, f"at most 100.0 must be spent, got {opt.spent}"
        assert opt.remaining < self.costs[-1], f"failures must not end a run early, {opt.remaining} remains"

    def test_data_nobody_asked_for_is_taken(self) -> None:
        opt = self._optimizer(capital=20.0)
        x = np.random.default_rng(1).uniform(-1.0, 1.0, (8, 2))
        for m in range(len(self.costs)):
            opt.add(x, m, 1.0 - np.square(x - 0.3).sum(axis=1))
        self._run(opt)
        opt.add(x[0] / 2.0, 0, 0.5)
        assert opt.spent <= 20.0


def _check_rows(opt: Optimizer, recorders: Sequence[Recorder]) -> None:
    """An AssertionError unless the models know only of values that were told; nothing was pending at the last ask."""
    known = np.isfinite(opt.history.y)
    u, levels = opt.domain.encode(opt.history.x[known]), opt.history.fidelity[known]
    told = Counter((key_of(row), int(m)) for row, m in zip(u, levels, strict=True))
    extra = Counter(row for recorder in recorders for row in recorder.left()) - told
    count = extra.total()
    assert count == 0, f"models must hold values that were told, once each, got {count} other rows: failed or pending?"
