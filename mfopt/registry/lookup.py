"""Lookup: a plugin by its name or as an instance, made where need be and checked against the protocol of its group.

What an entry point names is called without arguments (a class, usually), or with the options that were given.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from mfopt.checks import find_closest, one_or_each, show
from mfopt.errors import MfoptError, PluginError, UnknownPlugin
from mfopt.options import check_options, parse_options
from mfopt.protocols import VERSION
from mfopt.registry.identity import name_of
from mfopt.registry.points import MAXIMISERS, STRATEGIES, SURROGATES, WORDS, find_points, find_usable

# Per group and method the names of its parameters, as the framework passes them.
_METHODS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    SURROGATES: {"model": ("dim", "noise")},
    MAXIMISERS: {"maximise": ("acquisition", "domain", "rng", "t")},
    STRATEGIES: {"start": ("problem",), "ask": ("view",), "tell": ("record",)},
}


def read(group: str, given: object) -> object:
    """A plugin as a user gives it: where it is a string with options, name:option=value (mfopt.options), made anew."""
    if isinstance(given, list | tuple):
        each = {one: read(group, one) for one in given if isinstance(one, str)}
        return [each[one] if isinstance(one, str) else one for one in given]
    if not isinstance(given, str) or ":" not in given:
        return given
    name, options = parse_options(given)
    return make(group, name, options)


def resolve(group: str, given: object) -> Any:
    """The plugin that `given` means: an installed name, or an instance; checked against the group's protocol."""
    if isinstance(given, str):
        return make(group, given)
    if isinstance(given, type):
        raise PluginError(f"a {WORDS[group]} is given by name or as an instance, got the class {given.__qualname__}")
    if given is None:
        raise PluginError(f"a {WORDS[group]} is given by name or as an instance, got None")
    _check(group, given, given)
    return given


def resolve_each(group: str, given: object, count: int) -> tuple[Any, ...]:
    """`count` plugins: one for all, or a list with one each; equal names become one instance."""
    each = one_or_each(given, count, WORDS[group])
    loaded = {name: resolve(group, name) for name in dict.fromkeys(one for one in each if isinstance(one, str))}
    return tuple(loaded[one] if isinstance(one, str) else resolve(group, one) for one in each)


def make(group: str, name: str, options: Mapping[str, Any] | None = None) -> Any:
    """The installed plugin `name`, made with these options of its constructor and checked against its protocol."""
    points = find_usable(group, name, tell=True)
    if not points:
        raise _unknown(group, name)
    if len(points) > 1:
        raise PluginError(
            f"a {WORDS[group]} name must belong to one distribution, got {' and '.join(p.value for p in points)}; "
            f"uninstall one of them or pass an instance",
            *name_of(group, name),
        )
    try:
        factory = points[0].load()
        if options:
            check_options(factory, options, name)
        plugin = factory(**(options or {}))
    except (MfoptError, KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:  # whatever a third party's import or constructor may raise, SystemExit too
        raise PluginError(
            f"{points[0].value} cannot be loaded: {type(error).__name__}: {error}", *name_of(group, name)
        ) from error
    _check(group, plugin, name)
    return plugin


def _unknown(group: str, name: str) -> UnknownPlugin:
    known = sorted({point.name for point in find_points(group)})
    close = find_closest(name, known)
    hint = "" if close is None else f"; did you mean {close!r}?"
    return UnknownPlugin(
        f"{WORDS[group]} must be an instance or one of {', '.join(map(repr, known)) or 'none installed'}, "
        f"got {name!r}{hint}"
    )


def _check(group: str, plugin: object, given: object) -> None:
    """A PluginError unless `plugin`, given as `given`, is what the protocol of its group says."""
    check_methods(plugin, WORDS[group], _METHODS[group], group, given)
    version = getattr(plugin, "protocol_version", VERSION)
    if version != VERSION:
        advice = "a newer mfopt" if isinstance(version, int) and version > VERSION else "a newer version of the plugin"
        raise PluginError(
            f"protocol_version must be {VERSION}, that of mfopt.protocols here, got {show(version)}: install {advice}",
            *name_of(group, given),
        )


def check_methods(thing: object, what: str, methods: Mapping[str, tuple[str, ...]], group: str, given: object) -> None:
    """A PluginError unless `thing`, a `what`, has these methods, callable with parameters of these names.

    group, given   the plugin that answers for it, as the user gave it
    """
    for method, parameters in methods.items():
        shape = f"{method}({', '.join(parameters)})"
        function = getattr(thing, method, None)
        if not callable(function):
            raise PluginError(f"a {what} must have a method {shape}, got none", *name_of(group, given))
        try:
            signature = inspect.signature(function)
        except (TypeError, ValueError):  # compiled code without a signature: its calls will tell
            continue
        try:
            signature.bind(*parameters)
        except TypeError:
            raise PluginError(
                f"a {what} must have a method {shape}, got {method}{signature}", *name_of(group, given)
            ) from None
