"""A third party's distribution, installed as a user would and used by its name."""

import json
import shutil
import site
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from tests.docs.test_docs import files

pytestmark = [pytest.mark.slow, pytest.mark.posix_only]  # the places in an environment differ on Windows

EXAMPLE = Path(__file__).resolve().parents[2] / "plugins" / "example-sklearn"


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """The interpreter of an environment of its own, which sees what is installed here."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, system_site_packages=True)  # its pip and setuptools are those of the outer environment
    interpreter = folder / "bin" / "python"
    # Where the tests run in an environment themselves, the new one sees only the base interpreter's packages:
    # this file adds those of the outer environment, behind its own.
    packages = next(folder.glob("lib/python*/site-packages"))
    outer = [*site.getsitepackages(), str(Path(pytest.__file__).parents[1])]
    lines = [f"import site; site.addsitedir({path!r})" for path in dict.fromkeys(outer)]
    (packages / "outer.pth").write_text("\n".join(lines) + "\n")
    return interpreter


def call(*command, cwd=None):
    done = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def install(python, folder):
    call(python, "-m", "pip", "install", "-q", "--no-index", "--no-build-isolation", "--no-deps", ".", cwd=folder)
    return {plugin["name"]: plugin for plugin in json.loads(call(python, "-m", "mfopt.cli", "plugins", "--json"))}


def test_the_scikit_learn_example_installs_conforms_and_runs_by_name(python, tmp_path):
    pytest.importorskip("sklearn")
    folder = shutil.copytree(EXAMPLE, tmp_path / "example", ignore=shutil.ignore_patterns("build", "*.egg-info"))
    plugin = install(python, folder)["sklearn-gp"]
    assert plugin["distribution"] == "mfopt-sklearn-gp"
    assert plugin["group"] == "mfopt.surrogates"
    assert "mfopt-sklearn-gp" not in call(
        sys.executable, "-m", "mfopt.cli", "plugins"
    )  # only the new environment has it
    (folder / "mfopt_sklearn_gp.py").unlink()  # what runs now is the installed one
    assert " passed" in call(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests", cwd=folder)


def test_the_plugin_of_the_page_installs_and_runs_by_name(python, tmp_path):
    for name in ("mfopt_shrinking.py", "pyproject.toml", "use.py"):
        (tmp_path / name).write_text(files()[name], encoding="utf-8")
    assert install(python, tmp_path)["shrinking"]["distribution"] == "mfopt-shrinking"
    (tmp_path / "mfopt_shrinking.py").unlink()
    assert call(python, "use.py", cwd=tmp_path).startswith("Best(")
