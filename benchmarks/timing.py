"""Timing of alternatives in one run: all on one thread, in turns, the best of several repetitions of each.

The best, because a shared machine only ever adds time; in turns, because its speed drifts; and CPU time, which is
that of a clock where nobody else computes.
"""

import json
import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

_ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
if not _ONE_THREAD.items() <= os.environ.items():  # BLAS reads them when it is loaded, which may have happened already
    os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **_ONE_THREAD})

HERE = Path(__file__).resolve().parent
SOURCES = ("mfopt", "mfopt_core", "plugins", "setup.py")
sys.path.insert(0, str(HERE.parent))

from tools.pages import write_section  # noqa: E402


def best_seconds(
    contenders: Mapping[str, Callable[[], object]], repeat: int = 7, least: float = 0.02
) -> dict[str, float]:
    """Seconds of one call of each contender: the best of `repeat` rounds of at least `least` seconds each."""
    calls = {}
    for name, call in contenders.items():
        call()
        start = time.process_time()
        call()
        calls[name] = max(1, int(least / max(time.process_time() - start, 1e-9)))
    best = dict.fromkeys(contenders, float("inf"))
    for _ in range(repeat):
        for name, call in contenders.items():
            start = time.process_time()
            for _ in range(calls[name]):
                call()
            best[name] = min(best[name], (time.process_time() - start) / calls[name])
    return best


def readable(seconds: float) -> str:
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if seconds * factor >= 1.0:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def compiled(folder: Path) -> dict[str, str]:
    """The environment of processes that find modules compiled, as an installation leaves them.

    What compiles them here is the first of these processes, which is not to count; the code goes into `folder`.
    """
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPYCACHEPREFIX": str(folder)}


def machine() -> dict[str, str]:
    import numpy
    import scipy

    processor = platform.processor() or platform.machine()
    if sys.platform == "linux":
        found = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text())
        processor = found.group(1) if found else processor
    return {
        "mfopt": code(),
        "processor": processor,
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "scipy": scipy.__version__,
    }


def head(note: str = "one thread, CPU time") -> str:
    """The first paragraph of a section: what was measured, and with what."""
    return ", ".join(f"{key} {value}" for key, value in machine().items()) + f"; {note}.\n\n"


def code() -> str:
    """The commit that is measured; "changed" where files differ from it."""
    git = ["git", "-C", str(HERE.parent)]
    try:
        commit = subprocess.run([*git, "rev-parse", "--short", "HEAD"], check=True, capture_output=True, text=True)
        changed = subprocess.run(
            [*git, "status", "--porcelain", "-uno", "--", *SOURCES], capture_output=True, text=True
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown commit"
    return commit.stdout.strip() + (", changed" if changed.stdout.strip() else "")


def record(section: str, table: str, data: Mapping[str, Any]) -> None:
    """Print the table, write it into its section of RESULTS.md, and the figures into <section>.json."""
    print(table)
    (HERE / f"{section}.json").write_text(json.dumps(data, indent=1) + "\n")
    write_section(HERE / "RESULTS.md", section, table)
