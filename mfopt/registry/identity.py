"""Identity: what a plugin is called, where it comes from and with which options it was made."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from mfopt.checks import show
from mfopt.errors import PluginError
from mfopt.hooks import DescribesOptions
from mfopt.registry.points import GROUPS, describe_distributions, distribution_of, find_points, find_usable

_OWN_PACKAGE = "mfopt_plugins"  # of the built-in plugins


def is_built_in(plugin: object, group: str | None = None) -> bool:
    """Whether this instance or class, or what the name means in `group`, is a plugin of mfopt's own.

    Our tests hold those to their protocols, so that they can be called without looking twice.
    """
    if isinstance(plugin, str) and group is not None:
        found = find_usable(group, plugin)
        return bool(found) and found[0].value.startswith(f"{_OWN_PACKAGE}.")
    return _class_of(plugin).__module__.partition(".")[0] == _OWN_PACKAGE


def name_of(group: str, given: object) -> tuple[str, str | None]:
    """How an error should call a plugin, given by name, as an instance or as its class; and its distribution if known.

    A name is in quotes; an instance is called as its class.
    """
    if isinstance(given, str):
        return repr(given), describe_distributions(find_usable(group, given))
    kind = _class_of(given)
    if kind.__module__ == "builtins":
        return show(given), None
    found = find_distribution(given)
    return f"{kind.__module__}.{kind.__qualname__}", " ".join(found) if found else None


def _class_of(given: object) -> type:
    return given if isinstance(given, type) else type(given)


def find_distribution(given: object) -> tuple[str, str] | None:
    """Name and version of the distribution of an instance or class; None where it is unknown.

    It is that of the entry point that names the class, or one whose plugins are of the same package.
    """
    kind = _class_of(given)
    origin, package = f"{kind.__module__}:{kind.__qualname__}", kind.__module__.partition(".")[0]
    points = [point for group in GROUPS.values() for point in find_points(group)]
    exact = [point for point in points if point.value == origin]
    near = [point for point in points if point.value.partition(":")[0].partition(".")[0] == package]
    return distribution_of((exact or near)[0]) if exact or near else None


def identify(group: str, given: object) -> tuple[str | None, dict[str, Any] | None]:
    """The name under which an instance's class is installed, and the options it was made with; None where unknown.

    Options are the keyword arguments of the constructor that differ from their defaults. They are what the instance's
    method `options()` returns; without one, the attributes called as the parameters are, with or without an underscore.
    """
    kind = type(given)
    origin = f"{kind.__module__}:{kind.__qualname__}"
    names = {point.name for point in find_points(group) if point.value == origin}
    name = min((one for one in names if [p.value for p in find_usable(group, one)] == [origin]), default=None)
    try:
        return name, find_options(given)
    except PluginError:
        return name, None


def find_options(given: object) -> dict[str, Any]:
    """The options that an instance was made with, as far as they differ from the defaults; checked by making it again.

    A PluginError says which of them cannot be told.
    """
    options = _read_options(given)
    try:
        again = _read_options(type(given)(**options))
    except PluginError:
        raise
    except Exception as error:  # whatever a third party's constructor may raise
        raise _incomplete(
            given, f"making it again with {show(options)} raised {type(error).__name__}: {error}"
        ) from error
    if repr(again) != repr(options):
        raise _incomplete(given, f"one that is made with {show(options)} says {show(again)}")
    return options


def _read_options(given: object) -> dict[str, Any]:
    kind = type(given)
    if kind.__init__ is object.__init__:
        return {}
    parameters = list(inspect.signature(kind.__init__).parameters.values())[1:]
    if isinstance(given, DescribesOptions) and callable(given.options):  # not an attribute of this name
        told = given.options()
        if not isinstance(told, Mapping):
            raise _incomplete(given, f"options() must return them by name, got {show(told)}")
        known = dict(told)
        missing = [p.name for p in parameters if p.name not in known]
        unknown = [name for name in known if name not in {p.name for p in parameters}]
        if missing or unknown:  # one that is left out would be lost
            what = f"without {', '.join(missing)}" if missing else f"with {', '.join(unknown)}, which it does not take"
            raise _incomplete(given, f"options() must return all arguments of the constructor, got them {what}")
    else:
        known = {p.name: _read_attribute(given, p) for p in parameters}
    defaults = {p.name: p.default for p in parameters}
    return {key: value for key, value in known.items() if repr(value) != repr(defaults.get(key))}


def _read_attribute(given: object, parameter: inspect.Parameter) -> Any:
    """An option that is kept as an attribute of its name, with or without an underscore."""
    name, kind = parameter.name, parameter.kind
    holder = next((one for one in (name, f"_{name}") if hasattr(given, one)), None)
    if holder is None or kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
        raise _incomplete(given, f"there must be a method options() or an attribute {name}, got neither")
    return getattr(given, holder)


def _incomplete(given: object, reason: str) -> PluginError:
    return PluginError(f"its options cannot be told: {reason}", *name_of("", given))


def default_options(group: str, name: str) -> dict[str, Any]:
    """The defaults of the installed plugin's options; none where it cannot be imported or does not tell."""
    try:
        parameters = inspect.signature(find_usable(group, name)[0].load()).parameters.values()
    except Exception:  # whatever a third party's import may raise, and compiled code without a signature
        return {}
    return {p.name: p.default for p in parameters if p.default is not p.empty}
