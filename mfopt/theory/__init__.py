"""The paper's theory as functions to compute with. Every docstring names its equation.

    confidence    β_t of every theorem and of practice, γ_m
    kernels       κ as plain functions, thin factors of its matrices
    information   information gain, its maximum Ψ_n, growth rates
    goodsets      X_g, the partition H⁽¹⁾..H⁽ᴹ⁾, dilations, volumes
    bounds        the capital thresholds Λ_1, Λ_2 and the bounds on the simple regret
    generative    f⁽¹⁾..f⁽ᴹ⁾ sampled given A2, and ξ = P(A2)
    counting      T⁽ᵐ⁾_n(A) from a history
    contract      every pair of values compared with the ζ_m that were given

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

__all__ = [
    "Estimate",
    "Greedy",
    "Kernel",
    "SamplingError",
    "Thresholds",
    "Violation",
    "above",
    "below",
    "beta_gpucb_compact",
    "beta_gpucb_discrete",
    "beta_mf_compact",
    "beta_mf_discrete",
    "beta_practical",
    "c1",
    "c_kappa_matern",
    "c_kappa_se",
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
    "queries_by_set",
    "queries_inside",
    "sample_fidelities",
    "squared_exponential",
    "violations",
    "volume",
    "volumes",
    "xi_lower_bound",
    "xi_monte_carlo",
]
