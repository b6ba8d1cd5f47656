"""Evaluations in parallel, in processes of their own.

`maximize` runs the whole loop. With executor="processes" each evaluation runs in a separate process, which suits
functions that keep a CPU busy. A value is told as soon as it arrives; nothing waits for the slowest. Functions must be
importable by name, and the script needs its `if __name__ == "__main__":` line, because every process imports it.

Here four evaluations run at once, but only two of them may be fine ones (as with two licences of a program).
"""

import time

import mfopt


def coarse(x):
    time.sleep(0.05)  # stands for the computation
    return 1 - (x[0] - 0.3) ** 2 - (x[1] - 0.7) ** 2 + 0.05 * x[0]


def fine(x):
    time.sleep(0.5)
    return 1 - (x[0] - 0.3) ** 2 - (x[1] - 0.7) ** 2


def main():
    start = time.perf_counter()
    result = mfopt.maximize(
        [coarse, fine],
        [(0, 1), (0, 1)],
        costs=[1, 10],
        capital=120,
        rng=0,
        executor="processes",
        workers=4,
        limits=[None, 2],
        timeout=30,  # seconds: an evaluation that hangs is killed with its process
        retries=1,
        on_error="record",  # one that fails twice is noted, and the loop goes on
        progress=False,
    )
    took = time.perf_counter() - start
    work = 0.05 * result.nfev_at[0] + 0.5 * result.nfev_at[1]
    print(f"best {result.fun:.6f} at {result.x.round(3).tolist()}")
    print(f"{result.nfev_at[0]} coarse and {result.nfev_at[1]} fine evaluations, {len(result.failures)} failed")
    print(f"{work:.1f} s of work done in {took:.1f} s")


if __name__ == "__main__":
    main()
