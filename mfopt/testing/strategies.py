"""What anyone's strategy must do."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np

from mfopt import registry
from mfopt.domains.finite import FiniteSet
from mfopt.hooks import KeepsState
from mfopt.optimizer import Optimizer
from mfopt.protocols import SAME
from mfopt.run.trial import Trial
from mfopt.testing._limit import limit_calls
from mfopt.testing._on_domains import OnDomains
from mfopt.testing._reopened import reopen
from mfopt.testing._runs import Trace
from mfopt.testing._watch import make_again, set_global_state, silent, untouched_random_state, watch
from mfopt.testing._with_models import WithModels

# The median regret of 12 random points, of which one is within r of the maximum with probability πr/4, is 0.072.
_CLEARLY_BETTER = 0.072 / 2.0
_LEVEL = -10.0  # what the function is shifted by where it is learnt: values may be negative throughout


@limit_calls
class StrategyConformance(OnDomains, WithModels):
    """Runs of the Optimizer with the strategy: capital, pending trials, failures, domains and seeds are honoured.

    `costs` are those of the runs, a single one for a strategy that knows only one fidelity. The runs use the surrogate
    and the maximiser named below. A strategy that is `deterministic` must take the same trials whatever the seed.

    learns          False: it need not find better points than random search in a dozen target queries
    uses_added      False: data that nobody asked for change nothing of what is asked
    sees_pending    False: pending queries are treated otherwise than as rows of the models
    picklable       False: the plugin cannot be pickled, nor can an Optimizer that uses it
    remakeable      False: the plugin cannot tell its options; studies need it given again
    options         keyword arguments, other than the defaults, with which making it again from its options is tried
    time_limit      seconds that a call may take
    """

    def test_has_the_methods_of_a_strategy(self) -> None:
        registry.resolve(registry.STRATEGIES, self.strategy())

    def test_the_capital_is_used_and_never_overspent(self) -> None:
        opt = self._optimizer()
        self._run(opt)
        assert opt.spent <= 30.0, f"at most 30.0 must be spent, got {opt.spent}"
        assert opt.remaining < self.costs[-1], "a run must not stop while a target query can be paid"
        assert opt.best is not None, "a run must query the target"

    def test_little_capital_still_buys_a_target_query(self) -> None:
        opt = self._optimizer(capital=self.costs[-1] + 0.5 * self.costs[0])
        self._run(opt)
        assert opt.best is not None, "capital for one target query must give one"

    def test_one_fidelity_will_do(self) -> None:
        opt = self._optimizer(costs=(2.0,), capital=20.0)
        self._run(opt)
        assert len(opt.history) == 10, f"20.0 must buy 10 queries at 2.0, got {len(opt.history)}"

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
            self._run(opt, level=_LEVEL)
            regrets.append(np.inf if opt.best is None else 1.0 + _LEVEL - opt.best.y)
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

    def test_late_values_change_what_is_asked(self) -> None:
        if not self.learns:
            return
        traces = []
        for surprise in (0.0, 3.0):
            opt = self._optimizer(capital=12.0 * self.costs[-1])
            trace: Trace = []
            while not opt.done:
                trial = opt.ask()
                late = 8 <= len(trace) < 11
                trace.append((tuple(trial.x.tolist()), trial.fidelity))
                opt.tell(trial, self._f(trial, len(opt.costs)) + (surprise if late else 0.0))
            traces.append(trace)
        assert traces[0][:9] == traces[1][:9], "trials must not differ before a value does"
        assert traces[0] != traces[1], "other values of the trials 8 to 10 must change what is asked, nothing changed"

    def test_minimising_the_negated_function_asks_the_same(self) -> None:
        up = self._run(self._optimizer(capital=20.0))
        down = self._run(self._optimizer(capital=20.0, direction="minimize"), sign=-1.0)
        first = next((pair for pair in zip(up, down, strict=False) if pair[0] != pair[1]), (len(up), len(down)))
        assert up == down, f"to minimise −f must ask the same as to maximise f, got {first[0]} and {first[1]}"

    def test_parallel_trials_differ_and_may_be_told_in_any_order(self) -> None:
        opt = self._optimizer(capital=40.0 * self.costs[-1])
        for _ in range(8):
            trials = opt.ask(4)
            asked = {(tuple(trial.x.tolist()), trial.fidelity) for trial in trials}
            assert len(asked) == len(trials), "trials that are pending together must differ"
            for trial in reversed(trials):
                opt.tell(trial, self._f(trial, len(opt.costs)))
        assert not opt.pending, f"all trials were told, {len(opt.pending)} are pending"

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
        copies = [copy.deepcopy(opt), *([pickle.loads(pickle.dumps(opt))] if self.picklable else [])]
        went = self._run(opt)
        for other in copies:
            assert len(other.pending) == 1, f"a copy must have the one pending trial, got {len(other.pending)}"
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
            states = [one._session.strategist().tell_state() for one in (before, other)]
            assert states[0] == states[1], f"and then have the state it would have had, {states[0]}, got {states[1]}"
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
        assert len(trace) > 3, f"the run must go on after a failure, it ended after {len(trace)} trials"
        _check_patience(trace, range(2, len(trace), 3))
        assert opt.spent <= 30.0, f"at most 30.0 must be spent, got {opt.spent}"

    def test_a_candidate_that_fails_is_not_repeated_at_once(self) -> None:
        for seed in (0, 1, 2):
            rows = np.random.default_rng(seed).uniform(-1.0, 1.0, (40, 2))  # more than the capital pays for
            rows[0] = 0.3
            opt, failed = self._optimizer(FiniteSet(rows), capital=8.0 * self.costs[-1], noise=0.0, rng=seed), [0]
            trace = self._run(opt, fails=partial(_is_best_or_first, failed))
            places = {tuple(rows[k].tolist()) for k in failed}
            _check_patience(trace, [k for k, (x, _) in enumerate(trace) if x in places])

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
        assert opt.spent <= 20.0, f"at most 20.0 must be spent, got {opt.spent}"


def _is_best_or_first(failed: list[int], trial: Trial) -> bool:
    """Whether a candidate is one of those that fail: the best, row 0, and the first that was asked for."""
    assert trial.index is not None, f"a trial on a finite set must know its row, got {trial}"
    if trial.id == 0:
        failed.append(trial.index)
    return trial.index in failed


def _check_patience(trace: Trace, failed: Iterable[int]) -> None:
    """An AssertionError if one of the trials that failed was asked for again within the next three."""
    for k in failed:
        for x, m in trace[k + 1 : k + 4]:
            apart = np.abs(np.subtract(x, trace[k][0])).max() / 2.0
            again = m == trace[k][1] and apart <= SAME
            assert not again, f"{trace[k]} failed and was asked for again within three trials"
