"""The registry: plugins by name, found through entry points.

points      what is installed, read from the metadata of distributions; nothing is imported
lookup      a plugin by its name, made and checked against the protocol of its group
identity    what an instance is called, where it comes from and with which options it was made

A distribution offers a plugin under one of three groups; the name is looked up only when it is used, and listing
imports nothing. A plugin that cannot be loaded does not affect the others, nor does a distribution whose metadata
cannot be read. The names of mfopt's own plugins are reserved: another distribution that claims one is reported, and
skipped. Other names may not be given to different things by two distributions: using such a name is an error that
names both.
"""

from mfopt.registry.identity import (
    default_options,
    find_distribution,
    find_options,
    identify,
    is_built_in,
    name_of,
)
from mfopt.registry.lookup import check_methods, make, read, resolve, resolve_each
from mfopt.registry.points import GROUPS, MAXIMISERS, STRATEGIES, SURROGATES, Plugin, find_plugin, plugins, unreadable

__all__ = [
    "GROUPS",
    "MAXIMISERS",
    "STRATEGIES",
    "SURROGATES",
    "Plugin",
    "check_methods",
    "default_options",
    "find_distribution",
    "find_options",
    "find_plugin",
    "identify",
    "is_built_in",
    "make",
    "name_of",
    "plugins",
    "read",
    "resolve",
    "resolve_each",
    "unreadable",
]
