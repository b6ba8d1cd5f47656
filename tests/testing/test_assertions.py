"""Every assertion of the suites says what was expected."""

import ast
from pathlib import Path

import pytest

import mfopt.testing

FILES = sorted(Path(mfopt.testing.__file__).parent.glob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_assertions_have_a_message(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    bare = [node.lineno for node in ast.walk(tree) if isinstance(node, ast.Assert) and node.msg is None]
    assert bare == [], f"{path.name} has assertions without a message in lines {bare}"
