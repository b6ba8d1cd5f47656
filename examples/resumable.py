"""A study on disk that may be interrupted at any moment and goes on where it was.

    python resumable.py [study.db]

Run it twice. So that there is something to resume, it ends itself after 25 evaluations, in the middle of one and
without any clean-up, as in a power cut; leave those three lines out in work of your own. Ctrl-C, a killed job or a
crash leave the study in the same state. The queries are those that an uninterrupted run would have made.
"""

import os
import sys

import mfopt


def simulate(x, fidelity):
    a, b = x
    value = 1 - (a - 0.3) ** 2 - 2 * (b - 0.7) ** 2
    return value if fidelity == 1 else value + 0.05 * a


# The first run creates the study; later ones find it and check that the arguments are the same.
study = mfopt.Optimizer(
    [(0, 1), (0, 1)],
    costs=[1.0, 10.0],
    capital=200.0,
    rng=0,
    storage=sys.argv[1] if len(sys.argv) > 1 else "study.db",
    study="resumable",
)
interrupted = study.pending  # asked for in an earlier run, never told
print(f"known values: {len(study.history)}, under way: {len(interrupted)}, spent: {study.spent:g} of 200")

evaluated = 0
while interrupted or not study.done:
    trial = interrupted.pop(0) if interrupted else study.ask()
    if evaluated == 25:
        print(f"power cut during trial {trial.id}", flush=True)
        os._exit(1)
    study.tell(trial, simulate(trial.x, trial.fidelity))  # on the disk before tell returns
    evaluated += 1
print(f"done: best {study.best.y:.6f} at {study.best.x.round(4).tolist()}")
