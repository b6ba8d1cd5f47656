"""The suites find every planted mistake, by the test that is named with it, and nothing wrong in what is right."""

import pytest

from tests.testing.mutants import maximisers, strategies, surrogates

GROUPS = {"surrogate": surrogates, "maximiser": maximisers, "strategy": strategies}
MUTANTS = [(group, name) for group, module in GROUPS.items() for name in module.MUTANTS]


def find_test(suite, start):
    """The test of a suite whose name begins so."""
    (name,) = [name for name in dir(suite) if name.startswith(start)][:1]
    return getattr(suite, name)


def test_there_are_enough_mistakes():
    assert len(MUTANTS) >= 90


@pytest.mark.parametrize(("group", "name"), MUTANTS, ids=[f"{group}: {name}" for group, name in MUTANTS])
def test_a_planted_mistake_is_found(group, name):
    module = GROUPS[group]
    test = find_test(module.make_suite(name), module.MUTANTS[name][1])
    with pytest.raises(Exception) as caught:  # noqa: PT011
        test()
    assert str(caught.value), "an assertion must say what was expected and got"


@pytest.mark.parametrize("group", GROUPS)
def test_what_the_mistakes_were_planted_in_is_right(group):
    module = GROUPS[group]
    suite = module.Suite()
    for start in sorted({start for _, start in module.MUTANTS.values()}):
        find_test(suite, start)()


def test_a_strategy_with_a_state_is_right():
    suite = strategies.Suite(strategies.Alternates)
    suite.time_limit = 10.0
    find_test(suite, strategies.STATE)()
