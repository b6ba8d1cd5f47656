import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mfopt import Categorical, Integer, Optimizer, Space
from mfopt.run.history import History

entries = st.lists(
    st.tuples(
        st.integers(0, 10**9),
        st.tuples(st.floats(-1e9, 1e9), st.floats(-1e9, 1e9)),
        st.integers(0, 5),
        st.none() | st.floats(-1e9, 1e9),
        st.floats(0.0, 1e6),
    ),
    max_size=70,
)


@given(entries)
def test_columns_give_back_what_was_appended_in_order(rows):
    history = History(("a", "b"))
    for id, x, m, y, cost in rows:
        history.append(id, np.array(x), m, y, cost)
    assert len(history) == len(rows)
    assert history.id.tolist() == [row[0] for row in rows]
    assert history.x.shape == (len(rows), 2)
    assert [tuple(x) for x in history.x.tolist()] == [row[1] for row in rows]
    assert history.fidelity.tolist() == [row[2] for row in rows]
    assert history.status.tolist() == ["failed" if row[3] is None else "ok" for row in rows]
    assert np.array_equal(history.y, [np.nan if row[3] is None else row[3] for row in rows], equal_nan=True)
    assert history.cost.tolist() == [row[4] for row in rows]


@pytest.mark.parametrize("column", ["x", "fidelity", "y", "cost", "status", "id"])
def test_a_reader_cannot_corrupt_it(column):
    history = History(("a",))
    history.append(0, np.array([1.0]), 0, 2.0, 1.0)
    array = getattr(history, column)
    before = array.tolist()
    with pytest.raises(ValueError, match="read-only"):
        array[...] = array[0]
    array.flags.writeable = True
    array[...] = "bad" if column == "status" else 7
    assert getattr(history, column).tolist() == before


def test_arrays_taken_earlier_do_not_change():
    history = History(("a",))
    history.append(0, np.array([1.0]), 0, 2.0, 1.0)
    y = history.y
    for k in range(100):
        history.append(k + 1, np.array([1.0]), 0, 3.0, 1.0)
    assert y.tolist() == [2.0]


def test_a_dataframe_has_a_column_per_coordinate():
    history = History(("rate", "y"))
    history.append(4, np.array([0.1, 7.0]), 1, None, 10.0)
    frame = history.to_dataframe()
    assert list(frame.columns) == ["id", "rate", "x.y", "fidelity", "y", "cost", "status"]
    assert frame.loc[0, ["id", "rate", "x.y", "fidelity", "cost", "status"]].tolist() == [
        4,
        0.1,
        7.0,
        1,
        10.0,
        "failed",
    ]


def test_without_pandas_the_error_names_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"mfopt\[dataframe\]"):
        History(("a",)).to_dataframe()


def test_params_and_frames_have_native_values_and_leave_out_what_does_not_count():
    space = Space(
        {
            "n": Integer(1, 5),
            "c": ["a", "b"],
            "m": Integer(1, 3, when={"c": "b"}),
            "on": Categorical([True, False], when={"c": "b"}),
        }
    )
    opt = Optimizer(space, [1.0], strategy="random", rng=0)
    opt.add([{"n": 2, "c": "a"}, {"n": 3, "c": "b", "m": 2, "on": True}], 0, [1.0, 2.0])
    assert opt.history.params == [{"n": 2, "c": "a"}, {"n": 3, "c": "b", "m": 2, "on": True}]
    assert [type(value) for value in opt.history.params[1].values()] == [int, str, int, bool]
    frame = opt.history.to_dataframe()
    assert [str(frame[name].dtype) for name in ("n", "m", "on")] == ["int64", "Int64", "boolean"]
    assert frame.to_csv(index=False).splitlines()[1:] == ["0,2,a,,,0,1.0,0.0,ok", "1,3,b,2,True,0,2.0,0.0,ok"]
    again = Optimizer(space, [1.0], strategy="random", rng=0)
    again.add(frame[["on", "m", "c", "n"]], frame["fidelity"], frame["y"])  # in any order of the columns
    assert again.history.params == opt.history.params


def test_a_dataframe_has_the_bounds_of_failures_where_there_are_any():
    history = History(("a", "bound"))
    history.append(0, np.array([0.1, 7.0]), 0, 2.0, 1.0)
    assert list(history.to_dataframe().columns) == ["id", "a", "x.bound", "fidelity", "y", "cost", "status"]
    history.append(1, np.array([0.2, 7.0]), 0, None, 1.0, bound=0.5)
    frame = history.to_dataframe()
    assert list(frame.columns) == ["id", "a", "x.bound", "fidelity", "y", "cost", "status", "bound"]
    assert frame.to_csv(index=False).splitlines()[1:] == ["0,0.1,7.0,0,2.0,1.0,ok,", "1,0.2,7.0,0,,1.0,failed,0.5"]
