"""What durability costs: an ask plus tell with a storage and without, tells a second, and the time to resume.

The disk decides: an ask and a tell each wait until it has the data (fsync), so its bare fsync stands in the table too.
With an address of a PostgreSQL database as argument the same is measured there; an empty schema, please.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import timing

import mfopt
from mfopt_plugins.strategies.mf_gp_ucb import MFGPUCB

PROBLEM = mfopt.problems.get("hartmann3")
WARM = 60  # trials before anything is timed
PAIRS = 60
TELLS = 300


def optimizer(strategy: str, storage: object = None, study: str | None = None) -> mfopt.Optimizer:
    """Without a limit of capital; the initial design of mf-gp-ucb is over before anything is timed."""
    method = MFGPUCB(initial_capital=100.0) if strategy == "mf-gp-ucb" else strategy
    return mfopt.Optimizer(PROBLEM.domain, PROBLEM.costs, strategy=method, rng=0, storage=storage, study=study)


def step(opt: mfopt.Optimizer) -> None:
    trial = opt.ask()
    opt.tell(trial, float(PROBLEM.functions[trial.fidelity](trial.x)))


def pairs(strategy: str, storage: object) -> tuple[float, float]:
    """Median seconds of an ask plus tell, without a storage and with; the two runs are the same, in turns."""
    both = [optimizer(strategy), optimizer(strategy, storage, f"pairs {strategy}")]
    seconds: list[list[float]] = [[], []]
    for k in range(WARM + PAIRS):
        for opt, times in zip(both, seconds, strict=True):
            start = time.perf_counter()
            step(opt)
            if k >= WARM:
                times.append(time.perf_counter() - start)
    return float(np.median(seconds[0])), float(np.median(seconds[1]))


def tells(storage: object, batch: int) -> float:
    """Tells a second, `batch` in one transaction."""
    opt = optimizer("random", storage, f"tells {batch}")
    trials = opt.ask(TELLS)
    start = time.perf_counter()
    for k in range(0, TELLS, batch):
        opt.tell_many([(trial, float(trial.id)) for trial in trials[k : k + batch]])
    return TELLS / (time.perf_counter() - start)


def resume(strategy: str, storage: object, trials: int) -> tuple[float, float]:
    """Seconds to open a study of so many trials, and of its first ask beyond a later one."""
    name = f"resume {strategy} {trials}"
    opt = optimizer(strategy, storage, name)
    for _ in range(trials):
        step(opt)
    opt.close()
    start = time.perf_counter()
    study = mfopt.Study.open(storage, name)
    opened = time.perf_counter()
    step(study)
    first = time.perf_counter()
    step(study)
    return opened - start, (first - opened) - (time.perf_counter() - first)


def fsync(directory: str) -> float:
    """Median seconds of a write of 4 KB and its fsync."""
    seconds = []
    with open(Path(directory) / "fsync", "wb") as file:
        for _ in range(100):
            start = time.perf_counter()
            file.write(bytes(4096))
            file.flush()
            os.fsync(file.fileno())
            seconds.append(time.perf_counter() - start)
    return float(np.median(seconds))


def measured(storage: object) -> dict[str, float]:
    found: dict[str, float] = {}
    for strategy in ("mf-gp-ucb", "random"):
        found[f"{strategy} without"], found[f"{strategy} with"] = pairs(strategy, storage)
    for batch in (1, 10, 100):
        found[f"tells {batch}"] = tells(storage, batch)
    for strategy, trials in (("mf-gp-ucb", 200), ("mf-gp-ucb", 1000), ("random", 1000)):
        found[f"open {strategy} {trials}"], found[f"replay {strategy} {trials}"] = resume(strategy, storage, trials)
    return found


def table(name: str, found: dict[str, float]) -> list[str]:
    rows = [f"**{name}**", "", "| what | measured | |", "|---|---|---|"]
    for strategy in ("mf-gp-ucb", "random"):
        without, stored = found[f"{strategy} without"], found[f"{strategy} with"]
        more = f"{timing.readable(without)} without a storage: {timing.readable(stored - without)} more"
        rows.append(
            f"| an ask plus tell of {strategy}, {WARM} to {WARM + PAIRS} trials | {timing.readable(stored)} | {more} |"
        )
    for batch in (1, 10, 100):
        how = "one by one" if batch == 1 else f"{batch} at a time (tell_many)"
        rows.append(f"| tells a second, {how} | {found[f'tells {batch}']:.0f} | |")
    for strategy, trials in (("mf-gp-ucb", 200), ("mf-gp-ucb", 1000), ("random", 1000)):
        opened, replay = (timing.readable(found[f"{what} {strategy} {trials}"]) for what in ("open", "replay"))
        rows.append(f"| opening a study of {trials:,} trials of {strategy} | {opened} | its first ask {replay} more |")
    return rows


def main() -> None:
    data: dict[str, object] = {"machine": timing.machine()}
    with tempfile.TemporaryDirectory(dir=timing.HERE) as directory:  # on a disk: /tmp may be memory
        bare = fsync(directory)
        data["fsync"], data["sqlite"] = bare, measured(Path(directory) / "study.db")
    lines = [timing.head(f"Hartmann-3, three fidelities; medians; an fsync of this disk takes {timing.readable(bare)}")]
    lines += table("SQLite", data["sqlite"])  # type: ignore[arg-type]
    if len(sys.argv) > 1:
        data["postgresql"] = measured(sys.argv[1])
        lines += ["", *table("PostgreSQL, on the same machine", data["postgresql"])]  # type: ignore[arg-type]
    timing.record("durability", "\n".join(lines), data)


if __name__ == "__main__":
    main()
