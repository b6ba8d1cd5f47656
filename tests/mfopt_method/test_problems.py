"""The synthetic problems: their optima, their bounds, their edges."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from mfopt import problems
from mfopt.errors import InputError

PAPER = {
    "currin": 13.798722,
    "park": 25.589254,
    "borehole": 309.575588,
    "hartmann3": 3.862780,
    "hartmann6": 3.322368,
    "bad-currin": 13.798722,
}


def test_names_are_the_papers_problems():
    assert set(problems.names()) == set(PAPER)


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(InputError, match=r"one of currin, park, .* got 'curin'"):
        problems.get("curin")


@pytest.mark.parametrize("name", PAPER)
def test_the_optimum_is_the_value_at_the_argmax_to_the_papers_digits(name):
    problem = problems.get(name)
    assert problem.functions[-1](problem.argmax) == pytest.approx(problem.optimum, rel=1e-14)
    assert problem.optimum == pytest.approx(PAPER[name], abs=6e-7)


@pytest.mark.parametrize("name", PAPER)
def test_no_local_search_climbs_above_the_optimum(name):
    problem = problems.get(name)
    rng = np.random.default_rng(1)
    dim = problem.domain.dim

    def negative(u):
        return -float(problem.functions[-1](problem.domain.decode(np.clip(u, 0, 1)[None])[0])) / problem.optimum

    starts = problem.domain.sample(400, rng)
    order = np.argsort([negative(u) for u in starts])
    starts = [*starts[order[:4]], problem.domain.encode(problem.argmax[None])[0]]
    best = min(minimize(negative, u, method="L-BFGS-B", bounds=[(0, 1)] * dim).fun for u in starts)
    assert -best == pytest.approx(1.0, abs=1e-12) or -best < 1.0


@pytest.mark.parametrize("name", PAPER)
def test_zetas_bound_the_distance_to_the_target_and_are_nearly_reached(name):
    problem = problems.get(name)
    dim = problem.domain.dim
    corners = np.array(np.meshgrid(*[[0.0, 1.0]] * dim)).reshape(dim, -1).T
    u = np.vstack([problem.domain.sample(20000, np.random.default_rng(0)), corners])
    x = problem.domain.decode(u)
    target = problem.functions[-1](x)
    for function, zeta in zip(problem.functions, problem.zetas, strict=True):
        seen = np.abs(function(x) - target).max()
        assert seen <= zeta * (1 + 1e-12)
        assert seen >= 0.75 * zeta
    assert problem.zetas[-1] == 0.0
    assert np.diff(problem.costs).min() > 0
    assert len(problem.costs) == len(problem.zetas) == len(problem.functions)


@pytest.mark.parametrize("name", PAPER)
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
        assert float(function(x[0])) == pytest.approx(values[0], rel=1e-14)


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
