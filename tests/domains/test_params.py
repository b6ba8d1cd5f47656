"""Params: native values by name, in every domain."""

import numpy as np
import pandas as pd
import pytest

import mfopt
from mfopt import Box, Categorical, DomainError, FiniteSet, Integer, Real, Space
from mfopt.domains.params import argument_of, params_of


class Circle:
    """Somebody's domain that knows of no params: angles, seen as points of a square."""

    dim, names, points = 2, ("angle",), None

    def validate(self, x):
        return np.atleast_1d(np.asarray(x, dtype=float))

    def encode(self, x):
        return 0.5 + 0.5 * np.column_stack([np.cos(x[:, 0]), np.sin(x[:, 0])])

    def decode(self, u):
        return np.arctan2(u[:, 1] - 0.5, u[:, 0] - 0.5)[:, None]

    def contains(self, u):
        return np.abs(np.hypot(*(u - 0.5).T) - 0.5) < 1e-9

    def sample(self, n, rng):
        return self.encode(rng.uniform(-3.0, 3.0, (n, 1)))

    def locate(self, u):
        return None

    def describe(self):
        return {"kind": "circle"}


SPACE = {"n": Integer(1, 5), "c": ["a", "b"], "m": Integer(1, 3, when={"c": "b"})}
TABLE = pd.DataFrame({"n": [1, 2, 3], "c": ["a", "b", "a"], "h": [0.5, 1.5, 2.5]})


@pytest.mark.parametrize(
    ("domain", "kinds"),
    [
        (Box([(0, 1), (2, 3)], names=["a", "b"]), {"a": float, "b": float}),
        (FiniteSet([[1, 0.5], [2, 1.5]], names=["n", "h"]), {"n": int, "h": float}),
        (FiniteSet(TABLE), {"n": int, "c": str, "h": float}),
        (SPACE, {"n": int, "c": str, "m": int}),
        (Circle(), {"angle": float}),
    ],
)
def test_trials_best_and_history_have_native_values_by_name(domain, kinds):
    opt = mfopt.Optimizer(domain, [1.0], capital=3.0, strategy="random", noise=0.1, rng=3)
    while not opt.done:
        trial = opt.ask()
        assert trial.params == params_of(opt.domain, trial.x)
        assert {name: type(value) for name, value in trial.params.items()}.items() <= kinds.items()
        assert set(kinds) - set(trial.params) <= {"m"}
        opt.tell(trial, float(trial.id))
    assert opt.best.params == trial.params == opt.history.params[-1]


def test_functions_are_given_arrays_where_all_are_numbers_and_params_elsewhere():
    for domain in (Box([(0, 1)]), FiniteSet([[1], [2]]), Circle()):
        x = domain.decode(domain.sample(1, np.random.default_rng(0)))[0]
        given = argument_of(domain, x)
        assert np.array_equal(given, x)
        given[0] = 7.0  # a copy
        assert x[0] != 7.0
    for domain in (Space(SPACE), FiniteSet(TABLE)):
        x = domain.decode(domain.sample(1, np.random.default_rng(0)))[0]
        assert argument_of(domain, x) == domain.params(x)


@pytest.mark.parametrize("domain", [FiniteSet(TABLE), Space({"n": Integer(1, 3), "c": ["a", "b"], "h": (0, 3)})])
def test_data_may_be_params_lists_of_them_or_a_frame(domain):
    rows = TABLE.to_dict("records")
    for x in (rows, TABLE, TABLE[["h", "c", "n"]], TABLE.to_numpy(), [list(row.values()) for row in rows]):
        opt = mfopt.Optimizer(domain, [1.0], strategy="random", rng=0)
        opt.add(x, 0, [1.0, 2.0, 3.0])
        assert opt.history.params == rows
    one = mfopt.Optimizer(domain, [1.0], strategy="random", rng=0)
    one.add(rows[1], 0, 2.0)
    one.add(TABLE.iloc[2], 0, 2.0)
    assert one.history.params == rows[1:]
    with pytest.raises(DomainError, match="exactly the keys"):
        one.add(TABLE.rename(columns={"h": "heat"}), 0, [1.0, 2.0, 3.0])
    assert len(one.history) == 2


def test_the_own_table_of_a_run_can_be_added_and_predicted_where_none_is_a_choice():
    space = Space(
        {
            "kind": Categorical(["a", None, "b"]),
            "rate": Real(0, 1, when={"kind": "a"}),
            "inner": Categorical([None, "x"], when={"kind": [None, "b"]}),
        }
    )
    opt = mfopt.Optimizer(space, costs=[1], capital=12, rng=0, strategy="random")
    while not opt.done:
        trial = opt.ask()
        opt.tell(trial, len(opt.history))
    assert {point["kind"] for point in opt.history.params} == {"a", None, "b"}
    table = opt.history.to_dataframe()
    again = mfopt.Optimizer(space, costs=[1], rng=0)
    again.add(table[list(space.names)], table["fidelity"], table["y"])
    assert again.history.params == opt.history.params
    mean, std = opt.predict(table[list(space.names)])
    assert np.array_equal(mean, opt.predict(opt.history.params)[0])
    assert std.shape == (12,)


def test_params_are_the_callers_own():
    """`kind = params.pop("kind")` is how many functions begin."""
    opt = mfopt.Optimizer({"kind": ["a", "b"], "n": Integer(1, 9)}, costs=[1], capital=5, strategy="random", rng=0)
    trial = opt.ask()
    assert trial.params.pop("kind") == trial.params["kind"] == opt.pending[0].params["kind"]
    opt.tell(trial, 1.0)
    for answer in (lambda: opt.best, opt.recommend, lambda: opt.history):
        before = answer().params
        (before[0] if isinstance(before, list) else before).clear()
        assert opt.best.params == opt.recommend().params == opt.history.params[0] == trial.params
