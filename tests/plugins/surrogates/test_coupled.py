"""One process over points and fidelities, against the plain reference, and what mf-gp-ucb makes of it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mfopt
from mfopt.errors import InputError
from mfopt.protocols import Query, Record
from mfopt.run.plain import to_text
from mfopt_plugins.strategies.mf_gp_ucb import MFGPUCB
from mfopt_plugins.surrogates.coupled.model import CoupledGP, CoupledProcess
from mfopt_plugins.surrogates.given import Given
from mfopt_plugins.surrogates.gp.python_process import PythonGP
from mfopt_plugins.surrogates.matern import Matern
from mfopt_plugins.surrogates.se import SE
from mfopt_plugins.surrogates.se_python import SEPython
from tests.core.reference import PlainGP
from tests.plugins.runs import FUNCTIONS, SQUARE, fidelity_models, quick, run, show

CODES = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]])


def smooth(u):
    return np.sin(5 * u[:, 0]) * np.cos(3 * u[:, 1]) + u.sum(axis=1)


def rows(sizes, dim=2, seed=0, functions=(smooth, smooth, smooth)):
    rng = np.random.default_rng(seed)
    points = [rng.random((n, dim)) for n in sizes]
    return [(u, f(u)) for u, f in zip(points, functions, strict=False)]


def coupled(data, surrogate=None, noises=None):
    joint = (surrogate or SE()).coupled(data[0][0].shape[1], noises or [None] * len(data))
    joint.fit(data, np.random.default_rng(1))
    return joint


@pytest.mark.parametrize("surrogate", [SE(), Matern(2.5), SEPython()])
def test_the_posterior_is_that_of_one_process_over_coded_points(surrogate):
    data = rows([12, 7, 4])
    joint = coupled(data, surrogate, [1e-2, 1e-4, 1e-3])
    told = joint.describe(0)
    kernel = "matern52" if isinstance(surrogate, Matern) else "se"
    scales = np.concatenate([told["lengthscale"], told["step"]])
    x = np.vstack([np.hstack([u, np.tile(CODES[k], (len(u), 1))]) for k, (u, _) in enumerate(data)])
    noise = np.repeat([1e-2, 1e-4, 1e-3], [12, 7, 4])
    plain = PlainGP(kernel, scales, told["scale"], noise, told["mean"]).fit(x, np.concatenate([y for _, y in data]))
    u = np.random.default_rng(2).random((20, 2))
    for k, model in enumerate(joint.models):
        assert model.n == len(data[k][1])
        mean, var = plain.posterior(np.hstack([u, np.tile(CODES[k], (20, 1))]))
        np.testing.assert_allclose(model.posterior(u)[0], mean, rtol=1e-7, atol=1e-7)
        np.testing.assert_allclose(model.posterior(u)[1], var, rtol=1e-6, atol=1e-7)
        mean, var, dmean, dvar = model.posterior_gradient(u)
        for c in range(2):
            e = 1e-5 * np.eye(2)[c]
            up, down = model.posterior(u + e), model.posterior(u - e)
            np.testing.assert_allclose(dmean[:, c], (up[0] - down[0]) / 2e-5, rtol=1e-4, atol=1e-5)
            np.testing.assert_allclose(dvar[:, c], (up[1] - down[1]) / 2e-5, rtol=1e-4, atol=1e-5)


def test_compiled_and_plain_code_learn_the_same():
    data = rows([30, 8], functions=(smooth, lambda u: smooth(u) + 0.2 * u[:, 1]))
    one, other = coupled(data).describe(0), coupled(data, SEPython()).describe(0)
    for name in ("lengthscale", "step", "scale", "mean"):
        np.testing.assert_allclose(one[name], other[name], rtol=1e-3)


def test_equal_fidelities_tell_of_each_other_and_unrelated_ones_do_not():
    u = np.random.default_rng(3).random((40, 2))
    same = coupled(rows([40, 6]))
    assert np.abs(same.models[1].posterior(u)[0] - smooth(u)).max() < 0.15
    other = coupled(rows([40, 12], functions=(smooth, lambda u: np.cos(9 * u[:, 0] * u[:, 1] + 1))))
    for at in (u, rows([40])[0][0]):  # also where the first fidelity is known
        sure, unsure = (np.median(np.sqrt(joint.models[1].posterior(at)[1])) for joint in (same, other))
        assert unsure > 5 * sure


def test_noise_is_each_fidelitys_own():
    rng = np.random.default_rng(4)
    noisy = [(u, y + (0.3 * rng.standard_normal(len(y)) if k == 0 else 0.0)) for k, (u, y) in enumerate(rows([80, 20]))]
    joint = coupled(noisy)
    assert joint.models[0].describe()["noise"] == pytest.approx(0.09, rel=0.5)
    assert joint.models[1].describe()["noise"] < 0.01
    known = coupled(noisy, noises=[0.09, 0.0])
    assert [model.describe()["noise"] for model in known.models] == [0.09, 0.0]


def test_what_is_given_stays():
    joint = coupled(rows([10, 4]), SE(lengthscale=[0.4, 0.7], scale=2.5, mean=1.5))
    told = joint.describe(1)
    assert told["lengthscale"] == pytest.approx([0.4, 0.7])
    assert (told["scale"], told["mean"]) == (2.5, 1.5)
    with pytest.raises(InputError, match="lengthscale must hold 1 or 2 values, got 3"):
        SE(lengthscale=[0.1, 0.2, 0.3]).coupled(2, [None, None])


def test_without_values_it_is_the_prior():
    joint = SE().coupled(2, [None, None])
    joint.fit(rows([0, 0]), np.random.default_rng(0))
    mean, var = joint.models[1].posterior(np.full((3, 2), 0.5))
    assert (mean == 0.0).all()
    assert (var > 0.0).all()
    joint.fit(rows([5, 0]), np.random.default_rng(0))
    assert joint.models[1].n == 0
    assert np.ptp(joint.models[1].posterior(np.random.default_rng(0).random((9, 2)))[0]) > 0.1


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(-3, 3), st.booleans()), max_size=12))
def test_rows_of_any_fidelity_come_and_go(steps):
    """Whatever was added and forgotten, in whatever order, only the rows that are there count."""
    data = rows([9, 5, 3])
    joint = coupled(data, noises=[1e-2] * 3)
    hyper = joint.describe(0)
    rng = np.random.default_rng(7)
    for k, change, looked_at in steps:
        model = joint.models[k]
        if change < 0:
            n = max(0, model.n + change)
            model.truncate(n)
            data[k] = (data[k][0][:n], data[k][1][:n])
        else:
            u = rng.random((change, 2))
            y = rng.standard_normal(change)
            model.extend(u, y)
            data[k] = (np.vstack([data[k][0], u]), np.concatenate([data[k][1], y]))
        assert model.n == len(data[k][1])
        if looked_at:
            model.posterior(np.full((1, 2), 0.5))
    x = np.vstack([np.hstack([u, np.tile(CODES[k], (len(u), 1))]) for k, (u, _) in enumerate(data)])
    plain = PlainGP(
        "se", np.concatenate([hyper["lengthscale"], hyper["step"]]), hyper["scale"], 1e-2, hyper["mean"]
    ).fit(x, np.concatenate([y for _, y in data]))
    u = rng.random((6, 2))
    for k, model in enumerate(joint.models):
        mean, var = plain.posterior(np.hstack([u, np.tile(CODES[k], (6, 1))]))
        np.testing.assert_allclose(model.posterior(u)[0], mean, rtol=1e-7, atol=1e-7)
        np.testing.assert_allclose(model.posterior(u)[1], var, rtol=1e-6, atol=1e-7)


def test_a_fidelity_may_be_learnt_anew_alone():
    joint = coupled(rows([10, 4]))
    u, y = rows([6], seed=5)[0]
    joint.models[1].fit(u, y, np.random.default_rng(0))
    assert [model.n for model in joint.models] == [10, 6]


class Counting(PythonGP):
    """Counts how often rows come and go."""

    calls = 0

    def extend(self, X, y, noise=None):
        self.calls += 1
        super().extend(X, y, noise)

    def truncate(self, n):
        self.calls += 1
        super().truncate(n)


def test_a_row_that_comes_and_goes_costs_one_call_each_way_and_the_rows_before_it_stay():
    joint = CoupledGP(Counting, "se", 2, [1e-2, 1e-2], Given())
    process = joint.gp
    assert process.calls == 0
    joint.extend(0, *rows([3])[0])
    joint.extend(1, *rows([2])[0])
    assert (process.n, process.calls) == (5, 2)
    joint.truncate(1, 1)
    assert (process.n, process.calls) == (4, 3)
    joint.truncate(1, 1)
    assert process.calls == 3
    joint.truncate(0, 2)  # the row of the other fidelity lies behind, and comes back
    assert (process.n, process.calls) == (3, 5)
    assert joint.gp is process


# ---------------------------------------------------------------------------------------------- within the framework


def record(u, fidelity, y):
    return Record(0, np.asarray(u), fidelity, float(y), True)


def test_fidelities_are_coupled_where_the_method_asks_and_one_surrogate_serves_all():
    one = SE()
    assert isinstance(fidelity_models([one, one], [None] * 2, [0, 1], 2, 0, coupled=True).joint, CoupledGP)
    assert fidelity_models([one, one], [None] * 2, [0, 1], 2, 0).joint is None
    assert fidelity_models([one, SE()], [None] * 2, [0, 1], 2, 0, coupled=True).joint is None
    assert fidelity_models([one, one], [None] * 2, [1], 2, 0, coupled=True).joint is None


def test_pending_points_shrink_the_posterior_for_a_while():
    one = SE()
    both = fidelity_models([one, one], [None] * 2, [0, 1], 2, 0, coupled=True)
    for k, (u, y) in enumerate(rows([9, 5])):
        for point, value in zip(u, y, strict=True):
            show(both, record(point, k, value))
    both.update()
    at = np.array([0.33, 0.5])
    before = both.at(at)
    with both.hallucinate([Query(0, at, 0), Query(1, at + 0.1, 1)]):
        during = both.at(at)
    assert np.allclose(during[0], before[0], atol=1e-6)
    assert (during[1] < before[1]).all()
    np.testing.assert_allclose(both.at(at), before, rtol=1e-9)


def strategy_of(**options):
    strategy = MFGPUCB(**options)
    opt = mfopt.Optimizer(SQUARE, [1.0, 10.0], strategy=strategy, capital=120.0, rng=0, maximiser=quick())
    run(opt, FUNCTIONS)
    return opt


def test_mf_gp_ucb_couples_unless_it_is_told_not_to():
    opt = strategy_of()
    assert isinstance(opt.strategy._models.joint, CoupledGP)
    assert set(opt.history.fidelity) == {0, 1}
    assert opt.best.y > 1.9
    for options in (
        {"coupled": False},
        {"affine": True},
        {"mode": "theory", "zetas": [0.5], "xi": 1.0, "a": 1.0, "b": 1.0},
    ):
        assert strategy_of(**options).strategy._models.joint is None


@pytest.mark.parametrize("left", [(20, 8), (12, 8), (20, 3), (0, 0)])
def test_a_process_in_doubt_is_made_again_when_it_is_needed(left, monkeypatch):
    """Whatever was added and forgotten meanwhile; a state told before is that of the process."""
    rng = np.random.default_rng(2)
    rows = [(rng.random((n, 2)), rng.standard_normal(n)) for n in (20, 8)]
    live, restored = (SE().coupled(2, [None, None]) for _ in range(2))
    live.fit(rows, rng)
    live.doubt()
    live.believe()
    made, rebuild = [], CoupledProcess.rebuild
    monkeypatch.setattr(CoupledProcess, "rebuild", lambda self, *given: made.append(self) or rebuild(self, *given))
    restored.restore(live.state(), rows)
    assert made == [restored._process]
    assert to_text(restored.state()) == to_text(live.state())
    for joint in (live, restored):
        for k, n in enumerate(left):
            joint.extend(k, np.full((2, 2), 0.3 + 0.1 * k), np.array([1.0, 2.0]))
            joint.truncate(k, n)
        joint.extend(0, np.full((1, 2), 0.7), np.array([-1.0]))
        joint.doubt()
    assert len(made) == 2
    for one, other in zip(live.models, restored.models, strict=True):
        assert np.array_equal(one.posterior(rows[0][0]), other.posterior(rows[0][0]))
    assert to_text(restored.state()) == to_text(live.state())
