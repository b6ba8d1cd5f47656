"""One ask takes one way: what docs/architecture.md promises of it."""

import pytest

from tools import way
from tools.pages import read_section

MOST_FILES = 17
LEARNING_FILES = 11  # more, for an ask that also learns; one that judges softening, which is rare, passes others


@pytest.fixture(scope="module")
def asks():
    """Forty asks after the initial design: the kind of each, whether it learnt, and its way."""
    optimizer, found = way.example(12), []
    for _ in range(40):
        trial, taken = way.follow(optimizer.ask)
        found.append((trial.reason.kind, way.learns(taken), taken))
        way.answer(optimizer, trial)
    return found


def test_an_ask_passes_few_files(asks):
    # A refinement, for which the bounds have to promise nothing more, also passes doubt.py, which counts it.
    plain = [len(taken.files) - (kind == "refinement") for kind, learnt, taken in asks if not learnt]
    assert len(plain) > 5
    assert max(plain) <= MOST_FILES
    learning = [taken for _, learnt, taken in asks if learnt and not any("softener" in file for file in taken.files)]
    assert max(len(taken.files) for taken in learning) <= MOST_FILES + LEARNING_FILES


def test_an_ask_crosses_into_a_plugin_once(asks):
    assert [taken.crossings for _, _, taken in asks] == [1] * len(asks)


def test_an_ask_that_explores_passes_through_the_maximiser_once(asks):
    exploring = [taken.maximisations for kind, _, taken in asks if kind == "ucb"]
    assert len(exploring) > 5
    assert set(exploring) == {1}


def test_the_page_lists_the_way():
    assert read_section(way.PAGE, way.SECTION) == way.listing(way.ordinary_ask()), "run python tools/way.py write"
