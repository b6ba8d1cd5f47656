"""Methods as they are written on a command line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mfopt import problems
from mfopt.bench import Method
from mfopt.errors import InputError, UnknownPlugin
from mfopt.options import parse_options, write_options

names = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
values = st.one_of(
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(),
    st.none(),
    st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Zs", "Zl", "Zp"]), min_size=1, max_size=8),
    st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=3),
)


@given(names, st.dictionaries(names, values, max_size=4))
def test_what_is_written_is_read_back(name, options):
    assert parse_options(write_options(name, options)) == (name, options)


@given(st.text("ab_:=,.[]'1 ", max_size=20))
def test_any_text_is_refused_or_can_be_written_again(text):
    try:
        name, options = parse_options(text)
    except InputError:
        return
    assert parse_options(write_options(name, options)) == (name, options)


def test_the_order_and_the_spelling_of_options_do_not_matter():
    one = Method.parse("mf-gp-ucb:beta_factor=0.40, surrogate=matern")
    two = Method.parse("wide=mf-gp-ucb:surrogate='matern',beta_factor=0.4")
    assert one.text == two.text == "mf-gp-ucb:beta_factor=0.4,surrogate=matern"
    assert (one.label, two.label) == (one.text, "wide")


def test_options_reach_the_strategy_and_its_parts():
    problem = problems.get("currin")
    method = Method.parse("mf-gp-ucb:gammas=[0.5],zetas=known,surrogate=matern,surrogate.nu=1.5")
    optimizer = method.optimizer(problem, capital=100.0, seed=0)
    trial = optimizer.ask()
    while trial.reason.kind != "ucb":
        optimizer.tell(trial, problem.functions[trial.fidelity](trial.x))
        trial = optimizer.ask()
    assert [fidelity.zeta for fidelity in optimizer.fidelities] == problem.zetas
    assert "0.971226" in str(trial.reason)
    assert " 0.5\n" in str(trial.reason)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gp-ucb:beta=1", "options of gp-ucb must be among .*beta_factor.* got beta"),
        ("gp-ucb:beta_factor", "name:option=value"),
        ("gp-ucb:beta_factor=1,beta_factor=2", "once, got beta_factor twice"),
        ("gp-ucb:surrogate.nu=1.5", "surrogate must be named to have options"),
        ("=gp-ucb", "label must stand before"),
        (":beta_factor=1", "name must stand before"),
        ("gp-ucb:beta_factor=-1", "beta_factor must be positive"),
    ],
)
def test_a_method_that_cannot_be_built_is_refused(text, message):
    with pytest.raises(InputError, match=message):
        Method.parse(text)


def test_an_unknown_strategy_is_refused_with_those_that_exist():
    with pytest.raises(UnknownPlugin, match="did you mean 'gp-ucb'"):
        Method.parse("gp-ucp")
