import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import LinearConstraint, NonlinearConstraint
from scipy.sparse import csr_array

from mfopt import Box, DomainError, EmptyDomain, InputError, Real
from mfopt.domains import as_domain
from mfopt.testing import DomainConformance


def rng():
    return np.random.default_rng(0)


def in_ring(x):
    return (np.hypot(x[:, 0], x[:, 1]) >= 0.5) & (np.hypot(x[:, 0], x[:, 1]) <= 0.7)


class TestPlainBox(DomainConformance):
    def domain(self):
        return Box([(-5.0, 10.0), (0.0, 15.0)])


class TestLogBox(DomainConformance):
    def domain(self):
        return Box([(1e-6, 1.0), (-1.0, 1.0)], names=["rate", "shift"], log=[True, False])


class TestConstrainedBox(DomainConformance):
    def domain(self):
        return Box([(-1, 1), (-1, 1)], constraints=in_ring)


class TestThinBox(DomainConformance):
    """A simplex of volume 1e-14 in 5 dimensions: rejection finds nothing, linear programming does."""

    def domain(self):
        return Box([(0, 1)] * 5, constraints=LinearConstraint(np.ones(5), -np.inf, 0.004))


bounds = st.lists(
    st.tuples(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6)).map(lambda p: (p[0], p[0] + p[1])), min_size=1, max_size=5
)


@settings(max_examples=50)
@given(bounds, st.integers(0, 2**32))
def test_every_sample_of_any_box_is_valid_in_user_units(given_bounds, seed):
    box = Box(given_bounds)
    for x in box.decode(box.sample(5, np.random.default_rng(seed))):
        assert np.array_equal(box.validate(x), x)
        assert np.array_equal(box.validate(list(x)), x)
        assert np.array_equal(box.validate(dict(zip(box.names, x, strict=True))), x)


def test_names_and_log_apply_per_dimension():
    box = Box([(1, 100), (0, 1)], names=["a", "b"], log=[True, False])
    assert box.names == ("a", "b")
    assert box.encode(np.array([[10.0, 0.25]])) == pytest.approx(np.array([[0.5, 0.25]]))
    assert Box([(1, 100), (1, 4)], log=True).decode(np.array([[0.5, 0.5]])) == pytest.approx(np.array([[10.0, 2.0]]))


def test_dimension_objects_make_the_same_box():
    box = Box([Real(1, 100, log=True), Real(0, 1)], names=["a", "b"])
    assert box.describe() == Box([(1, 100), (0, 1)], names=["a", "b"], log=[True, False]).describe()
    with pytest.raises(InputError, match="carries its own"):
        Box([Real(0, 1)], log=True)
    with pytest.raises(InputError, match="pairs or all"):
        Box([Real(0, 1), (0, 1)])
    with pytest.raises(InputError, match=r"use mfopt\.Space"):
        Box([Real(0, 1), Real(0, 1, when={"x0": 1})])


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        ({"bounds": 3}, "sequence of .* got 3"),
        ({"bounds": []}, "at least one"),
        ({"bounds": [(0, 1, 2)]}, r"shape \(d, 2\).*\(1, 3\)"),
        ({"bounds": [(0, 1), (2,)]}, "regular array"),
        ({"bounds": [(1, 0)]}, "lo < hi"),
        ({"bounds": [(0, np.nan)]}, "finite"),
        ({"bounds": [(0, 1)], "names": ["a", "b"]}, "list of 1 strings"),
        ({"bounds": [(0, 1)] * 2, "names": ["a", "a"]}, "unique"),
        ({"bounds": [(0, 1)], "names": [""]}, "non-empty strings"),
        ({"bounds": [(0, 1)], "names": "a"}, "list of 1 strings"),
        ({"bounds": [(0, 1)], "log": True}, "lo > 0"),
        ({"bounds": [(1, 2)], "log": [True, False]}, "one per dimension"),
        ({"bounds": [(0, 1)] * 2, "constraints": 3}, "LinearConstraint"),
        ({"bounds": [(0, 1)] * 2, "constraints": "x > 0"}, "LinearConstraint"),
        ({"bounds": [(0, 1)] * 2, "constraints": LinearConstraint([1, 1, 1], 0, 1)}, "2 columns"),
        ({"bounds": [(0, 1)] * 2, "constraints": LinearConstraint([1, np.nan], 0, 1)}, "finite"),
        ({"bounds": [(0, 1)] * 2, "constraints": LinearConstraint([1, 1], 1, 1)}, "equality"),
        ({"bounds": [(0, 1)] * 2, "constraints": NonlinearConstraint(np.sum, 1, 0)}, "lb < ub"),
        ({"bounds": [(0, 1)] * 2, "constraints": NonlinearConstraint(lambda x: x, [0] * 3, 1)}, "as many values"),
        ({"bounds": [(0, 1)] * 2, "constraints": lambda x: x > 0}, r"one boolean per row, shape \(3,\)"),
        ({"bounds": [(0, 1)] * 2, "constraints": lambda x: x[:, 0]}, "one boolean per row.*float64"),
        ({"bounds": [(0, 1)] * 2, "constraints": lambda x: True}, "one boolean per row"),
        (
            {"bounds": [(0, 1)] * 2, "constraints": [LinearConstraint([1, 1], -1, 0.1), lambda x: x > 0]},
            "one boolean per row",
        ),
        ({"bounds": [(0, 1)] * 2, "constraints": lambda x: np.squeeze(x[:, :1] > 0)}, r"shape \(1,\)"),
    ],
)
def test_bad_arguments_are_refused(arguments, rule):
    with pytest.raises(InputError, match=rule):
        Box(**arguments)


@pytest.mark.parametrize(
    ("x", "rule"),
    [
        ([0.5], r"shape \(2,\), one value per dimension \(x0, x1\), got shape \(1,\)"),
        (np.zeros((1, 2)), r"got shape \(1, 2\)"),
        ([0.5, 1.5], r"x1 must lie in \[0.0, 1.0\], got 1.5"),
        ([0.5, np.nan], "finite"),
        ([0.5, "a"], "real number"),
        ({"x0": 1.0}, "exactly the keys"),
        ({"x0": 1.0, "y": 1.0}, "exactly the keys"),
        (None, "real numbers, got None"),
        ("ab", "real numbers"),
        ([0.9, 0.9], "constraint 0 .linear."),
    ],
)
def test_what_is_no_point_of_the_box_is_refused(x, rule):
    box = Box([(0, 1)] * 2, constraints=LinearConstraint([1, 1], -np.inf, 1))
    with pytest.raises(DomainError, match=rule):
        box.validate(x)


def test_scipy_constraints_and_predicates_mean_the_same():
    disc = [
        NonlinearConstraint(lambda x: x @ x, -np.inf, 0.5),
        lambda x: np.array([row @ row for row in x]) <= 0.5,
    ]
    half = [LinearConstraint([1, -1], 0, np.inf), LinearConstraint(csr_array([[1, -1]]), [0], [np.inf])]
    u = rng().random((500, 2))
    kept = [Box([(-1, 1)] * 2, constraints=[a, b]).contains(u) for a in disc for b in half]
    assert 0 < kept[0].sum() < 500
    assert all(np.array_equal(kept[0], one) for one in kept)


def test_a_constraint_holds_for_a_point_whatever_its_company():
    a = rng().random((1, 7))
    box = Box([(0, 1)] * 7, constraints=LinearConstraint(a, -np.inf, 0.5 * a.sum()))
    u = rng().random((64, 7))
    x = box.decode(u)
    x *= (0.5 * a.sum() / (x @ a.T)).clip(max=1.0)  # on the boundary, give or take a rounding
    u = box.encode(x)
    assert np.array_equal(box.contains(u), [box.contains(row[None])[0] for row in u])


def test_samples_are_uniform_on_a_constrained_box():
    u = Box([(-1, 1)] * 2, constraints=in_ring).sample(4000, rng())
    x = 2 * u - 1
    radius, angle = np.hypot(*x.T), np.arctan2(x[:, 1], x[:, 0])
    assert np.mean(radius**2) == pytest.approx((0.5**2 + 0.7**2) / 2, abs=0.005)
    assert np.histogram(angle, 8)[0].min() > 400


def test_samples_of_a_tiny_polytope_are_spread_over_it():
    box = Box([(0, 1)] * 3, constraints=LinearConstraint(np.ones(3), -np.inf, 0.003))
    u = box.sample(300, rng())
    assert box.contains(u).all()
    assert u.mean(axis=0) == pytest.approx([0.003 / 4] * 3, rel=0.15)


def test_samples_of_a_tiny_island_are_spread_over_it():
    box = Box([(0, 1)] * 2, constraints=lambda x: (np.abs(x - 0.3) < 2e-3).all(axis=1))
    u = box.sample(200, rng())
    assert box.contains(u).all()
    assert u.std(axis=0) == pytest.approx([2e-3 / np.sqrt(3)] * 2, rel=0.25)


def test_an_empty_domain_is_reported_after_a_bounded_search():
    drawn = []

    def never(x):
        drawn.append(len(x))
        return np.zeros(len(x), dtype=bool)

    with pytest.raises(EmptyDomain, match="found none in 200000 random draws") as caught:
        Box([(0, 1)] * 2, constraints=never).sample(1, rng())
    assert caught.value.draws == 200_000
    assert sum(drawn) == 200_000 + 4


def test_contradicting_linear_constraints_are_reported_early():
    box = Box([(0, 1)] * 2, constraints=LinearConstraint([[1, 1], [1, 0]], [1.9, -np.inf], [np.inf, 0.1]))
    with pytest.raises(EmptyDomain, match="nor by linear programming") as caught:
        box.sample(1, rng())
    assert caught.value.draws < 50_000


def test_a_predicate_never_sees_an_empty_batch():
    def careful(x):
        assert len(x) > 0
        return x[:, 0] >= 0.0

    box = Box([(0, 1)] * 2, constraints=[LinearConstraint([1, 1], -np.inf, 1e-3), careful])
    assert not box.contains(np.ones((3, 2))).any()
    assert not box.contains(np.full((3, 2), 2.0)).any()
    assert box.contains(box.sample(5, rng())).all()


def test_the_boundary_belongs_to_the_domain():
    box = Box([(0.1, 0.3), (0.2, 0.7)])
    assert np.array_equal(box.validate([0.1, 0.7]), [0.1, 0.7])
    assert np.array_equal(box.decode(box.encode(np.array([[0.1, 0.7]]))), [[0.1, 0.7]])


def test_pairs_stand_for_a_box_and_domains_for_themselves():
    box = Box([(0, 1)])
    assert as_domain(box) is box
    assert as_domain([(0, 2), (1, 3)]).names == ("x0", "x1")
    assert as_domain(np.array([[0, 2]])).dim == 1
    for bad in (None, 3, "box", object()):
        with pytest.raises(InputError, match="domain must be"):
            as_domain(bad)


@pytest.mark.parametrize("width", [1e-2, 1e-4, 1e-6])
def test_a_thin_strip_is_sampled_along_its_whole_length(width):
    box = Box([(0.0, 1.0)] * 2, constraints=LinearConstraint([[1.0, 1.0]], 1.0, 1.0 + width))
    points = box.sample(300, np.random.default_rng(0))
    assert box.contains(points).all()
    quartiles = np.quantile(points[:, 0], [0.0, 0.25, 0.5, 0.75, 1.0])
    assert np.abs(quartiles - [0.0, 0.25, 0.5, 0.75, 1.0]).max() < 0.12
