"""Spaces: parameters as scikit-learn's users give them, as an mfopt.Space, and its points as parameters again."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from mfopt.checks import show
from mfopt.domains.dimensions import Real
from mfopt.domains.discrete import Categorical, Integer, Ordinal, is_plain
from mfopt.domains.space import Space
from mfopt.errors import InputError
from mfopt.sklearn.fingerprint import digest, without_addresses

Point = npt.NDArray[np.float64]  # of X, in user units

_DIMENSIONS = (Real, Integer, Ordinal, Categorical)


class Translation(Protocol):
    """What stands for a parameter in X, and what it stands for."""

    def __call__(self, value: Any, /) -> Any:
        """What the estimator is given for a value of X."""

    def find(self, given: Any) -> Any:
        """The other way; None where nothing in X stands for it."""

    def describe(self) -> Any:
        """What tells it from others, for the name of a study."""


@dataclass(frozen=True)
class SearchSpace:
    """X, and for some parameters what turns their value there into the one that the estimator is given."""

    domain: Space
    translations: Mapping[str, Translation]

    def params(self, point: Mapping[str, Any]) -> dict[str, Any]:
        """What the estimator is given for a point (trial.params)."""
        return {name: self.translations[name](v) if name in self.translations else v for name, v in point.items()}

    def value(self, name: str, given: Any) -> Any:
        """The other way, for one parameter: what stands in X for a value of the estimator; None where nothing does."""
        return self.translations[name].find(given) if name in self.translations else given

    def describe(self) -> list[Any]:
        """What tells it from others, for the name of a study."""
        translated = {name: one.describe() for name, one in self.translations.items()}
        return [self.domain.names, self.domain.describe(), translated]


def make_space(given: object, own: Mapping[str, Any]) -> SearchSpace:
    """The space that was given: a dict of dimensions, lists of choices, pairs and scipy.stats distributions.

    `own` are the estimator's parameters, which tell where a pair of integers stands for integers alone.
    """
    if isinstance(given, Space):
        return SearchSpace(given, {})
    if not isinstance(given, Mapping) or not given:
        raise InputError(f"space must be a mfopt.Space or a dict with at least one parameter, got {show(given)}")
    dimensions: dict[str, Any] = {}
    translations: dict[str, Translation] = {}
    for name, one in given.items():
        if isinstance(one, _DIMENSIONS):
            dimensions[name] = one
        elif isinstance(one, tuple) and len(one) == 2:
            dimensions[name] = _read_pair(str(name), one, own.get(name))
        elif hasattr(one, "rvs") or hasattr(one, "icdf"):
            dimensions[name], translate = _read_distribution(str(name), one)
            if translate is not None:
                translations[name] = translate
        elif isinstance(one, Sequence | np.ndarray) and not isinstance(one, str) and len(one):
            dimensions[name], translate = _read_choices(str(name), one)
            if translate is not None:
                translations[name] = translate
        else:
            raise InputError(
                f"{name} must be a mfopt dimension, a pair (low, high), a list of choices or a scipy.stats "
                f"distribution, got {show(one)}"
            )
    return SearchSpace(Space(dimensions), translations)


def _read_pair(name: str, pair: tuple[Any, Any], own: object) -> Integer | tuple[Any, Any]:
    """Two bounds; integers where they are and the estimator's own value is.

    None may stand for either. It mostly does for an integer, a depth or a number of components, which takes no other
    number; from 0 to 1 it is a part.
    """
    if not all(isinstance(end, int | float | np.number) and not isinstance(end, bool) for end in pair):
        raise InputError(
            f"{name}, a pair, must be two numbers (low, high), got {show(pair)}; choices go into a list: "
            f"{show(list(pair))}"
        )
    counts = _is_integer(own) or (own is None and tuple(pair) != (0, 1))
    if not (counts and all(map(_is_integer, pair))):
        return pair
    try:
        return Integer(*pair)
    except InputError as error:
        raise InputError(f"{error} for {name}") from None


def _is_integer(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _read_choices(name: str, choices: Any) -> tuple[Categorical, Translation | None]:
    """A list of choices; those that a Space cannot hold, such as estimators, are known by their place."""
    values = list(choices)
    plain = [value.item() if isinstance(value, np.generic) else value for value in values]
    if all(is_plain(value) for value in plain):
        try:
            return Categorical(plain), None
        except InputError as error:
            raise InputError(f"{error} for {name}") from None
    return Categorical([_label(k, value) for k, value in enumerate(values)]), _Pick(tuple(values))


def _label(k: int, value: Any) -> str:
    """What stands for the k-th choice in X; a study holds it, for other processes too."""
    return f"{k}: {without_addresses(show(value))}"


@dataclass(frozen=True)
class _Pick:
    values: tuple[Any, ...]

    def __call__(self, label: str) -> Any:
        return self.values[int(label.split(":", 1)[0])]

    def find(self, given: Any) -> str | None:
        for k, value in enumerate(self.values):
            if value is given or (type(value) is type(given) and _are_equal(value, given)):
                return _label(k, value)
        return None

    def describe(self) -> Any:
        return self.values


def _are_equal(one: Any, other: Any) -> bool:
    """Whether two objects of one class are, as far as they can say so: arrays by entries, estimators by parameters."""
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other)
    if hasattr(one, "get_params"):
        return digest(one) == digest(other)
    try:
        return bool(one == other)
    except (TypeError, ValueError):  # tables, and lists of arrays
        return False


def _read_distribution(name: str, given: Any) -> tuple[Real | Integer, Translation | None]:
    """A distribution of scipy.stats: uniform and log-uniform ones directly, any other through its quantiles."""
    kind = getattr(getattr(given, "dist", None), "name", "")
    if not (hasattr(given, "ppf") or hasattr(given, "icdf")) or not hasattr(given, "support"):
        raise InputError(
            f"the distribution of {name} must have quantiles and bounds, methods ppf or icdf and support, "
            f"got {show(given)}"
        )
    bounds = given.support()
    if any(np.ndim(end) for end in bounds):
        raise InputError(f"the distribution of {name} must be of one number, got {show(given)}")
    low, high = (float(end) for end in bounds)
    if not low < high:  # or NaN, of which SciPy makes distributions that are none
        raise InputError(f"the distribution of {name} must have bounds low < high, got {(low, high)}")
    if kind == "uniform" or type(given).__name__ == "Uniform":
        return Real(low, high), None
    if kind in ("loguniform", "reciprocal"):
        return Real(low, high, log=True), None
    if kind == "randint":
        return Integer(int(low), int(high)), None
    return Real(0.0, 1.0), _Quantile(given, _is_discrete(given))


def _is_discrete(distribution: Any) -> bool:
    """Whether its values are integers; SciPy's new distributions all have both of pmf and pdf, and say it by class."""
    if hasattr(distribution, "icdf"):
        return any(one.__name__ == "DiscreteDistribution" for one in type(distribution).__mro__)
    return hasattr(distribution, "pmf") and not hasattr(distribution, "pdf")


_EDGE = 1e-3  # probability that is left out at either end, where quantiles may be infinite


@dataclass(frozen=True)
class _Quantile:
    distribution: Any
    discrete: bool

    def __call__(self, probability: float) -> float | int:
        quantile = self.distribution.icdf if hasattr(self.distribution, "icdf") else self.distribution.ppf
        value = float(quantile(_EDGE + (1.0 - 2.0 * _EDGE) * probability))
        return int(value) if self.discrete else value

    def find(self, given: Any) -> float | None:
        if isinstance(given, bool) or not isinstance(given, int | float):
            return None
        probability = (float(self.distribution.cdf(given)) - _EDGE) / (1.0 - 2.0 * _EDGE)
        there = 0.0 <= probability <= 1.0 and math.isclose(self(probability), given, rel_tol=1e-9)
        return probability if there else None

    def describe(self) -> Any:
        return [self(probability) for probability in np.linspace(0.0, 1.0, 65).tolist()]
