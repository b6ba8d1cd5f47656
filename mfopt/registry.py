"""The registry: plugins by name, found through entry points.

A distribution offers a plugin under one of three groups; the name is looked up only when it is used, and listing
imports nothing. What an entry point names is called without arguments (a class, usually) and its result checked
against the protocol of its group. A plugin that cannot be loaded does not affect the others; the error appears when
it is used. Two distributions may not give one name to different things: using that name is an error that names both,
all other names keep working.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from mfopt.checks import one_or_each, show
from mfopt.errors import MfoptError, PluginError, UnknownPlugin
from mfopt.hooks import DescribesOptions
from mfopt.options import check_options, parse_options

SURROGATES, MAXIMISERS, STRATEGIES = "mfopt.surrogates", "mfopt.maximisers", "mfopt.strategies"

GROUPS = {"strategy": STRATEGIES, "surrogate": SURROGATES, "maximiser": MAXIMISERS}  # by the word for one plugin

_WORDS = {group: word for word, group in GROUPS.items()}
# Per group and method the names of its parameters, as the framework passes them.
_METHODS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    SURROGATES: {"model": ("dim", "noise")},
    MAXIMISERS: {"maximise": ("acquisition", "domain", "rng", "t")},
    STRATEGIES: {"start": ("problem",), "ask": ("view",), "tell": ("record",)},
}


@dataclass(frozen=True)
class Plugin:
    """An installed plugin, not imported."""

    group: str
    name: str
    distribution: str
    version: str
    origin: str  # module:attribute


def plugins() -> list[Plugin]:
    """Every installed plugin, by group and name."""
    found = [
        Plugin(group, point.name, *_distribution(point), point.value)
        for group in _METHODS
        for point in entry_points(group=group)
    ]
    return sorted(found, key=lambda plugin: (plugin.group, plugin.name, plugin.distribution))


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
        raise PluginError(f"a {_WORDS[group]} is given by name or as an instance, got the class {given.__qualname__}")
    if given is None:
        raise PluginError(f"a {_WORDS[group]} is given by name or as an instance, got None")
    _check(group, given, _describe(given), None)
    return given


def resolve_each(group: str, given: object, count: int) -> tuple[Any, ...]:
    """`count` plugins: one for all, or a list with one each; equal names become one instance."""
    each = one_or_each(given, count, _WORDS[group])
    loaded = {name: resolve(group, name) for name in dict.fromkeys(one for one in each if isinstance(one, str))}
    return tuple(loaded[one] if isinstance(one, str) else resolve(group, one) for one in each)


def make(group: str, name: str, options: Mapping[str, Any] | None = None) -> Any:
    """The installed plugin `name`, made with these options of its constructor and checked against its protocol."""
    points = _drop_repeats(entry_points(group=group, name=name))
    if not points:
        raise _unknown(group, name)
    called, distribution = name_of(group, name)
    if len(points) > 1:
        raise PluginError(
            f"a {_WORDS[group]} name must belong to one distribution, got {' and '.join(p.value for p in points)}; "
            f"uninstall one of them or pass an instance",
            called,
            distribution,
        )
    try:
        factory = points[0].load()
        if options:
            check_options(factory, options, name)
        plugin = factory(**(options or {}))
    except MfoptError:
        raise
    except Exception as error:  # whatever a third party's import or constructor may raise
        raise PluginError(
            f"{points[0].value} cannot be loaded: {type(error).__name__}: {error}", called, distribution
        ) from error
    _check(group, plugin, called, distribution)
    return plugin


def name_of(group: str, given: object) -> tuple[str, str | None]:
    """How an error should call this plugin: its name in quotes or its class, and its distribution if known."""
    if not isinstance(given, str):
        return _describe(given), None
    return repr(given), " and ".join(" ".join(_distribution(point)) for point in entry_points(group=group, name=given))


def identify(group: str, given: object) -> tuple[str | None, dict[str, Any] | None]:
    """The name under which an instance's class is installed, and the options it was made with; None where unknown.

    Options are the keyword arguments of the constructor that differ from their defaults. They are what the instance's
    method `options()` returns; without one, the attributes called as the parameters are, with or without an underscore.
    """
    kind = type(given)
    origin = f"{kind.__module__}:{kind.__qualname__}"
    name = min((point.name for point in entry_points(group=group) if point.value == origin), default=None)
    options = _find_options(given)
    try:
        # Attributes that are not what the constructor was given are found out by making the plugin once more.
        same = options is not None and repr(_find_options(kind(**options))) == repr(options)
    except Exception:  # whatever a third party's constructor may raise
        same = False
    return name, options if same else None


def _find_options(given: object) -> dict[str, Any] | None:
    kind = type(given)
    if kind.__init__ is object.__init__:
        return {}
    parameters = list(inspect.signature(kind.__init__).parameters.values())[1:]
    if isinstance(given, DescribesOptions) and callable(given.options):  # not an attribute of this name
        known = dict(given.options())
        if set(known) != {p.name for p in parameters}:  # one that is left out would be lost
            return None
    else:
        known = {}
        for p in parameters:
            holder = next((one for one in (p.name, f"_{p.name}") if hasattr(given, one)), None)
            if holder is None or p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD, p.POSITIONAL_ONLY):
                return None
            known[p.name] = getattr(given, holder)
    defaults = {p.name: p.default for p in parameters}
    return {key: value for key, value in known.items() if repr(value) != repr(defaults.get(key))}


def _unknown(group: str, name: str) -> UnknownPlugin:
    import difflib

    known = sorted({point.name for point in entry_points(group=group)})
    close = difflib.get_close_matches(name, known, n=1)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    return UnknownPlugin(
        f"{_WORDS[group]} must be an instance or one of {', '.join(map(repr, known)) or 'none installed'}, "
        f"got {name!r}{hint}"
    )


def _check(group: str, plugin: object, called: str, distribution: str | None) -> None:
    """A PluginError unless `plugin` has the methods of its group, callable with the documented parameters."""
    for method, parameters in _METHODS[group].items():
        shape = f"{method}({', '.join(parameters)})"
        function = getattr(plugin, method, None)
        if not callable(function):
            raise PluginError(f"a {_WORDS[group]} must have a method {shape}, got none", called, distribution)
        try:
            signature = inspect.signature(function)
        except (TypeError, ValueError):  # compiled code without a signature: its calls will tell
            continue
        try:
            signature.bind(*parameters)
        except TypeError:
            raise PluginError(
                f"a {_WORDS[group]} must have a method {shape}, got {method}{signature}", called, distribution
            ) from None


def _drop_repeats(points: Any) -> list[EntryPoint]:
    """Entry points that differ in what they name; one found twice on the path is one."""
    return list({point.value: point for point in points}.values())


def _distribution(point: EntryPoint) -> tuple[str, str]:
    return (point.dist.name, point.dist.version) if point.dist else ("unknown distribution", "?")


def _describe(given: object) -> str:
    kind = type(given)
    return show(given) if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
