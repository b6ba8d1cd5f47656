"""Arithmetic: a number that tells whether two processes compute the same bits.

Another CPU, another build of mfopt_core or another BLAS may round otherwise. A state that was told elsewhere is then of
no use: what follows from it would differ in the last bits from what was recorded.
"""

from __future__ import annotations

import zlib
from functools import cache

import numpy as np
from scipy.linalg import cholesky

import mfopt_core

_ROWS, _DIM = 70, 3


@cache
def arithmetic() -> int:
    """A checksum of what a small process and a factorisation come to, and of the functions that models use."""
    u = np.mod(np.outer(np.arange(1, 2 * _ROWS + 1), np.sqrt([2.0, 3.0, 5.0])), 1.0)  # no generator: it may change
    x, other = u[:_ROWS], u[_ROWS:]
    y = np.sin(5.0 * x).sum(axis=1) + np.log1p(x[:, 0]) + np.arcsinh(x[:, 1])
    gp = mfopt_core.GP("se", np.full(_DIM, 0.3), 1.7, 1e-4, mean=0.1)
    gp.extend(x[:-2], y[:-2])
    gp.extend(x[-2:], y[-2:])
    value, slope = gp.log_marginal_likelihood(grad=True)
    factor = cholesky(np.exp(-np.abs(x[:, :1] - x[:, 0])) + np.eye(_ROWS), lower=True)
    checksum = 0
    for part in (y, *gp.posterior_gradient(other), np.array([value]), slope, factor, factor @ other):
        checksum = zlib.crc32(np.ascontiguousarray(part).tobytes(), checksum)
    return checksum
