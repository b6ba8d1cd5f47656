"""A plugin of your own, in ten lines, compared with what is built in.

A maximiser searches for the point where the acquisition (the upper bound of the default strategy) is largest. Any
object with a method `maximise` will do, and an instance is passed where a name would stand. docs/write-a-plugin.md
shows how to give it a name that others can install. Whether it is any good takes several seeds to see, because single
runs differ by orders of magnitude.
"""

import numpy as np

import mfopt


class Shrinking:
    """The best of many random points, then of many near the best so far, nearer each time."""

    def maximise(self, acquisition, domain, rng, t):
        points = domain.sample(500, rng)  # in unit coordinates, one point per row
        best = points[np.argmax(acquisition(points))]
        for step in np.geomspace(0.3, 1e-3, 30):
            near = np.clip(best + step * rng.standard_normal((100, domain.dim)), 0.0, 1.0)
            near = np.concatenate([best[None], near[domain.contains(near)]])
            best = near[np.argmax(acquisition(near))]
        return best


problem = mfopt.problems.get("currin")  # the optimum is known: what is missing to it is the simple regret
methods = {
    "mf-gp-ucb": {},
    "mf-gp-ucb, Shrinking": {"maximiser": Shrinking()},
    "gp-ucb": {"strategy": "gp-ucb"},
    "random": {"strategy": "random"},
}
SEEDS = range(5)

print(f"simple regret on {problem.name} after a capital of 15 target queries, {len(SEEDS)} seeds")
print(f"{'method':22} {'median':>9} {'best':>9} {'worst':>9}")
for label, options in methods.items():
    regrets = []
    for seed in SEEDS:
        result = mfopt.maximize(
            problem.functions, problem.domain, problem.costs, capital=150.0, rng=seed, progress=False, **options
        )
        regrets.append(problem.optimum - result.fun)
    print(f"{label:22} {np.median(regrets):9.1e} {min(regrets):9.1e} {max(regrets):9.1e}")
