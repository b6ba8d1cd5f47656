"""A finite set of candidates: the best of 1,771 mixtures.

A mixture has four ingredients in steps of 5 %, so the candidates can be listed. A quick test on a small sample costs 1,
a full test costs 20; the quick one reads too high where there is a lot of filler. mfopt only ever asks for rows of the
table.
"""

from itertools import product

import numpy as np

import mfopt

INGREDIENTS = ["resin", "filler", "fibre", "hardener"]

parts = [p for p in product(range(21), repeat=4) if sum(p) == 20]
mixtures = np.array(parts) / 20  # (1771, 4); a pandas DataFrame would do as well


def full_test(mixture):
    """Strength after curing; your laboratory knows it, mfopt does not."""
    resin, filler, fibre, hardener = mixture
    return 40 * fibre * resin + 25 * np.sqrt(hardener * resin) + 40 * filler * fibre - 30 * (fibre - 0.3) ** 2


def quick_test(mixture):
    return full_test(mixture) + 10 * mixture[1]


optimizer = mfopt.Optimizer(mfopt.FiniteSet(mixtures), costs=[1.0, 20.0], capital=400.0, rng=0)
while not optimizer.done:
    trial = optimizer.ask()
    test = full_test if trial.fidelity == 1 else quick_test
    optimizer.tell(trial, test(mixtures[trial.index]))  # trial.index is the row, trial.x the row's content

best = optimizer.best
rank = 1 + sum(full_test(mixture) > best.y for mixture in mixtures)  # only possible because this is an example
print("best mixture:", ", ".join(f"{share:.0%} {name}" for share, name in zip(best.x, INGREDIENTS, strict=True)))
tempting = max(mixtures, key=quick_test)
print(f"strength {best.y:.3f}, number {rank} of {len(mixtures)}")
print(f"the quick test's own favourite has only {full_test(tempting):.3f}")
quick, full = (int((optimizer.history.fidelity == m).sum()) for m in (0, 1))
print(f"{quick} quick and {full} full tests")
