"""One length-scale per parameter: coordinates of a group share theirs (hooks.TiesScales)."""

import numpy as np
import pytest

import mfopt
from mfopt.hooks import tie_scales
from mfopt.protocols import Block
from mfopt_plugins.surrogates.ar1 import AR1
from mfopt_plugins.surrogates.matern import Matern
from mfopt_plugins.surrogates.se import SE
from mfopt_plugins.surrogates.se_python import SEPython

GROUPS = [0, 0, 0, 1, 2]
SURROGATES = {"se": SE, "matern": Matern, "se-python": SEPython, "ar1": AR1}


def rows(n=25, seed=0):
    rng = np.random.default_rng(seed)
    u = np.column_stack([np.sqrt(0.5) * np.eye(3)[rng.integers(0, 3, n)], rng.random((n, 2))])
    return u, 3.0 * u[:, 0] + np.sin(4.0 * u[:, 3]) + u[:, 4]


def lengthscales(model):
    return np.array(model.describe()["lengthscale"])


@pytest.mark.parametrize("name", SURROGATES)
def test_coordinates_of_a_group_have_one_length_scale_and_groups_differ(name):
    model = SURROGATES[name]().tied(GROUPS).model(5, 0.0)
    model.fit(*rows(), np.random.default_rng(0))
    ell = lengthscales(model)
    assert ell[0] == ell[1] == ell[2]
    assert len(set(ell.tolist())) == 3


@pytest.mark.parametrize("name", ["se", "matern", "se-python"])
def test_coupled_fidelities_have_one_length_scale_per_group(name):
    joint = SURROGATES[name]().tied(GROUPS).coupled(5, [0.0, 0.0])
    joint.fit([rows(20), rows(8, 1)], np.random.default_rng(0))
    ell = lengthscales(joint.models[1])
    assert ell[0] == ell[1] == ell[2]
    assert len(set(ell.tolist())) == 3


def test_every_level_of_ar1_has_one_length_scale_per_group():
    joint = AR1().tied(GROUPS).joint(5, [0.0, 0.0])
    joint.fit([rows(20), rows(8, 1)], np.random.default_rng(0))
    for model in joint.models:
        ell = lengthscales(model)
        assert ell[0] == ell[1] == ell[2]
        assert len(set(ell.tolist())) == 3


@pytest.mark.parametrize("name", ["se", "se-python", "matern"])
def test_the_length_scale_of_a_group_is_the_best_for_all_its_coordinates(name):
    """The gradient of a shared length-scale is the sum over its coordinates: the search ends where it vanishes."""
    u, y = rows(40)
    fitted = SURROGATES[name]().tied(GROUPS).model(5, 1e-4)
    fitted.fit(u, y, np.random.default_rng(0))
    found = fitted.describe()

    def height(factor, group):
        ell = lengthscales(fitted) * np.where(np.array(GROUPS) == group, factor, 1.0)
        other = SURROGATES[name](lengthscale=ell, scale=found["scale"], mean=found["mean"]).model(5, 1e-4)
        other.fit(u, y, np.random.default_rng(0))
        # the prior of log ℓ: N(log(0.5 √3), 1.2²), once per group
        prior = sum(-0.5 * (np.log(ell[GROUPS.index(g)] / (0.5 * np.sqrt(3))) / 1.2) ** 2 for g in range(3))
        return other.gp.log_marginal_likelihood() + prior

    for group in range(3):
        assert height(1.0, group) >= height(1.05, group)
        assert height(1.0, group) >= height(0.95, group)


@pytest.mark.parametrize("groups", [[0, 1, 2], list(range(3))])
def test_groups_of_one_coordinate_change_nothing(groups):
    u = np.random.default_rng(0).random((20, 3))
    y = np.sin(u @ [3.0, 1.0, 0.5])
    models = [surrogate.model(3) for surrogate in (SE(), SE().tied(groups))]
    for model in models:
        model.fit(u, y, np.random.default_rng(1))
    assert models[0].describe() == models[1].describe()


@pytest.mark.parametrize(
    ("given", "expected"),
    [(0.3, [0.3] * 5), ([0.1, 0.2, 0.3], [0.1, 0.1, 0.1, 0.2, 0.3]), ([0.1, 0.2, 0.3, 0.4, 0.5],) * 2],
)
def test_given_length_scales_may_be_one_per_parameter_or_per_coordinate(given, expected):
    model = SE(lengthscale=given).tied(GROUPS).model(5)
    assert lengthscales(model).tolist() == expected
    model.fit(*rows(), np.random.default_rng(0))
    assert lengthscales(model).tolist() == pytest.approx(expected, rel=1e-14)


def test_another_number_of_length_scales_is_refused():
    with pytest.raises(mfopt.InputError, match="lengthscale must hold 1, 3 or 5 values, got 2"):
        SE(lengthscale=[0.1, 0.2]).tied(GROUPS).model(5)


@pytest.mark.parametrize("groups", [[0, 2], [1, 1]])
def test_groups_with_gaps_are_refused(groups):
    with pytest.raises(mfopt.InputError, match="groups must be numbered from 0 without gaps"):
        SE().tied(groups)


def test_another_dimension_than_that_of_the_groups_is_refused():
    with pytest.raises(mfopt.InputError, match="groups must have one entry per dimension, 4, got 5"):
        SE().tied(GROUPS).model(4)


class Blocked(mfopt.Box):
    """A box whose first three coordinates are one parameter."""

    @property
    def blocks(self):
        return (Block(0, 3, np.eye(3)), Block(3, 4, None), Block(4, 5, None))


def test_surrogates_of_a_problem_are_tied_where_a_parameter_takes_several_coordinates():
    se, own = SE(), object()
    tied = tie_scales([se, se, own], Blocked([(0, 1)] * 5))
    assert tied[0] is tied[1], "one surrogate for several fidelities must stay one"
    assert tied[0] is not se
    assert tied[2] is own, "a surrogate that cannot tie stays as it is"
    assert tie_scales([se], mfopt.Box([(0, 1)] * 5)) == (se,)


def test_the_options_of_a_tied_surrogate_are_those_it_was_made_with():
    assert (
        Matern(1.5, lengthscale=[0.1, 0.2, 0.3]).tied(GROUPS).options()
        == Matern(1.5, lengthscale=[0.1, 0.2, 0.3]).options()
    )
