"""A reader can hold each part in mind: limits on functions, classes and the files of the core."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted(
    file for folder in ("mfopt", "mfopt_core", "plugins", "tools", "examples") for file in (ROOT / folder).rglob("*.py")
)
LONGEST_FUNCTION, LONGEST_CLASS, LONGEST_CORE_FILE = 60, 250, 350


def too_long(source):
    """Functions and classes over the limits, without the lines of decorators."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            lines = (node.end_lineno or 0) - node.lineno + 1
            limit = LONGEST_CLASS if isinstance(node, ast.ClassDef) else LONGEST_FUNCTION
            if lines > limit:
                yield f"{node.name}: {lines} lines, at most {limit}"


def test_no_function_and_no_class_is_too_long():
    found = [f"{file.relative_to(ROOT)}: {one}" for file in FILES for one in too_long(file.read_text(encoding="utf-8"))]
    assert len(FILES) > 100
    assert found == []


def test_the_check_counts_lines():
    assert list(too_long("def f():\n" + "    x = 1\n" * 60)) == ["f: 61 lines, at most 60"]
    assert list(too_long("class C:\n" + "    x = 1\n" * 249)) == []


@pytest.mark.parametrize("file", sorted((ROOT / "mfopt_core").glob("*.pyx")), ids=lambda file: file.name)
def test_no_file_of_the_core_is_too_long(file):
    assert len(file.read_text(encoding="utf-8").splitlines()) < LONGEST_CORE_FILE
