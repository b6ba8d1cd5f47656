"""A cell by itself: what it builds, and what the digest of its code covers."""

from pathlib import Path

import pytest

import mfopt
from mfopt import registry
from mfopt.bench import cells

ROOT = Path(mfopt.__file__).parent


@pytest.mark.parametrize("prefix", cells._ASIDE)
def test_whatever_the_digest_leaves_out_exists(prefix):
    paths = [path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.py")]
    assert any(path.startswith(prefix) for path in paths)


def test_the_digest_changes_with_code_that_decides_a_run_only(tmp_path, monkeypatch):
    def digest():
        cells.code_digest.cache_clear()
        return cells.code_digest()

    package = tmp_path / "mfopt"
    for name in ("optimizer.py", "plots/run.py"):
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text("")
    found = type("Found", (), {"submodule_search_locations": [str(package)]})
    monkeypatch.setattr(cells, "find_spec", lambda name: found if name == "mfopt" else None)
    before = digest()
    (package / "plots/run.py").write_text("# drawn otherwise")
    assert digest() == before
    (package / "optimizer.py").write_text("# decides otherwise")
    assert digest() != before
    cells.code_digest.cache_clear()


def test_a_cell_makes_its_plugins_once(monkeypatch):
    made, make = [], registry.make

    def count(group, name, options=None):
        made.append(name)
        return make(group, name, options)

    monkeypatch.setattr(registry, "make", count)
    monkeypatch.setattr(registry.lookup, "make", count)  # by which names are resolved
    task = cells.Task("currin", "gp-ucb:maximiser=multistart", 0, 1.0, "1", "code")
    assert cells.run_cell(task, "label").status == "done"
    assert sorted(made) == ["gp-ucb", "multistart", "se"]
