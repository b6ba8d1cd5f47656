"""Every error and warning that mfopt raises on purpose. An input error changes nothing in the object that raised it."""

from __future__ import annotations

from collections.abc import Sequence


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


class LeaseLost(InputError):
    """The trial's lease ran out, and it was handed out again: it is another worker's now."""


class NoValue(MfoptError):
    """Nothing was told yet that a prediction could be made from."""


class CopyRefused(MfoptError, TypeError):
    """An optimiser with a storage cannot be pickled or copied."""


class EmptyDomain(MfoptError):
    """No point of X could be found. `draws` counts the random points that were tried."""

    def __init__(self, message: str, draws: int = 0) -> None:
        super().__init__(message)
        self.draws = draws


class Exhausted(MfoptError):
    """No useful query is left. `which` says what ran out: "capital", or the "points" of a finite noiseless set."""

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


class StorageError(MfoptError):
    """A storage cannot do what was asked of it; nothing was changed, and the message says what to do."""


class StorageBusy(StorageError):
    """Another process has held the study for minutes."""


class StorageFull(StorageError):
    """No room is left for what was to be written."""


class StorageReadOnly(StorageError):
    """The storage may be read but not written."""


class StorageDamaged(StorageError):
    """The storage was cut or changed by something else: what it holds is not what mfopt wrote."""


class NotAStorage(StorageError):
    """There is something else, or nothing, where a storage was expected."""


class NewerSchema(StorageError):
    """The storage was made by a newer version of mfopt."""


class UnknownStudy(StorageError, ValueError):
    """The storage holds no study of this name; the message lists those that it holds."""


class StudyMismatch(InputError):
    """A study was made with other arguments than those given; `differences` holds a line for each."""

    def __init__(self, message: str, differences: Sequence[str] = ()) -> None:
        super().__init__("\n  ".join([message, *differences]))
        self.differences = list(differences)


class PluginWarning(UserWarning):
    """A plugin is skipped, or a study could not make it again."""


class ReplayWarning(UserWarning):
    """A strategy that is shown the recorded run again would now ask something else; the record holds."""


class NetworkFileSystemWarning(UserWarning):
    """An SQLite study lies on a network file system, where its locks cannot be relied on."""


class EvaluationError(MfoptError):
    """An evaluation gave no value."""


class EvaluationTimeout(EvaluationError, TimeoutError):
    """It took longer than its timeout."""


class WorkerLost(EvaluationError):
    """The process that ran it died."""


class ExecutorError(MfoptError):
    """The executor can carry out no evaluation at all; `on_error` is not asked."""


class DataMissing(MfoptError):
    """A data file is not there, cannot be downloaded, or is not the one that was published."""


class CostWarning(UserWarning):
    """Costs that were told are in another order than the fidelities, or nearly equal."""


class ZetaWarning(UserWarning):
    """Data contradict a bound ζ_m that the user gave; the run goes on with the bound as given."""
