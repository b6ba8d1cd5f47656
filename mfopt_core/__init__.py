"""The compiled core of mfopt: Gaussian processes that grow by rows, and multi-fidelity upper confidence bounds.

It imports nothing from mfopt and can be used on its own. Where to find what:

    _gp.pyx          GP, the face of a Gaussian process: checks, locks, arrays; start reading here
    _process.pyx     the process behind it: notation, adding and forgetting rows, jitter
    _posterior.pyx   mean and variance at given points, their gradients, covariances, draws
    _likelihood.pyx  log marginal likelihood and its gradient
    _level_likelihood.pyx  LevelLikelihood, the same for values of several levels
    _tracked.pyx     Tracked, the face of points whose posterior is kept current
    _tracker.pyx     what is kept for them, with bounds for those that are not current
    _ucb.pyx         φ = min_m φ_m over several GPs; _argmax.pyx: its lazy exact argmax over tracked points
    _level.pyx       Level, one fidelity of a process, and what it remembers of points that come back
    _pair.pyx        Pair, two levels of one process and their covariance
    _improvement.pyx Improvement, the augmented expected improvement of all levels, for searches
    _bound.pyx       Bound, φ over levels with all that a search wants of it
    _search.pyx      whole searches: DIRECT and ascents on a Bound, or on any function
    _direct.pyx      DIRECT, a batch of points at a time
    _ascent.pyx      quasi-Newton ascents on a minimum of smooth pieces, several at once; _step.pyx: one step of them

What these stand on:

    _correlation.pyx what a process asks of a kernel
    _kernels.pyx     k(x, z) and its gradients
    _bessel.pyx      K_ν of the general Matérn kernel, from SciPy
    _mixture.pyx     Mixture, levels that are sums of the same independent functions
    _cholesky.pyx    L as rows of blocks: add rows, forget rows, solve
    _data.pyx        the rows of data: points in two layouts, values, noises
    _columns.pyx     columns of L⁻¹ r at tracked points, and their sums
    _slots.pyx       slots of points, found by their coordinates; the one unused for longest makes way
    _augmented.pxd   the terms of an Improvement at one point
    _heap.pxd        a binary heap of indices by their keys
    _memory.pyx      all memory outside NumPy arrays
    _arrays.pyx      checks and conversions of what comes in
    _blas.pxd        BLAS and LAPACK with their formulas
    src/rows.c       exp, kernels, dot products and one-vector triangular solves, vectorised C
    src/columns.c    triangular solves of columns that grow by rows
"""

from mfopt_core._ascent import Ascent
from mfopt_core._bound import Bound
from mfopt_core._direct import Direct
from mfopt_core._gp import GP
from mfopt_core._improvement import Improvement
from mfopt_core._kernels import BUILD, KERNELS, Kernel
from mfopt_core._level import Level
from mfopt_core._level_likelihood import LevelLikelihood
from mfopt_core._mixture import Mixture
from mfopt_core._pair import Pair
from mfopt_core._search import ascend, choose_apart, divide, find_distinct
from mfopt_core._tracked import Tracked
from mfopt_core._ucb import argmax_ucb, mf_ucb

__all__ = [
    "BUILD",
    "GP",
    "KERNELS",
    "Ascent",
    "Bound",
    "Direct",
    "Improvement",
    "Kernel",
    "Level",
    "LevelLikelihood",
    "Mixture",
    "Pair",
    "Tracked",
    "argmax_ucb",
    "ascend",
    "choose_apart",
    "divide",
    "find_distinct",
    "mf_ucb",
]
