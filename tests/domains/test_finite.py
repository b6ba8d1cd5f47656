import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mfopt import DomainError, FiniteSet, InputError
from mfopt.domains import rows as rows_module
from mfopt.domains.rows import RowIndex
from mfopt.testing import DomainConformance

tables = hnp.arrays(
    np.float64,
    st.tuples(st.integers(1, 12), st.integers(1, 3)),
    elements=st.sampled_from([-0.0, 0.0, 1.0, 1.5, -2.0, 1e300, 1e-300]),
)


class TestFiniteSet(DomainConformance):
    def domain(self):
        return FiniteSet(np.random.default_rng(0).normal(size=(60, 3)) * [1.0, 1e6, 1e-6])


class TestSingleton(DomainConformance):
    def domain(self):
        return FiniteSet([[3.0, 4.0]])


class TestGridWithRepetitions(DomainConformance):
    def domain(self):
        return FiniteSet([[i % 3, i % 4, 7.0] for i in range(50)])


@given(tables)
def test_repeated_rows_are_one_point_that_goes_by_its_first_row(table):
    first = {}
    for k, row in enumerate(table.tolist()):
        first.setdefault(tuple(row), k)
    domain = FiniteSet(table)
    assert len(domain) == len(first)
    assert np.array_equal(RowIndex(table).first(), sorted(first.values()))
    for row, k in first.items():
        assert domain.validate(row).tolist() == list(row)
        u = domain.encode(np.array([row]))
        located = domain.locate(u[0])
        # Rows that scale to the same unit coordinates cannot be told apart; then the first of them answers.
        assert located == k or np.array_equal(domain.encode(table[located : located + 1]), u)
        assert located <= k


@given(tables, st.integers(0, 2**32))
def test_samples_repeat_only_when_all_points_were_drawn(table, seed):
    domain = FiniteSet(table)
    chosen = domain.sample(2 * len(domain) + 1, np.random.default_rng(seed))
    half = np.sort(chosen[: len(domain)], axis=0)
    assert np.array_equal(half, np.sort(domain.points, axis=0))
    assert np.array_equal(np.sort(chosen[len(domain) : 2 * len(domain)], axis=0), half)


def test_rows_with_colliding_hashes_are_told_apart(monkeypatch):
    monkeypatch.setattr(rows_module, "_FACTOR", np.uint64(0))  # now all hashes are equal
    table = np.random.default_rng(0).integers(0, 3, (40, 2)).astype(float)
    index = RowIndex(table)
    expected = np.unique(table, axis=0, return_index=True)[1]
    assert np.array_equal(index.first(), np.sort(expected))
    assert np.array_equal(table[index.find(table)], table)
    assert index.find(np.array([[5.0, 5.0]])).tolist() == [-1]


def test_columns_are_scaled_by_their_own_range():
    domain = FiniteSet([[0.0, 5.0, 100.0], [10.0, 5.0, 300.0], [5.0, 5.0, 200.0]])
    assert domain.points.tolist() == [[0.0, 0.5, 0.0], [1.0, 0.5, 1.0], [0.5, 0.5, 0.5]]


def test_decode_gives_the_candidates_exactly():
    rows = np.random.default_rng(1).normal(size=(1000, 4)) * 10.0 ** np.arange(-6, 6, 3)
    domain = FiniteSet(rows)
    assert np.array_equal(domain.decode(domain.points), rows)
    assert [domain.locate(u) for u in domain.points[:20]] == list(range(20))


def test_numbers_are_points_of_one_dimension():
    domain = FiniteSet([3.0, 1.0, 2.0, 1.0])
    assert domain.dim == 1
    assert len(domain) == 3
    assert domain.validate(2.0).tolist() == [2.0]
    assert domain.locate(domain.encode(np.array([[2.0]]))[0]) == 2


def test_a_dataframe_gives_names():
    frame = pd.DataFrame({"temperature": [20, 30, 40], "pressure": [1.0, 1.5, 1.0]})
    domain = FiniteSet(frame)
    assert domain.names == ("temperature", "pressure")
    assert domain.validate({"pressure": 1.5, "temperature": 30}).tolist() == [30.0, 1.5]
    with pytest.raises(InputError, match=r"finite, got .* in row 1"):
        FiniteSet(frame.assign(pressure=[1.0, np.nan, 2.0]))


def test_a_million_candidates_are_no_trouble():
    rows = np.random.default_rng(0).random((1_000_000, 4))
    rows[500_000:] = rows[:500_000]
    domain = FiniteSet(rows)
    assert len(domain) == 500_000
    assert domain.locate(domain.encode(domain.validate(rows[777_777])[None])[0]) == 277_777
    with pytest.raises(DomainError):
        domain.validate(rows[0] + 1e-12)


@pytest.mark.parametrize(
    ("points", "rule"),
    [
        ([], r"with N and d at least 1, got \(0, 1\)"),
        (np.zeros((3, 0)), "at least 1"),
        (np.zeros((2, 2, 2)), r"shape \(N, d\)"),
        ([[1.0], [1.0, 2.0]], "regular array"),
        ([[np.inf, 1.0]], "finite"),
        ("abc", "real numbers"),
        (None, "real numbers"),
        ([["a", None]], "no missing values, got None in row 0 of column 1"),
        ([["a", float("nan")]], "finite, got"),
        (pd.DataFrame({"c": ["a", np.nan]}), "no missing values, got nan in row 1 of c"),
        (pd.DataFrame({"c": pd.array([1, None], dtype="Int64")}), "(no missing values|finite), got .* in row 1"),
        (pd.DataFrame({"c": ["a", "b"], "z": [1.0, np.nan]}), "finite, got nan in row 1 of z"),
        ([{"c": "a", "z": 1.0}, {"c": "b"}], r"the same keys, got \['c', 'z'\] and \['c'\] in row 1"),
        ([{"c": "a"}, ["b"]], "must be params in every row, got \\['b'\\] in row 1"),
        ([{}], "at least 1"),
        (pd.DataFrame({"c": pd.to_datetime(["2020-01-01"])}), "numbers, strings or booleans, got .*datetime"),
        (np.array(["2020-01-01"], dtype="datetime64[ns]"), "numbers, strings or booleans, got .*datetime"),
        (np.array([[1]], dtype="timedelta64[ns]"), "numbers, strings or booleans, got .*timedelta"),
        ([[str(k)] for k in range(1001)], "at most 1000 different values, got 1001 in column 0"),
    ],
)
def test_bad_candidates_are_refused(points, rule):
    with pytest.raises(InputError, match=rule):
        FiniteSet(points)


def test_the_users_array_is_copied_and_the_points_cannot_be_changed():
    rows = np.array([[0.0, 1.0], [1.0, 0.0]])
    domain = FiniteSet(rows)
    rows[0] = 9.0
    assert domain.validate([0.0, 1.0]).tolist() == [0.0, 1.0]
    with pytest.raises(ValueError, match="read-only"):
        domain.points[0] = 3.0


@pytest.mark.parametrize("x", [[0.0, 0.5], [0.0], [np.nan, 0.0], {"x0": 0.0}, None])
def test_what_is_no_candidate_is_refused(x):
    with pytest.raises(DomainError):
        FiniteSet([[0.0, 1.0], [1.0, 0.0]]).validate(x)


# ------------------------------------------------------------------------------------------- mixed columns


def mixed():
    return pd.DataFrame(
        {
            "metal": ["tin", "iron", "gold", "tin"],
            "parts": [3, 5, 4, 3],
            "heat": [1.0, 10.0, 100.0, 1.0],
            "pure": [True, False, True, True],
            "code": [7, "seven", 7, 7],
        }
    )


class TestMixedColumns(DomainConformance):
    def domain(self):
        return FiniteSet(mixed(), log=[False, False, True, False, False])


def test_a_table_gives_back_its_own_values():
    frame = mixed()
    domain = FiniteSet(frame)
    assert domain.rows.tolist() == [0, 1, 2]
    for row, x in zip(domain.rows, domain.decode(domain.points), strict=True):
        params = domain.params(x)
        assert params == frame.iloc[row].to_dict()
        assert [type(value) for value in params.values()] == [str, int, float, bool, type(frame["code"][row])]
        assert np.array_equal(domain.validate(params), x)
        assert np.array_equal(domain.validate(list(params.values())), x)


def test_a_cell_that_is_refused_is_found_by_the_name_of_its_column():
    for cell in (None, float("nan")):
        with pytest.raises(InputError, match="in row 1 of metal"):
            FiniteSet([[1, "tin"], [2, cell]], names=["parts", "metal"])


def test_lists_and_arrays_of_objects_mean_the_same_as_a_frame():
    frame = mixed()
    rows = frame.to_dict("split")["data"]
    expected = FiniteSet(frame).describe()
    assert FiniteSet(frame.to_dict("records")).describe() == expected
    for table in (rows, [tuple(row) for row in rows], frame.to_numpy()):
        assert FiniteSet(table, names=list(frame.columns)).describe() == expected


def test_categories_are_coordinates_of_their_own_in_order_of_appearance():
    domain = FiniteSet(mixed())
    assert [(block.start, block.stop) for block in domain.blocks] == [(0, 3), (3, 4), (4, 5), (5, 6), (6, 7)]
    assert domain.dim == 7
    assert domain.decode(domain.points)[:, 0].tolist() == [0.0, 1.0, 2.0]
    apart = [np.linalg.norm(a[:3] - b[:3]) for a in domain.points for b in domain.points if a is not b]
    assert {round(distance, 12) for distance in apart} == {0.0, 1.0}


def test_a_log_scale_makes_equal_ratios_equal_distances():
    for log in (True, [False, True, False], ["x1"]):
        domain = FiniteSet([[1, 1.0, "a"], [2, 10.0, "b"], [3, 100.0, "a"]], log=log)
        assert domain.points[:, 1] == pytest.approx([0.0, 0.5, 1.0])
    assert domain.points[:, 0].tolist() == [0.0, 0.5, 1.0]
    for bad, rule in (([False, False, True], "holds no numbers"), ([True], "3 of them"), ("yes", "True or False")):
        with pytest.raises(InputError, match=rule):
            FiniteSet([[1, 1.0, "a"], [2, 10.0, "b"]], log=bad)
    with pytest.raises(InputError, match=r"a log scale needs lo > 0 .* for x0"):
        FiniteSet([[0.0], [1.0]], log=True)
    with pytest.raises(InputError, match=r"log must name columns of \['rate', 'kind'\], got 'ratt'"):
        FiniteSet([[1.0, "a"], [2.0, "b"]], names=["rate", "kind"], log=["ratt"])
    with pytest.raises(InputError, match="holds no numbers, got True for kind"):
        FiniteSet([[1.0, "a"], [2.0, "b"]], names=["rate", "kind"], log=["kind"])


def test_numbers_are_what_they_were():
    assert FiniteSet(np.array([[1, 2], [3, 4]])).params(np.array([3.0, 4.0])) == {"x0": 3, "x1": 4}
    params = FiniteSet([[1, 2.5], [3, 4.0]]).params(np.array([3.0, 4.0]))
    assert [type(value) for value in params.values()] == [int, float]
    assert FiniteSet(["a", "b"]).params(np.array([1.0])) == {"x0": "b"}


def test_an_array_for_categories_holds_places():
    domain = FiniteSet([[1, "a"], [2, "b"]])
    assert domain.validate(np.array([2.0, 1.0])).tolist() == [2.0, 1.0]
    for bad in (np.array([2.0, 5.0]), np.array([2.0, 0.5]), [2, "c"], [2, 1], {"x0": 2, "x1": "a"}):
        with pytest.raises(DomainError):
            domain.validate(bad)


@pytest.mark.parametrize(
    "table",
    [
        np.array([9007199254740992, 9007199254740993, 9007199254740995]),
        [9007199254740992, 9007199254740993, 9007199254740995],
        [{"id": 9007199254740993, "x": 0.5}, {"id": 2.0, "x": 1.5}],
        [["a", 1], ["b", -(2**53) - 1]],
        pd.DataFrame({"id": np.array([1, 2**63], dtype=np.uint64), "x": [0.5, 1.5]}),
        [1, 10**30],
    ],
)
def test_integers_that_no_float_tells_apart_are_refused(table):
    with pytest.raises(InputError, match=r"integers must be at most 2\*\*53 in size, got -?\d+ in .*as strings"):
        FiniteSet(table)


def test_the_largest_integers_are_candidates():
    points = FiniteSet(np.array([2**53, 1, -(2**53)]))
    assert [points.params(x)["x0"] for x in points.decode(points.points)] == [2**53, 1, -(2**53)]
    assert len(FiniteSet(np.array([1e300, 2e300]))) == 2
