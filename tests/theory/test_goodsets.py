"""Good sets, against their definitions read literally."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mfopt import theory
from mfopt.errors import InputError


@st.composite
def situations(draw):
    """Fidelities that satisfy A2, with decreasing ζ."""
    fidelities, size = draw(st.integers(1, 4)), draw(st.integers(1, 30))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    zetas = sorted(rng.uniform(0.01, 1.0, fidelities - 1), reverse=True)
    target = rng.normal(size=size)
    lower = [target + rng.uniform(-zeta, zeta, size) for zeta in zetas]
    gammas = rng.uniform(0.0, 0.3, fidelities - 1)
    return np.array([*lower, target]), list(zetas), list(gammas)


@settings(max_examples=100, deadline=None)
@given(situations())
def test_the_partition_is_the_one_of_the_definition(situation):
    values, zetas, gammas = situation
    best, top = values[-1].max(), len(values) - 1
    labels = theory.partition(values, zetas, gammas)
    good = [best - values[m] - zetas[m] <= 3 * gammas[m] for m in range(top)]
    for m in range(top + 1):
        member = np.ones(values.shape[1], dtype=bool) if m == top else ~good[m]
        for lower in good[:m]:
            member &= lower
        assert ((labels == m) == member).all()
        assert (theory.above(labels, m) | (labels == m) | theory.below(labels, m)).all()
    assert theory.volumes(labels, top + 1).sum() == pytest.approx(1.0)


@settings(max_examples=100, deadline=None)
@given(situations())
def test_under_a2_the_optimum_is_in_the_last_set_and_the_last_set_is_good(situation):
    values, zetas, gammas = situation
    labels = theory.partition(values, zetas, gammas)
    assert labels[values[-1].argmax()] == len(values) - 1
    inside = values[-1][labels == len(values) - 1]
    for zeta, gamma in zip(zetas, gammas, strict=True):
        assert (values[-1].max() - inside <= 2 * zeta + 3 * gamma + 1e-12).all()


def test_the_good_set_of_two_fidelities_and_its_inflation():
    values = np.array([[0.0, 0.4, 0.7, 1.1], [0.2, 0.5, 0.6, 1.0]])
    assert theory.good_set(values, [0.2]).tolist() == [False, False, False, True]
    assert theory.good_set(values, [0.2], inflation=0.3).tolist() == [False, False, True, True]
    assert theory.partition(values, [0.2], [0.1]).tolist() == [0, 0, 1, 1]


def test_a_known_optimum_beats_the_best_of_the_grid():
    values = np.array([[0.0, 1.0], [0.0, 1.0]])
    assert theory.partition(values, [0.1], [0.0], optimum=2.0).tolist() == [0, 0]


def test_a_dilation_reaches_its_radius_but_no_set_above():
    points = np.linspace(0, 1, 11)[:, None]
    labels = np.array([0, 0, 0, 1, 1, 2, 2, 1, 1, 0, 0])
    dilated = theory.dilation(points, labels, 1, 0.1001)
    assert np.flatnonzero(dilated).tolist() == [2, 3, 4, 7, 8, 9]
    assert theory.volume(dilated) == pytest.approx(6 / 11)
    assert not theory.dilation(points, labels, 3, 10.0).any()


def test_dilations_shrink_to_the_set():
    radii = [theory.dilation_radius(nu, 2) for nu in (1.0, 16.0, 1e8)]
    assert radii == pytest.approx([np.sqrt(2), np.sqrt(2) / 2, np.sqrt(2) / 100])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: theory.partition(np.zeros(3), [], []), r"values must be a finite array \(M, N\)"),
        (lambda: theory.partition(np.zeros((2, 3)), [1.0, 1.0, 1.0], [0.1]), "zetas must hold M or M - 1 values"),
        (lambda: theory.partition(np.zeros((2, 3)), [-1.0], [0.1]), "zetas must not be negative"),
        (lambda: theory.partition(np.zeros((2, 3)), [1.0], [-0.1]), "gammas must not be negative"),
    ],
)
def test_wrong_arguments_are_named(call, message):
    with pytest.raises(InputError, match=message):
        call()
