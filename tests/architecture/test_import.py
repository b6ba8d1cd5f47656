import ast
import json
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import mfopt

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = {"mfopt": ROOT / "mfopt", "mfopt_core": ROOT / "mfopt_core", "mfopt_plugins": ROOT / "plugins/mfopt_plugins"}
FORBIDDEN = {
    "mfopt": {"mfopt_plugins", "mfopt_core"},
    "mfopt_core": {"mfopt", "mfopt_plugins"},
    "mfopt_plugins": set(),
}


def imported(source):
    """Top-level names of all modules that a source file imports, wherever in it."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module.split(".")[0]


def cython_imports(source):
    """The same for Cython, which ast cannot read: by the first words of a line."""
    for words in (line.split() for line in source.splitlines()):
        if len(words) > 1 and words[0] in ("import", "cimport", "from"):
            yield words[1].split(".")[0]


@pytest.mark.parametrize("package", sorted(PACKAGES))
def test_dependencies_point_one_way(package):
    files = [f for kind in ("py", "pyx", "pxd", "pyi") for f in PACKAGES[package].rglob(f"*.{kind}")]
    assert files
    for file in files:
        names = (imported if file.suffix in (".py", ".pyi") else cython_imports)(file.read_text(encoding="utf-8"))
        wrong = FORBIDDEN[package] & set(names)
        assert not wrong, f"{file.relative_to(ROOT)} imports {wrong}"


def test_the_check_of_dependencies_sees_every_kind_of_import():
    source = "def f():\n    import a.b\n    from c.d import e\nfrom . import g\n"
    assert set(imported(source)) == {"a", "c"}
    assert set(cython_imports("from a.b cimport c\ncimport d\nimport e as f\nx = 1\n")) == {"a", "d", "e"}


def test_importing_mfopt_loads_nothing_heavy():
    code = "import sys, json, mfopt; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(json.loads(done.stdout))
    heavy = {"scipy.optimize", "scipy.stats", "scipy.linalg", "pandas", "matplotlib", "nlopt", "pytest"}
    ours = {"mfopt_core", "mfopt_plugins", "mfopt.storage", "mfopt.testing", "mfopt.plots"}
    assert not loaded & (heavy | ours)


def test_importing_mfopt_loads_what_is_rarely_needed_when_it_is_asked_for():
    code = "import sys, json, mfopt; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not set(json.loads(done.stdout)) & {"mfopt.problems", "mfopt.loop", "mfopt.regret", "urllib.request"}
    code = "import mfopt; print(mfopt.problems.get('park').name, mfopt.loop.run.__name__, mfopt.Simulator.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["park", "run", "Simulator"]
    assert set(mfopt.__all__) <= set(dir(mfopt))
    with pytest.raises(AttributeError, match="has no attribute 'problem'"):
        _ = mfopt.problem


def test_an_ask_that_learns_nothing_loads_nothing_slow():
    code = (
        "import sys, json, mfopt; mfopt.Optimizer([(0, 1)] * 2, costs=[1, 10], rng=0).ask()\n"
        "print(json.dumps(sorted(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    slow = {
        "nlopt",
        "scipy.optimize",
        "scipy.special",
        "scipy.stats",
        "scipy.spatial",
        "pandas",
        "matplotlib",
        "mfopt.problems",
    }
    assert not set(json.loads(done.stdout)) & slow


@pytest.mark.parametrize("package", ["analysis", "bench", "cli", "parallel", "plots", "problems", "testing", "theory"])
def test_a_package_can_be_imported_without_what_only_some_of_it_needs(package):
    code = f"import sys, json, mfopt.{package}; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not set(json.loads(done.stdout)) & {"matplotlib", "pandas", "scipy.optimize", "pytest", "mfopt_plugins"}


def test_everything_public_is_there():
    for name in mfopt.__all__:
        assert hasattr(mfopt, name)
    assert mfopt.__version__ == version("mfopt")
