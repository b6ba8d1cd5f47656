"""What holds for every strategy by name, where the conformance suite does not look."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mfopt
from tests.plugins.runs import FUNCTIONS, SQUARE, high, quick, run

NAMES = ["mf-gp-ucb", "gp-ucb", "gp-ei", "gp-pi", "direct", "random"]
NAMES += ["mf-naive", "mf-naive-random", "mf-sko", "co-kriging"]


def optimizer(name, domain=SQUARE, costs=(1.0, 5.0), capital=60.0, rng=0, **options):
    return mfopt.Optimizer(domain, costs, strategy=name, capital=capital, rng=rng, maximiser=quick(), **options)


@pytest.mark.parametrize("name", NAMES)
def test_a_constant_function_is_no_obstacle(name):
    opt = optimizer(name)
    run(opt, [lambda x: 3.0, lambda x: 3.0])
    assert opt.remaining < 5.0
    assert opt.best.y == 3.0


@pytest.mark.parametrize("name", NAMES)
def test_one_candidate_is_enough(name):
    opt = optimizer(name, mfopt.FiniteSet([[2.0, 3.0]]))
    run(opt, FUNCTIONS, 50)
    assert opt.best is not None


@pytest.mark.parametrize("name", NAMES)
def test_huge_and_tiny_values_are_no_obstacle(name):
    for scale in (1e-60, 1e60):  # their squares, variances, are floating-point numbers too
        opt = optimizer(name, capital=40.0)
        run(opt, [lambda x, a=scale: a * high(x)] * 2)
        assert np.isfinite(opt.best.y)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("width", [0.01, 0.02])
def test_narrow_peaks_whose_flanks_underflow_are_no_obstacle(name, width):
    """Values from 1e-320 to 1: one fidelity may have seen nothing but 1e-90, another the peak."""
    dim = 1 if width < 0.02 else 3

    def peak(x):
        return float(np.exp(-np.sum(np.square((x - 0.3) / width))))

    for seed in range(4):
        opt = mfopt.Optimizer([(0.0, 1.0)] * dim, [1.0, 10.0], strategy=name, capital=80.0, rng=seed)
        run(opt, [lambda x: 0.9 * peak(x), peak])
        assert opt.remaining < 10.0


@pytest.mark.parametrize("name", NAMES)
def test_a_cheap_fidelity_that_hardly_varies_beside_the_target_is_no_obstacle(name):
    opt = optimizer(name, [(0.0, 1.0)], capital=60.0)
    run(opt, [lambda x: 1e-180 * x[0], lambda x: x[0]])
    assert opt.best.y > 0.5


@pytest.mark.parametrize("name", NAMES)
def test_noise_on_a_finite_set_lets_points_come_again(name):
    rng = np.random.default_rng(0)
    opt = optimizer(name, mfopt.FiniteSet(np.linspace(0.0, 1.0, 5)), [1.0], 15.0, noise=0.25)
    trials = run(opt, [lambda x: float(np.sin(5 * x[0])) + 0.5 * rng.standard_normal()])
    assert len(trials) == (5 if name == "direct" else 15)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "mf-naive"])  # it says so when it is asked
@pytest.mark.parametrize("fails", ["first", "second"])
def test_where_the_best_point_of_a_finite_set_fails_once_a_run_says_that_it_is_done(name, fails):
    """A second value tells whether there is noise: the best point may have failed before, or fail then."""
    opt = optimizer(name, mfopt.FiniteSet(np.linspace(0.0, 1.0, 4)), [1.0], capital=40.0)
    asked = []
    while not opt.done:
        index = opt.ask().index
        asked.append(index)
        failed = index == 1 and asked.count(1) == {"first": 1, "second": 2}[fails]
        opt.tell(len(asked) - 1, None if failed else high(np.array([index / 3.0])), "failed" if failed else "ok")
    assert set(asked) == {0, 1, 2, 3}


@pytest.mark.parametrize("name", [name for name in NAMES if "naive" not in name])  # they follow cheap values alone
@pytest.mark.parametrize("noise", [None, 0.0])
def test_where_a_cheap_fidelity_always_fails_the_target_is_asked_everywhere(name, noise):
    """Two of twelve points work, at the target alone: a run ends with a value, and says so before it is asked again."""
    grid = mfopt.FiniteSet([[a, b] for a in range(4) for b in range(3)])
    for seed in range(3):
        opt = mfopt.Optimizer(grid, [1.0, 5.0], strategy=name, capital=600.0, noise=noise, rng=seed)
        while not opt.done and opt.best is None:
            trial = opt.ask()
            works = trial.fidelity == 1 and trial.x.tolist() in ([1.0, 1.0], [3.0, 0.0])
            opt.tell(trial, 1.0 if works else None, "ok" if works else "failed")
        assert opt.best is not None


@pytest.mark.parametrize("name", NAMES)
def test_a_finite_set_that_failed_everywhere_is_not_searched_for_a_fresh_point(name, monkeypatch):
    space = mfopt.Space({"k": mfopt.Integer(1, 3), "c": ["u", "v"]})
    drawn = []
    sample = space.sample
    monkeypatch.setattr(space, "sample", lambda n, rng: drawn.append(n) or sample(n, rng))
    opt = mfopt.Optimizer(space, costs=[1.0, 10.0], capital=60.0, strategy=name, rng=0)
    while not opt.done:
        opt.tell(opt.ask(), status="failed")
    assert len(drawn) < 10_000  # 30,000 at each ask


@pytest.mark.parametrize("name", NAMES)
def test_every_reason_can_be_read(name):
    opt = optimizer(name, costs=(1.0, 2.0, 4.0), capital=40.0, direction="minimize")
    for trial in run(opt, [high, high, high]):
        first = str(trial.reason).splitlines()[0]
        assert f": fidelity {trial.fidelity}, " in first
        assert trial.reason.fidelity == trial.fidelity


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=4, deadline=None)
@given(
    costs=st.lists(st.integers(1, 40), min_size=1, max_size=3, unique=True),
    extra=st.floats(0.0, 5.0),
    seed=st.integers(0, 1000),
)
def test_capital_is_never_overspent_and_the_last_payable_query_is_at_the_target(name, costs, extra, seed):
    costs = sorted(float(c) for c in costs)
    capital = costs[-1] * (1 + extra)
    opt = optimizer(name, [(0.0, 1.0)], costs, capital, seed)
    trials = run(opt, [lambda x, k=k: float(np.sin(5 * x[0]) + 0.1 * k) for k in range(len(costs))])
    assert opt.spent <= capital
    assert capital - opt.spent < costs[-1]
    assert trials[-1].fidelity == len(costs) - 1


@pytest.mark.parametrize("name", NAMES)
def test_failures_and_trials_told_late_are_survived_together(name):
    opt = optimizer(name, capital=80.0)
    rng = np.random.default_rng(0)
    waiting = []
    while not opt.done or waiting:
        if not opt.done and (len(waiting) < 3 or rng.random() < 0.5):
            try:
                waiting.append(opt.ask())
                continue
            except mfopt.Exhausted:
                assert waiting
        trial = waiting.pop(int(rng.integers(len(waiting))))
        if rng.random() < 0.2:
            opt.tell(trial, status="failed")
        else:
            opt.tell(trial, FUNCTIONS[trial.fidelity](trial.x))
    assert opt.spent <= 80.0
    assert opt.best is not None
