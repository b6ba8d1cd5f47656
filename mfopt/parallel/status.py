"""Status: how a loop ended."""

from __future__ import annotations

from enum import IntEnum


class Status(IntEnum):
    """What ended a loop: `status` of its result, equal to the plain number."""

    CAPITAL = 0  # what is left pays for no further target query
    POINTS = 1  # every point of a finite set has been evaluated
    CALLBACK = 2  # the callback returned True
    INTERRUPTED = 3  # Ctrl-C
    TIME = 4  # the time limit
    NO_WORKER = 5  # every worker hangs
    TARGET = 6  # a value as good as the target value
    CONVERGED = 7  # what the capital still pays for is expected to gain less than the tolerance

    def __str__(self) -> str:
        """The number, on every version of Python."""
        return str(int(self))

    @property
    def is_regular(self) -> bool:
        """Whether the loop ended as the user meant it to, so that its result counts as a success."""
        return self in (Status.CAPITAL, Status.POINTS, Status.CALLBACK, Status.TARGET, Status.CONVERGED)
