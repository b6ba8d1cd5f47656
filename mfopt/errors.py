"""Every error and warning that mfopt raises on purpose. An input error changes nothing in the object that raised it."""

from __future__ import annotations


class MfoptError(Exception):
    """The root of mfopt's own errors."""


class InputError(MfoptError, ValueError):
    """A value given by the user breaks a rule; the message states the rule, then the value."""


class DomainError(InputError):
    """A point is not in X."""


class UnknownTrial(InputError):
    """No such trial was ever handed out by this optimiser."""


class AlreadyTold(InputError):
    """The trial's outcome is known already."""


class EmptyDomain(MfoptError):
    """No point of X could be found. `draws` counts the random points that were tried."""

    def __init__(self, message: str, draws: int = 0) -> None:
        super().__init__(message)
        self.draws = draws


class Exhausted(MfoptError):
    """No useful query is left. `which` ran out: "capital", or "points" of a finite noiseless set."""

    def __init__(self, message: str, which: str = "points") -> None:
        super().__init__(message)
        self.which = which


class PluginError(MfoptError):
    """A plugin is broken or broke its contract; names the plugin, its distribution and the reason."""

    def __init__(self, reason: str, plugin: str | None = None, distribution: str | None = None) -> None:
        origin = f" (from {distribution})" if distribution else ""
        super().__init__(f"plugin {plugin}{origin}: {reason}" if plugin else reason)
        self.plugin = plugin
        self.distribution = distribution


class UnknownPlugin(PluginError, ValueError):
    """No installed plugin has this name; the message lists those that exist."""


class ZetaWarning(UserWarning):
    """Data contradict a bound ζ_m that the user gave; the run goes on with the bound as given."""
