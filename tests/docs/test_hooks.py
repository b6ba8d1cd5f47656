"""docs/write-a-plugin.md lists every hook of mfopt/hooks/, as the code has it."""

import inspect
from typing import Protocol

from mfopt import hooks
from tools.document_hooks import PAGE, SECTION, table
from tools.pages import read_section


def test_the_table_is_the_one_that_the_code_gives():
    assert read_section(PAGE, SECTION) == table(), "run python tools/document_hooks.py"


def test_every_ability_that_is_asked_for_by_isinstance_is_listed():
    single = [
        name
        for name, one in inspect.getmembers(hooks, inspect.isclass)
        if one.__module__.startswith(f"{hooks.__name__}.")
        and getattr(one, "_is_runtime_protocol", False)
        and one.__bases__[0] is Protocol  # not one that sums up others
    ]
    assert len(single) >= 13
    for name in single:
        assert f"| `{name}` |" in table()
