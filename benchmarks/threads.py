"""What several threads gain (threads=), by wall time: the same work in turns with one thread and with as many as given.

    python threads.py        with 2 threads; python threads.py 4 with 4

The machine must have as many cores free.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np
import timing

import mfopt
from mfopt_plugins.strategies.gp_ucb import GPUCB

ROUNDS = 2


def f(x):
    return np.sin(3 * x.sum(axis=-1)) + x[..., 0]


Run = Callable[[int], tuple[list[float], object]]


def finite(candidates: int, rows: int) -> Run:
    """Seconds of the first ask, and of later asks with tells, on so many candidates in 6-D; and the trials."""
    points = np.random.default_rng(0).random((candidates, 6))

    def run(threads: int) -> tuple[list[float], object]:
        strategy = GPUCB(initial_capital=0)
        opt = mfopt.Optimizer(mfopt.FiniteSet(points), costs=[1.0], strategy=strategy, rng=0, threads=threads)
        opt.add(points[:rows], 0, f(points[:rows]))
        return ask_and_tell(opt, 6)

    return run


def box(rows: int, costs: list[float]) -> Run:
    """Seconds of the first ask, which learns and factorises, and of later ones, with so many values in 6-D."""
    x = np.random.default_rng(0).random((rows, 6))

    def run(threads: int) -> tuple[list[float], object]:
        strategy = GPUCB(initial_capital=0) if len(costs) == 1 else "mf-gp-ucb"
        opt = mfopt.Optimizer([(0, 1)] * 6, costs, strategy=strategy, rng=0, threads=threads)
        for m, part in enumerate(np.array_split(x, len(costs))):
            opt.add(part, m, f(part))
        return ask_and_tell(opt, 5)

    return run


def ask_and_tell(opt: mfopt.Optimizer, count: int) -> tuple[list[float], object]:
    """Seconds of the first of so many asks with their tells, and the median of the later ones; and the trials."""
    seconds, asked = [], []
    for _ in range(count):
        start = time.perf_counter()
        trial = opt.ask()
        opt.tell(trial, float(f(trial.x)))
        seconds.append(time.perf_counter() - start)
        asked.append((*trial.x, trial.fidelity))
    return [seconds[0], float(np.median(seconds[1:]))], asked


CASES = {
    "10⁵ candidates, 500 values": finite(100_000, 500),
    "10⁶ candidates, 100 values": finite(1_000_000, 100),
    "a box, 10,000 values, one fidelity": box(10_000, [1.0]),
}


def main() -> None:
    threads = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    head = f"| what | first ask: 1 thread, {threads} threads | gain | later asks, median | gain |"
    rows, figures = [head, "|---|---|---|---|---|"], {}
    for name, run in CASES.items():
        found: dict[int, list[list[float]]] = {1: [], threads: []}
        asked = []
        for _ in range(ROUNDS):
            for count in found:
                seconds, trials = run(count)
                found[count].append(seconds)
                asked.append(trials)
        assert all(trials == asked[0] for trials in asked), "trials must not depend on the number of threads"
        best = {count: np.min(seconds, axis=0) for count, seconds in found.items()}
        cells = []
        for k in range(2):
            one, several = float(best[1][k]), float(best[threads][k])
            cells += [f"{timing.readable(one)}, {timing.readable(several)}", f"{one / several:.2f} ×"]
        rows.append(f"| {name} | {' | '.join(cells)} |")
        figures[name] = found
        print(rows[-1], file=sys.stderr, flush=True)
    text = timing.head(f"wall time, best of {ROUNDS}; the trials are the same") + "\n".join(rows)
    timing.record("threads", text, {"machine": timing.machine(), "seconds": figures})


if __name__ == "__main__":
    main()
