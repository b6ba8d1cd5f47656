"""Spaces as scikit-learn's users give them."""

import numpy as np
import pytest
import scipy.stats
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

import mfopt
from mfopt import InputError
from mfopt.sklearn.spaces import make_space


def dimension(given, own=None):
    return make_space({"a": given}, {"a": own}).domain.dimensions[0]


@pytest.mark.parametrize("pair", [(1, 5), (np.int64(1), 5)])
def test_a_pair_of_integers_is_a_range_of_integers_where_the_own_value_is_one(pair):
    assert dimension(pair, 3) == mfopt.Integer(1, 5)
    for own in (3.0, True, "auto"):
        assert dimension(pair, own) == mfopt.Real(1, 5)
    assert dimension((1, 5.0), 3) == mfopt.Real(1, 5)


def test_a_pair_of_integers_is_one_too_where_the_own_value_is_none_unless_it_is_from_0_to_1():
    assert dimension((2, 8), None) == mfopt.Integer(2, 8)  # max_depth, max_leaf_nodes, n_components
    assert dimension((2.0, 8.0), None) == mfopt.Real(2, 8)
    assert dimension((0, 1), None) == mfopt.Real(0, 1)  # max_samples, shrinkage, l1_ratio
    assert dimension((0, 1), 0) == mfopt.Integer(0, 1)


@pytest.mark.parametrize("given", [scipy.stats.randint(1, 2), scipy.stats.randint(3, 3), scipy.stats.uniform(0, 0)])
def test_a_distribution_needs_more_than_one_value(given):
    with pytest.raises(InputError, match=r"the distribution of a must have bounds low < high, got \("):
        dimension(given)


def test_choices_that_are_wrong_are_told_with_their_parameter():
    with pytest.raises(InputError, match=r"choices of a Categorical must be distinct, got \[1, 1, 2\] for a"):
        dimension([1, 1, 2])


@pytest.mark.parametrize("pair", [("rbf", "linear"), (True, False), (None, 1.0)])
def test_a_pair_that_is_no_range_says_where_choices_go(pair):
    with pytest.raises(
        InputError, match=r"a, a pair, must be two numbers .low, high., got .* choices go into a list: "
    ):
        dimension(pair)


def test_a_distribution_needs_quantiles():
    class Draws:
        def rvs(self, random_state=None):
            return 1.0

    with pytest.raises(InputError, match="the distribution of a must have quantiles and bounds"):
        dimension(Draws())


@pytest.mark.skipif(not hasattr(scipy.stats, "Uniform"), reason="an older SciPy")
def test_distributions_of_the_new_kind_are_understood():
    assert dimension(scipy.stats.Uniform(a=1.0, b=3.0)) == mfopt.Real(1.0, 3.0)
    normal = make_space({"a": scipy.stats.Normal(mu=2.0, sigma=0.5)}, {})
    assert normal.params({"a": 0.5})["a"] == pytest.approx(2.0)
    assert normal.params({"a": normal.value("a", 2.5)})["a"] == pytest.approx(2.5)
    if hasattr(scipy.stats, "Binomial"):
        counts = make_space({"a": scipy.stats.Binomial(n=10, p=0.5)}, {})
        assert counts.params({"a": 0.5}) == {"a": 5}
        assert type(counts.params({"a": 0.5})["a"]) is int
    with pytest.raises(InputError, match="must be of one number"):
        dimension(scipy.stats.Uniform(a=[1.0, 2.0], b=3.0))


def test_choices_that_are_equal_are_found():
    choices = [np.arange(3), np.arange(4), [np.arange(2), np.arange(3)], None]
    space = make_space({"a": choices}, {})
    assert space.params({"a": space.value("a", np.arange(4))})["a"] is choices[1]
    assert space.value("a", np.zeros(1)) is None
    assert space.value("a", [np.arange(2), np.arange(3)]) is None  # nobody can say


def test_estimators_with_the_same_parameters_are_one_choice():
    choices = ["passthrough", StandardScaler(), PCA(2), PCA(3)]
    space = make_space({"a": choices}, {})
    assert space.params({"a": space.value("a", StandardScaler())})["a"] is choices[1]
    assert space.params({"a": space.value("a", PCA(3))})["a"] is choices[3]
    assert space.value("a", PCA(4)) is None
    assert space.value("a", StandardScaler(with_mean=False)) is None


def test_choices_are_known_by_names_that_other_processes_have_too():
    one, other = (make_space({"a": [object(), lambda x: x]}, {}).domain.describe() for _ in range(2))
    assert one == other
    assert "0x" not in str(one)
