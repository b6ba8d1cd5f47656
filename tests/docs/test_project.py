"""CONTRIBUTING.md, CITATION.cff and the map of the README name what exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PYPROJECT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def test_the_citation_has_the_version_and_address_of_the_package():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    version = re.search(r'^version = "(.*)"', PYPROJECT, re.MULTILINE)[1]
    assert f"\nversion: {version}\n" in citation
    assert re.search(r"^repository-code: (.*)$", citation, re.MULTILINE)[1] in PYPROJECT


def test_every_make_target_that_is_named_exists():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    for page in (CONTRIBUTING, (ROOT / "README.md").read_text(encoding="utf-8")):
        named = set(re.findall(r"`make ([a-z-]+)`|^    make ([a-z-]+)", page, re.MULTILINE))
        assert {one or other for one, other in named} <= targets


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`([\w./-]+/[\w./-]*)`", CONTRIBUTING))))
def test_every_path_that_is_named_exists(path):
    places = [ROOT, ROOT / "plugins" / "mfopt_plugins"]
    assert any((place / path).exists() for place in places)


@pytest.mark.parametrize("path", sorted(set(re.findall(r"python ((?:tools|benchmarks)/\w+\.py)", CONTRIBUTING))))
def test_every_script_that_is_named_exists(path):
    assert (ROOT / path).exists()


def test_the_map_of_the_readme_names_every_package():
    section = (ROOT / "README.md").read_text(encoding="utf-8").split("## The code in a dozen lines")[1]
    for package in (path.parent.name for path in (ROOT / "mfopt").glob("*/__init__.py")):
        assert f"{package}/" in section
