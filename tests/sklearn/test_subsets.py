"""Nested, stratified subsets."""

import numpy as np
import pytest
from sklearn.model_selection import KFold, StratifiedKFold

from mfopt.sklearn.subsets import Splits, Subset, order_rows


@pytest.mark.parametrize("count", [50, 237])
def test_every_beginning_has_the_classes_in_their_proportions(count):
    rng = np.random.default_rng(0)
    labels = rng.choice(["a", "b", "c"], size=count, p=[0.7, 0.2, 0.1])
    order = order_rows(count, labels, rng)
    assert sorted(order.tolist()) == list(range(count))
    for size in (10, 20, count // 2, count):
        for name in "abc":
            share = (labels == name).mean()
            assert abs((labels[order[:size]] == name).sum() - share * size) <= 2


def test_no_class_is_missing_in_a_subset_that_has_room_for_all():
    labels = np.array([0] * 500 + [1] * 2 + [2] * 1)
    order = order_rows(len(labels), labels, np.random.default_rng(1))
    assert set(labels[order[:3]].tolist()) == {0, 1, 2}


def test_smaller_subsets_lie_in_larger_ones_and_test_rows_are_the_same():
    y = np.arange(90) % 3
    splits = Splits(StratifiedKFold(3, shuffle=True), seed=0, classifier=True)
    made = [list(Subset(splits, part).split(np.zeros((90, 1)), y)) for part in (0.2, 0.5, 1.0)]
    for small, middle, full in zip(*made, strict=True):
        assert set(small[0].tolist()) < set(middle[0].tolist()) < set(full[0].tolist())
        assert small[1].tolist() == middle[1].tolist() == full[1].tolist()
        assert not set(full[0].tolist()) & set(full[1].tolist())
    assert [len(one[0][0]) for one in made] == [12, 30, 60]


def test_a_number_of_rows_is_taken_as_it_is_and_never_more_than_there_are():
    splits = Splits(KFold(2), seed=0, classifier=False)
    for amount, size in ((25, 25), (1000, 50), (0.01, 10)):
        subset = Subset(splits, amount)
        assert len(next(subset.split(np.zeros((100, 1))))[0]) == size == subset.size
