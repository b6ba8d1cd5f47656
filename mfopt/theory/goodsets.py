"""Good sets: where each fidelity alone shows that a point cannot be the optimum (section "Discrete X").

Everything is on a finite set or a grid: `values` (M, N) holds f⁽¹⁾..f⁽ᴹ⁾ at its N points, fidelities are 0-based, and a
set is a boolean mask (N,). Volumes are fractions of X, exact for finite sets and as good as the grid otherwise.

    Δ⁽ᵐ⁾(x) = f* − f⁽ᵐ⁾(x) − ζ_m
    J⁽ᵐ⁾_η  = {x: Δ⁽ᵐ⁾(x) ≤ η}
    H⁽¹⁾    = complement of J⁽¹⁾_{3γ};  H⁽ᵐ⁾ = complement of J⁽ᵐ⁾_{3γ} within all lower J;  H⁽ᴹ⁾ = what is left
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from mfopt.checks import real_array
from mfopt.errors import InputError
from mfopt.protocols import Array, BoolArray
from mfopt.theory._checks import as_points, one_below_target, require_nonnegative, require_positive

Labels = npt.NDArray[np.int64]


def gaps(values: Array, zetas: Sequence[float], optimum: float | None = None) -> Array:
    """Δ⁽ᵐ⁾(x) = f* − f⁽ᵐ⁾(x) − ζ_m for all fidelities, (M, N); f* is the largest target value unless it is given."""
    values = _as_values(values)
    bounds = np.append(one_below_target("zetas", zetas, len(values)), 0.0)
    require_nonnegative(zetas=zetas)
    best = float(values[-1].max()) if optimum is None else optimum
    return np.asarray(best - values - bounds[:, None])


def good_set(values: Array, zetas: Sequence[float], m: int = 0, inflation: float = 0.0) -> BoolArray:
    """J⁽ᵐ⁾_η; for m = 0 and two fidelities X_g = {f* − f⁽¹⁾ ≤ ζ_1}, and inflated by 3γ_1 the set X_g,ρ."""
    return np.asarray(gaps(values, zetas)[m] <= inflation)


def partition(values: Array, zetas: Sequence[float], gammas: Sequence[float], optimum: float | None = None) -> Labels:
    """Which H⁽ᵐ⁾ each point belongs to, eq. (HcalDefn): labels (N,) from 0 to M − 1."""
    excess = gaps(values, zetas, optimum)
    fidelities = len(excess)
    require_nonnegative(gammas=gammas)
    limits = 3 * one_below_target("gammas", gammas, fidelities)
    labels = np.full(excess.shape[1], fidelities - 1, dtype=np.int64)
    for m in reversed(range(fidelities - 1)):
        labels[excess[m] > limits[m]] = m
    return labels


def above(labels: Labels, m: int) -> BoolArray:
    """Ĥ⁽ᵐ⁾ = the union of H⁽ˡ⁾ with l > m: points that will be queried at fidelities higher than m."""
    return np.asarray(labels > m)


def below(labels: Labels, m: int) -> BoolArray:
    """Ȟ⁽ᵐ⁾ = the union of H⁽ˡ⁾ with l < m: points that lower fidelities exclude from queries at m."""
    return np.asarray(labels < m)


def volume(mask: BoolArray) -> float:
    """The fraction of X in a set."""
    return float(np.mean(mask))


def volumes(labels: Labels, fidelities: int) -> Array:
    """The fractions of X in H⁽¹⁾..H⁽ᴹ⁾; they sum to 1."""
    return np.asarray(np.bincount(labels, minlength=fidelities) / len(labels))


def dilation_radius(nu_n: float, d: int, r: float = 1.0) -> float:
    """r√d / ν_n^{1/(2d)}, by which H⁽ᵐ⁾ is dilated for compact X; ν is any sublinear sequence that tends to ∞."""
    require_positive(nu_n=nu_n, d=d, r=r)
    return float(r * np.sqrt(d) / nu_n ** (1 / (2 * d)))


def dilation(points: Array, labels: Labels, m: int, radius: float) -> BoolArray:
    """H_n⁽ᵐ⁾: points within `radius` of H⁽ᵐ⁾ that are not in a set above it."""
    return np.asarray((distances(points, labels == m) <= radius) & ~above(labels, m))


def distances(points: Array, mask: BoolArray) -> Array:
    """The distance of each point to the nearest point of a set, +∞ if it is empty."""
    from scipy.spatial import cKDTree  # slow to import

    points = as_points(points)
    if not mask.any():
        return np.full(len(points), np.inf)
    return np.asarray(cKDTree(points[mask]).query(points)[0])


def _as_values(values: Array) -> Array:
    array = real_array(values, "values")
    if array.ndim != 2 or 0 in array.shape or not np.isfinite(array).all():
        raise InputError(f"values must be a finite array (M, N), one row per fidelity, got shape {array.shape}")
    return array
