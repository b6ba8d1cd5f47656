"""gp-ei, gp-pi, random and direct through the Optimizer."""

import numpy as np
import pytest

import mfopt
from mfopt.protocols import Query, Record
from mfopt_plugins.strategies._rectangles import Rectangles
from mfopt_plugins.strategies.base.cycle import incumbent
from mfopt_plugins.strategies.direct import Direct
from mfopt_plugins.strategies.gp_ei import GPEI
from mfopt_plugins.strategies.gp_pi import GPPI
from mfopt_plugins.strategies.gp_ucb import GPUCB
from mfopt_plugins.surrogates.se import SE
from tests.plugins.runs import FUNCTIONS, SQUARE, fidelity_models, high, low, quick, run, show, trace

GRID = np.array([[i, j] for i in range(6) for j in range(6)]) / 5.0


def optimizer(strategy, domain=SQUARE, costs=(1.0, 10.0), capital=200.0, rng=0, **options):
    return mfopt.Optimizer(domain, costs, strategy=strategy, capital=capital, rng=rng, maximiser=quick(), **options)


# ---------------------------------------------------------------------------------------------- gp-ei and gp-pi


@pytest.mark.parametrize("name", ["gp-ei", "gp-pi", "random", "direct"])
def test_only_the_target_is_queried_and_other_data_change_nothing(name):
    plain, warm = optimizer(name), optimizer(name)
    warm.add(np.array([[0.1, 0.2], [0.3, 0.4]]), 0, [5.0, 6.0])
    assert np.array_equal(trace(run(plain, FUNCTIONS)), trace(run(warm, FUNCTIONS)))
    assert set(plain.history.fidelity) == {1}


@pytest.mark.parametrize("name", ["gp-ei", "gp-pi"])
def test_an_improvement_finds_the_maximum(name):
    opt = optimizer(name, capital=250.0)
    run(opt, FUNCTIONS)
    assert opt.best.y > 2 - 0.02


def test_all_single_fidelity_methods_begin_with_the_same_points():
    traces = [
        trace(run(optimizer(name, capital=1000.0), FUNCTIONS, 5)) for name in ("gp-ucb", "gp-ei", "gp-pi", "random")
    ]
    for other in traces[1:]:
        assert np.array_equal(traces[0], other)
    ours = trace(run(optimizer(GPEI(initial_capital=30.0), capital=1000.0), FUNCTIONS, 4))
    theirs = trace(run(optimizer(GPUCB(initial_capital=30.0), capital=1000.0), FUNCTIONS, 4))
    assert np.array_equal(ours[:3], theirs[:3])
    assert not np.array_equal(ours[3], theirs[3])


def test_the_reason_tells_the_incumbent_in_the_users_sign():
    up = run(optimizer("gp-ei", capital=150.0), FUNCTIONS)
    down = run(optimizer("gp-ei", capital=150.0, direction="minimize"), [lambda x: -low(x), lambda x: -high(x)])
    assert np.array_equal(trace(up), trace(down))
    ours, theirs = up[-1].reason, down[-1].reason
    assert ours.kind == "expected improvement"
    assert ours.incumbent == max(high(t.x) for t in up[:-1])
    assert theirs.incumbent == -ours.incumbent
    assert theirs.mean == tuple(-v for v in ours.mean)
    assert theirs.value == ours.value
    assert "incumbent" in str(theirs)


@pytest.mark.parametrize("name", ["gp-ei", "gp-pi"])
def test_the_unit_of_the_values_does_not_matter(name):
    traces = [
        trace(run(optimizer(name, capital=150.0), [None, lambda x, a=a: a * high(x)])) for a in (1.0, 2.0**-27, 2.0**40)
    ]
    assert np.allclose(traces[0], traces[1], atol=1e-9)
    assert np.allclose(traces[0], traces[2], atol=1e-9)


def models(noise, ys):
    target = fidelity_models([SE(lengthscale=0.3, scale=1.0, mean=0.0)] * 2, [None, noise], [1], 1, 0)
    for i, y in enumerate(ys):
        show(target, Record(i, np.array([0.2 + 0.3 * i]), 1, y, True))
        show(target, Record(i, np.array([0.3]), 0, 100.0, True))
    target.update()
    return target


def test_the_incumbent_is_observed_without_noise_and_a_mean_with_it():
    assert incumbent(models(0.0, [1.0, 3.0, 2.0]), []) == 3.0
    noisy = models(1.0, [1.0, 3.0, 2.0])
    means = noisy.models[0].posterior(noisy.observations.rows(0)[0])[0]
    assert incumbent(noisy, []) == means.max() < 3.0
    assert incumbent(models(0.0, []), []) is None


def test_a_promising_pending_query_raises_the_incumbent():
    # Between two high values the mean is above both.
    target = models(0.0, [2.0, 2.0])
    at = np.array([0.35])
    mean = target.models[0].posterior(at[None])[0][0]
    assert mean > 2.0
    assert incumbent(target, [Query(9, at, 1)]) == mean
    assert incumbent(target, [Query(9, at, 0)]) == 2.0


# ---------------------------------------------------------------------------------------------- random


def test_random_goes_through_a_finite_set_in_rounds():
    opt = optimizer("random", mfopt.FiniteSet(GRID[:10]), [1.0], 25.0, noise=0.1)
    index = [t.index for t in run(opt, [high])]
    assert sorted(index[:10]) == sorted(index[10:20]) == list(range(10))


def test_random_ends_with_a_noiseless_finite_set():
    opt = optimizer("random", mfopt.FiniteSet(GRID[:10]), [1.0], None, noise=0.0)
    assert len(run(opt, [high])) == 10
    assert opt.done


# ---------------------------------------------------------------------------------------------- direct


def test_direct_begins_with_the_centre_and_the_thirds_in_every_coordinate():
    trials = run(optimizer("direct", [(0.0, 1.0)] * 2, [1.0], 5.0), [high])
    third = 1 / 3
    expected = [(0.5, 0.5), (0.5 - third, 0.5), (0.5 + third, 0.5), (0.5, 0.5 - third), (0.5, 0.5 + third)]
    assert np.allclose([t.x for t in trials], expected)


def test_direct_converges_on_a_smooth_function():
    opt = optimizer("direct", [(-1.0, 3.0)] * 2, [1.0], 200.0)
    run(opt, [lambda x: -float(np.square(x - 0.7).sum())])
    assert np.abs(opt.best.x - 0.7).max() < 0.02


def test_an_offset_or_a_scale_of_the_values_changes_nothing():
    traces = [
        trace(run(optimizer("direct", SQUARE, [1.0], 60.0), [lambda x, a=a, b=b: a * high(x) + b]))
        for a, b in ((1.0, 0.0), (4.0, 0.0), (1.0, 1024.0))
    ]
    assert np.array_equal(traces[0], traces[1])
    assert np.array_equal(traces[0], traces[2])


def test_a_failure_counts_as_bad_and_the_run_goes_on():
    opt = optimizer("direct", SQUARE, [1.0], 80.0)
    best = np.array([0.8, 0.8])
    while not opt.done:
        trial = opt.ask()
        if trial.x[0] < 0.5:
            opt.tell(trial, status="failed")
        else:
            opt.tell(trial, -float(np.square(trial.x - best).sum()))
    assert opt.best.y > -1e-2
    assert np.mean(opt.history.x[40:, 0] < 0.5) < 0.4


def test_direct_skips_what_is_outside_x():
    def ring(x):
        return np.abs(np.hypot(x[:, 0] - 0.5, x[:, 1] - 0.5) - 0.35) < 0.05

    opt = optimizer("direct", mfopt.Box(SQUARE, constraints=ring), [1.0], 60.0)
    run(opt, [high])
    assert ring(opt.history.x).all()
    assert len(np.unique(opt.history.x, axis=0)) == 60


def test_an_x_too_thin_for_centres_gets_other_points():
    thin = mfopt.Box(SQUARE, constraints=lambda x: np.abs(x[:, 0] - 0.123456) < 1e-4)
    opt = optimizer("direct", thin, [1.0], 3.0)
    assert {t.reason.text for t in run(opt, [high])} == {"the next centres need no query"}


def test_every_point_of_a_finite_set_is_visited_once_the_best_region_first():
    opt = optimizer("direct", mfopt.FiniteSet(GRID), [1.0], None)
    trials = run(opt, [high], 100)
    assert sorted(t.index for t in trials) == list(range(36))
    assert int(np.argmax([high(t.x) for t in trials])) < 18


def test_parallel_asks_of_direct_differ_and_values_told_late_are_used():
    opt = optimizer("direct", SQUARE, [1.0], 90.0)
    while not opt.done:
        trials = opt.ask(6)
        assert len({tuple(t.x) for t in trials}) == len(trials)
        for trial in reversed(trials):
            opt.tell(trial, high(trial.x))
    assert len(np.unique(opt.history.x, axis=0)) == 90
    assert opt.best.y > 1.9


def brute_force(sizes, values, epsilon=1e-4):
    """Definition 4.1 by trying many K."""
    chosen = set()
    top = values.max()
    for k in np.concatenate([np.geomspace(1e-6, 1e8, 4000)]):
        j = int(np.argmax(values + k * sizes))
        if values[j] + k * sizes[j] >= top + epsilon * (top - np.median(values)):
            chosen.add(j)
    return chosen


def test_potentially_optimal_rectangles_are_those_of_the_definition():
    rng = np.random.default_rng(0)
    for seed in range(5):
        rectangles = Rectangles(2)
        values = rng.standard_normal(1)
        for _ in range(12):
            i = int(rng.integers(len(values)))
            thirds = rectangles.samples(i)
            rectangles.divide(i, thirds)
            values = np.concatenate([values, rng.standard_normal(2 * len(thirds))])
        found = rectangles.optimal(values)
        assert set(found) == brute_force(np.array(rectangles._sizes), values), seed


def test_rectangles_tile_the_cube():
    rectangles = Rectangles(3)
    for i in (0, 0, 3, 5, 1):
        rectangles.divide(i, rectangles.samples(i))
    volumes = [3.0 ** -level.sum() for level in rectangles._levels]
    assert sum(volumes) == pytest.approx(1.0)
    inside = np.random.default_rng(0).random((200, 3))
    half = np.array([0.5 * 3.0**-level for level in rectangles._levels])
    hits = (np.abs(inside[:, None] - np.array(rectangles.centres)) < half).all(axis=2).sum(axis=1)
    assert (hits == 1).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: GPPI(xi=-0.1), "xi must be finite and not negative, got -0.1"),
        (lambda: GPEI(initial_capital=-1.0), "initial_capital must be finite and not negative, got -1.0"),
    ],
)
def test_a_bad_option_is_named(call, message):
    with pytest.raises(mfopt.InputError, match=message):
        call()


def test_direct_is_found_by_name():
    assert isinstance(optimizer("direct").strategy, Direct)
