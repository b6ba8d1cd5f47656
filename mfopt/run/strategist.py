"""Strategist: the strategy at work, and the part of the run that it has not been shown yet.

A strategy's state is a function of the calls it received, so it is shown every step of the run once, in order. Steps
wait in a queue until the strategy is needed: a tell, which has been paid for, must not fail because a plugin does, and
in a study other processes ask and tell, too. Any thread may add to the queue; the strategy itself is used by one thread
at a time, which the session sees to.

A strategy computes with one thread of BLAS (OneThread), whatever the environment says.

Where a strategy can write its state down (hooks.KeepsState), it need not be asked again what was asked before the state
was told: it is shown the records, then handed the state.
"""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np

from mfopt import registry
from mfopt.checks import integer, real_array, show
from mfopt.errors import Exhausted, InputError, PluginWarning, ReplayWarning
from mfopt.hooks import KeepsState, KnowsExhaustion, PredictsValues
from mfopt.protocols import Array, BoolArray, Posterior, Problem, Query, Record, Strategy, Suggestion, View
from mfopt.run.blame import Culprit
from mfopt.run.copies import Accountable
from mfopt.run.events import Asked, Event
from mfopt.run.locks import Lock
from mfopt.run.plain import LONGEST, from_text, to_text

Result = TypeVar("Result")


class Step(NamedTuple):
    """A step of the run."""

    number: int  # of the event, from 1
    event: Event
    shown: View | Record | None  # what the ledger returned as it entered the event


class Answer(NamedTuple):
    """What a strategy answers when it is asked again."""

    u: Array | None  # None: it had no query
    fidelity: int

    def is_as(self, event: Event) -> bool:
        """Whether it is what the event has recorded, to the bit."""
        if not isinstance(event, Asked):
            return self.u is None
        return self.u is not None and self.fidelity == event.fidelity and np.array_equal(self.u, event.u)


class OneThread:
    """Within, BLAS computes with one thread; who set it so brings the user's setting back.

    The matrices of an ask are small. Several threads gain nothing there, and beside other work on all cores they wait
    for each other: asks took ten times as long. With one the order of sums, and so the trials of a seed, do not depend
    on the number of cores. The setting is the library's, for all threads of the process, whichever of them asks; newer
    versions of threadpoolctl let only one thread change OpenBLAS's, so its own function is called.

    There is no lock that an interruption could leave behind: of two threads at once the first to leave ends it. Ctrl-C
    may come while the block is entered or left; `end` then does what is left to do.
    """

    _libraries: Sequence[Any] | None = None  # found once, when those of a strategy are loaded

    def __init__(self) -> None:
        self._before: list[tuple[Any, int]] = []

    def __enter__(self) -> None:
        if OneThread._libraries is None:
            from threadpoolctl import ThreadpoolController  # slow: it looks for libraries

            OneThread._libraries = ThreadpoolController().select(user_api="blas").lib_controllers
        counts = [(library, library.num_threads) for library in OneThread._libraries]
        self._before = [(library, count) for library, count in counts if count > 1]
        for library, _ in self._before:
            self._set(library, 1)

    def __exit__(self, *error: object) -> None:
        self.end()

    def end(self) -> None:
        """Bring the user's setting back, if that has not been done."""
        for library, count in self._before:
            self._set(library, count)
        self._before = []

    @staticmethod
    def _set(library: Any, count: int) -> None:
        getattr(library, "_real_set_num_threads", library.set_num_threads)(count)


class Strategist(Accountable):
    """`strategy`, started on `problem`; `culprit` answers for what it does wrong.

    `restart` makes a strategist that has been shown nothing; None where the strategy cannot be copied.
    """

    def __init__(
        self,
        strategy: Strategy,
        culprit: Culprit,
        problem: Problem,
        restart: Callable[[], Strategist] | None = None,
    ) -> None:
        culprit.call("start", strategy.start, problem)
        self.strategy = strategy
        self.restart = restart
        self.interrupted = False  # Ctrl-C came between two lines of the strategy, or before an ask of it was recorded
        self.unproven = False  # it was handed a state and has not answered an ask since
        self._culprit = culprit
        self._problem = problem
        self._queue: deque[Step] = deque()
        self._records = 0  # how many records the strategy has been shown
        self._lock = Lock()  # around the queue and this number, which belong together
        self._warned = False
        self._warned_of_state = False

    def _held(self) -> object:
        return self.strategy

    def suggest(self, view: View) -> tuple[Array, int, Any]:
        """The strategy's next query: u, fidelity and reason. Raises Exhausted when it has none."""
        answer = self._check(self._work("ask", lambda: self.strategy.ask(view)))
        self.unproven = False
        return answer

    def _work(self, method: str, work: Callable[[], Result]) -> Result:
        """What `work` returns, during which the strategy changes; what it raises in this method is its own fault."""
        self.interrupted = True
        one = OneThread()
        try:
            with one:
                result = work()
        except (Exception, SystemExit) as error:
            self.interrupted = False
            self._culprit.accuse(method, error)
            raise
        except BaseException:  # Ctrl-C, which may have come while the setting was changed
            one.end()
            raise
        self.interrupted = False
        return result

    def is_exhausted(self, pending: Sequence[Query]) -> bool:
        """Whether the strategy knows that a finite X has no useful query left."""
        strategy = self.strategy
        return isinstance(strategy, KnowsExhaustion) and bool(
            self._work("exhausted", lambda: strategy.exhausted(list(pending)))
        )

    def posterior(self, fidelity: int) -> Posterior | None:
        """What the strategy believes of this fidelity; None where it has no models of it."""
        strategy = self.strategy
        if not isinstance(strategy, PredictsValues):
            return None
        found = self._work("posterior", lambda: strategy.posterior(fidelity))
        return found if found is None or registry.is_built_in(strategy) else self._guard(found)

    def _guard(self, found: object) -> Posterior:
        """What somebody else's strategy believes, with the strategy to blame for it."""
        from mfopt.run.guarded_models import GuardedModel

        culprit = self._culprit
        if not isinstance(found, Posterior):
            raise culprit.error(f"posterior must return a Posterior or None, got {show(found)}")
        restore = None if found.restore is None else partial(culprit.call, "restore", found.restore)
        model = found.model
        if not isinstance(model, GuardedModel):
            model = GuardedModel(model, culprit, culprit, self._problem.domain.dim)
        failing = None if found.failing is None else partial(self._tell_failing, found.failing)
        return replace(found, model=model, restore=restore, failing=failing)

    def _tell_failing(self, failing: Callable[[Array], object], u: Array) -> BoolArray:
        """Which rows of u somebody else's strategy believes to be likely to fail."""
        given = self._culprit.call("failing", failing, u.copy())
        answer = np.asarray(given)
        if answer.dtype != np.bool_ or answer.shape != (len(u),):
            raise self._culprit.error(f"failing must return a boolean per point, {len(u)}, got {show(given)}")
        return answer

    # ----------------------------------------------------------------------------------------------- queue

    def queue(self, step: Step) -> None:
        """Show the strategy this step when it is next needed, if there is anything to be shown."""
        if step.shown is not None:
            with self._lock.held:
                self._queue.append(step)

    def queue_rest(self, steps: Iterable[Step]) -> None:
        """Queue anew: of all steps of the run, those that a strategy which made every ask itself was not shown yet.

        A record that the strategy is just being shown by another thread is the first of them.
        """
        records = [step for step in steps if isinstance(step.shown, Record)]
        with self._lock.held:
            self._queue = deque(records[self._records :])

    @property
    def behind(self) -> int:
        """How many steps the strategy has not been shown yet."""
        return len(self._queue)

    def catch_up(self, steps: int | None = None) -> None:
        """Show the strategy the first `steps` of the queue, or all; one that it fails at stays, with those behind."""
        left = self.behind if steps is None else steps
        while left > 0 and self._queue:
            self._show_first()
            left -= 1

    def _show_first(self) -> None:
        _, event, shown = self._queue[0]
        match shown:
            case Record():
                self._work("tell", lambda: self.strategy.tell(shown))
            case View():
                if not self.ask_again(shown).is_as(event):
                    self._warn_of_difference(event)
        with self._lock.held:
            self._records += isinstance(shown, Record)
            self._queue.popleft()

    def ask_again(self, view: View) -> Answer:
        """What the strategy answers to an ask that was answered in another process, or before a restart."""
        try:
            u, m, _ = self._check(self._work("ask", lambda: self.strategy.ask(view)))
        except Exhausted:
            return Answer(None, -1)
        return Answer(u, m)

    def _warn_of_difference(self, event: Event) -> None:
        """What was recorded holds."""
        if not self._warned:
            self._warned = True
            what = f"trial {event.id}" if isinstance(event, Asked) else "an ask that was refused"
            warnings.warn(
                f"the strategy would now choose something else than was recorded, first at {what}: another version or "
                "another CPU than the study was made with; the recorded trials hold, later ones may differ",
                ReplayWarning,
                stacklevel=2,
            )

    # ----------------------------------------------------------------------------------------------- state

    def tell_state(self) -> str | None:
        """The strategy's state as text, after it was shown all there is; None where it has none to tell.

        An ask must not fail because a state cannot be told: there is a warning, and the run will be replayed.
        """
        strategy = self.strategy
        if self.behind or not isinstance(strategy, KeepsState):
            return None
        one = OneThread()  # what is told depends on the bits that are computed, as asks do
        try:
            with one:
                state = self._culprit.call("state", strategy.state)
            text = None if state is None else to_text(state)
        except Exception as error:
            if not self._warned_of_state:
                self._warned_of_state = True
                why = self._culprit.error(f"state must return plain values, got {type(error).__name__}: {error}")
                warnings.warn(f"the study will be slow to reopen: {why}", PluginWarning, stacklevel=2)
            return None
        finally:
            one.end()
        return None if text is None or len(text) > LONGEST else text

    def can_skip(self, number: int) -> bool:
        """Whether a state after the event of this number would save an ask."""
        if not isinstance(self.strategy, KeepsState):
            return False
        with self._lock.held:
            return any(isinstance(step.shown, View) for step in self._queue if step.number <= number)

    def skip(self, number: int, state: str) -> int:
        """Show the strategy the records up to the event of this number, then hand it the state that it had after it.

        Returns how many steps are done with that.

        A state may come from anywhere, and any error may come of it; then this strategist is of no use any more.
        """
        strategy = self.strategy
        assert isinstance(strategy, KeepsState)
        self.unproven, before = True, self.behind
        value = from_text(state)
        if not isinstance(value, dict):
            raise ValueError(f"a state must be a mapping, got {show(value)}")
        while self._queue and self._queue[0].number <= number:
            if isinstance(self._queue[0].shown, Record):
                self._show_first()
            else:
                with self._lock.held:
                    self._queue.popleft()
        self._work("restore", lambda: strategy.restore(value))
        return before - self.behind

    # --------------------------------------------------------------------------------------- its suggestions

    def _check(self, suggestion: object) -> tuple[Array, int, Any]:
        """The parts of the strategy's answer, or a PluginError that names the strategy."""
        if not isinstance(suggestion, Suggestion):
            raise self._culprit.error(f"ask must return a Suggestion, got {show(suggestion)}")
        domain, top = self._problem.domain, len(self._problem.costs) - 1
        u, m = suggestion.u, suggestion.fidelity
        if type(m) is int and isinstance(u, np.ndarray) and u.dtype == np.float64:
            u = u.copy()
        else:
            try:
                u, m = real_array(u, "a suggested point"), integer(m, "fidelity")
            except InputError as error:
                raise self._culprit.error(str(error)) from error
        if not 0 <= m <= top:  # any can be paid: a run with less than λ_M left is done
            raise self._culprit.error(f"fidelity must be from 0 to {top}, got {m}")
        if u.shape != (domain.dim,) or not domain.contains(u[None])[0]:
            raise self._culprit.error(
                f"a suggested point must have shape ({domain.dim},) and lie in X, "
                f"got {show(u.tolist())} in unit coordinates"
            )
        u.flags.writeable = False
        return u, m, suggestion.reason
