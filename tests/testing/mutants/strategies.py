"""Strategies with one mistake each."""

import os
import time
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from mfopt import Exhausted, PluginError
from mfopt.protocols import Record, Suggestion
from mfopt.testing import StrategyConformance
from tests.optimizer.toys import FixedGP, RandomMaximiser


class SmallUCB:
    """A right strategy, to be spoilt: an upper bound at the target, over random candidates."""

    def __init__(self, width=2.0):
        self.width = width

    def start(self, problem):
        self.problem, self.records = problem, []

    def tell(self, record):
        self.records.append(record)

    def values(self):
        return [r for r in self.records if r.y is not None and r.fidelity == len(self.problem.costs) - 1]

    def taken(self, view):
        """Points that are not asked for again: noiseless values, failures, and what is pending."""
        top = len(self.problem.costs) - 1
        return {tuple(q.u) for q in [*view.pending, *self.records] if q.fidelity == top}

    def ask(self, view):
        domain, target = self.problem.domain, len(self.problem.costs) - 1
        points = domain.sample(400, view.rng) if domain.points is None else domain.points
        taken = self.taken(view)
        fresh = np.array([u for u in points if tuple(u) not in taken])
        if len(fresh) == 0:
            raise Exhausted("every point was taken")
        values = self.values()
        if len(values) < 4:
            return Suggestion(fresh[int(view.rng.integers(len(fresh)))], target, "initial")
        model = self.problem.surrogates[-1].model(domain.dim, self.problem.noises[-1])
        model.fit(np.array([r.u for r in values]), np.array([r.y for r in values]), view.rng)
        self.condition(model, view)
        mean, var = model.posterior(fresh)
        return Suggestion(fresh[int(np.argmax(mean + self.width * np.sqrt(var)))], target, "bound")

    def condition(self, model, view):
        waiting = [q.u for q in view.pending if q.fidelity == len(self.problem.costs) - 1]
        if waiting:
            model.extend(np.array(waiting), model.posterior(np.array(waiting))[0])


class Suite(StrategyConformance):
    surrogate, maximiser = FixedGP(), RandomMaximiser()

    def __init__(self, kind=SmallUCB):
        self.kind = kind

    def strategy(self):
        return self.kind()


class OptionsSuite(Suite):
    options = MappingProxyType({"width": 0.1})


class Minimises(SmallUCB):
    def values(self):
        return [type(r)(r.id, r.u, r.fidelity, -r.y, r.asked) for r in super().values()]


class DoesNotLearn(SmallUCB):
    def values(self):
        return []


class IgnoresPending(SmallUCB):
    def condition(self, model, view):
        pass


class LeaksPending(SmallUCB):
    def condition(self, model, view):
        self.waiting = [*getattr(self, "waiting", []), *(q.u for q in view.pending)]
        if self.waiting:
            model.extend(np.array(self.waiting), model.posterior(np.array(self.waiting))[0])


class FailuresAreZero(SmallUCB):
    def tell(self, record):
        y = 0.0 if record.y is None else record.y
        self.records.append(type(record)(record.id, record.u, record.fidelity, y, record.asked))


class IgnoresAdded(SmallUCB):
    def tell(self, record):
        if record.asked:
            super().tell(record)


class OnlyCheap(SmallUCB):
    def ask(self, view):
        return Suggestion(super().ask(view).u, 0, None)


class Forgetful(SmallUCB):
    """Asks for the middle again and again."""

    def ask(self, view):
        return Suggestion(np.full(self.problem.domain.dim, 0.5), len(self.problem.costs) - 1, None)


class Insists(SmallUCB):
    """Tries what failed again, two trials later."""

    def ask(self, view):
        if len(self.records) > 1 and self.records[-2].y is None:
            return Suggestion(self.records[-2].u, self.records[-2].fidelity, "again")
        return super().ask(view)


class Disheartened(SmallUCB):
    def ask(self, view):
        if sum(r.y is None for r in self.records) > 9:
            raise Exhausted("nothing works")
        return super().ask(view)


class SelfSeeded(SmallUCB):
    def ask(self, view):
        return super().ask(type(view)(view.t, view.remaining, view.pending, np.random.default_rng()))


class DrawsGlobally(SmallUCB):
    def ask(self, view):
        rng = np.random.default_rng(np.random.randint(1000))  # noqa: NPY002
        return super().ask(type(view)(view.t, view.remaining, view.pending, rng))


class FixedSeed(SmallUCB):
    def ask(self, view):
        return super().ask(type(view)(view.t, view.remaining, view.pending, np.random.default_rng(view.t)))


class SeedsGlobally(SmallUCB):
    def ask(self, view):
        np.random.seed(0)  # noqa: NPY002
        return super().ask(view)


class GivesUp(SmallUCB):
    def ask(self, view):
        if view.t > 3:
            raise Exhausted("tired")
        return super().ask(view)


class Unconstrained(SmallUCB):
    def ask(self, view):
        return Suggestion(view.rng.random(self.problem.domain.dim), super().ask(view).fidelity, None)


class CannotFail(SmallUCB):
    def tell(self, record):
        self.last = record.y + 0.0
        super().tell(record)


class WantsNoData(SmallUCB):
    def tell(self, record):
        if not record.asked:
            raise KeyError(record.id)
        super().tell(record)


class Prints(SmallUCB):
    def ask(self, view):
        print("asking")
        return super().ask(view)


class Slow(SmallUCB):
    def tell(self, record):
        time.sleep(0.3)
        super().tell(record)


class SharesRecords(SmallUCB):
    everything = []  # noqa: RUF012

    def start(self, problem):
        self.problem, self.records = problem, self.everything


class SeesOnePending(SmallUCB):
    def condition(self, model, view):
        super().condition(model, replace(view, pending=view.pending[:1]))


class MixesFidelities(SmallUCB):
    def values(self):
        return [record for record in self.records if record.y is not None]


class StopsLearning(SmallUCB):
    def values(self):
        return super().values()[:6]


class ForgetsFailures(SmallUCB):
    def tell(self, record):
        if record.y is not None:
            super().tell(record)


class LosesSigns(SmallUCB):
    def values(self):
        return [replace(record, y=abs(record.y)) for record in super().values()]


class HidesErrors(SmallUCB):
    def ask(self, view):
        try:
            return super().ask(view)
        except PluginError:
            return Suggestion(self.problem.domain.sample(1, view.rng)[0], len(self.problem.costs) - 1, "?")


class LosesLaterData(SmallUCB):
    def tell(self, record):
        if record.asked or len(self.records) < 2:
            super().tell(record)


class ExpectsOrder(SmallUCB):
    def tell(self, record):
        if record.asked and any(record.id < one.id for one in self.records):
            raise RuntimeError("told out of order")
        super().tell(record)


class CannotBePickled(SmallUCB):
    def start(self, problem):
        super().start(problem)
        self.key = lambda record: record.y


class LibraryPrints(SmallUCB):
    def ask(self, view):
        os.write(1, b"asking\n")
        return super().ask(view)


class Forgets(SmallUCB):
    def __init__(self, width=2.0, other=1.0):
        super().__init__(width)

    def options(self):
        return {"width": self.width}


class Misleads(SmallUCB):
    def options(self):
        return {"width": 2.0}


class Alternates(SmallUCB):
    """Right, with a state: every third bound is a narrow one, and the last answer is avoided."""

    def start(self, problem):
        super().start(problem)
        self.turn, self.last = 0, np.full(problem.domain.dim, -1.0)

    def ask(self, view):
        self.turn += 1
        width, self.width = self.width, self.width if self.turn % 3 else 0.1
        shift = 0.01 * float(np.abs(self.last).sum() % 1.0)
        suggestion = super().ask(replace(view, rng=np.random.default_rng(self.seed(shift))))
        self.width, self.last = width, np.array(suggestion.u)
        return suggestion

    def seed(self, shift):
        return [self.problem.seed, self.turn, int(1e6 * shift)]

    def state(self):
        return {"turn": self.turn, "last": self.last.copy()}

    def restore(self, state):
        self.turn, self.last = state["turn"], np.array(state["last"])


class ForgetsTurn(Alternates):
    def state(self):
        return {"last": self.last.copy()}

    def restore(self, state):
        self.last = np.array(state["last"])


class IgnoresState(Alternates):
    def restore(self, state):
        pass


class RoundsState(Alternates):
    def state(self):
        return {"turn": self.turn, "last": np.round(self.last, 1)}


class TellsObjects(Alternates):
    def state(self):
        return {"turn": self.turn, "last": self.last, "problem": self.problem}


class StateMovesOn(Alternates):
    def state(self):
        self.turn += 1
        return super().state()


class TellsNothing(Alternates):
    def state(self):
        return None


class CannotRestore(Alternates):
    def restore(self, state):
        self.turn = state["turns"]


class CountsTwice(Alternates):
    """Takes up records from its state that it is told as well."""

    def state(self):
        return {**super().state(), "values": [[r.u, r.y] for r in self.values()]}

    def restore(self, state):
        super().restore(state)
        top = len(self.problem.costs) - 1
        self.records += [Record(0, u, top, y + 0.5, True) for u, y in state["values"]]


STATE = "test_it_goes_on_from_its_state_as_if_it_had_not_been_interrupted"
MUTANTS = {
    "a state without the turn": (ForgetsTurn, STATE),
    "ignores its state": (IgnoresState, STATE),
    "rounds its state": (RoundsState, STATE),
    "a state with objects": (TellsObjects, STATE),
    "a state that moves on": (StateMovesOn, STATE),
    "no state": (TellsNothing, STATE),
    "cannot restore": (CannotRestore, STATE),
    "restores what it is told": (CountsTwice, STATE),
    "minimises": (Minimises, "test_it_finds_better_points_than_random_search"),
    "does not learn": (DoesNotLearn, "test_it_finds_better_points_than_random_search"),
    "ignores pending": (IgnoresPending, "test_pending_rows_come_and_go"),
    "leaks pending": (LeaksPending, "test_pending_rows_come_and_go"),
    "takes failures for 0": (FailuresAreZero, "test_a_failure_is_no_value"),
    "ignores added data": (IgnoresAdded, "test_added_data_changes_what_is_asked"),
    "asks only cheap ones": (OnlyCheap, "test_the_capital_is_used_and_never_overspent"),
    "asks only the middle": (Forgetful, "test_parallel_trials_differ_and_may_be_told_in_any_order"),
    "insists on failures": (Insists, "test_failures_cost_and_are_not_repeated_at_once"),
    "gives up on failures": (Disheartened, "test_a_run_where_everything_fails_ends"),
    "seeds itself": (SelfSeeded, "test_the_same_seed_gives_the_same_trials"),
    "ignores the seed": (FixedSeed, "test_the_same_seed_gives_the_same_trials"),
    "draws from the global state": (DrawsGlobally, "test_the_same_seed_gives_the_same_trials"),
    "seeds the global state": (SeedsGlobally, "test_the_global_random_state_is_not_touched"),
    "gives up": (GivesUp, "test_the_capital_is_used_and_never_overspent"),
    "ignores constraints": (Unconstrained, "test_constraints_hold_from_the_first_point_on"),
    "cannot take failures": (CannotFail, "test_a_run_where_everything_fails_ends"),
    "wants no data": (WantsNoData, "test_data_nobody_asked_for_is_taken"),
    "prints": (Prints, "test_nothing_is_printed"),
    "slow": (Slow, "test_no_call_is_slow"),
    "shares its records": (SharesRecords, "test_the_same_seed_gives_the_same_trials"),
    "sees one pending": (SeesOnePending, "test_pending_rows_come_and_go"),
    "mixes fidelities": (MixesFidelities, "test_values_of_a_fidelity_are_taken_for_no_other"),
    "stops learning": (StopsLearning, "test_late_values_change_what_is_asked"),
    "forgets failures": (ForgetsFailures, "test_a_candidate_that_fails_is_not_repeated_at_once"),
    "loses signs": (LosesSigns, "test_it_finds_better_points_than_random_search"),
    "hides errors": (HidesErrors, "test_an_error_of_the_models_is_not_hidden"),
    "loses later data": (LosesLaterData, "test_added_data_changes_what_is_asked"),
    "expects order": (ExpectsOrder, "test_parallel_trials_differ_and_may_be_told_in_any_order"),
    "cannot be pickled": (CannotBePickled, "test_a_copy_goes_on_as_the_original"),
    "a library prints": (LibraryPrints, "test_nothing_is_printed"),
    "incomplete options": (Forgets, "test_it_is_made_again_from_its_options"),
    "wrong options": (Misleads, "test_it_is_made_again_from_its_options"),
}


def make_suite(name):
    suite = (OptionsSuite if name == "wrong options" else Suite)(MUTANTS[name][0])
    if name == "slow":
        suite.time_limit = 0.03
    return suite
