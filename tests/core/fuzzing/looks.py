"""Looks: what can be looked at, of each class of the core."""

from mfopt_core import (
    GP,
    Ascent,
    Bound,
    Direct,
    Improvement,
    Kernel,
    Level,
    LevelLikelihood,
    Mixture,
    Pair,
    Tracked,
)


def public_names(kind):
    """The methods and properties of a class of the core, with the special ones that are part of its use."""
    return [name for name in dir(kind) if not name.startswith("_")] + [
        name for name in ("__call__", "__len__", "__repr__", "__reduce__") if name in vars(kind)
    ]


def without_arguments(kind, *names):
    """What can be looked at: the properties of a class, how it is pickled or refuses to be, and the given methods."""
    looks = [name for name in public_names(kind) if name == "__reduce__" or not callable(getattr(kind, name))]
    return looks + list(names)


LOOKS = {
    GP: without_arguments(GP, "cholesky", "__repr__"),
    Kernel: without_arguments(Kernel),
    Tracked: without_arguments(Tracked, "__len__"),
    Direct: without_arguments(Direct, "centres", "seen", "__len__"),
    Ascent: without_arguments(Ascent, "points", "result"),
    Level: without_arguments(Level),
    Bound: without_arguments(Bound),
    Mixture: without_arguments(Mixture, "__repr__"),
    Pair: without_arguments(Pair),
    Improvement: without_arguments(Improvement),
    LevelLikelihood: without_arguments(LevelLikelihood),
}
