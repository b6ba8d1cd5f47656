"""Clock: by which a lease runs out, whatever happens to the time of day.

Processes on one machine share a clock that counts the seconds since the machine was started: it never jumps. A lease
keeps its deadline as a time of day, and beside it the start of the machine as that time of day had it; the difference
is the deadline on the clock that never jumps. After a restart, and where a machine does not say when it was started,
only the time of day is left. Then a deadline further ahead than the lease is long shows that the clock was set back.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_BOOT = Path("/proc/sys/kernel/random/boot_id")  # Linux: new at each start of the machine
_TIME = Path("/proc/self/ns/time")  # containers may count from another moment


@dataclass(frozen=True)
class Moment:
    """Now: the time of day in seconds since 1970; if `boot` is not None, also the seconds since that start."""

    wall: float
    boot: str | None = None
    ticks: float = 0.0

    @property
    def epoch(self) -> float | None:
        """When the machine was started, by the present time of day; None if unknown."""
        return None if self.boot is None else self.wall - self.ticks


@dataclass(frozen=True)
class Term:
    """For how long a trial is leased: `seconds`, until the time of day `deadline` of a clock that began at `epoch`.

    What is not known is None: `boot` and `epoch` where the machine does not say, all three in leases of older versions.
    """

    deadline: float
    seconds: float | None
    boot: str | None
    epoch: float | None

    @classmethod
    def start(cls, now: Moment, seconds: float) -> Term:
        """A lease that begins now."""
        return cls(now.wall + seconds, seconds, now.boot, now.epoch)

    def is_over(self, now: Moment) -> bool:
        """Whether it has run out."""
        if self.epoch is not None and self.boot == now.boot:
            return self.deadline < self.epoch + now.ticks
        return self.deadline < now.wall

    def is_ahead(self, now: Moment) -> bool:
        """Whether it would run out later than a lease that begins now: the time of day was set back since."""
        if self.seconds is None or (self.epoch is not None and self.boot == now.boot):
            return False
        return self.deadline > now.wall + self.seconds


def read_machine_clock() -> Moment:
    """The clock that all processes of this machine share."""
    boot = _name_of_start()
    return Moment(time.time()) if boot is None else Moment(time.time(), boot, _ticks())


def _ticks() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME)  # counts on while the machine sleeps


@cache
def _name_of_start() -> str | None:
    """What tells this start of the machine from any other; None where the platform does not say."""
    try:
        boot = _BOOT.read_text(encoding="ascii").strip()
        return f"{boot} {os.readlink(_TIME)}" if _TIME.exists() else boot
    except (OSError, UnicodeDecodeError):
        return None
