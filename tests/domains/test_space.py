import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import LinearConstraint, NonlinearConstraint

import mfopt
from mfopt import Categorical, DomainError, InputError, Integer, Ordinal, Real, Space
from mfopt.domains import as_domain
from mfopt.domains.rebuild import rebuild_product
from mfopt.errors import EmptyDomain


def rng(seed=0):
    return np.random.default_rng(seed)


def boosters(**options):
    return Space(
        {
            "rate": Real(1e-4, 1e-1, log=True),
            "depth": Integer(2, 12),
            "units": Integer(16, 1024, log=True),
            "size": Ordinal([32, 64, 128]),
            "loss": Categorical(["squared", "absolute"]),
            "booster": Categorical(["tree", "dart", "linear"]),
            "drop": Real(0, 1, when={"booster": "dart"}),
            "rounds": Integer(1, 3, when={"booster": ["tree", "dart"]}),
            "skip": Categorical([True, False, None], when={"rounds": [2, 3]}),
        },
        **options,
    )


@st.composite
def dimensions(draw):
    kind = draw(st.sampled_from(["real", "integer", "ordinal", "categorical"]))
    if kind == "real":
        lo, hi = sorted(draw(st.lists(st.floats(1e-6, 1e6), min_size=2, max_size=2, unique=True)))
        return Real(lo, hi, draw(st.booleans()))
    if kind == "integer":
        lo = draw(st.integers(1, 10**6))
        return Integer(lo, lo + draw(st.integers(1, 3000)), draw(st.booleans()))
    if kind == "ordinal":
        return Ordinal(draw(st.lists(st.text(max_size=3), min_size=1, max_size=6, unique=True)))
    values = st.one_of(st.text(max_size=3), st.booleans(), st.none(), st.integers(-5, 5))
    return Categorical(draw(st.lists(values, min_size=1, max_size=6, unique_by=lambda v: (type(v), v))))


@st.composite
def spaces(draw):
    parameters = {f"p{j}": one for j, one in enumerate(draw(st.lists(dimensions(), min_size=1, max_size=5)))}
    parents = [name for name, one in parameters.items() if isinstance(one, Ordinal | Categorical)]
    if parents and draw(st.booleans()):
        parent = draw(st.sampled_from(parents))
        values = parameters[parent].native(draw(st.integers(0, len(parameters[parent].levels) - 1)))
        parameters["child"] = Real(-1, 1, when={parent: [values]})
        parameters["toy"] = Categorical(["a", "b", "c"], when={parent: [values]})
    return Space(parameters)


# ------------------------------------------------------------------------------------------ unit coordinates


@settings(deadline=None)
@given(spaces(), st.integers(0, 99))
def test_any_point_of_the_cube_snaps_to_a_point_of_the_space(space, seed):
    u = rng(seed).random((20, space.dim))
    snapped = space.snap(u)
    assert space.contains(snapped).all()
    assert np.array_equal(space.snap(snapped), snapped)
    assert np.array_equal(space.decode(snapped), space.decode(u), equal_nan=True)


def resolution(space):
    """What the rounding of a value makes in unit coordinates, at most: much where lo and hi are close to each other."""
    reals = [one for one in space.dimensions if isinstance(one, Real)]
    return max((np.finfo(float).eps * max(abs(one.lo), abs(one.hi)) / (one.hi - one.lo) for one in reals), default=0.0)


@settings(deadline=None)
@given(spaces(), st.integers(0, 99))
@example(Space({"p0": Real(357483.0, 357531.0, log=True)}), 0)
def test_samples_are_points_and_their_values_make_them_again(space, seed):
    u = space.sample(10, rng(seed))
    assert space.contains(u).all()
    for row, x in zip(u, space.decode(u), strict=True):
        params = space.params(x)
        assert np.array_equal(space.validate(params), x, equal_nan=True)
        assert np.array_equal(space.validate(x), x, equal_nan=True)
        assert np.abs(space.encode(x[None])[0] - row).max() < 1e-12 + 2 * resolution(space)
        assert json.loads(json.dumps(params)) == params


@settings(deadline=None)
@given(spaces())
def test_the_description_makes_the_space_again(space):
    again = rebuild_product(json.loads(json.dumps(space.describe())))
    assert again.describe() == space.describe()
    assert repr(again) == repr(space)


@settings(deadline=None)
@given(spaces())
def test_blocks_cover_the_coordinates_and_levels_are_points(space):
    blocks = space.blocks
    assert [block.start for block in blocks] == [0, *(block.stop for block in blocks[:-1])]
    assert blocks[-1].stop == space.dim
    for block, dimension in zip(blocks, space.dimensions, strict=True):
        if block.levels is not None:
            assert np.array_equal(dimension.snap(block.levels), block.levels)
            assert len(np.unique(block.levels, axis=0)) == len(block.levels)


def test_two_choices_are_at_distance_one_whichever_they_are():
    for choices in (["a", "b"], ["a", "b", "c"], list(range(7))):
        levels = Categorical(choices).levels
        apart = [np.linalg.norm(a - b) for i, a in enumerate(levels) for b in levels[:i]]
        assert apart == pytest.approx([1.0] * len(apart))


def test_integers_are_equally_likely_and_log_ones_log_uniform():
    space = Space({"n": Integer(1, 4), "m": Integer(1, 1000, log=True), "c": Categorical(["a", "b", "c"])})
    x = space.decode(space.sample(8000, rng()))
    assert np.bincount(x[:, 0].astype(int))[1:] == pytest.approx([2000] * 4, rel=0.1)
    assert np.mean(x[:, 1] < np.sqrt(1000)) == pytest.approx(0.54, abs=0.03)
    assert np.bincount(x[:, 2].astype(int)) == pytest.approx([8000 / 3] * 3, rel=0.1)


def test_points_that_differ_only_in_what_does_not_count_are_one_point():
    space = boosters()
    u = space.sample(500, rng())
    other = u.copy()
    drop = space.blocks[6].start
    resting = np.isnan(space.decode(u)[:, 6])
    other[resting, drop] = 0.9
    assert resting.any()
    assert (~space.contains(other[resting])).all()
    assert np.array_equal(space.snap(other), u)


# ---------------------------------------------------------------------------------------- the user's values


def test_params_have_native_values_and_only_those_that_count():
    space = boosters()
    given = {"rate": 0.01, "depth": 3, "units": 64, "size": 64, "loss": "absolute", "booster": "linear"}
    x = space.validate(given)
    params = space.params(x)
    assert params == given
    assert [type(value) for value in params.values()] == [float, int, int, int, str, str]
    dart = {**given, "booster": "dart", "drop": 0.5, "rounds": 2, "skip": None}
    assert space.params(space.validate(dart)) == dart
    tree = {**given, "booster": "tree", "rounds": 1}
    assert space.params(space.validate({**tree, "drop": None, "skip": None})) == tree
    record = pd.DataFrame([tree, dart]).to_dict("records")[0]  # NaN where there is nothing
    assert np.isnan(record["drop"])
    assert space.params(space.validate(record)) == tree
    assert Space({"skip": [None, 1]}).validate({"skip": float("nan")}) == [0.0]


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"depth": 13}, "depth must be an integer from 2 to 12, got 13"),
        ({"depth": 2.5}, "depth must be an integer, got 2.5"),
        ({"size": 48}, r"size must be one of \[32, 64, 128\], got 48"),
        ({"loss": "huber"}, r"loss must be one of \['squared', 'absolute'\], got 'huber'"),
        ({"rate": 1.0}, "rate must lie in"),
        ({"drop": 0.5}, "exactly the keys that count"),
        ({"rate": float("nan")}, "rate must be finite, got nan"),
        ({"colour": 1}, r"keys among .* got \['colour'\]"),
    ],
)
def test_what_is_no_point_is_refused(change, rule):
    point = {"rate": 0.01, "depth": 3, "units": 64, "size": 64, "loss": "absolute", "booster": "linear"}
    with pytest.raises(DomainError, match=rule):
        boosters().validate({**point, **change})


def test_an_array_must_be_in_user_units():
    space = boosters()
    x = space.decode(space.sample(1, rng()))[0]
    for j, bad in ((1, 2.5), (3, 48.0), (4, 2.0), (0, np.nan)):
        wrong = x.copy()
        wrong[j] = bad
        with pytest.raises(DomainError):
            space.validate(wrong)
    flipped = np.where(np.isnan(x), 1.0, x)
    with pytest.raises(DomainError, match="NaN for exactly"):
        space.validate(flipped)


def test_true_is_not_one():
    space = Space({"c": [True, 1, "1"]})
    assert [space.validate({"c": value})[0] for value in (True, 1, "1", np.int64(1), np.bool_(True))] == [0, 1, 2, 1, 0]


# -------------------------------------------------------------------------------- arguments and constraints


@pytest.mark.parametrize(
    ("parameters", "rule"),
    [
        ({}, "at least one parameter"),
        ([("a", (0, 1))], "must be a dict"),
        ({"a": 3}, "got 3 for a"),
        ({"a": (0, 1, 2)}, "for a"),
        ({"a": (1, 0)}, r"lo < hi, got \(1.0, 0.0\) for a"),
        ({"a": []}, "at least one, got .* for a"),
        ({"": (0, 1)}, "non-empty strings"),
        ({1: (0, 1)}, "non-empty strings"),
        ({"a": Real(0, 1, when={"b": 1})}, "must name another parameter"),
        ({"a": Real(0, 1, when={"b": 1}), "b": (0, 1)}, "an Integer, Ordinal or Categorical"),
        ({"a": Real(0, 1, when={"b": "z"}), "b": ["x", "y"]}, r"when of a: b must be one of \['x', 'y'\], got 'z'"),
        ({"a": Real(0, 1, when={"b": []}), "b": ["x", "y"]}, "at least one value"),
        ({"a": Real(0, 1, when="b"), "b": ["x", "y"]}, "value or list of values"),
        (
            {"a": Integer(0, 1, when={"b": 1}), "b": Integer(0, 1, when={"a": 1})},
            r"not go round in a circle, got \['a', 'b'\]",
        ),
    ],
)
def test_bad_spaces_are_refused(parameters, rule):
    with pytest.raises(InputError, match=rule):
        Space(parameters)


@pytest.mark.parametrize(
    ("make", "rule"),
    [
        (lambda: Integer(3, 3), r"lo < hi, got \(3, 3\); one value alone is a list of one choice, \[3\]"),
        (lambda: Integer(0.5, 3), "must be an integer"),
        (lambda: Integer(0, 10, log=True), "lo ≥ 1"),
        (lambda: Integer(0, 10**30), r"at most 2\*\*53"),
        (lambda: Ordinal([3, 1, 2]), "in order"),
        (lambda: Ordinal("abc"), "must be a list"),
        (lambda: Categorical(["a", "a"]), "distinct"),
        (lambda: Categorical([1, 1.0]), "distinct"),
        (lambda: Categorical([object()]), "strings, finite numbers, booleans or None"),
        (lambda: Categorical([(64, 64), (32,)]), r"got \(64, 64\); name other objects, and look them up by name"),
        (lambda: Categorical([float("nan")]), "strings, finite numbers, booleans or None"),
        (lambda: Categorical([1, float("inf")]), "strings, finite numbers, booleans or None"),
        (lambda: Ordinal([1.0, 2.0, float("inf")]), "strings, finite numbers, booleans or None"),
        (lambda: Integer(1, 5, log="yes"), "True or False"),
    ],
)
def test_bad_dimensions_are_refused(make, rule):
    with pytest.raises(InputError, match=rule):
        make()


def test_an_ordinal_tells_integers_apart_that_no_float_does():
    space = Space({"size": Ordinal([2**60, 2**60 + 1, 2**60 + 2])})
    assert {space.params(x)["size"] for x in space.decode(space.sample(50, rng()))} == {2**60, 2**60 + 1, 2**60 + 2}
    assert space.params(space.validate({"size": 2**60 + 1})) == {"size": 2**60 + 1}


def test_short_forms():
    space = as_domain({"a": (0, 2), "b": ["x", "y"]})
    assert space.describe() == Space({"a": Real(0, 2), "b": Categorical(["x", "y"])}).describe()


def test_constraints_see_named_values_that_count():
    def small(p):
        assert ("drop" in p) == (p["booster"] == "dart")
        return p["depth"] * p["size"] <= 200 and p.get("drop", 0.0) <= 0.5

    space = boosters(constraints=small)
    points = [space.params(x) for x in space.decode(space.sample(200, rng()))]
    assert all(small(p) for p in points)
    assert {p["booster"] for p in points} == {"tree", "dart", "linear"}
    with pytest.raises(DomainError, match="must satisfy constraint 0"):
        space.validate({**points[0], "depth": 12, "size": 128})


def test_a_constraint_on_a_parameter_that_does_not_count_is_told_so():
    space = Space({"a": ["x", "y"], "b": Real(0, 1, when={"a": "x"})}, constraints=lambda p: p["b"] > 0.5)
    assert space.validate({"a": "x", "b": 0.7}).tolist() == [0.0, 0.7]
    with pytest.raises(
        InputError, match=r"where some parameters do not count, got KeyError: 'b' at {'a': 'y'} from .*lambda"
    ):
        space.sample(20, rng())
    other = {"n": 1}
    with pytest.raises(InputError, match=r"judge every point, got KeyError: 'm' at {'a': 'x'}"):  # of another kind
        Space({"a": ["x", "y"]}, constraints=lambda p: other["m"] > 0)


def test_a_constraint_that_does_not_answer_yes_or_no_is_refused():
    with pytest.raises(InputError, match="True or False for one point"):
        Space({"a": (0, 1)}, constraints=lambda p: p["a"])


def test_linear_constraints_need_numbers():
    from scipy.optimize import LinearConstraint

    space = Space({"a": Integer(0, 9), "b": (0, 9)}, constraints=LinearConstraint([1, 1], -np.inf, 5))
    x = space.decode(space.sample(100, rng()))
    assert (x.sum(axis=1) <= 5).all()
    with pytest.raises(InputError, match="functions of"):
        Space({"a": ["x", "y"], "b": (0, 9)}, constraints=LinearConstraint([1, 1], -np.inf, 5))


# ----------------------------------------------------------------------------------------------- whole runs


@pytest.mark.parametrize("strategy", ["random", "mf-gp-ucb"])
def test_a_run_asks_for_points_of_the_space(strategy):
    space = boosters()
    opt = mfopt.Optimizer(space, costs=[1.0, 4.0], capital=60.0, rng=1, strategy=strategy)
    while not opt.done:
        trial = opt.ask()
        params = space.params(trial.x)
        value = -np.log10(params["rate"]) - abs(params["depth"] - 5) - params.get("drop", 0.3)
        opt.tell(trial, value + 0.01 * trial.fidelity)
    assert opt.best is not None


def test_a_discrete_space_lists_its_points():
    space = mfopt.Space(
        {"kind": ["a", "b", "c"], "n": mfopt.Integer(1, 4), "size": mfopt.Ordinal([1, 2, 4], when={"kind": "a"})},
        constraints=lambda p: p["n"] < 4 or p["kind"] == "a",
    )
    assert len(space.points) == 4 * 3 + 2 * 3
    assert space.contains(space.points).all()
    assert [space.locate(u) for u in space.points] == list(range(18))
    assert space.locate(np.full(space.dim, 0.25)) is None


@pytest.mark.parametrize("parameters", [{"n": mfopt.Integer(1, 3), "x": (0.0, 1.0)}, {"n": mfopt.Integer(1, 90_000)}])
def test_a_space_with_numbers_or_many_values_lists_none(parameters):
    space = mfopt.Space(parameters)
    assert space.points is None
    assert space.locate(space.sample(1, np.random.default_rng(0))[0]) is None


def test_a_thin_linear_constraint_with_integers_is_sampled_as_the_same_function_is():
    parameters = {"a": (0, 1), "b": (0, 1), "c": (0, 1), "n": Integer(0, 3), "m": Integer(0, 3)}
    linear = Space(parameters, constraints=LinearConstraint(np.ones(5), 2.999, 3.0))
    function = Space(parameters, constraints=lambda p: 2.999 <= sum(p.values()) <= 3.0)
    for space in (linear, function):
        u = space.sample(50, np.random.default_rng(0))
        assert space.contains(u).all()
        assert len(np.unique(space.decode(u)[:, 3:], axis=0)) > 1
    # What is drawn depends on the space and the generator alone, not on what was drawn before.
    first, again = (linear.sample(20, np.random.default_rng(1)) for _ in range(2))
    fresh = Space(parameters, constraints=linear_again()).sample(20, np.random.default_rng(1))
    assert np.array_equal(first, again)
    assert np.array_equal(first, fresh)


def linear_again():
    return LinearConstraint(np.ones(5), 2.999, 3.0)


def test_points_found_by_chance_are_kept_where_linear_programming_finds_none():
    reals = {f"r{k}": (0, 1) for k in range(8)}
    parameters = {**reals, "n": Integer(0, 3), "m": Integer(0, 3)}
    space = Space(parameters, constraints=LinearConstraint(np.ones(10), 5.999, 6))
    assert space.contains(space.sample(100, np.random.default_rng(0))).all()


def test_an_empty_linear_constraint_with_integers_is_reported():
    space = Space({"a": (0, 1), "n": Integer(0, 3)}, constraints=LinearConstraint([0, 2], 2.9, 3.1))
    with pytest.raises(EmptyDomain, match="none in 200000 random draws nor by linear programming"):
        space.sample(1, np.random.default_rng(0))


def test_an_equality_of_integers_is_a_constraint():
    parameters = {"a": (0, 1), "n": Integer(0, 3), "m": Integer(0, 3)}
    space = Space(parameters, constraints=LinearConstraint([0, 1, 1], 3, 3))
    x = space.decode(space.sample(100, np.random.default_rng(0)))
    assert (x[:, 1:].sum(axis=1) == 3).all()
    assert len(np.unique(x[:, 1])) == 4
    listed = Space({"n": Integer(0, 3), "m": Integer(0, 3)}, constraints=LinearConstraint([1, 1], 3, 3))
    assert len(listed.points) == 4
    with pytest.raises(InputError, match="an equality of real numbers leaves no interior"):
        Space(parameters, constraints=LinearConstraint([1, 1, 1], 3, 3))
    with pytest.raises(InputError, match="a constraint needs lb < ub"):
        Space(parameters, constraints=LinearConstraint([0, 1, 1], 3, 2))


@pytest.mark.parametrize(
    "constraint", [lambda p: 1 / (p["a"] - 0.5) > 0, NonlinearConstraint(lambda x: 1 / float(x[0] - 0.5), 0, 1)]
)
def test_a_constraint_that_raises_is_told_with_the_point(constraint):
    with pytest.raises(InputError, match=r"judge every point, got ZeroDivisionError: .* at .*0\.5.*lambda") as e:
        Space({"a": (0, 1)}, constraints=constraint)
    assert isinstance(e.value.__cause__, ZeroDivisionError)


def test_bounds_of_integers_may_be_written_as_floats():
    assert Integer(1e3, 1e6) == Integer(1000, 1000000)
    assert type(Integer(np.float64(1.0), 2).lo) is int
    for bad in (1.5, "1", True, np.nan, np.inf):
        with pytest.raises(InputError, match="a lower bound of integers must be an integer, got"):
            Integer(bad, 10)


def test_the_few_points_that_constraints_leave_of_many_are_all_found_and_none_is_asked_twice():
    def few(p):
        return p["a"] == 37 and p["b"] in (1, 50, 51, 99)

    space = Space({"a": Integer(0, 300), "b": Integer(0, 300)}, constraints=few)
    assert space.points is not None
    assert len(space.points) == 4
    opt = mfopt.Optimizer(space, [1.0, 3.0], capital=60.0, noise=0.0, rng=0)
    asked = []
    while not opt.done:
        trial = opt.ask()
        asked.append((trial.params["b"], trial.fidelity))
        opt.tell(trial, trial.params["b"])
    assert len(set(asked)) == len(asked)
    assert opt.best.params["b"] == 99


def test_a_point_that_random_draws_miss_is_drawn_from_the_list():
    space = Space({"a": Integer(0, 300), "b": Integer(0, 300)}, constraints=lambda p: (p["a"], p["b"]) == (37, 54))
    for seed in range(6):  # one of nine generators misses it in 200,000 draws
        assert space.decode(space.sample(3, np.random.default_rng(seed))).tolist() == [[37.0, 54.0]] * 3
