"""A run in memory that cannot be pickled or copied: the error names the plugin at fault."""

import copy
import pickle
import threading

import numpy as np
import pytest

import mfopt
from tests.optimizer.toys import FixedGP, FixedGPModel, RandomMaximiser, RandomSearch


class LockedStrategy(RandomSearch):
    def start(self, problem):
        super().start(problem)
        self.lock = threading.Lock()


class LockedModel(FixedGPModel):
    def fit(self, u, y, rng):
        super().fit(u, y, rng)
        self.lock = threading.Lock()


class LockedModels(FixedGP):
    def model(self, dim, noise=None):
        return LockedModel(dim, noise or 0.0, self.lengthscale)


class LockedMaximiser(RandomMaximiser):
    def maximise(self, acquisition, domain, rng, t):
        self.lock = threading.Lock()
        return super().maximise(acquisition, domain, rng, t)


class NamedFunction(RandomSearch):
    """Can be copied, but not pickled."""

    def start(self, problem):
        super().start(problem)
        self.function = lambda u: u


def run(domain=((0.0, 1.0),), **plugins):
    """A run that has left its initial design."""
    opt = mfopt.Optimizer(domain if callable(getattr(domain, "sample", None)) else list(domain), [1.0, 5.0], **plugins)
    for _ in range(12):
        trial = opt.ask()
        opt.tell(trial, float(np.sin(3.0 * trial.x[0])))
    return opt


@pytest.mark.parametrize("take", [pickle.dumps, copy.deepcopy])
@pytest.mark.parametrize(
    ("plugins", "name"),
    [
        ({"strategy": LockedStrategy()}, "LockedStrategy"),
        ({"surrogate": LockedModels()}, "LockedModels"),
        ({"maximiser": LockedMaximiser()}, "LockedMaximiser"),
        ({"strategy": RandomSearch(), "maximiser": RandomMaximiser(), "surrogate": FixedGP()}, None),
    ],
)
def test_the_plugin_at_fault_is_named(take, plugins, name):
    opt = run(**plugins)
    if name is None:
        take(opt)
        return
    with pytest.raises(mfopt.PluginError, match=rf"{name}: what it holds must be .* got TypeError: cannot pickle") as e:
        take(opt)
    assert "lock" in str(e.value)


def test_what_can_be_copied_but_not_pickled_is_copied():
    opt = run(strategy=NamedFunction(), rng=0)
    other = copy.deepcopy(opt)
    assert other.ask().x.tolist() == opt.ask().x.tolist()
    with pytest.raises(mfopt.PluginError, match=r"NamedFunction: what it holds must be .* pickled"):
        pickle.dumps(opt)


def test_what_other_libraries_can_pickle_is_left_to_them():
    cloudpickle = pytest.importorskip("cloudpickle")
    opt = run(strategy=NamedFunction(), rng=0)
    other = pickle.loads(cloudpickle.dumps(opt))
    assert other.ask().x.tolist() == opt.ask().x.tolist()


def test_a_domain_that_cannot_be_pickled_is_nobodys_fault():
    box = mfopt.Box([(0.0, 1.0)], constraints=lambda x: x[:, 0] >= 0.1)
    opt = run(box, strategy=RandomSearch(), surrogate=FixedGP())
    with pytest.raises(mfopt.InputError, match=r"constraints must be functions at the top level of a module.*lambda"):
        pickle.dumps(opt)
    copy.deepcopy(opt)


@pytest.mark.parametrize(
    "domain",
    [
        mfopt.Box([(0.0, 1.0)], constraints=lambda x: x[:, 0] >= 0.1),
        mfopt.Space({"a": (0.0, 1.0)}, constraints=lambda p: p["a"] >= 0.1),
    ],
)
def test_a_constraint_that_cannot_be_pickled_says_what_to_do_whatever_the_method(domain):
    opt = mfopt.Optimizer(domain, [1.0], strategy="random", rng=0)
    with pytest.raises(mfopt.InputError, match=r"pickle with cloudpickle, or copy with copy\.deepcopy"):
        pickle.dumps(opt)
    assert copy.deepcopy(opt).ask().x.tolist() == opt.ask().x.tolist()


def test_a_copy_shares_nothing_with_the_original():
    opt = run(surrogate=FixedGP(), rng=0)
    other = copy.deepcopy(opt)
    went = [opt.ask().x.tolist() for _ in range(3)]
    assert [other.ask().x.tolist() for _ in range(3)] == went
    assert other.strategy is not opt.strategy
