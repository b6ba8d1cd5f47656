"""Measured tables of the pages stand between markers, with the version and the command that made them."""

import re
from pathlib import Path

import pytest

from tools.pages import read_section

ROOT = Path(__file__).resolve().parents[2]
MARKED = [
    (page, name)
    for page in sorted((ROOT / "docs").glob("*.md"))
    for name in re.findall(r"<!-- (?!end of )([\w-]+) -->", page.read_text(encoding="utf-8"))
    if name not in ("hooks", "rooms", "way")  # made from the code; tests of their own compare them
]


def test_the_pages_with_measurements_are_known():
    assert [name for _, name in MARKED] == ["departures", "asynchronous", "pending", "options", "preflight"]


@pytest.mark.parametrize(("page", "name"), MARKED, ids=[name for _, name in MARKED])
def test_a_table_says_with_which_version_and_command_it_was_made(page, name):
    section = read_section(page, name)
    command = re.match(r"mfopt \d+\.\d+\S*, `(?:python (\S+)|make (\S+))`: .*\n\n\|", section)
    script, target = command.groups()
    assert (ROOT / script).exists() if script else f"\n{target}:" in (ROOT / "Makefile").read_text(encoding="utf-8")
