"""The initial design: uniform random queries with an initialisation capital Λ₀ (section "Some Implementation
Details").

Λ₀/2 goes to the first and Λ₀/2 to the second fidelity; a method that uses one fidelity puts all of it there. By
default Λ₀ = 5 λ_M (benchmarks/experiments.md says why), but at most a quarter of the capital, since little capital is
better spent by the method than by chance. Each of these fidelities gets at least FEWEST points (models need some), and
at most 50 d: with λ_1 ≪ λ_2 half of Λ₀ would pay for thousands of points, which chance places worse than the method;
what is saved is left to it. Fidelities above the second start without data, as in the paper.

A method that couples the fidelities and sees to the target itself needs less: `cheap_counts` spends λ_M at the cheapest
fidelity, on 10 d points at most, and adds one target query, which tells how the two compare.

The i-th point of a fidelity depends on the seed, the fidelity and i only: strategies that share a seed share points,
but for near-copies of others, in whose place models have the next one drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import floor

import numpy as np

from mfopt.errors import InputError
from mfopt.protocols import Array, Domain

DEFAULT_QUERIES = 5  # Λ₀ in units of λ_M
LARGEST_SHARE = 0.25  # of the capital
FEWEST = 3
_DESIGN_STREAM = 1  # keeps the generators used here apart from those of learning


def initial_counts(
    costs: Sequence[float], capital: float | None, initial_capital: float | None, dim: int, size: int | None = None
) -> tuple[int, ...]:
    """How many initial queries each of the fidelities with these costs gets; `size` is |X| of a finite set.

    An `initial_capital` that is given is spent as the paper says, without the cap on the number of points.
    """
    counts = [0] * len(costs)
    if initial_capital is not None:
        if not 0 <= initial_capital < float("inf"):
            raise InputError(f"initial_capital must be finite and not negative, got {initial_capital}")
        lowest, highest = 0, None
        total = initial_capital
    else:
        lowest, highest = FEWEST, 50 * dim
        total = DEFAULT_QUERIES * costs[-1]
        if capital is not None:
            total = min(total, LARGEST_SHARE * capital)
    share = total / min(len(costs), 2)
    for k, cost in enumerate(costs[:2]):
        counts[k] = max(floor(share / cost * (1 + 1e-12)), lowest)
        if highest is not None:
            counts[k] = min(counts[k], highest)
        if size is not None:
            counts[k] = min(counts[k], size)
    return tuple(counts)


def cheap_counts(costs: Sequence[float], dim: int, size: int | None = None) -> tuple[int, ...]:
    """How many initial queries each fidelity gets where the cheapest has all but one, which is the target's."""
    most = max(min(floor(costs[-1] / costs[0] * (1 + 1e-12)), 10 * dim), FEWEST)
    return (most if size is None else min(most, size), *[0] * (len(costs) - 2), 1)


def initial_point(domain: Domain, seed: int, fidelity: int, i: int) -> Array:
    """The i-th initial point of a fidelity, uniform in X, in unit coordinates."""
    return np.array(domain.sample(1, np.random.default_rng([seed, _DESIGN_STREAM, fidelity, i]))[0])
