"""An optimiser in memory can be pickled and copied; one with a storage refuses."""

import copy
import pickle

import numpy as np
import pytest

import mfopt
from mfopt import Optimizer
from mfopt.errors import CopyRefused, MfoptError
from mfopt_plugins.surrogates.matern import Matern
from tests.plugins.runs import FUNCTIONS, SQUARE, run, trace

COPIES = [copy.deepcopy, lambda opt: pickle.loads(pickle.dumps(opt))]


@pytest.mark.parametrize("duplicate", COPIES)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"domain": mfopt.FiniteSet(np.random.default_rng(0).random((400, 2)))},
        {"surrogate": Matern(nu=1.3), "noise": 0.01},
        {"surrogate": "ar1"},
        {"surrogate": "se-python", "maximiser": "multistart"},
        {"strategy": "gp-ei", "maximiser": "nlopt-direct"},
    ],
)
def test_the_copy_goes_on_to_the_bit_and_on_its_own(duplicate, options):
    opt = Optimizer(**{"domain": SQUARE, "costs": [1.0, 5.0], "capital": 120.0, "rng": 4, **options})
    run(opt, FUNCTIONS, most=18)
    pending = opt.ask(3)
    other = duplicate(opt)
    assert [trial.id for trial in other.pending] == [trial.id for trial in pending]
    assert not other.pending[0].x.flags.writeable
    assert (other.best.y, other.spent, other.remaining) == (opt.best.y, opt.spent, opt.remaining)
    np.testing.assert_array_equal(other.history.y, opt.history.y)
    for one in (opt, other):
        for trial in reversed(one.pending):
            one.tell(trial, FUNCTIONS[trial.fidelity](trial.x))
    before = len(opt.history)
    went = trace(run(opt, FUNCTIONS, most=15))
    assert len(other.history) == before  # nothing is shared
    np.testing.assert_array_equal(trace(run(other, FUNCTIONS, most=15)), went)


def test_a_copy_of_a_fresh_or_finished_optimiser_works():
    opt = Optimizer(SQUARE, [1.0], strategy="random", capital=3.0, rng=1)
    other = copy.deepcopy(opt)
    np.testing.assert_array_equal(trace(run(opt, [sum])), trace(run(other, [sum])))
    assert pickle.loads(pickle.dumps(opt)).done


def test_one_with_a_storage_refuses_with_a_hint(tmp_path):
    opt = Optimizer(SQUARE, [1.0], strategy="random", capital=3.0, rng=1, storage=str(tmp_path / "study.db"))
    for duplicate in COPIES:
        with pytest.raises(CopyRefused, match=r"got one with a storage; .* mfopt\.Study\.open"):
            duplicate(opt)
    assert issubclass(CopyRefused, MfoptError)
    assert len(run(opt, [sum])) == 3
