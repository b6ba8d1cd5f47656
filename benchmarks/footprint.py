"""What a user notices besides the speed of an ask: import, the first ask, memory, a million candidates."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import timing

import mfopt
from mfopt_plugins.strategies.gp_ucb import GPUCB

FIRST_ASK = """
import time
import numpy as np
import mfopt
opt = mfopt.Optimizer([(0, 1)] * 6, costs=[1.0, 10.0], rng=0)
x = np.random.default_rng(0).random((60, 6))
opt.add(x, 0, np.sin(x.sum(axis=1)))
opt.add(x[:30], 1, np.sin(x[:30].sum(axis=1)))
seconds = []
while len(seconds) < 6:
    start = time.process_time()
    trial = opt.ask()
    if trial.reason.kind != "initial design":
        seconds.append(time.process_time() - start)
    opt.tell(trial, float(np.sin(trial.x.sum())))
print(seconds[0], min(seconds[1:]))
"""
IMPORT = "import time; start = time.process_time(); import mfopt; print(time.process_time() - start)"


def python(code: str, rounds: int = 5) -> list[float]:
    """The least numbers that a program prints, in so many rounds."""
    with tempfile.TemporaryDirectory() as folder:
        command, environment = [sys.executable, "-c", code], timing.compiled(Path(folder))
        outs = [
            subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
            for _ in range(1 + rounds)
        ]
    return np.min([[float(word) for word in out.split()] for out in outs[1:]], axis=0).tolist()


def resident() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def f(x):
    return np.sin(3 * x.sum(axis=-1)) + x[..., 0]


def ten_thousand() -> tuple[float, float]:
    """Seconds of an ask at 10,000 observations, and growth of memory over the packed factor's size."""
    x = np.random.default_rng(0).random((10_000, 6))
    small = mfopt.Optimizer([(0, 1)] * 6, costs=[1.0], strategy=GPUCB(initial_capital=0), rng=0)
    small.add(x[:50], 0, f(x[:50]))
    small.ask()  # loads whatever an ask needs, which is not to be counted
    before = resident()
    opt = mfopt.Optimizer([(0, 1)] * 6, costs=[1.0], strategy=GPUCB(initial_capital=0), rng=0)
    opt.add(x, 0, f(x))
    opt.tell(opt.ask(), 0.0)
    start = time.process_time()
    opt.ask()
    return time.process_time() - start, (resident() - before) / (10_000 * 10_001 / 2 * 8)


def million() -> tuple[float, float, float]:
    """First ask, median of later asks with tells, and gigabytes, on 10⁶ candidates in 6-D with 100 observations."""
    points = np.random.default_rng(0).random((1_000_000, 6))
    opt = mfopt.Optimizer(mfopt.FiniteSet(points), costs=[1.0], strategy=GPUCB(initial_capital=0), rng=0)
    opt.add(points[:100], 0, f(points[:100]))
    seconds = []
    for _ in range(10):
        start = time.process_time()
        trial = opt.ask()
        opt.tell(trial, float(f(trial.x)))
        seconds.append(time.process_time() - start)
    return seconds[0], float(np.median(seconds[1:])), resident() / 1e9


def main() -> None:
    (imports,), (first, later) = python(IMPORT), python(FIRST_ASK)
    ask, ratio = ten_thousand()
    begin, median, gigabytes = million()
    rows = [
        "| what | measured | goal |",
        "|---|---|---|",
        f"| `import mfopt` | {timing.readable(imports)} | < 250 ms |",
        f"| first ask after import, beyond a later one | {timing.readable(first - later)} | < 50 ms |",
        f"| memory at 10,000 observations, relative to the packed factor | {ratio:.2f} × | ≤ 1.3 × |",
        f"| an ask at 10,000 observations | {timing.readable(ask)} | ≤ 1 s |",
        f"| 10⁶ candidates in 6-D, 100 observations: first ask | {timing.readable(begin)} | ≤ 3 s |",
        f"| an ask plus tell after it, median | {timing.readable(median)} | |",
        f"| memory of the whole process then | {gigabytes:.2f} GB | ≤ 2 GB |",
    ]
    timing.record("footprint", timing.head() + "\n".join(rows), {"machine": timing.machine(), "rows": rows})


if __name__ == "__main__":
    main()
