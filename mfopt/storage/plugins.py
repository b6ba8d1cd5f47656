"""Plugins in the header of a study: what is stored of them, and the way back.

    name           under which the plugin is installed, and
    options        those that differ from the defaults; both are compared when the study is opened again
    class          instead of the name, where it is not installed under any, or its options cannot be told
    distribution, version
                   where it came from: what to install where it is missing; not compared
    defaults       of its options when the study was made: they hold for this study, whatever a later version says

Studies of older versions have name, options and class alone.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from mfopt import registry
from mfopt.errors import InputError, PluginError, PluginWarning
from mfopt.hooks import DescribesOptions
from mfopt.run.setup import Setup
from mfopt.storage.missing import MissingPlugin

_ORIGIN = ("distribution", "version", "defaults")


def describe_plugin(group: str, given: object, stored: Any = None) -> Any:
    """What is stored of a plugin, or of a list of them; `stored` is what a study has in its place, if there is one."""
    if isinstance(given, list | tuple):
        return [describe_plugin(group, one) for one in given]
    if isinstance(given, str) and _is_stored(group, given, stored):
        return stored
    if isinstance(given, str):
        return {"name": given, "options": {}, **_describe_origin(group, given)}
    if isinstance(given, MissingPlugin):
        return given.spec
    name, options = registry.identify(group, given)
    if options is not None and not _is_expressible(options):
        options = None
    if name is not None and options is not None:
        return {"name": name, "options": options, **_describe_origin(group, name)}
    found = registry.find_distribution(given)
    origin = {} if found is None else dict(zip(_ORIGIN, found, strict=False))
    return {"class": class_name(given), "options": options, **origin}


def _is_stored(group: str, name: str, stored: Any) -> bool:
    """Whether `stored` is the plugin of this name, with its defaults, in the version that is installed."""
    found = registry.find_plugin(group, name)
    if found is None or not isinstance(stored, Mapping):
        return False
    ours = {"name": name, "options": {}, "distribution": found.distribution, "version": found.version}
    return all(stored.get(key) == one for key, one in ours.items())


def _describe_origin(group: str, name: str) -> dict[str, Any]:
    """Where the plugin of this name comes from, and the defaults of its options as far as JSON can express them."""
    found = registry.find_plugin(group, name)
    if found is None:
        return {}
    defaults = {key: one for key, one in registry.default_options(group, name).items() if _is_expressible({key: one})}
    return {"distribution": found.distribution, "version": found.version, "defaults": defaults}


def comparable(stored: Mapping[str, Any], given: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Two headers as they are compared: without where plugins come from.

    Where the default of an option has changed between the two it is written out.
    """
    pairs = {what: _align(stored[what], given[what]) for what in registry.GROUPS if what in stored and what in given}
    first = {key: pairs[key][0] if key in pairs else one for key, one in stored.items()}
    return first, {key: pairs[key][1] if key in pairs else one for key, one in given.items()}


def _align(stored: Any, given: Any) -> tuple[Any, Any]:
    if isinstance(stored, list) and isinstance(given, list) and len(stored) == len(given):
        both = [_align(*pair) for pair in zip(stored, given, strict=True)]
        return [one for one, _ in both], [other for _, other in both]
    if not (isinstance(stored, Mapping) and isinstance(given, Mapping)) or stored.get("name") != given.get("name"):
        return _strip(stored), _strip(given)
    was, now = stored.get("defaults", {}), given.get("defaults", {})
    changed = [key for key in was if key in now and was[key] != now[key]]
    return _strip(stored, {key: was[key] for key in changed}), _strip(given, {key: now[key] for key in changed})


def _strip(spec: Any, defaults: Mapping[str, Any] | None = None) -> Any:
    if isinstance(spec, list):
        return [_strip(one) for one in spec]
    if not isinstance(spec, Mapping):
        return spec
    kept = {key: one for key, one in spec.items() if key not in _ORIGIN}
    return {**kept, "options": {**defaults, **kept["options"]}} if defaults else kept


def rebuild_plugin(study: str, what: str, group: str, spec: Any) -> object:
    """A plugin as it was given, or made with the options that the study has; something missing in its place."""
    if isinstance(spec, list):
        return [rebuild_plugin(study, what, group, one) for one in spec]
    if "name" not in spec:
        return MissingPlugin(study, what, spec)
    name = spec["name"]
    try:
        options = {**_changed_defaults(group, spec), **spec["options"]}
        if options or registry.find_plugin(group, name) is None:
            return registry.make(group, name, options)
    except (PluginError, InputError) as error:
        return MissingPlugin(study, what, spec, error)
    return name


def keep_defaults(setup: Setup, study: str, spec: Mapping[str, Any]) -> Setup:
    """The setup with the study's own defaults for plugins that were given by name alone."""
    kept = {}
    for what, group in registry.GROUPS.items():
        kept[what], stored = getattr(setup, what), spec[what]
        if isinstance(kept[what], str) and isinstance(stored, Mapping) and stored.get("name") == kept[what]:
            kept[what] = rebuild_plugin(study, what, group, stored)
    return replace(setup, strategy=kept["strategy"], surrogate=kept["surrogate"], maximiser=kept["maximiser"])


def _changed_defaults(group: str, spec: Mapping[str, Any]) -> dict[str, Any]:
    """Options whose default is another in the installed version than it was when the study was made."""
    found, stored = registry.find_plugin(group, spec["name"]), spec.get("defaults", {})
    if found is None or not stored or (found.distribution, found.version) == (spec["distribution"], spec["version"]):
        return {}
    now = registry.default_options(group, spec["name"])
    return {key: one for key, one in stored.items() if key in now and to_plain(now[key]) != one}


def tell_what_is_lost(setup: Setup) -> None:
    """Warn, as a study is made, of plugins that it cannot make again although they tell options or are installed."""
    for what, group in registry.GROUPS.items():
        given = getattr(setup, what)
        for one in given if isinstance(given, list | tuple) else [given]:
            if isinstance(one, str):
                continue
            try:
                options = registry.find_options(one)
                reason = "" if _is_expressible(options) else f"options must be plain values, got {options}"
            except PluginError as error:
                reason = str(error)
            if reason and (isinstance(one, DescribesOptions) or registry.identify(group, one)[0] is not None):
                warnings.warn(
                    f"the study will not be able to make its {what} again, which has to be given whenever the study is "
                    f"opened to ask: {reason}",
                    PluginWarning,
                    stacklevel=2,
                )


# ------------------------------------------------------------------------------------------------------- JSON


def to_plain(value: Any) -> Any:
    """Arrays and tuples as lists, NumPy's numbers as Python's, numbers that JSON does not know as strings."""
    if isinstance(value, Mapping):
        return {str(key): to_plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(one) for one in value]
    if isinstance(value, np.ndarray | np.generic):
        return to_plain(value.tolist())
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    return value


def _is_expressible(options: Mapping[str, Any]) -> bool:
    try:
        json.dumps(to_plain(options), allow_nan=False)
    except (TypeError, ValueError):
        return False
    return True


def class_name(given: object) -> str:
    """The class of an object, with its module."""
    return f"{type(given).__module__}.{type(given).__qualname__}"
