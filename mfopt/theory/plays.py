"""How often a point is queried at most: Lemma (TmnxBounds) and its table, for a finite X.

For x in H⁽ᵐ⁾, with high probability and for all n,

    T⁽ˡ⁾_n(x) ≤ ⌈η²β_n/γ_l²⌉        at the fidelities l < m (the lemma prints γ_m; its proof and the table have γ_l)
    T⁽ᵐ⁾_n(x) ≤ ⌈5η²β_n/Δ⁽ᵐ⁾(x)²⌉   at its own; +∞ where Δ⁽ᵐ⁾(x) = 0, at the optimum
    T⁽>ᵐ⁾_n(x) ≤ 1                  at all fidelities above together

The table prints a + 1 for ⌈a⌉.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mfopt.protocols import Array
from mfopt.theory._checks import one_below_target, require_positive
from mfopt.theory.goodsets import gaps, partition


def query_bounds(
    values: Array,
    zetas: Sequence[float],
    gammas: Sequence[float],
    noise: float,
    beta_n: float,
    optimum: float | None = None,
) -> Array:
    """The bound on T⁽ˡ⁾_n(x), one row per fidelity l, one column per point x, Table (TmnxBounds).

    `values` (M, N) holds f⁽¹⁾..f⁽ᴹ⁾ at the points, `noise` is η², `beta_n` β_n. Above its own set's fidelity each entry
    of a point is 1; the lemma allows 1 in all of them together.
    """
    excess = gaps(values, zetas, optimum)
    fidelities = len(excess)
    thresholds = one_below_target("gammas", gammas, fidelities)
    require_positive(noise=noise, beta_n=beta_n, gammas=thresholds)
    labels = partition(values, zetas, gammas, optimum)
    bounds = np.ones_like(excess)
    for m in range(fidelities):
        own = labels == m
        with np.errstate(divide="ignore"):
            bounds[m, own] = np.ceil(5 * noise * beta_n / np.maximum(excess[m, own], 0.0) ** 2)
        if m < fidelities - 1:
            bounds[m, labels > m] = np.ceil(noise * beta_n / thresholds[m] ** 2)
    return bounds


def query_bounds_by_set(
    values: Array,
    zetas: Sequence[float],
    gammas: Sequence[float],
    noise: float,
    beta_n: float,
    optimum: float | None = None,
) -> Array:
    """The bound on T⁽ˡ⁾_n(H⁽ᵐ⁾), one row per set m, one column per fidelity l, as `queries_by_set` counts them."""
    bounds = query_bounds(values, zetas, gammas, noise, beta_n, optimum)
    labels = partition(values, zetas, gammas, optimum)
    return np.array([bounds[:, labels == m].sum(axis=1) for m in range(len(bounds))])
