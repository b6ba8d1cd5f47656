"""Models per fidelity: who learns from what, and when."""

from itertools import pairwise

import numpy as np
import pytest

from mfopt.protocols import Query, Record
from mfopt_plugins.surrogates.se_python import SEPython
from tests.plugins.runs import fidelity_models, show


class Spy:
    """A model that records what is done to it; its mean is the mean of its rows, its variance 1."""

    def __init__(self, noise):
        self.rows, self.fits, self.noise = [], [], noise

    @property
    def n(self):
        return len(self.rows)

    def fit(self, u, y, rng):
        self.fits.append(len(y))
        self.rows = list(y)

    def extend(self, u, y):
        self.rows += list(y)

    def truncate(self, n):
        self.rows = self.rows[:n]

    def posterior(self, u):
        return np.full(len(u), np.mean(self.rows) if self.rows else 0.0), np.ones(len(u))

    def describe(self):
        return {"noise": 0.0}


class SpySurrogate:
    def model(self, dim, noise=None):
        return Spy(noise)


def models(count=2, own=3, noises=None):
    return fidelity_models([SpySurrogate()] * count, noises or [None] * count, range(count), 1, 0, own)


def record(u, fidelity, y, id=0):
    return Record(id, np.array([u]), fidelity, y, True)


def test_a_model_sees_its_own_fidelity_only_in_the_order_told():
    both = models()
    for i in range(4):
        show(both, record(i / 10, 0, float(i)))
        show(both, record(i / 10, 1, 10.0 + i))
    both.update()
    assert both.models[0].rows == [0, 1, 2, 3]
    assert both.models[1].rows == [10, 11, 12, 13]


def test_failed_evaluations_and_unused_fidelities_are_passed_over():
    target = fidelity_models([SpySurrogate()] * 2, [None] * 2, [1], 1, 0)
    show(target, record(0.1, 1, None))
    show(target, record(0.1, 0, 5.0))
    assert target.observations.counts == [0]


def test_relearning_waits_for_a_tenth_more_rows():
    one = models(1)
    for i in range(200):
        show(one, record(i / 200, 0, float(i)))
        one.update()
        assert one.models[0].rows == [float(j) for j in range(i + 1)]
    # Below `own` = 3 rows it borrows from itself; each fit takes all rows known then.
    fits = [n for n in one.models[0].fits if n >= 3]
    assert fits[:8] == [3, 4, 5, 6, 7, 8, 9, 10]
    assert all(10 * (later - earlier) >= earlier for earlier, later in pairwise(fits))
    assert 30 < len(fits) < 45


def test_a_fidelity_with_few_rows_borrows_hyper_parameters_and_keeps_its_own_rows():
    both = models()
    for i in range(5):
        show(both, record(i / 10, 0, float(i)))
    show(both, record(0.5, 1, 99.0))
    both.update()
    assert both.models[1].fits == [5]
    assert both.models[1].rows == [99.0]
    for _ in range(2):
        show(both, record(0.6, 1, 98.0))
    both.update()
    assert both.models[1].fits == [5, 3]
    assert both.models[1].rows == [99.0, 98.0, 98.0]


def test_a_prior_borrowed_from_another_fidelity_has_the_scale_of_its_data():
    both = fidelity_models([SEPython()] * 2, [None] * 2, range(2), 1, 0)
    for i in range(8):
        show(both, record(i / 8, 0, 1e9 + 1e6 * np.sin(i)))
    both.update()
    mean, sigma = both.at(np.array([0.4]))
    assert abs(mean[1] - 1e9) < 1e7
    assert 1e5 < sigma[1] < 1e7


def test_pending_points_count_as_told_with_the_mean_and_are_dropped_again():
    both = models()
    for i in range(4):
        show(both, record(i / 10, 0, float(i)))
    both.update()
    pending = [Query(1, np.array([0.7]), 0), Query(2, np.array([0.8]), 0)]
    with both.hallucinate(pending):
        assert both.models[0].rows == [0, 1, 2, 3, 1.5, 1.5]
        assert both.models[1].rows == []
    assert both.models[0].rows == [0, 1, 2, 3]
    with pytest.raises(RuntimeError), both.hallucinate(pending):
        raise RuntimeError
    assert both.models[0].rows == [0, 1, 2, 3]


def test_spread_is_the_range_within_a_fidelity_not_between_them():
    both = models()
    assert both.observations.spread() == 0.0
    for u, m, y in [(0.1, 0, 0.0), (0.2, 0, 3.0), (0.1, 1, 1000.0), (0.2, 1, 1001.0)]:
        show(both, record(u, m, y))
    assert both.observations.spread() == 3.0


@pytest.mark.parametrize(
    ("noise", "values", "expected"),
    [
        (0.0, [1.0, 1.0], True),
        (1e-9, [1.0, 1.0], False),
        (None, [1.0, 1.0], True),
        (None, [1.0, 1.1], False),
        (None, [], True),
    ],
)
def test_noise_is_known_or_shown_by_repeated_points(noise, values, expected):
    one = models(1, noises=[noise])
    for y in values:
        show(one, record(0.5, 0, y))
    assert one.is_noiseless(0) is expected


def test_without_repeated_points_the_learnt_noise_decides():
    rng = np.random.default_rng(0)
    for noise, expected in [(0.0, True), (0.5, False)]:
        one = fidelity_models([SEPython()], [None], [0], 1, 0)
        for u in rng.random(30):
            show(one, record(u, 0, np.sin(6 * u) + noise * rng.standard_normal()))
        one.update()
        assert one.is_noiseless(0) is expected
        assert 0.5 * noise**2 <= one.noise(0) <= 2 * noise**2
