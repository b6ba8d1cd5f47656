"""Record the runs of tests/traces/configurations.py, or compare them with a record: is a refactoring exact?

    python tools/traces.py record FILE      before the change
    python tools/traces.py compare FILE     after it, on the same machine
    python tools/traces.py portable FILE    points to nine digits, of the runs that hold on every machine

A difference in the last bit is a difference. Names of configurations may follow FILE, to run only those.
"""

from __future__ import annotations

import json
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.traces.configurations import CONFIGURATIONS, PORTABLE, record, rounded  # noqa: E402


def run(name: str) -> tuple[str, list[str], float]:
    start = time.perf_counter()
    return name, record(name).lines, time.perf_counter() - start


def first_difference(before: list[str], now: list[str]) -> int | None:
    """The first line in which two traces differ; None if they are the same."""
    if before == now:
        return None
    pairs = enumerate(zip(before, now, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(before), len(now)))


def trace(names: list[str], before: dict[str, list[str]]) -> tuple[dict[str, list[str]], int]:
    """The traces of these names, and how many of them differ from those of `before` (if they are there)."""
    traces: dict[str, list[str]] = {}
    wrong = 0
    with ProcessPoolExecutor() as pool:
        for name, lines, seconds in pool.map(run, names):
            traces[name] = lines
            line = first_difference(before[name], lines) if name in before else None
            state = "recorded" if name not in before else "same" if line is None else f"DIFFERS from line {line}"
            wrong += line is not None
            print(f"{name:28} {len(lines) - 1:3} trials {seconds:6.1f} s  {state}", flush=True)
    print(f"{len(traces)} configurations, {wrong} differ")
    return traces, wrong


def write_portable(file: Path, names: list[str]) -> None:
    """A trial a line, so that a change can be read."""
    traces = [
        json.dumps(name) + ": [\n" + ",\n".join(json.dumps(trial) for trial in rounded(name)) + "\n]" for name in names
    ]
    file.write_text("{\n" + ",\n".join(traces) + "\n}\n", encoding="utf-8")


def main(arguments: list[str]) -> int:
    if len(arguments) < 2 or arguments[0] not in ("record", "compare", "portable"):
        print(__doc__)
        return 2
    action, file, names = arguments[0], Path(arguments[1]), arguments[2:]
    if action == "portable":
        write_portable(file, names or PORTABLE)
        return 0
    before = json.loads(file.read_text()) if action == "compare" else {}
    traces, wrong = trace(names or list(before or CONFIGURATIONS), before)
    if action == "record":
        file.write_text(json.dumps(traces, indent=0))
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
