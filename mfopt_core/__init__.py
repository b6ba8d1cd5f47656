"""The compiled core of mfopt: Gaussian processes that grow by rows, and multi-fidelity upper confidence bounds.

It imports nothing from mfopt and can be used on its own. Where to find what:

    src/rows.c      exp, kernels, dot products and one-vector triangular solves, vectorised C
    _kernels.pyx    k(x, z) and its gradients
    _cholesky.pyx   L as rows of blocks: add rows, forget rows, solve
    _gp.pyx         GP: posterior, its gradients, marginal likelihood, samples
    _tracked.pyx    posterior kept current at fixed points; lazy exact argmax of the upper bound
    _ucb.pyx        φ = min_m φ_m over several GPs
    _direct.pyx     DIRECT, a batch of points at a time
    _ascent.pyx     quasi-Newton ascents on a minimum of smooth pieces, several at once
    _blas.pxd       BLAS and LAPACK with their formulas
    _arrays.pyx     checks and conversions of what comes in
"""

from mfopt_core._ascent import Ascent
from mfopt_core._direct import Direct
from mfopt_core._gp import GP
from mfopt_core._kernels import BUILD, KERNELS, Kernel
from mfopt_core._tracked import Tracked
from mfopt_core._ucb import argmax_ucb, mf_ucb, ucb_pieces

__all__ = ["BUILD", "GP", "KERNELS", "Ascent", "Direct", "Kernel", "Tracked", "argmax_ucb", "mf_ucb", "ucb_pieces"]
