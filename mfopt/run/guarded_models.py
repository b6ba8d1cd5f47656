"""Guarded surrogates: what other people's models do wrong is found where they are called.

A surrogate that is not built in is handed to the strategy behind a guard, and so is every model that it makes. An
exception, values of the wrong kind or shape, NaN, a negative variance or a wrong number of rows is a PluginError that
names the surrogate, not the strategy that happened to ask. Arrays are copied on their way in: nobody changes a row of
the run. The built-in surrogates are called directly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from mfopt import registry
from mfopt.checks import show
from mfopt.hooks import (
    CalibratesFidelities,
    CouplesFidelities,
    DoubtsFit,
    FullAcquisition,
    FusesBounds,
    FusesImprovement,
    HowToLearn,
    KeepsFit,
    ModelsJointly,
    Rows,
    SharesKernel,
    Softening,
    SoftensValues,
    TellsFactors,
    TellsLearnt,
    TiesScales,
    UsesThreads,
    VariesLearning,
    with_defaults,
)
from mfopt.protocols import Acquisition, Array, CovariantModel, JointModel, Model, Surrogate
from mfopt.run.blame import Culprit
from mfopt.run.guarded_search import Delegate, guard_acquisition

_METHODS = {
    "fit": ("u", "y", "rng"),
    "extend": ("u", "y"),
    "truncate": ("n",),
    "posterior": ("u",),
    "posterior_gradient": ("u",),
    "describe": (),
}


class GuardedModel(Delegate):
    """A model; `caller` is whoever asks it, to be blamed for points that are none."""

    def __init__(self, inner: Any, culprit: Culprit, caller: Culprit, dim: int) -> None:
        super().__init__(inner, culprit, caller)
        self._dim = dim
        registry.check_methods(inner, "model", _METHODS, culprit.group, culprit.given)
        if not hasattr(type(inner), "n") and not hasattr(inner, "n"):
            raise culprit.error("a model must have a property n, the number of its rows, got none")

    def __reduce__(self) -> tuple[Any, ...]:
        return GuardedModel, (self._inner, self._culprit, self._caller, self._dim)

    @property
    def n(self) -> int:
        """Number of rows conditioned on."""
        return self._culprit.count("n of a model", self._culprit.call("n", lambda: self._inner.n))

    def fit(self, u: Array, y: Array, rng: np.random.Generator) -> None:
        """Learn the hyper-parameters from these rows and condition on them alone."""
        self._culprit.call("fit", self._inner.fit, *self._copy_rows(u, y), rng)
        self._check_rows("fit", len(y))

    def extend(self, u: Array, y: Array) -> None:
        """Condition on more rows; hyper-parameters stay."""
        before = self.n
        self._culprit.call("extend", self._inner.extend, *self._copy_rows(u, y))
        self._check_rows("extend", before + len(y))

    def truncate(self, n: int) -> None:
        """Forget all rows but the first `n`; hyper-parameters stay."""
        self._culprit.call("truncate", self._inner.truncate, n)
        self._check_rows("truncate", n)

    def posterior(self, u: Array) -> tuple[Array, Array]:
        """Mean and variance of the function (without the noise of an observation)."""
        u = self._copy_points(u)
        mean, var = self._read("posterior", self._culprit.call("posterior", self._inner.posterior, u), 2, len(u))
        return mean, var

    def posterior_gradient(self, u: Array) -> tuple[Array, Array, Array, Array]:
        """Mean, variance and their gradients in u."""
        u = self._copy_points(u)
        answer = self._culprit.call("posterior_gradient", self._inner.posterior_gradient, u)
        mean, var, *slopes = self._read("posterior_gradient", answer, 4, len(u))
        dmean, dvar = (self._culprit.numbers("the gradients of a posterior", slope, u.shape) for slope in slopes)
        return mean, var, dmean, dvar

    def describe(self) -> Mapping[str, Any]:
        """Hyper-parameters and the like, as plain JSON-able values."""
        told = self._culprit.call("describe", self._inner.describe)
        if not isinstance(told, Mapping):
            raise self._culprit.error(f"describe must return a mapping, got {show(told)}")
        if "noise" in told:
            noise = self._culprit.numbers("the noise that describe tells", told["noise"], (), 0.0)
            return {**told, "noise": float(noise)}
        return told

    def state(self) -> Mapping[str, Any] | None:
        """What it has learnt; None where the model does not tell (hooks.KeepsFit)."""
        return _tell_state(self._inner, self._culprit)

    def restore(self, state: Mapping[str, Any], rows: Sequence[Rows]) -> None:
        """Be as another one was that told this state, with these rows."""
        _restore(self._inner, self._culprit, state, rows)
        self._check_rows("restore", len(rows[0][1]))

    def _read(self, method: str, answer: object, count: int, q: int) -> tuple[Any, ...]:
        """What a posterior is made of; mean and variance checked, the rest as it is."""
        culprit = self._culprit
        mean, var, *rest = culprit.parts(f"what {method} returns", answer, count)
        mean = culprit.numbers(f"the mean of {method}", mean, (q,))
        return mean, culprit.numbers(f"the variance of {method}", var, (q,), 0.0), *rest

    def _copy_points(self, u: Array) -> Array:
        return self._caller.points("points that a model is asked for", u, self._dim)

    def _copy_rows(self, u: Array, y: Array) -> Rows:
        points = self._caller.numbers("points that a model is given", u, (len(y), self._dim))
        return points, self._caller.numbers("values that a model is given", y, (len(y),))

    def _check_rows(self, method: str, expected: int) -> None:
        if self.n != expected:
            raise self._culprit.error(f"n must be {expected} after {method}, got {self.n}")


class GuardedJoint(Delegate):
    """A joint model, and the models through which it is seen."""

    def __init__(self, inner: Any, culprit: Culprit, caller: Culprit, dim: int, count: int) -> None:
        super().__init__(inner, culprit, caller)
        self._dim = dim
        registry.check_methods(inner, "joint model", {"fit": ("rows", "rng")}, culprit.group, culprit.given)
        models = culprit.parts("the models of a joint model", culprit.call("models", lambda: inner.models), count)
        self.models = [GuardedModel(model, culprit, caller, dim) for model in models]

    def __reduce__(self) -> tuple[Any, ...]:
        return (
            guard_joint,
            (self._inner, self._culprit, self._caller, self._dim, len(self.models)),
            {"models": self.models},
        )

    def fit(self, rows: Sequence[Rows], rng: np.random.Generator) -> None:
        """Learn the hyper-parameters from these rows, (u, y) per fidelity, and condition on them alone."""
        self._culprit.call("fit", self._inner.fit, [(np.array(u), np.array(y)) for u, y in rows], rng)
        for model, (_, y) in zip(self.models, rows, strict=True):
            model._check_rows("fit", len(y))

    def state(self) -> Mapping[str, Any] | None:
        """What it has learnt; None where the model does not tell (hooks.KeepsFit)."""
        return _tell_state(self._inner, self._culprit)

    def restore(self, state: Mapping[str, Any], rows: Sequence[Rows]) -> None:
        """Be as another one was that told this state, with these rows, (u, y) per fidelity."""
        _restore(self._inner, self._culprit, state, rows)
        for model, (_, y) in zip(self.models, rows, strict=True):
            model._check_rows("restore", len(y))


def _tell_state(inner: object, culprit: Culprit) -> Mapping[str, Any] | None:
    return culprit.call("state", inner.state) if isinstance(inner, KeepsFit) else None


def _restore(inner: object, culprit: Culprit, state: Mapping[str, Any], rows: Sequence[Rows]) -> None:
    if not isinstance(inner, KeepsFit):
        raise ValueError("a model must be able to be restored, got one that is not")
    culprit.call("restore", inner.restore, state, [(np.array(u), np.array(y)) for u, y in rows])


class _Calibrated(GuardedJoint):
    def calibrate(self) -> None:
        self._culprit.call("calibrate", self._inner.calibrate)


class _WithFactors(GuardedJoint):
    @property
    def factors(self) -> Array:
        factors = self._culprit.call("factors", lambda: self._inner.factors)
        return self._culprit.numbers("the factors of a joint model", factors, (len(self.models),))


class _Doubting(GuardedJoint):
    def doubt(self, told: Sequence[int] | None = None) -> None:
        self._culprit.call("doubt", self._inner.doubt, told)

    def believe(self) -> None:
        self._culprit.call("believe", self._inner.believe)


class _Covariant(GuardedJoint):
    def covariance(self, u: Array, k: int, other: int) -> Array:
        answer = self._culprit.call("covariance", self._inner.covariance, np.array(u), k, other)
        return self._culprit.numbers("a covariance", answer, (len(u),))

    def covariance_gradient(self, u: Array, k: int, other: int) -> tuple[Array, Array]:
        answer = self._culprit.call("covariance_gradient", self._inner.covariance_gradient, np.array(u), k, other)
        value, slope = self._culprit.parts("what covariance_gradient returns", answer, 2)
        value = self._culprit.numbers("a covariance", value, (len(u),))
        return value, self._culprit.numbers("the gradient of a covariance", slope, u.shape)


class _Improving(GuardedJoint):
    def improvement(
        self, best: float, unit: float, noises: Sequence[float], offsets: Sequence[float], tail: float
    ) -> Acquisition:
        asked = self._culprit.call("improvement", self._inner.improvement, best, unit, noises, offsets, tail)
        return guard_acquisition(asked, self._culprit, self._caller, self._dim)


_JOINT_ABILITIES = (
    (CalibratesFidelities, _Calibrated),
    (TellsFactors, _WithFactors),
    (DoubtsFit, _Doubting),
    (CovariantModel, _Covariant),
    (FusesImprovement, _Improving),
)


def guard_joint(joint: Any, culprit: Culprit, caller: Culprit, dim: int, count: int) -> GuardedJoint:
    """A joint model with the same abilities that names `culprit` when it goes wrong; `caller` asks it."""
    abilities = tuple(mixin for hook, mixin in _JOINT_ABILITIES if isinstance(joint, hook))
    return _class_of_joint(abilities)(joint, culprit, caller, dim, count)


@cache
def _class_of_joint(abilities: tuple[type[GuardedJoint], ...]) -> type[GuardedJoint]:
    return type("GuardedJointWithAbilities", abilities, {}) if abilities else GuardedJoint


class _Guarded(Delegate):
    """A surrogate; what it offers beyond its protocol is added below."""

    def __reduce__(self) -> tuple[Any, ...]:
        return guard_surrogate, (self._inner, self._culprit, self._caller)

    def model(self, dim: int, noise: float | None = None) -> Model:
        """A fresh model without data."""
        return GuardedModel(
            self._culprit.call("model", self._inner.model, dim, noise), self._culprit, self._caller, dim
        )

    def _guard_joint(self, method: str, dim: int, noises: Sequence[float | None]) -> Any:
        joint = self._culprit.call(method, getattr(self._inner, method), dim, noises)
        return guard_joint(joint, self._culprit, self._caller, dim, len(noises))


class _Tied(_Guarded):
    def tied(self, groups: Sequence[int]) -> Surrogate:
        other = self._culprit.call("tied", self._inner.tied, groups)
        registry.check_methods(other, "surrogate", {"model": ("dim", "noise")}, *self._names)
        return guard_surrogate(other, self._culprit, self._caller)


class _Varied(_Guarded):
    def vary(self, isotropic: bool | None, learning: HowToLearn | None) -> Surrogate:
        other = self._culprit.call("vary", self._inner.vary, isotropic, learning)
        registry.check_methods(other, "surrogate", {"model": ("dim", "noise")}, *self._names)
        return guard_surrogate(other, self._culprit, self._caller)


class _Threaded(_Guarded):
    def threaded(self, threads: int) -> Surrogate:
        other = self._culprit.call("threaded", self._inner.threaded, threads)
        registry.check_methods(other, "surrogate", {"model": ("dim", "noise")}, *self._names)
        return guard_surrogate(other, self._culprit, self._caller)


class _Learning(_Guarded):
    @property
    def learnt(self) -> Sequence[str]:
        return self._culprit.call("learnt", lambda: tuple(self._inner.learnt))


class _Fused(_Guarded):
    def bound(self, models: Sequence[Model], beta: float, zetas: Sequence[float]) -> FullAcquisition:
        inner = [model._inner if isinstance(model, GuardedModel) else model for model in models]
        bound = self._culprit.call("bound", self._inner.bound, inner, beta, zetas)
        dim = models[0]._dim if isinstance(models[0], GuardedModel) else None
        return with_defaults(guard_acquisition(bound, self._culprit, self._caller, dim))


class _Coupled(_Guarded):
    def coupled(self, dim: int, noises: Sequence[float | None]) -> JointModel:
        joint: JointModel = self._guard_joint("coupled", dim, noises)
        return joint


class _Joint(_Guarded):
    def joint(self, dim: int, noises: Sequence[float | None]) -> CovariantModel:
        joint: CovariantModel = self._guard_joint("joint", dim, noises)
        if not isinstance(joint, CovariantModel):
            raise self._culprit.error("joint must return a model with covariance and covariance_gradient, got none")
        return joint


class _OneKernel(_Guarded):
    def fit_together(self, models: Sequence[Model], rows: Sequence[Rows], rng: np.random.Generator) -> None:
        inner = [model._inner if isinstance(model, GuardedModel) else model for model in models]
        copies = [(np.array(u), np.array(y)) for u, y in rows]
        self._culprit.call("fit_together", self._inner.fit_together, inner, copies, rng)
        for model, (_, y) in zip(models, rows, strict=True):
            if isinstance(model, GuardedModel):
                model._check_rows("fit_together", len(y))


class _Softens(_Guarded):
    def softening(self, u: Array, y: Array, rng: np.random.Generator) -> Softening:
        soft = self._culprit.call("softening", self._inner.softening, np.array(u), np.array(y), rng)
        return GuardedSoftening(soft, self._culprit, self._caller)


class GuardedSoftening(Delegate):
    """A map of values."""

    def __reduce__(self) -> tuple[Any, ...]:
        return GuardedSoftening, (self._inner, self._culprit, self._caller)

    @property
    def strength(self) -> float:
        """0 for the map that leaves everything as it is."""
        return float(self._culprit.numbers("the strength of a softening", self._inner.strength, ()))

    def __call__(self, y: Array) -> Array:
        """The values as the models are to see them."""
        return self._culprit.numbers(
            "softened values", self._culprit.call("softening", self._inner, np.array(y)), y.shape
        )

    def value(self, y: float) -> float:
        """The same for one number."""
        return float(self._culprit.numbers("a softened value", self._culprit.call("value", self._inner.value, y), ()))

    def inverse(self, w: Array) -> Array:
        """The way back; infinite where that is the only answer."""
        return self._culprit.shaped("restored values", self._culprit.call("inverse", self._inner.inverse, w), w.shape)


_ABILITIES = (
    (TiesScales, _Tied),
    (VariesLearning, _Varied),
    (UsesThreads, _Threaded),
    (TellsLearnt, _Learning),
    (FusesBounds, _Fused),
    (CouplesFidelities, _Coupled),
    (ModelsJointly, _Joint),
    (SharesKernel, _OneKernel),
    (SoftensValues, _Softens),
)


@cache
def _class_for(kind: type, abilities: tuple[type, ...]) -> type[_Guarded]:
    """One class for all surrogates of a class: those that fuse bounds are recognised by it."""
    return type(f"Guarded{kind.__name__}", (*abilities, _Guarded), {})


def guard_surrogate(surrogate: Any, culprit: Culprit, caller: Culprit) -> Surrogate:
    """A surrogate with the same abilities that names `culprit` when it goes wrong; `caller` asks it."""
    abilities = tuple(mixin for hook, mixin in _ABILITIES if isinstance(surrogate, hook))
    return _class_for(surrogate.__class__, abilities)(surrogate, culprit, caller)
