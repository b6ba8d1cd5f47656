"""Record the runs of tests/traces/configurations.py, or compare them with a record: is a refactoring exact?

    python tools/traces.py record FILE     before the change
    python tools/traces.py compare FILE    after it, on the same machine

A difference in the last bit is a difference. Names of configurations may follow, to run only those.
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

from tests.traces.configurations import CONFIGURATIONS, record  # noqa: E402


def run(name: str) -> tuple[str, list[str], float]:
    start = time.perf_counter()
    return name, record(name).lines, time.perf_counter() - start


def main(arguments: list[str]) -> int:
    if len(arguments) < 2 or arguments[0] not in ("record", "compare"):
        print(__doc__)
        return 2
    action, file, *names = arguments
    before = json.loads(Path(file).read_text()) if action == "compare" else {}
    names = names or list(CONFIGURATIONS if action == "record" else before)
    lines: dict[str, list[str]] = {}
    wrong = 0
    with ProcessPoolExecutor() as pool:
        for name, found, seconds in pool.map(run, names):
            lines[name] = found
            state = "recorded"
            if action == "compare":
                at = next((i for i, (a, b) in enumerate(zip(before[name], found, strict=False)) if a != b), None)
                same = before[name] == found
                state = "same" if same else f"DIFFERS from line {len(found) if at is None else at}"
                wrong += not same
            print(f"{name:28} {len(found) - 1:3} trials {seconds:6.1f} s  {state}", flush=True)
    if action == "record":
        Path(file).write_text(json.dumps(lines, indent=0))
    print(f"{len(lines)} configurations, {wrong} differ")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
