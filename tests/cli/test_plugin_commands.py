"""`mfopt plugins --check` and `mfopt new-plugin`."""

import json
import sys

import pytest

from mfopt import cli
from mfopt.registry import SURROGATES, Plugin
from mfopt.testing import SurrogateConformance
from mfopt.testing.health import check_health
from tests.plugins.test_example_plugin import call, install, python  # noqa: F401  # a fixture


def test_the_health_of_plugins_is_shown(monkeypatch, capsys):
    own = Plugin(SURROGATES, "se", "mfopt", "0.1.0", "mfopt_plugins.surrogates.se:SE")
    gone = Plugin(SURROGATES, "gone", "toy-dist", "1.2", "nowhere:X")
    monkeypatch.setattr("mfopt.cli.plugins.plugins", lambda: [own, gone])
    assert cli.main(["plugins", "--check", "--json"]) == 1
    first, second = json.loads(capsys.readouterr().out)
    assert first["health"] == "ok"
    assert second["health"].startswith("UnknownPlugin")
    assert (second["distribution"], second["version"]) == ("toy-dist", "1.2")
    assert cli.main(["plugins", "--check"]) == 1
    assert "health" in capsys.readouterr().out


def test_a_skipped_plugin_is_not_healthy():
    thief = Plugin(SURROGATES, "se", "thief-dist", "1.2", "toy:Good", "skipped: the name 'se' is reserved")
    assert check_health(thief) == "skipped: the name 'se' is reserved"


@pytest.mark.parametrize(
    ("name", "rule"),
    [("Forest", "lower-case"), ("a_b", "lower-case"), ("se", "a name of its own, got 'se', a surrogate of mfopt")],
)
def test_bad_names_of_new_plugins_are_refused(tmp_path, capsys, name, rule):
    assert cli.main(["new-plugin", "surrogate", name, "--into", str(tmp_path / "new")]) == 1
    assert rule in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_new_plugin_overwrites_nothing(tmp_path, capsys):
    (tmp_path / "mine.txt").write_text("mine")
    assert cli.main(["new-plugin", "surrogate", "forest", "--into", str(tmp_path)]) == 1
    assert "empty or new" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


@pytest.fixture
def forest(tmp_path, monkeypatch, capsys):
    """The class of a surrogate that was just written: an ensemble of trees."""
    assert cli.main(["new-plugin", "surrogate", "tall-forest", "--into", str(tmp_path)]) == 0
    monkeypatch.syspath_prepend(tmp_path)
    yield __import__("mfopt_tall_forest").TallForest
    sys.modules.pop("mfopt_tall_forest", None)


@pytest.mark.parametrize("test", [name for name in dir(SurrogateConformance) if name.startswith("test_")])
def test_a_tree_ensemble_that_declares_what_it_lacks_raises_no_alarm(forest, test):
    class Suite(SurrogateConformance):
        gradients = monotone = False

        def surrogate(self):
            return forest()

    getattr(Suite(), test)()


@pytest.mark.slow
@pytest.mark.posix_only
@pytest.mark.parametrize("kind", ["surrogate", "maximiser", "strategy"])
def test_a_new_plugin_installs_and_passes_its_suite(python, tmp_path, kind):  # noqa: F811
    folder = tmp_path / "new"
    call(python, "-m", "mfopt.cli", "new-plugin", kind, f"my-{kind}", "--into", folder)
    plugin = install(python, folder)[f"my-{kind}"]
    assert (plugin["distribution"], plugin["version"], plugin["problem"]) == (f"mfopt-my-{kind}", "0.1.0", "")
    (folder / f"mfopt_my_{kind}.py").unlink()  # what runs now is the installed one
    assert " passed" in call(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests", cwd=folder)
