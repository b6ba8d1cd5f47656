import sys
from importlib.metadata import entry_points

import pytest

from mfopt import Optimizer, PluginError, PluginWarning, UnknownPlugin
from mfopt.protocols import VERSION
from mfopt.registry import (
    MAXIMISERS,
    STRATEGIES,
    SURROGATES,
    find_options,
    identify,
    make,
    name_of,
    plugins,
    resolve,
    resolve_each,
    unreadable,
)
from tests.optimizer.toys import FixedGP, RandomMaximiser, RandomSearch

MODULE = """
class Good:
    made = 0
    def __init__(self):
        type(self).made += 1
    def model(self, dim, noise=None):
        return None

class NeedsArguments:
    def __init__(self, path):
        pass

class NoMethod:
    pass

class WrongSignature:
    def model(self, dim):
        return None

class Extra:
    def model(self, dim, noise, *, depth):
        return None

class Future(Good):
    protocol_version = 99

class Quits(Good):
    def __init__(self):
        raise SystemExit(3)

def factory():
    return Good()

number = 3
"""


@pytest.fixture
def install(tmp_path, monkeypatch):
    """A distribution with entry points, put on the path as pip would."""
    monkeypatch.syspath_prepend(tmp_path)

    def installer(distribution, lines, group=SURROGATES, module="toy_plugins", source=MODULE):
        (tmp_path / f"{module}.py").write_text(source)
        info = tmp_path / f"{distribution.replace('-', '_')}-1.2.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.2\n")
        (info / "entry_points.txt").write_text(f"[{group}]\n" + "\n".join(lines) + "\n")
        monkeypatch.delitem(sys.modules, module, raising=False)

    return installer


def test_listing_imports_nothing(install):
    install("toy-dist", ["good = toy_plugins:Good", "gone = nowhere.at_all:X"])
    listed = {plugin.name: plugin for plugin in plugins() if plugin.distribution == "toy-dist"}
    assert set(listed) == {"good", "gone"}
    assert listed["good"].version == "1.2"
    assert listed["good"].group == SURROGATES
    assert listed["good"].origin == "toy_plugins:Good"
    assert "toy_plugins" not in sys.modules


def test_the_built_in_plugins_come_through_the_same_door():
    listed = {(plugin.group, plugin.name) for plugin in plugins() if plugin.distribution == "mfopt"}
    assert {(SURROGATES, "se"), (MAXIMISERS, "nlopt-direct"), (STRATEGIES, "mf-gp-ucb")} <= listed


@pytest.mark.parametrize("point", ["toy_plugins:Good", "toy_plugins:factory"])
def test_a_name_is_loaded_when_it_is_used(install, point):
    install("toy-dist", [f"good = {point}"])
    plugin = resolve(SURROGATES, "good")
    assert type(plugin).__name__ == "Good"
    assert resolve(SURROGATES, "good") is not plugin


def test_a_broken_plugin_is_named_and_disturbs_nobody(install):
    install("toy-dist", ["good = toy_plugins:Good"])
    install("bad-dist", ["broken = bad_plugin:X"], module="bad_plugin", source="raise ImportError('no libfoo')")
    with pytest.raises(PluginError, match=r"'broken' \(from bad-dist 1.2\): .*ImportError: no libfoo") as caught:
        resolve(SURROGATES, "broken")
    assert caught.value.distribution == "bad-dist 1.2"
    resolve(SURROGATES, "good")


@pytest.mark.parametrize(
    ("point", "reason"),
    [
        ("toy_plugins:Missing", "cannot be loaded: AttributeError"),
        ("toy_plugins:NeedsArguments", "cannot be loaded: TypeError.*path"),
        ("toy_plugins:number", "cannot be loaded: TypeError"),
        ("toy_plugins:NoMethod", r"must have a method model\(dim, noise\), got none"),
        ("toy_plugins:WrongSignature", r"must have a method model\(dim, noise\), got model\(dim\)"),
        ("toy_plugins:Extra", r"got model\(dim, noise, \*, depth\)"),
        ("toy_plugins:Quits", "cannot be loaded: SystemExit: 3"),
        ("toy_plugins:Future", f"protocol_version must be {VERSION}, .* got 99: install a newer mfopt"),
    ],
)
def test_a_plugin_that_breaks_the_protocol_is_refused_with_the_reason(install, point, reason):
    install("toy-dist", [f"toy = {point}"])
    with pytest.raises(PluginError, match=rf"'toy' \(from toy-dist 1.2\): .*{reason}"):
        resolve(SURROGATES, "toy")


def test_an_unknown_name_lists_the_known_ones_and_the_nearest(install):
    install("toy-dist", ["good = toy_plugins:Good"])
    with pytest.raises(UnknownPlugin, match=r"surrogate must be .*'good'.*'se'.* got 'goood'; did you mean 'good'"):
        resolve(SURROGATES, "goood")
    with pytest.raises(ValueError, match="strategy must be"):
        Optimizer([(0, 1)], [1.0], strategy="zzz")


def test_two_distributions_with_one_name_are_both_named_and_others_work(install):
    install("toy-dist", ["twin = toy_plugins:Good", "good = toy_plugins:Good"])
    install("other-dist", ["twin = other_plugins:Good"], module="other_plugins")
    with pytest.raises(PluginError, match=r"(?=.*toy-dist 1.2)(?=.*other-dist 1.2)(?=.*other_plugins:Good)"):
        resolve(SURROGATES, "twin")
    resolve(SURROGATES, "good")
    assert len(entry_points(group=SURROGATES, name="twin")) == 2


def test_two_distributions_that_name_the_same_object_agree(install):
    install("toy-dist", ["same = toy_plugins:Good"])
    install("other-dist", ["same = toy_plugins:Good"])
    resolve(SURROGATES, "same")


@pytest.mark.parametrize(
    ("group", "instance"), [(SURROGATES, FixedGP()), (MAXIMISERS, RandomMaximiser()), (STRATEGIES, RandomSearch())]
)
def test_an_instance_is_taken_as_it_is_after_the_same_check(group, instance):
    assert resolve(group, instance) is instance
    for wrong in (object(), None, type(instance), 3):
        with pytest.raises(PluginError):
            resolve(group, wrong)


def test_a_class_instead_of_an_instance_is_explained():
    with pytest.raises(PluginError, match="as an instance, got the class RandomSearch"):
        resolve(STRATEGIES, RandomSearch)


def test_equal_names_in_a_list_are_one_instance(install):
    install("toy-dist", ["good = toy_plugins:Good"])
    own = FixedGP()
    first, second, third = resolve_each(SURROGATES, ["good", own, "good"], 3)
    assert first is third
    assert second is own
    assert type(first).made == 1


# ----------------------------------------------------------------------------------- reserved names, broken metadata


def test_a_built_in_name_that_another_claims_is_reported_and_skipped(install):
    install("thief-dist", ["se = toy_plugins:Good", "good = toy_plugins:Good"])
    with pytest.warns(PluginWarning, match="surrogate name 'se' is reserved .* that of thief-dist 1.2 is skipped"):
        surrogate = resolve(SURROGATES, "se")
    assert type(surrogate).__module__ == "mfopt_plugins.surrogates.se"
    listed = {plugin.name: plugin for plugin in plugins() if plugin.distribution == "thief-dist"}
    assert listed["se"].problem == "skipped: the name 'se' is reserved for mfopt's own plugin"
    assert listed["good"].problem == ""
    assert identify(SURROGATES, resolve(SURROGATES, "good")) == ("good", {})


@pytest.mark.parametrize("text", [b"\xff\xfe broken", b"no section = here\n", b"[mfopt.surrogates]\nno value\n"])
def test_broken_metadata_of_one_distribution_breaks_nothing_else(install, tmp_path, text):
    install("toy-dist", ["good = toy_plugins:Good"])
    install("broken-dist", ["bad = toy_plugins:Good"])
    (tmp_path / "broken_dist-1.2.dist-info" / "entry_points.txt").write_bytes(text)
    assert {"good", "se"} <= {plugin.name for plugin in plugins()}
    assert type(resolve(SURROGATES, "good")).__name__ == "Good"
    if b"\xff" in text:  # what else Python cannot read differs from version to version
        assert [line for line in unreadable() if "broken_dist-1.2" in line], unreadable()


def test_a_distribution_without_a_name_is_listed_as_unknown(install, tmp_path):
    install("nameless-dist", ["good = toy_plugins:Good"])
    (tmp_path / "nameless_dist-1.2.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\n")
    (listed,) = [plugin for plugin in plugins() if plugin.name == "good"]
    assert (listed.distribution, listed.version) == ("unknown distribution", "?")
    assert type(resolve(SURROGATES, "good")).__name__ == "Good"


def test_an_instance_is_called_by_its_class_and_its_distribution(install):
    install("toy-dist", ["good = toy_plugins:Good"])
    assert name_of(SURROGATES, resolve(SURROGATES, "good")) == ("toy_plugins.Good", "toy-dist 1.2")
    assert name_of(SURROGATES, FixedGP()) == ("tests.optimizer.toys.FixedGP", None)


# --------------------------------------------------------------------------------------------------------- options


class Kept(RandomMaximiser):
    """Options as attributes."""

    def __init__(self, points=500, step=(0.5, 0.25), *, name=None):
        self.points, self._step, self.name = points, step, name


class Told(RandomMaximiser):
    """Options kept in another way, and told."""

    def __init__(self, scale=1.0):
        self.square = scale**2

    def options(self):
        return {"scale": self.square**0.5}


class Forgetful(RandomMaximiser):
    """Does not tell all of its options."""

    def __init__(self, scale=1.0, shift=0.0):
        self.scale = scale

    def options(self):
        return {"scale": self.scale}


class Named(RandomMaximiser):
    """Has a parameter called as the method that tells options is."""

    def __init__(self, options=None):
        self.options = options


class Hidden(RandomMaximiser):
    def __init__(self, scale=1.0):
        self.square = scale**2


class Misleading(RandomMaximiser):
    """The attribute is not what the constructor was given."""

    def __init__(self, scale=1.0):
        self.scale = scale**2


class Picky(RandomMaximiser):
    """Cannot be made again from what it keeps."""

    def __init__(self, text="1"):
        self.text = int(text)
        assert isinstance(text, str)


@pytest.mark.parametrize(
    ("plugin", "options"),
    [
        (RandomMaximiser(), {}),
        (Kept(), {}),
        (Kept(200, name="n"), {"points": 200, "name": "n"}),
        (Kept(step=(1.0,)), {"step": (1.0,)}),
        (Told(), {}),
        (Told(3.0), {"scale": 3.0}),
        (Named({"a": 1}), {"options": {"a": 1}}),
        (Forgetful(3.0, 1.0), None),
        (Hidden(3.0), None),
        (Misleading(3.0), None),
        (Picky("2"), None),
    ],
)
def test_the_options_of_an_instance_are_found_or_known_to_be_unknown(plugin, options):
    assert identify(MAXIMISERS, plugin) == (None, options)


@pytest.mark.parametrize(
    ("plugin", "reason"),
    [
        (Forgetful(3.0, 1.0), r"options\(\) must return all arguments of the constructor, got them without shift"),
        (Hidden(3.0), r"there must be a method options\(\) or an attribute scale, got neither"),
        (Misleading(3.0), r"one that is made with \{'scale': 9.0\} says \{'scale': 81.0\}"),
        (Picky("2"), "raised AssertionError"),
    ],
)
def test_why_options_are_unknown_is_said(plugin, reason):
    with pytest.raises(PluginError, match=f"{type(plugin).__name__}: its options cannot be told: .*{reason}"):
        find_options(plugin)


def test_every_built_in_plugin_is_known_by_its_name_and_made_again():
    for plugin in plugins():
        if plugin.distribution == "mfopt":
            assert identify(plugin.group, resolve(plugin.group, plugin.name)) == (plugin.name, {})


@pytest.mark.parametrize(
    ("group", "name", "options"),
    [
        (STRATEGIES, "mf-gp-ucb", {"zetas": [0.1, None], "affine": True, "beta_factor": 0.4}),
        (STRATEGIES, "mf-gp-ucb", {"mode": "theory", "gammas": [0.5]}),
        (STRATEGIES, "gp-ucb", {"delta": 0.2}),
        (STRATEGIES, "gp-ei", {"initial_capital": 7.0}),
        (STRATEGIES, "gp-pi", {"xi": 0.5}),
        (STRATEGIES, "mf-naive", {"limit": 7}),
        (SURROGATES, "se", {"lengthscale": [0.5, 0.25], "mean": 1.0}),
        (SURROGATES, "matern", {"nu": 1.5, "scale": 2.0}),
        (SURROGATES, "ar1", {"rho": 1.0, "nu": 2.5}),
        (MAXIMISERS, "direct", {"budget": 100, "climbs": 3}),
        (MAXIMISERS, "multistart", {"samples": 9}),
        (MAXIMISERS, "nlopt-direct", {"budget": 9}),
    ],
)
def test_options_of_built_in_plugins_come_back(group, name, options):
    assert identify(group, make(group, name, options)) == (name, options)
