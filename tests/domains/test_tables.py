"""Rows of a user's pandas tables as points: read by the names of their columns, never by position."""

import numpy as np
import pytest

from mfopt import Box, Categorical, DomainError, FiniteSet, Integer, Optimizer, Real, Space

pandas = pytest.importorskip("pandas")

PAIR = {
    "box": Box([(0, 1), (0, 1)], names=["a", "b"]),
    "space": Space({"a": (0, 1), "b": (0, 1)}),
    "finite": FiniteSet(np.array([[0.9, 0.1], [0.1, 0.9]]), names=["a", "b"]),
    "words": FiniteSet([{"a": 0.9, "b": "x"}, {"a": 0.1, "b": "y"}]),
}


@pytest.mark.parametrize("kind", list(PAIR))
def test_a_series_is_read_by_its_index(kind):
    point = {"b": "x" if kind == "words" else 0.1, "a": 0.9}
    expected = PAIR[kind].validate(point).tolist()
    assert PAIR[kind].validate(pandas.Series(point)).tolist() == expected
    assert PAIR[kind].validate(pandas.DataFrame([point]).iloc[0]).tolist() == expected
    with pytest.raises(DomainError, match="exactly the keys"):
        PAIR[kind].validate(pandas.Series({"a": 0.9, "c": 0.1}))
    with pytest.raises(DomainError, match=r"exactly the keys \['a', 'b'\], got \['0', '1'\]"):
        PAIR[kind].validate(pandas.Series([0.9, 0.1]))


def test_a_series_is_added_and_predicted_by_its_index():
    opt = Optimizer(PAIR["space"], [1.0], strategy="random", rng=0)
    opt.add(pandas.Series({"b": 0.1, "a": 0.9}), 0, 1.0)
    opt.add([pandas.Series({"b": 0.2, "a": 0.8}), pandas.Series({"a": 0.7, "b": 0.3})], 0, [2.0, 0.0])
    assert opt.history.params == [{"a": 0.9, "b": 0.1}, {"a": 0.8, "b": 0.2}, {"a": 0.7, "b": 0.3}]
    point = pandas.Series({"b": 0.1, "a": 0.9})
    assert opt.predict(point) == opt.predict({"a": 0.9, "b": 0.1})
    assert opt.predict([point])[0].tolist() == opt.predict([[0.9, 0.1]])[0].tolist()


def test_feasible_points_may_be_a_series():
    space = Space(
        {"a": (0, 1), "b": (0, 1)}, constraints=lambda p: p["a"] > 0.8, feasible=pandas.Series({"b": 0.1, "a": 0.9})
    )
    assert space.decode(space.feasible).tolist() == [pytest.approx([0.9, 0.1])]


@pytest.mark.parametrize("nothing", [None, np.nan, pandas.NA, pandas.NaT])
def test_what_is_missing_in_a_row_does_not_count(nothing):
    space = Space(
        {
            "kind": Categorical(["tree", "dart"]),
            "drop": Real(0, 1, when={"kind": "dart"}),
            "n": Integer(1, 9, when={"kind": "dart"}),
        }
    )
    expected = space.params(space.validate({"kind": "tree"}))
    row = {"kind": "tree", "drop": nothing, "n": nothing}
    assert space.params(space.validate(row)) == expected
    assert space.params(space.validate(pandas.Series(row))) == expected
    assert space.params(space.validate(pandas.Series({"kind": "tree"}))) == expected
    frame = pandas.DataFrame([row, {"kind": "dart", "drop": 0.5, "n": 3}])
    assert space.params(space.validate(frame.iloc[0])) == expected
    with pytest.raises(DomainError, match="exactly the keys that count"):
        space.validate({"kind": "dart", "drop": nothing, "n": 3})


def test_pandas_na_is_a_choice_that_is_none():
    space = Space({"kind": Categorical([None, "dart"])})
    assert space.params(space.validate({"kind": pandas.NA})) == {"kind": None}
