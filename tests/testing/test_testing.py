"""The conformance suites pass what is right, built in or not, and fail what is wrong."""

import numpy as np
import pytest

from mfopt import Box, Exhausted
from mfopt.protocols import Suggestion
from mfopt.registry import MAXIMISERS, STRATEGIES, SURROGATES, plugins, resolve
from mfopt.testing import DomainConformance, MaximiserConformance, StrategyConformance, SurrogateConformance
from tests.optimizer.toys import FixedGP, FixedGPModel, RandomMaximiser, RandomSearch


def built_in(group):
    return [plugin.name for plugin in plugins() if plugin.group == group and plugin.distribution == "mfopt"]


class TestToySurrogate(SurrogateConformance):
    def surrogate(self):
        return FixedGP()


class TestToyMaximiser(MaximiserConformance):
    def maximiser(self):
        return RandomMaximiser()


class TestToyStrategy(StrategyConformance):
    surrogate, maximiser = FixedGP(), RandomMaximiser()

    def strategy(self):
        return RandomSearch()


class TestBuiltInSurrogates(SurrogateConformance):
    @pytest.fixture(params=built_in(SURROGATES), autouse=True)
    def _name(self, request):
        self.name = request.param

    def surrogate(self):
        return resolve(SURROGATES, self.name)


class TestBuiltInMaximisers(MaximiserConformance):
    @pytest.fixture(params=built_in(MAXIMISERS), autouse=True)
    def _name(self, request):
        self.name = request.param

    def maximiser(self):
        return resolve(MAXIMISERS, self.name)


class TestBuiltInStrategies(StrategyConformance):
    maximiser = RandomMaximiser()  # the quick one: these tests are about the strategies

    @pytest.fixture(params=built_in(STRATEGIES), autouse=True)
    def _name(self, request):
        self.name = request.param
        self.deterministic = self.name == "direct"

    def strategy(self):
        return resolve(STRATEGIES, self.name)


def failing(suite):
    """Names of the tests of a suite that fail."""
    names = []
    for name in dir(suite):
        if name.startswith("test_"):
            try:
                getattr(suite, name)()
            except Exception:
                names.append(name)
    return names


# ------------------------------------------------------------------------------------------------- surrogates


class Model(FixedGPModel):
    """A right model, to be spoilt."""


class NegativeVariance(Model):
    def posterior(self, u):
        mean, var = super().posterior(u)
        return mean, var - 1e-3


class ForgetsNothing(Model):
    def truncate(self, n):
        pass


class ForgetsTheFirst(Model):
    def truncate(self, n):
        self.u, self.y = self.u[len(self.y) - n :], self.y[len(self.y) - n :]


class WrongGradient(Model):
    def posterior_gradient(self, u):
        mean, var, mean_slope, var_slope = super().posterior_gradient(u)
        return mean, var, mean_slope, 2.0 * var_slope


class KeepsOldRows(Model):
    def fit(self, u, y, rng):
        self.extend(u, y)


class Deaf(Model):
    def posterior(self, u):
        return np.full(len(u), self.offset), np.full(len(u), self.scale)


class Absolute(Model):
    """Takes the scale of the values to be 1."""

    def fit(self, u, y, rng):
        self.u, self.y = u.copy(), y.copy()
        self.noise = 1e-4 / self.scale

    def posterior_gradient(self, u):
        self.noise = 1e-2
        return super().posterior_gradient(u)


class Moody(Model):
    def fit(self, u, y, rng):
        super().fit(u, y, rng)
        self.lengthscale = float(np.random.default_rng().uniform(0.2, 1.0))


class Vandal(Model):
    def fit(self, u, y, rng):
        u *= 1.0
        super().fit(u, y, rng)


class Unspeakable(Model):
    def describe(self):
        return {"lengthscale": np.ones(2)}


@pytest.mark.parametrize(
    ("model", "caught_by"),
    [
        (NegativeVariance, "test_the_posterior_has_a_mean_and_a_variance_per_row"),
        (ForgetsNothing, "test_truncate_undoes_extend"),
        (ForgetsTheFirst, "test_truncate_undoes_extend"),
        (WrongGradient, "test_gradients_agree_with_differences"),
        (KeepsOldRows, "test_fit_conditions_on_its_rows_alone"),
        (Deaf, "test_noiseless_data_is_interpolated"),
        (Deaf, "test_predictions_beat_the_constant"),
        (Deaf, "test_a_row_never_adds_variance"),
        (Absolute, "test_scale_and_offset_of_the_values_do_not_matter"),
        (Moody, "test_the_same_rng_gives_the_same_model_and_inputs_are_kept"),
        (Vandal, "test_the_same_rng_gives_the_same_model_and_inputs_are_kept"),
        (Unspeakable, "test_describe_is_plain_data"),
    ],
)
def test_a_wrong_surrogate_fails(model, caught_by):
    class Suite(SurrogateConformance):
        def surrogate(self):
            surrogate = FixedGP()
            surrogate.model = lambda dim, noise=None: model(dim, noise or 1e-10, 0.5)
            return surrogate

    assert caught_by in failing(Suite())


# ------------------------------------------------------------------------------------------------- maximisers


class Lazy:
    def maximise(self, acquisition, domain, rng, t):
        return domain.sample(1, rng)[0]


class Lawless(RandomMaximiser):
    """Ignores the constraints."""

    def maximise(self, acquisition, domain, rng, t):
        return super().maximise(acquisition, Box([(0, 1)] * domain.dim), rng, t)


class OffTheCube(RandomMaximiser):
    def maximise(self, acquisition, domain, rng, t):
        return super().maximise(acquisition, domain, rng, t) + 1e-9


class Unseeded(RandomMaximiser):
    def maximise(self, acquisition, domain, rng, t):
        return super().maximise(acquisition, domain, np.random.default_rng(), t)


class GlobalState(RandomMaximiser):
    def maximise(self, acquisition, domain, rng, t):
        np.random.random()  # noqa: NPY002
        return super().maximise(acquisition, domain, rng, t)


class TwoDimensional(RandomMaximiser):
    def maximise(self, acquisition, domain, rng, t):
        return super().maximise(acquisition, domain, rng, t)[None]


@pytest.mark.parametrize(
    ("maximiser", "caught_by"),
    [
        (Lazy, "test_beats_a_thousand_random_points"),
        (Lazy, "test_reaches_a_corner"),
        (Lawless, "test_stays_in_a_constrained_box"),
        (Lawless, "test_stays_in_a_small_corner_of_the_box"),
        (OffTheCube, "test_reaches_a_corner"),
        (Unseeded, "test_the_same_rng_gives_the_same_point"),
        (GlobalState, "test_the_global_random_state_is_not_touched"),
        (TwoDimensional, "test_a_flat_acquisition_is_harmless"),
    ],
)
def test_a_wrong_maximiser_fails(maximiser, caught_by):
    class Suite(MaximiserConformance):
        def maximiser(self):
            return maximiser()

    assert caught_by in failing(Suite())


# ------------------------------------------------------------------------------------------------- strategies


class OnlyCheap(RandomSearch):
    def ask(self, view):
        return Suggestion(super().ask(view).u, 0, None)


class Forgetful(RandomSearch):
    """Asks for the middle again and again."""

    def ask(self, view):
        return Suggestion(np.full(self.problem.domain.dim, 0.5), len(self.problem.costs) - 1, None)


class SelfSeeded(RandomSearch):
    def ask(self, view):
        suggestion = super().ask(view)
        return Suggestion(self.problem.domain.sample(1, np.random.default_rng())[0], suggestion.fidelity, None)


class GivesUp(RandomSearch):
    def ask(self, view):
        if view.t > 3:
            raise Exhausted("tired")
        return super().ask(view)


class Unconstrained(RandomSearch):
    def ask(self, view):
        return Suggestion(view.rng.random(self.problem.domain.dim), super().ask(view).fidelity, None)


class CannotFail(RandomSearch):
    def tell(self, record):
        self.records.append(record.y + 0.0)


class WantsNoData(RandomSearch):
    def tell(self, record):
        if not record.asked:
            raise KeyError(record.id)


class Signed(RandomSearch):
    """Listens to the sign of the values in a way that maximisation does not need."""

    def tell(self, record):
        super().tell(record)
        self.seen = record.y

    def ask(self, view):
        if getattr(self, "seen", None) is not None and self.problem.seed == 3 and self.seen < 0.8:
            view.rng.random()
        return super().ask(view)


@pytest.mark.parametrize(
    ("strategy", "caught_by"),
    [
        (OnlyCheap, "test_the_capital_is_used_and_never_overspent"),
        (OnlyCheap, "test_little_capital_still_buys_a_target_query"),
        (Forgetful, "test_parallel_trials_differ_and_may_be_told_in_any_order"),
        (Forgetful, "test_failures_cost_and_are_not_repeated_at_once"),
        (SelfSeeded, "test_the_same_seed_gives_the_same_trials"),
        (GivesUp, "test_the_capital_is_used_and_never_overspent"),
        (Unconstrained, "test_constraints_hold_from_the_first_point_on"),
        (Unconstrained, "test_candidates_of_a_finite_set_are_asked_for"),
        (CannotFail, "test_a_run_where_everything_fails_ends"),
        (WantsNoData, "test_data_nobody_asked_for_is_taken"),
    ],
)
def test_a_wrong_strategy_fails(strategy, caught_by):
    class Suite(StrategyConformance):
        surrogate, maximiser = FixedGP(), RandomMaximiser()

        def strategy(self):
            return strategy()

    assert caught_by in failing(Suite())


# ---------------------------------------------------------------------------------------------------- domains


class Spoilt(Box):
    """A right domain, to be spoilt."""

    def __init__(self):
        super().__init__([(-1.0, 3.0), (2.0, 5.0)])


class LosesUnits(Spoilt):
    def decode(self, u):
        return u


class Boundless(Spoilt):
    def contains(self, u):
        return np.ones(len(u), dtype=bool)


class TakesAll(Spoilt):
    def validate(self, x):
        return np.zeros(2)


class Restless(Spoilt):
    def sample(self, n, rng):
        return np.random.default_rng().random((n, 2))


class Outside(Spoilt):
    def sample(self, n, rng):
        return 2.0 * super().sample(n, rng)


@pytest.mark.parametrize(
    ("domain", "caught_by"),
    [
        (LosesUnits, "test_user_units_survive_the_round_trip"),
        (Boundless, "test_points_outside_the_cube_are_outside"),
        (TakesAll, "test_what_is_no_point_is_refused"),
        (TakesAll, "test_decoded_points_are_valid"),
        (Restless, "test_the_same_rng_gives_the_same_sample"),
        (Outside, "test_samples_lie_in_the_domain"),
    ],
)
def test_a_wrong_domain_fails(domain, caught_by):
    class Suite(DomainConformance):
        def domain(self):
            return domain()

    assert caught_by in failing(Suite())
