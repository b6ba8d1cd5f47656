"""How good is the argmax over spaces with discrete parameters? Against brute force, or ten times the evaluations.

Over random posteriors on random spaces: 2 to 8 parameters (numbers, integers with few and with many values, ordinals,
categories), half of them with conditions, a third with a constraint; M = 1..3, 10 to 300 observations of random smooth
functions with one length-scale per parameter. The reference is

    every point                  where all parameters are discrete and X has at most 20,000 points
    every combination            of listed values, where there are up to 200: 100 random points each, and from the best
                                 3 our ascents; where X has no constraints also SciPy's L-BFGS-B from the best one
    ten times the evaluations    multistart with ten times the samples and ascents; always, where X is not listed

The gap is (reference − ours) relative to the range of φ; a miss is a gap above 1e-6. The last lines are the cost: CPU
time of whole asks of mf-gp-ucb on a space (3 numbers, 2 integers, a category of 4) relative to a box with as many unit
coordinates, M = 2, 40 to 60 rows, both with and both without a constraint. Ordinary asks are those whose point is where
φ is largest: one search. Those of a refinement or in doubt search two or three times; a run on the space, which has
fewer points, comes to them sooner, so that all asks together compare unlike ones.

    python mixed_quality.py [number of posteriors, 200] [first seed, 1000: those below 200 served development]
                            [maximiser, direct]
"""

from __future__ import annotations

import sys
import time

import numpy as np
import timing
from argmax_quality import MISS, random_bound, random_function
from scipy.optimize import NonlinearConstraint, minimize

import mfopt
from mfopt import registry
from mfopt_plugins.maximisers.grid import Grid
from mfopt_plugins.maximisers.mixed import MixedSearch
from mfopt_plugins.maximisers.multistart import Multistart

LISTED, COMBINATIONS, POINTS, ASCENTS = 20_000, 200, 100, 3
COSTS = 12  # seeds of the cost


def parameter(rng, when=None):
    kind = rng.choice(["real", "real", "real", "integer", "many", "ordinal", "category", "switch"])
    if kind == "real":
        return mfopt.Real(0.0, 1.0, when=when)
    if kind == "integer":
        return mfopt.Integer(1, int(rng.integers(3, 14)), when=when)
    if kind == "many":
        return mfopt.Integer(1, int(rng.choice([40, 300, 1500])), log=bool(rng.integers(2)), when=when)
    if kind == "ordinal":
        return mfopt.Ordinal([2**k for k in range(rng.integers(3, 7))], when=when)
    return mfopt.Categorical([f"c{k}" for k in range(2 if kind == "switch" else rng.integers(3, 7))], when=when)


def random_space(rng):
    parameters = {f"p{j}": parameter(rng) for j in range(rng.integers(2, 9))}
    if rng.random() < 0.5:  # conditions: some parameters count for some choices only
        choices = [f"m{k}" for k in range(rng.integers(2, 4))]
        parameters = {"kind": mfopt.Categorical(choices), **dict(list(parameters.items())[:6])}
        for choice in choices[: rng.integers(1, 3)]:
            parameters[f"of_{choice}"] = parameter(rng, {"kind": choice})
    constraints = None
    if rng.random() < 0.33:
        weights = dict(zip(parameters, rng.uniform(-1, 1, len(parameters)), strict=True))
        half = mfopt.Space(parameters)
        x = half.decode(half.sample(500, rng))
        limit = float(np.quantile([weigh(weights, half.params(row)) for row in x], 0.6))
        constraints = lambda p: weigh(weights, p) <= limit  # noqa: E731
    return mfopt.Space(parameters, constraints=constraints)


def weigh(weights, params):
    """A number for each point: parameters that are numbers by their logarithm, choices by their last letter."""
    return sum(
        weights[name] * (np.log1p(value) if isinstance(value, int | float) else 0.3 * int(value[-1]))
        for name, value in params.items()
    )


def posterior(seed):
    """(space, observations, φ)."""
    rng = np.random.default_rng([seed, 8])
    space = random_space(rng)
    blocks, fidelities = space.blocks, int(rng.integers(1, 4))
    total = int(np.exp(rng.uniform(np.log(10), np.log(300))))
    ell = np.exp(rng.normal(np.log(0.4 * np.sqrt(len(blocks))), 0.5, len(blocks)))
    ell = np.repeat(ell, [block.stop - block.start for block in blocks])
    noise, sample = 1e-6 if seed % 2 else 1e-3, lambda n: space.sample(n, rng)
    return space, total, random_bound(rng, ell, len(blocks), fidelities, total, noise, sample)


def every_point(space):
    """All points of a space without numbers; None where there are too many."""
    counts = [0 if block.levels is None else len(block.levels) for block in space.blocks]
    if min(counts) == 0 or np.prod(counts, dtype=float) > 5 * LISTED:
        return None
    grid = np.indices(counts).reshape(len(counts), -1)
    rows = np.hstack([block.levels[index] for block, index in zip(space.blocks, grid, strict=True)])
    points = np.unique(space.snap(rows), axis=0)
    points = points[space.contains(points)]
    return points if len(points) <= LISTED else None


def every_combination(phi, space, rng):
    """The best value over all combinations of listed values, each with ascents of its own; −∞ where they are many."""
    grid = Grid(space)
    if np.prod([len(block.levels) for block in grid.listed], dtype=float) > COMBINATIONS or not grid.listed:
        return -np.inf
    counts = [len(block.levels) for block in grid.listed]
    starts = []
    for index in np.indices(counts).reshape(len(counts), -1).T:
        v = grid.fill(space.sample(POINTS, rng), space.sample(1, rng))
        for block, i in zip(grid.listed, index, strict=True):
            v[:, block.coordinates] = block.levels[i]
        u = space.snap(v)
        inside = space.contains(u)
        v, u = v[inside], u[inside]
        if len(u):
            starts.append(v[np.argsort(-phi(u))[:ASCENTS]])
    search = MixedSearch(phi, grid, len(starts), 1.0)
    # One by one: ascents in one batch give up those that fall behind.
    ours = max(search.ascend(start[i : i + 1], bool(grid.rounded))[1][0] for start in starts for i in range(len(start)))
    if space.constraints:
        return ours
    return max(ours, *(by_scipy(phi, grid, start[:1]) for start in starts))


def by_scipy(phi, grid, v):
    """The value that L-BFGS-B reaches from one row by moving its numbers alone."""
    u, movable = grid.point(v)[0], grid.movable(v, relaxed=False)[0]
    if not movable.any():
        return float(phi(u[None])[0])

    def negative(x):
        point = u.copy()
        point[movable] = x
        value, slope = phi.gradient(point[None])
        return -float(value[0]), -slope[0, movable]

    return -float(minimize(negative, u[movable], jac=True, method="L-BFGS-B", bounds=[(0, 1)] * movable.sum()).fun)


def time_asks(domains, seed):
    """By domain, (kind, CPU time) of the last 20 of 60 asks; the domains take turns, since a machine's speed drifts."""
    runs = []
    for domain in domains:
        f = random_function(np.random.default_rng(seed), np.full(domain.dim, 0.5), 4.0)
        runs.append((domain, f, mfopt.Optimizer(domain, costs=[1.0, 10.0], capital=10_000.0, rng=seed), []))
    for _ in range(60):
        for domain, f, opt, asks in runs:
            start = time.process_time()
            trial = opt.ask()
            asks.append((trial.reason.kind, time.process_time() - start))
            u = domain.encode(np.asarray(trial.x)[None])
            opt.tell(trial.id, float(f(u)[0]) + (0.3 * np.sin(3.0 * u.sum()) if trial.fidelity == 0 else 0.0))
    return [asks[-20:] for *_, asks in runs]


def cost_ratios(constrained):
    """An ask on a space relative to one on a box of the same dimension, by seed: of ordinary asks, and of all."""
    parameters = {"x": (0.0, 1.0), "y": (0.0, 1.0), "z": (0.0, 1.0), "m": mfopt.Integer(1, 10)}
    parameters |= {"n": mfopt.Integer(1, 200), "k": ["a", "b", "c", "d"]}
    named = (lambda p: p["x"] + p["y"] ** 2 + p["m"] / 10 + p["n"] / 200 <= 2.0) if constrained else None
    bound = NonlinearConstraint(lambda x: x[0] + x[1] ** 2 + x[2] + x[3], -np.inf, 2.0) if constrained else None
    space = mfopt.Space(parameters, constraints=named)
    box = mfopt.Box([(0, 1)] * space.dim, constraints=bound)
    ratios = {"ordinary asks": [], "all asks": []}
    for seed in range(COSTS):
        asks = time_asks([space, box], seed)
        ordinary = [[seconds for kind, seconds in each if kind == "ucb"] for each in asks]
        if all(ordinary):
            ratios["ordinary asks"].append(float(np.median(ordinary[0]) / np.median(ordinary[1])))
        medians = [np.median([seconds for _, seconds in each]) for each in asks]
        ratios["all asks"].append(float(medians[0] / medians[1]))
    return ratios


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    name = sys.argv[3] if len(sys.argv) > 3 else "direct"
    gaps, seconds, theirs, kinds = [], [], [], []
    for seed in range(first, first + count):
        space, total, phi = posterior(seed)
        rng = np.random.default_rng(seed)
        maximiser = registry.resolve(registry.MAXIMISERS, name)
        start = time.process_time()
        u = maximiser.maximise(phi, space, rng, total)
        seconds.append(time.process_time() - start)
        assert space.contains(u[None])[0]
        ours = float(phi(u[None])[0])
        start = time.process_time()
        points = every_point(space)
        if points is not None:
            reference, kind = float(phi(points).max()), "every point"
        else:
            size = len(space.blocks)
            many = Multistart(samples=10 * min(100 * size + 2 * total, 2000), climbs=10 * (6 + size))
            reference = float(phi(many.maximise(phi, space, rng, total)[None])[0])
            combined = every_combination(phi, space, rng)
            reference, kind = max(reference, combined), "combinations" if np.isfinite(combined) else "ten times"
        theirs.append(time.process_time() - start)
        values = phi(space.sample(4000, rng))
        spread = max(values.max(), ours, reference) - values.min()
        gaps.append((reference - ours) / spread)
        kinds.append(kind)
        if gaps[-1] > MISS:
            print(f"seed {seed}: {gaps[-1]:.1e} below {kind}, {space}, n = {total}", file=sys.stderr)
    gap = np.array(gaps)
    shares = ", ".join(f"{kinds.count(kind)} {kind}" for kind in sorted(set(kinds)))
    lines = [
        f"{count} random posteriors on mixed spaces from seed {first}, maximiser {name}; references: {shares}.",
        "",
        "| | |",
        "|---|---|",
        f"| more than 1e-6 of the range below the reference | {np.mean(gap > MISS):.1%} |",
        f"| more than 1e-6 of the range above it | {np.mean(gap < -MISS):.1%} |",
        f"| worst gap, best gain | {gap.max():.1e}, {-gap.min():.1e} |",
        f"| median CPU time: {name}, the reference | {timing.readable(float(np.median(seconds)))}, "
        f"{timing.readable(float(np.median(theirs)))} |",
    ]
    ratios = {}
    for constrained in (False, True):
        found = ratios["with a constraint" if constrained else "without"] = cost_ratios(constrained)
        which = "both" if constrained else "neither"
        for asks, each in found.items():
            lines.append(
                f"| CPU time of an ask relative to a box of the same dimension, {which} with a constraint, {asks}: "
                f"median, smallest, largest of {len(each)} seeds | {np.median(each):.2f}, {min(each):.2f}, "
                f"{max(each):.2f} |"
            )
    timing.record("mixed", "\n".join(lines), {"machine": timing.machine(), "gaps": gaps, "ratios": ratios})


if __name__ == "__main__":
    main()
