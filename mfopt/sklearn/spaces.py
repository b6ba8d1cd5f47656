"""Spaces: parameters as scikit-learn's users give them, as an mfopt.Space, and its points as parameters again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from mfopt.checks import show
from mfopt.domains.dimensions import Real
from mfopt.domains.discrete import Categorical, Integer, Ordinal, is_plain
from mfopt.domains.space import Space
from mfopt.errors import InputError

_DIMENSIONS = (Real, Integer, Ordinal, Categorical)


class Translation(Protocol):
    """What stands for a parameter in X, and what it stands for."""

    def __call__(self, value: Any, /) -> Any:
        """What the estimator is given for a value of X."""

    def find(self, given: Any) -> Any:
        """The other way; None where nothing in X stands for it."""


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


def make_space(given: object) -> SearchSpace:
    """The space that was given: a dict of dimensions, lists of choices, pairs and scipy.stats distributions."""
    if isinstance(given, Space):
        return SearchSpace(given, {})
    if not isinstance(given, Mapping) or not given:
        raise InputError(f"space must be a mfopt.Space or a dict with at least one parameter, got {show(given)}")
    dimensions: dict[str, Any] = {}
    translations: dict[str, Translation] = {}
    for name, one in given.items():
        if isinstance(one, _DIMENSIONS) or (isinstance(one, tuple) and len(one) == 2):
            dimensions[name] = one
        elif hasattr(one, "rvs"):
            dimensions[name], translate = _read_distribution(str(name), one)
            if translate is not None:
                translations[name] = translate
        elif isinstance(one, Sequence | np.ndarray) and not isinstance(one, str) and len(one):
            dimensions[name], translate = _read_choices(one)
            if translate is not None:
                translations[name] = translate
        else:
            raise InputError(
                f"{name} must be a mfopt dimension, a pair (low, high), a list of choices or a scipy.stats "
                f"distribution, got {show(one)}"
            )
    return SearchSpace(Space(dimensions), translations)


def _read_choices(choices: Any) -> tuple[Categorical, Translation | None]:
    """A list of choices; those that a Space cannot hold, such as estimators, are known by their place."""
    values = list(choices)
    plain = [value.item() if isinstance(value, np.generic) else value for value in values]
    if all(is_plain(value) for value in plain):
        return Categorical(plain), None
    return Categorical([f"{k}: {show(value)}" for k, value in enumerate(values)]), _Pick(tuple(values))


@dataclass(frozen=True)
class _Pick:
    values: tuple[Any, ...]

    def __call__(self, label: str) -> Any:
        return self.values[int(label.split(":", 1)[0])]

    def find(self, given: Any) -> str | None:
        for k, value in enumerate(self.values):
            if value is given or (type(value) is type(given) and np.all(value == given)):
                return f"{k}: {show(value)}"
        return None


def _read_distribution(name: str, given: Any) -> tuple[Real | Integer, Translation | None]:
    """A frozen distribution: uniform and log-uniform ones directly, any other through its quantiles."""
    kind = getattr(getattr(given, "dist", None), "name", "")
    if not hasattr(given, "ppf"):
        raise InputError(f"the distribution of {name} must have quantiles, a method ppf, got {show(given)}")
    low, high = (float(end) for end in given.support())
    if kind == "uniform":
        return Real(low, high), None
    if kind in ("loguniform", "reciprocal"):
        return Real(low, high, log=True), None
    if kind == "randint":
        return Integer(int(low), int(high)), None
    return Real(0.0, 1.0), _Quantile(given, discrete=hasattr(given, "pmf") and not hasattr(given, "pdf"))


_EDGE = 1e-3  # probability that is left out at either end, where quantiles may be infinite


@dataclass(frozen=True)
class _Quantile:
    distribution: Any
    discrete: bool

    def __call__(self, probability: float) -> float | int:
        value = float(self.distribution.ppf(_EDGE + (1.0 - 2.0 * _EDGE) * probability))
        return int(value) if self.discrete else value

    def find(self, given: Any) -> float | None:
        if isinstance(given, bool) or not isinstance(given, int | float):
            return None
        probability = (float(self.distribution.cdf(given)) - _EDGE) / (1.0 - 2.0 * _EDGE)
        return min(max(probability, 0.0), 1.0)
