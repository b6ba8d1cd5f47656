"""What the surrogates with one kernel share: models and coupled models over one kind of process."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from copy import copy
from functools import partial
from typing import Any, Generic, TypeVar

import numpy as np

from mfopt.hooks import HowToLearn, Rows
from mfopt.protocols import Array, Model
from mfopt_plugins.method.softening import AsinhSoftening
from mfopt_plugins.surrogates.coupled.model import CoupledGP
from mfopt_plugins.surrogates.given import Given
from mfopt_plugins.surrogates.gp.evidence import choose_softening
from mfopt_plugins.surrogates.gp.model import GPModel, fit_together
from mfopt_plugins.surrogates.gp.process import Hyper, Process

_Kind = TypeVar("_Kind")
_Own = TypeVar("_Own", bound="KernelSurrogate[Any]")


class KernelSurrogate(ABC, Generic[Process]):
    """Gaussian processes with the kernel of this name; hyper-parameters are learnt unless they are given."""

    def __init__(self, kernel: str, given: Given) -> None:
        self.kernel = kernel
        self._given = given

    @abstractmethod
    def make(self, hyper: Hyper) -> Process:
        """A process without data."""

    def model(self, dim: int, noise: float | None = None) -> GPModel[Process]:
        """A fresh model without data; `noise` is the known noise variance, None when it is to be learnt."""
        return GPModel(self.make, self.kernel, dim, noise, self._given)

    def coupled(self, dim: int, noises: Sequence[float | None]) -> CoupledGP[Process]:
        """A model of several fidelities without data, one known noise variance (or None) per fidelity."""
        return CoupledGP(self.make, self.kernel, dim, noises, self._given)

    def fit_together(self, models: Sequence[Model], rows: Sequence[Rows], rng: np.random.Generator) -> None:
        """Learn one kernel for all these models from their rows, (u, y) each, and condition each on its own alone."""
        fit_together(require_all(GPModel, models), rows, rng)

    def softening(self, u: Array, y: Array, rng: np.random.Generator) -> AsinhSoftening:
        """How these values are to be softened to suit the kernel."""
        return choose_softening(partial(self.model, u.shape[1]), u, y, rng, self._given)

    def tied(self: _Own, groups: Sequence[int]) -> _Own:
        """The same surrogate with one length-scale for the coordinates of each group."""
        other = copy(self)
        other._given = self._given.tie(groups)
        return other

    def vary(self: _Own, isotropic: bool | None, learning: HowToLearn | None) -> _Own:
        """The same surrogate, learning in this way; None, and whatever is given, stays."""
        other = copy(self)
        other._given = self._given.vary(isotropic, learning)
        return other

    @property
    def learnt(self) -> tuple[str, ...]:
        """The hyper-parameters that are learnt, by their names."""
        return self._given.learnt

    def options(self) -> Mapping[str, Any]:
        """The arguments of the constructor, for studies."""
        return self._given.options()


def require_all(kind: type[_Kind], models: Sequence[Model]) -> list[_Kind]:
    """The models as they are; a TypeError if one is not of this kind."""
    own: list[_Kind] = [model for model in models if isinstance(model, kind)]
    if len(own) < len(models):
        kinds = ", ".join(type(model).__name__ for model in models)
        raise TypeError(f"models must all be made by this surrogate ({kind.__name__}), got {kinds}")
    return own
