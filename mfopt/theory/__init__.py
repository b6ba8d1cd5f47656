"""The paper's theory as functions to compute with. Every docstring names its equation.

    confidence    β_t of every theorem and of practice, γ_m
    kernels       κ as plain functions, thin factors of its matrices
    information   information gain, its maximum Ψ_n, growth rates
    goodsets      X_g, the partition H⁽¹⁾..H⁽ᴹ⁾, dilations, volumes
    bounds        the capital thresholds Λ_1, Λ_2 and the bounds on the simple regret
    plays         how often a point is queried at most, by fidelity and set
    covering      cells F⁽ᵐ⁾_n, balls and their queries, for compact X
    smoothness    the constants a, b of the kernel in β_t for compact X
    generative    f⁽¹⁾..f⁽ᴹ⁾ sampled given A2, and ξ = P(A2)
    counting      T⁽ᵐ⁾_n(A) from a history
    contract      the means of two fidelities at a point compared with the ζ_m that were given

Where the paper's statements and proofs differ, docs/theory.md says what is used and why.
"""

from mfopt.theory.bounds import (
    Thresholds,
    c1,
    c_kappa_matern,
    c_kappa_se,
    compact_thresholds,
    discrete_thresholds,
    gpucb_bound,
    mf_bound,
)
from mfopt.theory.confidence import (
    beta_gpucb_compact,
    beta_gpucb_discrete,
    beta_mf_compact,
    beta_mf_discrete,
    beta_practical,
    gamma_from_zeta,
)
from mfopt.theory.contract import Violation, violations
from mfopt.theory.counting import queries_by_set, queries_inside
from mfopt.theory.covering import (
    Cells,
    ball_count,
    ball_radius,
    cells,
    queries_above_cell,
    queries_per_ball,
    variance_bound,
)
from mfopt.theory.generative import Estimate, SamplingError, sample_fidelities, xi_lower_bound, xi_monte_carlo
from mfopt.theory.goodsets import above, below, dilation, dilation_radius, gaps, good_set, partition, volume, volumes
from mfopt.theory.information import (
    Greedy,
    greedy_information_gain,
    growth_matern,
    growth_se,
    information_bound,
    information_gain,
)
from mfopt.theory.kernels import Kernel, factor, matern, squared_exponential
from mfopt.theory.plays import query_bounds, query_bounds_by_set
from mfopt.theory.smoothness import smoothness_matern, smoothness_se

__all__ = [
    "Cells",
    "Estimate",
    "Greedy",
    "Kernel",
    "SamplingError",
    "Thresholds",
    "Violation",
    "above",
    "ball_count",
    "ball_radius",
    "below",
    "beta_gpucb_compact",
    "beta_gpucb_discrete",
    "beta_mf_compact",
    "beta_mf_discrete",
    "beta_practical",
    "c1",
    "c_kappa_matern",
    "c_kappa_se",
    "cells",
    "compact_thresholds",
    "dilation",
    "dilation_radius",
    "discrete_thresholds",
    "factor",
    "gamma_from_zeta",
    "gaps",
    "good_set",
    "gpucb_bound",
    "greedy_information_gain",
    "growth_matern",
    "growth_se",
    "information_bound",
    "information_gain",
    "matern",
    "mf_bound",
    "partition",
    "queries_above_cell",
    "queries_by_set",
    "queries_inside",
    "queries_per_ball",
    "query_bounds",
    "query_bounds_by_set",
    "sample_fidelities",
    "smoothness_matern",
    "smoothness_se",
    "squared_exponential",
    "variance_bound",
    "violations",
    "volume",
    "volumes",
    "xi_lower_bound",
    "xi_monte_carlo",
]
