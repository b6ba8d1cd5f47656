"""The covering argument for compact X (section "Compact and Convex X" of the proofs): cells, balls, and their queries.

    a covering of [0, r]^d by ν_n^{1/2} cells, a grid with ν_n^{1/(2d)} points per side
    F⁽ᵐ⁾_n: the cells that lie wholly outside J⁽ᵐ⁾_{3γ} and in no lower F⁽ˡ⁾_n, eq. (FmnDefn); for m = 1 the paper
            prints J where it means its complement
    T⁽>ᵐ⁾_n of a cell of F⁽ᵐ⁾_n is at most max{(3η)^{−2/3}, ν_n^{1/2}}, Lemma (TgmDmnBound): ν_n in all
    what is left of X is covered by balls, ⌈2η²β_n/γ_m²⌉ queries at fidelity m in each, eq. (htncalmbound)

X is seen on a uniform grid of points, as in goodsets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, sqrt

import numpy as np
import numpy.typing as npt

from mfopt.errors import InputError
from mfopt.protocols import Array
from mfopt.theory._checks import as_points, one_below_target, require_nonnegative, require_positive
from mfopt.theory.goodsets import Labels, gaps


@dataclass(frozen=True)
class Cells:
    """A covering of X: `cell` (N,) tells the cell of each point; `labels` (cells,) tells its F⁽ᵐ⁾_n, M − 1 for none."""

    cell: npt.NDArray[np.int64]
    labels: Labels

    def sizes(self, fidelities: int) -> Array:
        """|F⁽¹⁾_n|..|F⁽ᴹ⁻¹⁾_n|, and the number of cells in none of them."""
        return np.bincount(self.labels, minlength=fidelities).astype(np.float64)


def cells(
    points: Array,
    values: Array,
    zetas: Sequence[float],
    gammas: Sequence[float],
    nu_n: float,
    r: float = 1.0,
    optimum: float | None = None,
) -> Cells:
    """The cells that the points of [0, r]^d fall into and the F⁽ᵐ⁾_n they belong to, eq. (FmnDefn).

    `values` (M, N) holds f⁽¹⁾..f⁽ᴹ⁾ at the points. A cell without points is none.
    """
    points = as_points(points)
    require_positive(nu_n=nu_n, r=r)
    require_nonnegative(gammas=gammas)
    excess = gaps(values, zetas, optimum)
    fidelities, d = len(excess), points.shape[1]
    limits = 3 * one_below_target("gammas", gammas, fidelities)
    side = ceil(nu_n ** (1 / (2 * d)) - 1e-9)
    columns = np.minimum((points / r * side).astype(np.int64), side - 1)
    _, cell = np.unique(columns, axis=0, return_inverse=True)
    cell = cell.reshape(-1)
    # The smallest Δ⁽ᵐ⁾ of a cell tells whether the whole of it lies outside J⁽ᵐ⁾_{3γ}.
    least = np.full((fidelities, int(cell.max()) + 1), np.inf)
    for m in range(fidelities):
        np.minimum.at(least[m], cell, excess[m])
    labels = np.full(least.shape[1], fidelities - 1, dtype=np.int64)
    for m in reversed(range(fidelities - 1)):
        labels[least[m] > limits[m]] = m
    return Cells(cell, labels)


def queries_above_cell(nu_n: float, noise: float) -> float:
    """max{(3η)^{−2/3}, ν_n^{1/2}}: at most so many queries above m in a cell of F⁽ᵐ⁾_n, Lemma (TgmDmnBound)."""
    require_positive(nu_n=nu_n, noise=noise)
    return float(max((3 * sqrt(noise)) ** (-2 / 3), sqrt(nu_n)))


def variance_bound(diameter: float, queries: int, noise: float, c: float, kernel: str = "se") -> float:
    """κ'(x, x) ≤ C_SE D² + η²/s, or C_Mat D + η²/s: Lemma (compactVarBound), s = `queries` in a set of this diameter.

    `c` is C_SE = κ_0/h², or C_Mat = 2κ_0 L with a Lipschitz constant L of κ(x, x')/κ_0 in ‖x − x'‖.
    """
    require_positive(queries=queries, noise=noise, c=c)
    require_nonnegative(diameter=[diameter])
    return float(c * diameter ** _power(kernel) + noise / queries)


def ball_radius(gamma: float, beta_n: float, c: float, kernel: str = "se") -> float:
    """ε_n = γ/√(8 C_SE β_n), or γ²/(4 C_Mat β_n): in such balls the variance can fall to γ²/β_n; `c` as above."""
    require_positive(gamma=gamma, beta_n=beta_n, c=c)
    return float(gamma / sqrt(8 * c * beta_n) if _power(kernel) == 2 else gamma**2 / (4 * c * beta_n))


def queries_per_ball(gamma: float, beta_n: float, noise: float) -> int:
    """⌈2η²β_n/γ²⌉, the queries after which a ball is left alone at this fidelity."""
    require_positive(gamma=gamma, beta_n=beta_n, noise=noise)
    return ceil(2 * noise * beta_n / gamma**2)


def ball_count(volume: float, d: int, radius: float) -> float:
    """Ω_ε(A) ≤ vol(A) d^{d/2}/(2ε)^d: cubes of side 2ε/√d fit into balls of radius ε (printed: 2^{d/2} for 2^d)."""
    require_positive(d=d, radius=radius)
    require_nonnegative(volume=[volume])
    return float(volume * d ** (d / 2) / (2 * radius) ** d)


def _power(kernel: str) -> int:
    """Of the diameter in the bound on the variance."""
    if kernel not in ("se", "matern"):
        raise InputError(f'kernel must be "se" or "matern", got {kernel!r}')
    return 2 if kernel == "se" else 1
