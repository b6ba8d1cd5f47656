"""How fast a reopened study asks: the first ask of a study of 200, 1,000 and 5,000 trials beside that of a live one.

Both asks are of the same run at the same moment: the live optimiser's, and that of the study opened from a copy of its
file. CPU time, so that other work on the machine does not count; one BLAS thread. In the run of 5,000 trials all but
the last hundred are data that was added, since that many asks would take an hour.

    python benchmarks/reopening.py [200 1000 5000]
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
import timing

import mfopt

PROBLEM = mfopt.problems.get("hartmann3")
MOST_ASKS = 1000  # beyond, data is added
LAST = 100
REOPENED = 5  # asks that are compared, each after another few trials


def value(x: np.ndarray, m: int) -> float:
    return float(PROBLEM.functions[m](x))


def make(path: Path, trials: int) -> mfopt.Optimizer:
    """A default study of so many trials."""
    opt = mfopt.Optimizer(PROBLEM.domain, PROBLEM.costs, rng=0, storage=path)
    if trials > MOST_ASKS:
        rng = np.random.default_rng(0)
        x = PROBLEM.domain.decode(PROBLEM.domain.sample(trials - LAST, rng))
        levels = rng.choice(len(PROBLEM.costs), size=len(x), p=[0.8, 0.15, 0.05])
        opt.add(x, levels, np.array([value(point, m) for point, m in zip(x, levels, strict=True)]))
        trials = LAST
    advance(opt, trials)
    return opt


def advance(opt: mfopt.Optimizer, trials: int) -> None:
    for _ in range(trials):
        trial = opt.ask()
        opt.tell(trial, value(trial.x, trial.fidelity))


def compare(live: mfopt.Optimizer, path: Path) -> tuple[float, float, float]:
    """CPU seconds: opening, its first ask, and the live one's; both must ask the same."""
    copy = path.with_name("copy.db")
    live.close()
    shutil.copyfile(path, copy)
    times = [time.process_time()]
    study = mfopt.Study.open(copy)
    times.append(time.process_time())
    asked = study.ask()
    times.append(time.process_time())
    study.close()
    start = time.process_time()
    trial = live.ask()
    took = time.process_time() - start
    assert np.array_equal(asked.x, trial.x), "a reopened study must ask what the live one does"
    live.tell(trial, value(trial.x, trial.fidelity))
    for suffix in ("", "-wal", "-shm", "-ack"):
        Path(f"{copy}{suffix}").unlink(missing_ok=True)
    opened, first = np.diff(times).tolist()
    return opened, first, took


def shell(path: Path) -> float:
    """CPU seconds of `mfopt ask` and `mfopt tell` as commands, with the start of the interpreter."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command, environment = [sys.executable, "-m", "mfopt"], timing.compiled(path.with_name("code"))
    words = [*command, "ask", str(path), "--json"]
    asked = subprocess.run(words, env=environment, check=True, capture_output=True, text=True)
    trial = json.loads(asked.stdout)
    y = value(np.array(list(trial["x"].values())), trial["fidelity"])
    subprocess.run([*command, "tell", str(path), str(trial["id"]), repr(y)], env=environment, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def storage_costs(path: Path, trials: int) -> float:
    """Median CPU seconds by which an ask with a storage takes more than the same ask without; asks that learn too."""
    both = [mfopt.Optimizer(PROBLEM.domain, PROBLEM.costs, rng=1, storage=storage) for storage in (None, path)]
    more = []
    for _ in range(trials):
        times = []
        for opt in both:
            start = time.process_time()
            trial = opt.ask()
            times.append(time.process_time() - start)
            opt.tell(trial, value(trial.x, trial.fidelity))
        more.append(times[1] - times[0])
    return float(np.median(more[trials // 2 :]))


def main() -> None:
    sizes = [int(word) for word in sys.argv[1:]] or [200, 1000, 5000]
    data: dict[str, object] = {"machine": timing.machine()}
    rows = [
        "| trials | opening | first ask | live ask | opening and asking, beyond a live ask | state |",
        "|---|---|---|---|---|---|",
    ]
    with tempfile.TemporaryDirectory(dir=timing.HERE) as folder:
        for trials in sizes:
            path = Path(folder) / f"{trials}.db"
            live = make(path, trials)
            found = []
            for _ in range(REOPENED):
                found.append(compare(live, path))
                advance(live, 2)
            opened, first, took = np.median(found, axis=0).tolist()
            beyond = float(np.median([a + b - c for a, b, c in found]))
            size = live._session.log._database.query("SELECT max(length(state)) FROM mfopt_states")[0][0]
            live.close()
            cells = [timing.readable(seconds) for seconds in (opened, first, took, beyond)]
            rows.append(f"| {trials:,} | {' | '.join(cells)} | {size / 1000:.1f} kB |")
            data[f"reopened {trials}"] = {
                "opening": opened,
                "first": first,
                "live": took,
                "beyond": beyond,
                "state": size,
            }
            print(rows[-1], flush=True)
        path = Path(folder) / f"{sizes[0]}.db"
        commands = float(np.median([shell(path) for _ in range(1 + REOPENED)][1:]))
        more = storage_costs(Path(folder) / "storage.db", 80)
    data["commands"], data["storage"] = commands, more
    lines = [
        timing.head("default study on Hartmann-3, three fidelities; CPU time, medians of five"),
        *rows,
        "",
        f"`mfopt ask` and `mfopt tell` from a shell at {sizes[0]} trials: {timing.readable(commands)} together, with",
        f"the start of the interpreter. An ask with a storage: {timing.readable(more)} more than without.",
    ]
    timing.record("reopening", "\n".join(lines), data)


if __name__ == "__main__":
    main()
