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


def test_everything_that_the_makefile_and_its_tools_call_is_there():
    """In the sdist, too, from which `make test-dist` runs this."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    lines = makefile.replace("\\\n", " ").splitlines()
    lines += [line for script in (ROOT / "tools").glob("*.sh") for line in script.read_text("utf-8").splitlines()]
    called = set()
    for line in lines:
        called |= set(
            re.findall(r"(?<![\w/.$-])((?:tools|tests|benchmarks)/[\w./-]+\.\w+|requirements[\w-]*\.lock)", line)
        )
        called |= {f"{folder}/{file}" for folder, file in re.findall(r"cd (\w+) && \S*python (\w+\.py)", line)}
    assert len(called) > 20
    assert sorted(path for path in called if not (ROOT / path).exists()) == []


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
