"""ζ as a contract: what of a history contradicts it."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mfopt import Box, FiniteSet, theory
from mfopt.errors import InputError, ZetaWarning
from mfopt_plugins.strategies.ucb.zeta import ZetaRule


def history(rows):
    """Rows of (x, fidelity, y)."""
    x, fidelity, y = zip(*rows, strict=True)
    return SimpleNamespace(x=np.array(x, float)[:, None], fidelity=np.array(fidelity), y=np.array(y, float))


def test_a_pair_within_the_bound_is_no_violation():
    assert theory.violations(history([(0.5, 0, 1.0), (0.5, 1, 1.5)]), [0.5, 0.0]) == []


def test_a_violation_says_when_where_and_by_how_much():
    told = history([(0.1, 0, 1.0), (0.5, 0, 1.0), (0.1, 1, 1.2), (0.5, 1, 1.7)])
    (found,) = theory.violations(told, [0.5, 0.0])
    assert (found.n, found.x.tolist(), found.low, found.high) == (4, [0.5], 0, 1)
    assert found.difference == pytest.approx(0.7)
    assert found.allowed == 0.5
    assert str(found) == "value 4: fidelities 0 and 1 differ by 0.7 at [0.5], the zetas given allow 0.5"


def test_two_low_fidelities_may_differ_by_the_sum_of_their_bounds():
    told = history([(0.5, 0, 1.0), (0.5, 1, 1.65)])
    assert theory.violations(told, [0.5, 0.2, 0.0]) == []
    assert len(theory.violations(told, [0.5, 0.1, 0.0])) == 1


def test_bounds_not_given_test_nothing_and_failed_values_count_but_tell_nothing():
    told = history([(0.5, 0, 9.0), (0.5, 1, np.nan), (0.5, 2, 0.0)])
    assert theory.violations(told, [None, 0.1, 0.0]) == []
    assert [v.n for v in theory.violations(told, [1.0, None, 0.0])] == [3]


def test_noise_is_not_blamed_on_a_zeta():
    told = history([(0.5, 0, 0.0), (0.5, 1, 1.0)])
    assert len(theory.violations(told, [0.5, 0.0], [0.01, 0.01])) == 1  # 1 − 3·√0.02 = 0.58
    assert theory.violations(told, [0.5, 0.0], [0.02, 0.02]) == []  # 1 − 3·√0.04 = 0.4


def test_repeats_of_one_fidelity_are_no_pair():
    assert theory.violations(history([(0.5, 0, 0.0), (0.5, 0, 9.0)]), [0.1, 0.0]) == []


def test_a_point_that_is_asked_often_rarely_gives_a_false_alarm():
    alarms = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        told = history([(0.5, n % 2, 0.3 * rng.standard_normal()) for n in range(300)])
        alarms += bool(theory.violations(told, [1e-3, 0.0], [0.09, 0.09]))
    assert alarms <= 2


def test_many_values_of_a_point_show_what_one_pair_cannot():
    rng = np.random.default_rng(0)
    told = [(0.5, n % 2, 0.5 * (n % 2) + 0.3 * rng.standard_normal()) for n in range(400)]
    assert theory.violations(history(told[:2]), [0.2, 0.0], [0.09, 0.09]) == []
    assert theory.violations(history(told), [0.2, 0.0], [0.09, 0.09])


def test_there_must_be_a_noise_per_fidelity():
    with pytest.raises(InputError, match="one entry per zeta, 2, got 1"):
        theory.violations(history([(0.5, 0, 0.0)]), [0.1, 0.0], [0.0])


@given(
    st.lists(st.tuples(st.sampled_from([0.1, 0.5]), st.integers(0, 2), st.floats(-1, 1)), min_size=1, max_size=15),
    st.sampled_from([0.0, 0.01]),
)
def test_strategies_and_reports_judge_alike(rows, noise):
    zetas = [0.5, 0.2, 0.0]
    rule = ZetaRule(zetas, range(3))
    told = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ZetaWarning)
        for x, m, y in rows:
            own = told.setdefault((x, m), [])
            own.append(y)
            for other in (0, 1, 2):
                if other != m and (x, other) in told:
                    others = told[x, other]
                    variance = noise / len(own) + noise / len(others)
                    rule.hold_to_contract(m, float(np.mean(own)), other, float(np.mean(others)), variance)
    largest = {}
    for violation in theory.violations(history(rows), zetas, [noise] * 3):
        largest[violation.low] = max(largest.get(violation.low, 0.0), violation.difference)
    assert rule.violations == pytest.approx(largest)


def test_points_are_the_same_as_for_a_strategy_where_the_domain_is_known():
    told = history([(0.5, 0, 0.0), (0.5 + 1e-7, 1, 9.0), (0.5 + 1e-5, 1, 9.0)])
    assert theory.violations(told, [0.1, 0.0]) == []
    (found,) = theory.violations(told, [0.1, 0.0], domain=Box([(0.0, 1.0)]))
    assert found.n == 2
    candidates = FiniteSet([[0.5], [0.5 + 1e-7], [0.5 + 1e-5]])
    assert theory.violations(told, [0.1, 0.0], domain=candidates) == []
