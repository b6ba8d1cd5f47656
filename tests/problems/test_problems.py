"""The synthetic problems: their optima, their bounds, their edges."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from mfopt import problems
from mfopt.errors import InputError
from mfopt.problems.gp import _features

PAPER = {
    "currin": 13.798722,
    "park": 25.589254,
    "borehole": 309.575588,
    "hartmann3": 3.862780,
    "hartmann6": 3.322368,
    "bad-currin": 13.798722,
}
QUICK = [*PAPER, "hartmann3-two", "illustration", "gp-sample", "gp-scaled"]
ALL = [*QUICK, "kde"]


def test_the_names():
    assert set(problems.names()) == {*ALL, *problems.REAL}


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(InputError, match=r"one of currin, park, .* got 'curin'"):
        problems.get("curin")


@pytest.mark.parametrize("name", PAPER)
def test_the_optimum_has_the_known_digits(name):
    assert problems.get(name).optimum == pytest.approx(PAPER[name], abs=6e-7)


@pytest.mark.parametrize("name", ALL)
def test_the_optimum_is_the_value_at_the_argmax(name):
    problem = problems.get(name)
    assert problem.functions[-1](problem.argmax) == pytest.approx(problem.optimum, rel=1e-14)


@pytest.mark.rounding
@pytest.mark.parametrize("name", QUICK)
def test_no_local_search_climbs_above_the_optimum(name):
    problem = problems.get(name)
    rng = np.random.default_rng(1)
    dim = problem.domain.dim

    def negative(u):
        gap = problem.optimum - float(problem.functions[-1](problem.domain.decode(np.clip(u, 0, 1)[None])[0]))
        return gap / abs(problem.optimum) - 1.0

    starts = problem.domain.sample(400 if dim > 1 else 30, rng)
    order = np.argsort([negative(u) for u in starts])
    starts = [*starts[order[:4]], problem.domain.encode(problem.argmax[None])[0]]
    best = min(minimize(negative, u, method="L-BFGS-B", bounds=[(0, 1)] * dim).fun for u in starts)
    assert -best < 1.0 + 1e-12


@pytest.mark.parametrize("name", QUICK)
def test_zetas_bound_the_distance_to_the_target_and_are_nearly_reached(name):
    problem = problems.get(name)
    dim = problem.domain.dim
    corners = np.array(np.meshgrid(*[[0.0, 1.0]] * dim)).reshape(dim, -1).T
    u = np.vstack([problem.domain.sample(20000 if dim > 1 else 100, np.random.default_rng(0)), corners])
    x = problem.domain.decode(u)
    target = problem.functions[-1](x)
    for function, zeta in zip(problem.functions, problem.zetas, strict=True):
        seen = np.abs(function(x) - target).max()
        assert seen <= zeta * (1 + 1e-9)
        assert seen >= 0.75 * zeta
    assert problem.zetas[-1] == 0.0
    assert np.diff(problem.costs).min() > 0
    assert len(problem.costs) == len(problem.zetas) == len(problem.functions)


@pytest.mark.parametrize("name", QUICK)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_every_point_of_the_domain_has_a_finite_value_in_each_form_of_call(name, data):
    problem = problems.get(name)
    coordinate = st.one_of(st.sampled_from([0.0, 1.0]), st.floats(0.0, 1.0))
    u = np.array([[data.draw(coordinate) for _ in range(problem.domain.dim)] for _ in range(2)])
    x = problem.domain.decode(u)
    for function in problem.functions:
        values = function(x)
        assert values.shape == (2,)
        assert np.isfinite(values).all()
        assert np.ndim(function(x[0])) == 0
        # Random functions are long sums and solutions of equations: how many rows go at once changes the last digits.
        assert float(function(x[0])) == pytest.approx(values[0], rel=1e-14, abs=1e-10 if "gp-" in name else 0.0)


def test_currin_and_park_are_continuous_at_their_singular_faces():
    currin, park = problems.get("currin"), problems.get("park")
    x = np.array([[0.3, 0.0], [0.3, 1e-6]])
    assert currin.functions[-1](x[0]) == pytest.approx(currin.functions[-1](x[1]))
    x = np.array([[0.0, 0.4, 0.5, 0.6], [1e-9, 0.4, 0.5, 0.6]])
    for function in park.functions:
        assert function(x[0]) == pytest.approx(function(x[1]), abs=1e-7)


def test_hartmann_fidelities_shift_alpha_by_delta():
    """At P_i only term i is at its full height, so neighbours of fidelities differ there by nearly δ_i."""
    problem = problems.get("hartmann3")
    x = np.array([0.1091, 0.8732, 0.5547])
    values = [float(f(x)) for f in problem.functions]
    assert values[0] - values[1] == pytest.approx(values[1] - values[2])
    assert values[0] - values[1] == pytest.approx(-0.1, abs=0.02)


def test_a_singular_face_is_in_the_domain_and_currin_is_largest_on_it():
    problem = problems.get("currin")
    x1 = np.linspace(0, 1, 6001)
    edge = problem.functions[-1](np.column_stack([x1, np.zeros_like(x1)]))
    assert edge.max() == pytest.approx(13.798722, abs=1e-5)
    assert x1[edge.argmax()] == pytest.approx(0.21667, abs=1e-4)


def test_the_maxima_of_park_and_borehole_are_corners():
    assert problems.get("park").argmax.tolist() == [1, 1, 1, 1]
    problem = problems.get("borehole")
    assert set(problem.domain.encode(problem.argmax[None])[0].tolist()) <= {0.0, 1.0}


def test_costs_can_be_replaced_for_every_problem():
    assert problems.get("borehole:costs=[0.01,1]").costs == [0.01, 1.0]
    assert problems.get("borehole").costs == [1.0, 10.0]
    with pytest.raises(InputError, match="one per function, must have 2 entries, got 3"):
        problems.get("borehole:costs=[1,2,3]")


def test_a_name_is_written_in_one_way_without_building_the_problem():
    assert problems.canonical("gp-sample: seed=3, dim=0") == "gp-sample:dim=0,seed=3"
    assert problems.canonical("borehole:costs=[0.10, 1]") == "borehole:costs=[0.1,1]"
    with pytest.raises(InputError, match=r"options of gp-sample must be among dim, .* got size"):
        problems.canonical("gp-sample:size=3")


def test_an_unknown_option_is_answered_with_those_there_are_costs_included():
    with pytest.raises(InputError, match=r"^options of currin must be among costs, got cost; did you mean 'costs'\?$"):
        problems.get("currin:cost=[1,2]")


def test_the_study_of_gamma_has_the_upper_two_fidelities():
    two, three = problems.get("hartmann3-two"), problems.get("hartmann3")
    x = three.domain.sample(5, np.random.default_rng(0))
    for m in (0, 1):
        assert two.functions[m](x).tolist() == three.functions[m + 1](x).tolist()
    assert two.costs == [1.0, 10.0]


def test_the_bandwidth_problem_has_its_optimum_and_its_bound_and_few_points_prefer_a_larger_bandwidth():
    problem = problems.get("kde")
    h = np.array([0.05, 0.08, 0.1, 0.1016, 0.1017, 0.103, 0.13, 0.155, 0.2, 1.0])[:, None]
    low, high = (function(h) for function in problem.functions)
    assert high.max() == pytest.approx(problem.optimum, abs=1e-6)
    assert high.max() <= problem.optimum
    assert np.abs(high - low).max() == pytest.approx(problem.zetas[0], rel=1e-9)
    assert h[low.argmax(), 0] == 0.155
    assert float(problem.functions[0](h[3])) == low[3]


@pytest.mark.parametrize("name", ["gp-sample:dim=1,lengthscale=0.15,seed={}", "gp-scaled:dim=3,fidelities=3,seed={}"])
def test_a_random_problem_depends_on_its_seed_alone(name):
    one, same, other = (problems.get(name.format(seed)) for seed in (1, 1, 2))
    x = one.domain.sample(20, np.random.default_rng(0))
    assert (one.functions[-1](x) == same.functions[-1](x)).all()
    assert (one.functions[-1](x) != other.functions[-1](x)).all()


@settings(max_examples=6, deadline=None)
@given(st.integers(0, 1000), st.sampled_from([[0.4], [0.8, 0.3]]))
def test_gp_samples_keep_their_fidelities_within_zeta(seed, zetas):
    problem = problems.gp_sample(dim=1, fidelities=len(zetas) + 1, lengthscale=0.2, seed=seed, zetas=zetas)
    x = np.linspace(0, 1, 300)[:, None]
    target = problem.functions[-1](x)
    assert target.max() <= problem.optimum + 1e-9
    for function, zeta, found in zip(problem.functions, zetas, problem.zetas, strict=False):
        assert np.abs(function(x) - target).max() <= found + 1e-9
        assert found <= zeta * 1.01


def test_a_sample_of_any_kernel():
    def periodic(a, b):
        return np.exp(-2 * np.sin(np.pi * (a - b.T) / 0.5) ** 2)

    problem = problems.gp_sample(dim=1, kernel=periodic, zeta=0.6)
    x = np.linspace(0, 0.5, 50)[:, None]
    for function in problem.functions:
        assert function(x + 0.5) == pytest.approx(function(x), abs=1e-3)


@settings(max_examples=3, deadline=None)
@given(st.integers(0, 1000), st.sampled_from(["se", "matern12", "matern52"]))
def test_scaled_problems_reach_zeta(seed, kernel):
    problem = problems.gp_scaled(dim=2, fidelities=3, zeta=0.2, kernel=kernel, seed=seed)
    x = problem.domain.sample(4000, np.random.default_rng(0))
    target = problem.functions[-1](x)
    assert problem.zetas == [0.4, 0.2, 0.0]
    assert problem.costs == [1.0, 10.0, 100.0]
    assert target.max() <= problem.optimum + 1e-12
    seen = [np.abs(function(x) - target).max() for function in problem.functions[:-1]]
    assert np.all(np.array(seen) <= np.array([0.4, 0.2]) * (1 + 1e-6))
    assert np.all(np.array(seen) > np.array([0.4, 0.2]) * 0.8)


@pytest.mark.parametrize(("nu", "correlation"), [(None, np.exp(-0.5)), (0.5, np.exp(-1.0)), (2.5, 0.5240)])
def test_random_features_have_the_variance_and_the_correlation_of_their_kernel(nu, correlation):
    x = np.array([[0.5, 0.5], [0.5, 0.8]])  # one length-scale apart
    rng = np.random.default_rng(0)
    drawn = np.array([_features(2, nu, 0.3, rng)(x) for _ in range(4000)])
    covariance = drawn.T @ drawn / len(drawn)
    assert covariance[0, 0] == pytest.approx(1.0, abs=0.1)  # four standard errors
    assert covariance[0, 1] == pytest.approx(correlation, abs=0.08)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dim": 0}, "dim must be at least 1, got 0"),
        ({"fidelities": 1}, "fidelities must be at least 2, got 1"),
        ({"zeta": -1.0}, "zeta must be positive, got -1.0"),
        ({"zetas": [1.0, 2.0]}, "must have 1 entry, got 2"),
        ({"kernel": "sinc"}, "kernel must be one of se, .* got 'sinc'"),
        ({"lengthscale": 0.0}, "lengthscale must be positive"),
        ({"seed": -1}, "seed must not be negative, got -1"),
    ],
)
def test_a_random_problem_refuses_what_makes_no_sense(options, message):
    for make in (problems.gp_sample, problems.gp_scaled):
        with pytest.raises(InputError, match=message):
            make(**options)
