"""The constants of the theorems, against hand-computed values and their limits."""

from math import log, pi, sqrt

import pytest

from mfopt import theory
from mfopt.errors import InputError


def test_practical_beta_is_a_fifth_of_d_log_2t():
    assert theory.beta_practical(5, 3) == pytest.approx(0.2 * 3 * log(10))


def test_gpucb_betas_follow_theorem_gpucb():
    assert theory.beta_gpucb_discrete(3, 100, 0.1) == pytest.approx(2 * log(100 * 9 * pi**2 / 0.6))
    expected = 2 * log(2 * pi**2 * 16 / 0.3) + 2 * 2 * log(16 * 5.0 * 2 * 3.0 * sqrt(4 * 7.0 * 2 / 0.1))
    assert theory.beta_gpucb_compact(4, 2, 0.1, r=3.0, a=7.0, b=5.0) == pytest.approx(expected)


def test_multi_fidelity_betas_follow_their_theorems():
    assert theory.beta_mf_discrete(3, 100, 2, 0.1, xi=0.5) == pytest.approx(2 * log(2 * 100 * pi**2 * 9 / 0.15))
    tail = 2 * 2 * log(5.0 * 3.0 * 2 * sqrt(log(6 * 3 * 7.0 * 2 / 0.05)))
    expected = 2 * log(3 * pi**2 * 16 / 0.1) + 8 * log(4) + tail
    assert theory.beta_mf_compact(4, 2, 3, 0.1, r=3.0, a=7.0, b=5.0, xi=0.5) == pytest.approx(expected)


@pytest.mark.parametrize(("a", "b"), [(1.0, 1e-9), (1e-9, 1.0)])
def test_a_very_smooth_kernel_does_not_lower_the_compact_beta(a, b):
    expected = 2 * log(2 * pi**2 * 16 / 0.2) + 8 * log(4)
    assert theory.beta_mf_compact(4, 2, 2, 0.1, a=a, b=b) == pytest.approx(expected)


def test_gamma_balances_the_costs():
    assert theory.gamma_from_zeta([2.0, 1.0, 0.0], [1.0, 4.0, 16.0]) == (1.0, 0.5)
    assert theory.gamma_from_zeta([2.0, 1.0], [1.0, 4.0, 16.0]) == (1.0, 0.5)
    assert theory.gamma_from_zeta([], [1.0]) == ()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: theory.beta_practical(0, 2), "t must be positive, got 0"),
        (lambda: theory.beta_gpucb_discrete(1, 10, 1.0), "delta must lie strictly between 0 and 1, got 1.0"),
        (lambda: theory.beta_mf_discrete(1, 10, 2, 0.1, xi=0.0), r"xi must lie in \(0, 1\], got 0.0"),
        (lambda: theory.beta_mf_compact(1, 2, 2, 0.1, b=-1.0), "b must be positive, got -1.0"),
        (lambda: theory.gamma_from_zeta([1.0], [10.0, 1.0]), "strictly increasing, got"),
        (lambda: theory.gamma_from_zeta([-1.0], [1.0, 10.0]), "zetas must not be negative"),
        (lambda: theory.gamma_from_zeta([1.0, 2.0, 3.0], [1.0, 10.0]), "zetas must hold M or M - 1 values"),
    ],
)
def test_a_value_outside_its_range_is_named(call, message):
    with pytest.raises(InputError, match=message):
        call()
