"""Whatever a plugin does wrong is a PluginError that names the one at fault; the run stays as it was."""

import copy
import pickle

import numpy as np
import pytest

from mfopt import Box, Exhausted, FiniteSet, InputError, Optimizer, PluginError
from mfopt.hooks import AcquisitionDefaults, FusesBounds, SharesKernel, TiesScales
from mfopt.protocols import Posterior, Suggestion
from mfopt.registry import is_built_in
from mfopt_plugins.surrogates.ar1 import AR1
from mfopt_plugins.surrogates.se import SE
from tests.optimizer.optimizers import state
from tests.optimizer.toys import FixedGP, FixedGPModel, RandomMaximiser, RandomSearch


def value(trial):
    return 1.0 - float(np.square(trial.x - 0.3).sum()) + 0.1 * trial.fidelity


def run(opt, asks):
    for _ in range(asks):
        trial = opt.ask()
        opt.tell(trial, value(trial))
    return opt


def fails(opt, match):
    """The next ask that fails, with this message, has changed nothing."""
    for _ in range(60):
        before, failure = state(opt), None
        try:
            trial = opt.ask()
        except PluginError as error:
            failure = error
        if failure is not None:
            assert state(opt) == before
            assert match in str(failure)
            return failure
        opt.tell(trial, value(trial))
    raise AssertionError("nothing failed")


def spoilt(**methods):
    """A surrogate whose models have these methods instead; one named `after` counts calls before it goes wrong."""
    kind = type("SpoiltModel", (FixedGPModel,), methods)

    class Spoilt(FixedGP):
        def model(self, dim, noise=None):
            return kind(dim, noise or 1e-10, self.lengthscale)

    return Spoilt()


def after(n, wrong):
    """A `posterior` that is right n times."""
    calls = [0]

    def posterior(self, u):
        calls[0] += 1
        right = FixedGPModel.posterior(self, u)
        return wrong(u, *right) if calls[0] > n else right

    return posterior


def quit_(*arguments):
    raise SystemExit(1)


WRONG_POSTERIORS = [
    (lambda u, mean, var: (np.full(len(u), np.nan), var), "the mean of posterior must be finite, got nan"),
    (lambda u, mean, var: (mean, np.full(len(u), np.inf)), "the variance of posterior must be finite, got inf"),
    (lambda u, mean, var: (mean, var - 1e3), "the variance of posterior must not be below 0, got -"),
    (lambda u, mean, var: (mean[:, None], var), "the mean of posterior must have shape"),
    (lambda u, mean, var: (mean, var[:-1]), "the variance of posterior must have shape"),
    (lambda u, mean, var: mean, "what posterior returns must be a tuple of 2, got array"),
    (lambda u, mean, var: None, "what posterior returns must be a tuple of 2, got None"),
    (lambda u, mean, var: (mean.astype(str), var), "the mean of posterior must be real numbers"),
    (lambda u, mean, var: mean / 0 + [][0], "posterior raised IndexError"),
    (quit_, "posterior raised SystemExit: 1"),
]


@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.parametrize(("wrong", "message"), WRONG_POSTERIORS)
@pytest.mark.parametrize("strategy", ["mf-gp-ucb", "gp-ei"])
def test_a_wrong_posterior_is_the_surrogates_fault(wrong, message, strategy):
    surrogate = spoilt(posterior=after(5, wrong))
    opt = Optimizer([(0, 1)] * 2, [1.0, 5.0], strategy=strategy, surrogate=surrogate, rng=0)
    error = fails(opt, message)
    assert "Spoilt" in error.plugin


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        ({"extend": lambda self, u, y: None}, "after extend, got 0"),
        ({"truncate": lambda self, n: None}, "after truncate, got"),
        ({"n": property(lambda self: 2.0)}, "n of a model must be an integer from 0, got 2.0"),
        ({"fit": lambda self, u, y, rng: 1 / 0}, "fit raised ZeroDivisionError"),
        ({"describe": lambda self: [1]}, "describe must return a mapping, got [1]"),
        ({"describe": lambda self: {"noise": np.nan}}, "the noise that describe tells must be finite, got nan"),
        (
            {"posterior_gradient": lambda self, u: (np.zeros(len(u)), np.ones(len(u)), u[:, 0], u)},
            "the gradients of a posterior must have shape",
        ),
    ],
)
def test_other_methods_of_a_model_are_held_to_their_protocol(methods, message):
    if "posterior_gradient" in methods:
        methods = {**methods, "posterior": lambda self, u: FixedGPModel.posterior_gradient(self, u)[:2]}
    opt = Optimizer([(0, 1)] * 2, [1.0, 5.0], surrogate=spoilt(**methods), rng=0)
    for _ in range(3):
        opt.ask()  # pending queries come and go
    error = fails(opt, message)
    assert "Spoilt" in error.plugin


@pytest.mark.parametrize("strategy", ["mf-gp-ucb", "random"])
@pytest.mark.parametrize("method", ["fit", "extend", "truncate", "posterior", "posterior_gradient", "describe"])
def test_a_missing_method_of_a_model_is_found_when_the_optimizer_is_made(method, strategy):
    with pytest.raises(PluginError, match=rf"Spoilt: a model must have a method {method}\(.*\), got none"):
        Optimizer([(0, 1)], [1.0], strategy=strategy, surrogate=spoilt(**{method: None}))


def test_a_model_that_is_none_and_one_without_rows_are_found_then_too():
    class Nothing:
        def model(self, dim, noise=None):
            return None

    class Rowless(FixedGP):
        def model(self, dim, noise=None):
            good = FixedGPModel(dim, 1e-10, 0.5)
            names = ("fit", "extend", "truncate", "posterior", "posterior_gradient", "describe")
            return type("Rowless", (), {name: staticmethod(getattr(good, name)) for name in names})()

    with pytest.raises(PluginError, match="Nothing: a model must have a method fit"):
        Optimizer([(0, 1)], [1.0], surrogate=Nothing())
    with pytest.raises(PluginError, match="Rowless: a model must have a property n"):
        Optimizer([(0, 1)], [1.0], surrogate=Rowless())


# ------------------------------------------------------------------------------------------------- maximisers


def maximiser(answer):
    class Spoilt(RandomMaximiser):
        def maximise(self, acquisition, domain, rng, t):
            return answer(super().maximise(acquisition, domain, rng, t), acquisition)

    return Spoilt()


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda u, a: u + 2.0, "the point that maximise returns must lie in X, got"),
        (lambda u, a: np.full_like(u, np.nan), "the point that maximise returns must be finite, got nan"),
        (lambda u, a: u[None], "the point that maximise returns must have shape (2,), got (1, 2)"),
        (lambda u, a: None, "the point that maximise returns must be real numbers, got None"),
        (lambda u, a: u / (1 // 0), "maximise raised ZeroDivisionError"),
        (
            lambda u, a: a(np.zeros((3, 5))),
            "points at which an acquisition is asked must have shape (3, 2), got (3, 5)",
        ),
        (lambda u, a: a(np.full((1, 2), np.nan)), "points at which an acquisition is asked must be finite, got nan"),
        (lambda u, a: a(np.zeros(2)), "points at which an acquisition is asked must have shape (q, 2), got (2,)"),
        (quit_, "maximise raised SystemExit"),
    ],
)
def test_a_wrong_point_is_the_maximisers_fault(answer, message):
    opt = Optimizer([(0, 1)] * 2, [1.0, 5.0], maximiser=maximiser(answer), rng=0)
    assert "Spoilt" in fails(opt, message).plugin


def test_the_models_fault_within_the_maximiser_is_the_models():
    surrogate = spoilt(posterior=after(5, lambda u, mean, var: (np.full(len(u), np.nan), var)))
    opt = Optimizer([(0, 1)] * 2, [1.0, 5.0], surrogate=surrogate, maximiser=RandomMaximiser(), rng=0)
    assert "test_guard.spoilt" in fails(opt, "the mean of posterior must be finite").plugin


class Ascends(RandomSearch):
    """A strategy with an acquisition of its own."""

    def __init__(self, acquisition):
        super().__init__()
        self.acquisition = acquisition

    def ask(self, view):
        problem = self.problem
        return Suggestion(problem.maximiser.maximise(self.acquisition, problem.domain, view.rng, view.t), 0, "mine")


class Hill(AcquisitionDefaults):
    def __init__(self, wrong):
        self.wrong = wrong

    def gradient(self, u):
        return self.wrong(u, -np.square(u - 0.3).sum(axis=1), 0.6 - 2.0 * u)


@pytest.mark.parametrize("other", ["direct", "multistart", RandomMaximiser()])
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda u, y, slope: (np.full(len(u), np.nan), slope), "values of an acquisition must be numbers, got NaN"),
        (lambda u, y, slope: (y[None], slope), "values of an acquisition must have shape"),
        (lambda u, y, slope: (1 / 0, slope), "ZeroDivisionError"),
    ],
)
def test_a_wrong_acquisition_is_the_strategys_fault(other, wrong, message):
    opt = Optimizer([(0, 1)] * 2, [1.0, 5.0], strategy=Ascends(Hill(wrong)), maximiser=other, rng=0)
    assert "Ascends" in fails(opt, message).plugin


def test_a_right_strategy_with_an_acquisition_of_its_own_is_not_disturbed():
    opt = Optimizer([(0, 1)] * 2, [1.0, 5.0], strategy=Ascends(Hill(lambda u, *right: right)), rng=0)
    assert np.abs(opt.ask().x - 0.3).max() < 1e-4


# ------------------------------------------------------------------------------------------------- strategies


class Spoils(RandomSearch):
    def __init__(self, method, error):
        super().__init__()
        self.method, self.error = method, error

    def start(self, problem):
        super().start(problem)
        self._fail("start")

    def ask(self, view):
        self._fail("ask")
        return super().ask(view)

    def tell(self, record):
        self._fail("tell")
        super().tell(record)

    def exhausted(self, pending):
        self._fail("exhausted")
        return False

    def posterior(self, fidelity):
        self._fail("posterior")

    def _fail(self, method):
        if self.method == method:
            raise self.error


ERRORS = [KeyError("k"), SystemExit(2), InputError("no"), MemoryError("full"), Exhausted("no")]


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("method", ["start", "ask", "tell", "exhausted", "posterior"])
def test_what_a_strategy_raises_names_it(method, error):
    if (method, type(error)) in (("start", InputError), ("ask", Exhausted)):
        return  # a refusal, and the end of a run
    domain = FiniteSet([[0.0], [0.5], [1.0]]) if method == "exhausted" else [(0.0, 1.0)]

    def go():
        opt = Optimizer(domain, [1.0], strategy=Spoils(method, error), rng=0)
        opt.add([0.5], 0, 1.0)  # the value is kept, whatever the strategy does
        assert opt.history.y.tolist() == [1.0]
        return opt.predict([0.5]) if method == "posterior" else opt.ask()

    with pytest.raises(PluginError, match=f"Spoils: {method} raised {type(error).__name__}") as caught:
        go()
    assert caught.value.__cause__ is error


def test_a_problem_that_a_strategy_refuses_is_the_users_affair():
    with pytest.raises(InputError, match="too many"):
        Optimizer([(0, 1)], [1.0], strategy=Spoils("start", InputError("too many")))


@pytest.mark.parametrize(
    ("belief", "message"),
    [
        (3, "posterior must return a Posterior or None, got 3"),
        (Posterior(FixedGPModel(3, 1e-10, 0.5), True), "posterior raised ValueError"),
        (Posterior(type("Hollow", (), {})(), True), r"a model must have a method fit"),
    ],
)
def test_what_a_strategy_believes_is_checked(belief, message):
    class Believes(RandomSearch):
        def posterior(self, fidelity):
            return belief

    opt = run(Optimizer([(0, 1)] * 2, [1.0], strategy=Believes(), rng=0), 1)
    with pytest.raises(PluginError, match=message) as caught:
        opt.predict([0.5, 0.5])
    assert "Believes" in caught.value.plugin


# ------------------------------------------------------------------------------------- whose fault it is not


ARMED = []


def no_luck(x):
    if ARMED:
        raise ArithmeticError("the user's own")
    return np.ones(len(x), dtype=bool)


class OwnDomain(Box):
    def contains(self, u):
        return no_luck(u)


class AsksTheDomain(RandomSearch):
    def ask(self, view):
        self.problem.domain.contains(np.full((1, 1), 0.5))
        return super().ask(view)


@pytest.mark.parametrize("domain", [Box([(0.0, 1.0)], constraints=no_luck), OwnDomain([(0.0, 1.0)])])
@pytest.mark.parametrize("options", [{"strategy": AsksTheDomain()}, {"maximiser": RandomMaximiser()}])
def test_what_the_users_own_functions_raise_is_left_as_it_is(domain, options, monkeypatch):
    opt = run(Optimizer(domain, [1.0], rng=0, **options), 20)
    monkeypatch.setattr(f"{__name__}.ARMED", [True])
    with pytest.raises(ArithmeticError, match="the user's own"):
        opt.ask()


def test_ctrl_c_is_left_as_it_is():
    with pytest.raises(KeyboardInterrupt):
        Optimizer([(0, 1)], [1.0], strategy=Spoils("ask", KeyboardInterrupt())).ask()


# ---------------------------------------------------------------------------------- guards that are not felt


class Own(SE):
    """Somebody's subclass: it has every ability of the built-in surrogate, and is guarded."""


class OwnAR1(AR1):
    pass


@pytest.mark.parametrize(("own", "built_in"), [(Own, SE), (OwnAR1, AR1)])
@pytest.mark.parametrize("strategy", ["mf-gp-ucb", "gp-ei", "mf-sko"])
def test_a_guarded_surrogate_makes_the_same_run(own, built_in, strategy):
    runs = []
    for surrogate in (own(), built_in()):
        opt = Optimizer([(0, 1)] * 2, [1.0, 5.0], strategy=strategy, surrogate=surrogate, capital=70.0, rng=1)
        run(opt, 13)
        runs.append((opt.history.x.tobytes(), opt.predict([0.2, 0.3]), opt.recommend(anywhere=True).x.tobytes()))
    assert runs[0] == runs[1]


def test_guards_offer_what_the_plugin_offers_and_no_more():
    own, plain = (Optimizer([(0, 1)], [1.0, 2.0], surrogate=one).surrogates for one in (Own(), FixedGP()))
    assert own[0] is own[1]
    for hook in (TiesScales, FusesBounds, SharesKernel):
        assert isinstance(own[0], hook)
        assert not isinstance(plain[0], hook)
    assert plain[0].lengthscale == 0.5


def test_built_in_plugins_are_called_directly():
    opt = run(Optimizer([(0, 1)], [1.0, 2.0], rng=0), 3)
    assert is_built_in(opt.surrogates[0])
    assert type(opt.strategy._search._maximiser).__module__.startswith("mfopt_plugins")


@pytest.mark.parametrize("surrogate", [FixedGP(), Own(), OwnAR1()])
def test_a_run_behind_guards_is_copied_and_pickled(surrogate):
    opt = run(Optimizer([(0, 1)] * 2, [1.0, 5.0], surrogate=surrogate, maximiser=RandomMaximiser(), rng=0), 12)
    opt.ask()
    copies = [copy.deepcopy(opt), pickle.loads(pickle.dumps(opt))]
    went = run(opt, 5).history.x.tobytes()
    for other in copies:
        assert run(other, 5).history.x.tobytes() == went


def test_rows_of_the_run_cannot_be_changed_by_a_model():
    def fit(self, u, y, rng):
        FixedGPModel.fit(self, u, y, rng)
        u *= 0.0
        y *= 0.0

    def posterior(self, u):
        right = FixedGPModel.posterior(self, u)
        u += 7.0
        return right

    runs = []
    for methods in ({"fit": fit, "posterior": posterior}, {}):
        opt = Optimizer([(0, 1)] * 2, [1.0, 5.0], surrogate=spoilt(**methods), maximiser=RandomMaximiser(), rng=0)
        runs.append(run(opt, 15).history.x.tobytes())
    assert runs[0] == runs[1]


def test_an_instance_that_cannot_be_copied_is_named_where_a_study_needs_copies(tmp_path):
    class Locked(RandomSearch):
        def __init__(self):
            super().__init__()
            self.generator = (n for n in range(3))

    Optimizer([(0, 1)], [1.0], strategy=Locked()).ask()  # in memory it need not be
    with pytest.raises(PluginError, match=r"Locked: an instance must be one that can be copied, .* cannot pickle"):
        Optimizer([(0, 1)], [1.0], strategy=Locked(), storage=tmp_path / "study.db")
    assert list(tmp_path.iterdir()) == []


class Foreign(SE):
    """The surrogate `se` as another distribution would offer it: behind a guard."""


@pytest.mark.parametrize("strategy", ["mf-gp-ucb", "mf-gp-ucb:rule=gamma"])
def test_a_guarded_surrogate_gives_the_trials_of_what_it_guards(strategy):
    traces = []
    for surrogate in (SE(), Foreign()):
        opt = Optimizer([(0, 1)] * 2, [1.0, 10.0], capital=400.0, rng=0, strategy=strategy, surrogate=surrogate)
        run(opt, 24)
        traces.append((opt.history.x.tolist(), opt.history.fidelity.tolist()))
        joint = opt.strategy._models.joint
        calibrated = strategy == "mf-gp-ucb"
        assert (np.abs(joint.factors - 1.0).max() > 1e-9) == calibrated
        again = pickle.loads(pickle.dumps(opt))
        assert again.ask().x.tolist() == opt.ask().x.tolist()
    assert not is_built_in(Foreign(), "mfopt.surrogates")
    assert traces[0] == traces[1]


def test_factors_that_are_no_numbers_are_the_surrogates_fault(monkeypatch):
    monkeypatch.setattr("mfopt_plugins.surrogates.coupled.model.CoupledGP.factors", np.array([np.nan, 1.0]))
    opt = Optimizer([(0, 1)] * 2, [1.0, 10.0], capital=100.0, rng=0, surrogate=Foreign())
    assert "Foreign" in str(fails(opt, "the factors of a joint model must be finite, got nan"))
