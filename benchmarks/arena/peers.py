"""Other people's optimisers as methods of the arena, with the settings that their documentation recommends.

All of them see the names and kinds of the parameters, log scales and conditions as far as they know such things. A peer
that knows no conditions is handed every parameter, and those that do not count are dropped before the evaluation.
Those that can take initial points get ours, as a part of their capital: Optuna's TPE and GP and scikit-optimize the
design of gp-ei, BoTorch that of mf-gp-ucb. Optuna's Hyperband and SMAC3 start by their own rules.
"""

from __future__ import annotations

import contextlib
import logging
import math
import tempfile
import warnings
from importlib.metadata import version as installed
from typing import Any

import numpy as np

import mfopt
from arena import botorch_methods, ours
from arena.problem import Meter, OutOfCapital, Params
from mfopt.domains.dimensions import Dimension
from mfopt.domains.params import params_of


class Desk:
    """The meter, for optimisers that know neither failures nor lists of candidates.

    The worst value so far stands in for that of a failed evaluation, 0 before the first. Where X is a list, the
    candidate nearest to what is asked for is evaluated.
    """

    def __init__(self, meter: Meter) -> None:
        self.meter = meter
        domain: Any = meter.problem.domain
        self.dimensions: dict[str, Dimension] = dict(zip(domain.names, domain.dimensions, strict=True))
        self._worst: float | None = None

    def query(self, params: Params, fidelity: int) -> float:
        value = self.meter.query(self._nearest(params), fidelity)
        if math.isnan(value):
            return 0.0 if self._worst is None else self._worst
        self._worst = value if self._worst is None else min(self._worst, value)
        return value

    def target(self, params: Params) -> float:
        return self.query(params, self.meter.top)

    def design(self, seed: int) -> list[Params]:
        """The initial design of gp-ei and gp-ucb, all of it at the target."""
        return [params for params, _ in ours.design(self.meter.problem, self.meter.capital, seed, "gp-ei")]

    def _nearest(self, params: Params) -> Params:
        domain = self.meter.problem.domain
        if domain.points is None:
            return params
        x = [one.validate(params[name], name) for name, one in self.dimensions.items()]
        distances = ((domain.points - domain.encode(np.array([x]))) ** 2).sum(axis=1)
        return params_of(domain, domain.decode(domain.points[[int(distances.argmin())]])[0])


def _counting(dimensions: dict[str, Dimension], params: Params) -> Params:
    """The parameters whose conditions hold; conditions name parameters that stand before."""
    kept: Params = {}
    for name, dimension in dimensions.items():
        when = dimension.when or {}
        listed = {parent: one if isinstance(one, list | tuple) else [one] for parent, one in when.items()}
        if all(parent in kept and kept[parent] in values for parent, values in listed.items()):
            kept[name] = params[name]
    return kept


# ------------------------------------------------------------------------------------------------------- Optuna


def optuna_tpe(meter: Meter, seed: int) -> None:
    """Optuna's default sampler, on the target."""
    import optuna

    _run_optuna(meter, seed, optuna.samplers.TPESampler(seed=seed, multivariate=True))


def optuna_gp(meter: Meter, seed: int) -> None:
    """Optuna's Gaussian processes, on the target."""
    import optuna

    _run_optuna(meter, seed, optuna.samplers.GPSampler(seed=seed))


def _run_optuna(meter: Meter, seed: int, sampler: Any) -> None:
    """Target queries by this sampler, first of all the initial design of gp-ei."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    desk = Desk(meter)
    with warnings.catch_warnings(), contextlib.suppress(OutOfCapital):
        warnings.simplefilter("ignore")
        study = optuna.create_study(direction="maximize", sampler=sampler)
        for params in desk.design(seed):
            study.enqueue_trial({name: _place(desk.dimensions[name], value) for name, value in params.items()})
        while True:
            trial = study.ask()
            study.tell(trial, desk.target(suggest(trial, desk.dimensions)))


def optuna_hyperband(meter: Meter, seed: int) -> None:
    """TPE with Optuna's HyperbandPruner over the fidelities."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    desk = Desk(meter)
    pruner = optuna.pruners.HyperbandPruner(min_resource=1, max_resource=meter.top + 1, reduction_factor=3)
    sampler = optuna.samplers.TPESampler(seed=seed, multivariate=True)
    study = optuna.create_study(direction="maximize", sampler=sampler, pruner=pruner)
    with warnings.catch_warnings(), contextlib.suppress(OutOfCapital):
        warnings.simplefilter("ignore")
        while True:
            trial = study.ask()
            params = suggest(trial, desk.dimensions)
            for m in range(meter.top + 1):
                value = desk.query(params, m)
                trial.report(value, m + 1)
                if m < meter.top and trial.should_prune():
                    study.tell(trial, state=optuna.trial.TrialState.PRUNED)
                    break
            else:
                study.tell(trial, value)


def suggest(trial: Any, dimensions: dict[str, Dimension]) -> Params:
    chosen: Params = {}
    for name, dimension in dimensions.items():
        if name not in _counting(dimensions, {**dict.fromkeys(dimensions), **chosen}):
            continue
        if isinstance(dimension, mfopt.Real):
            chosen[name] = trial.suggest_float(name, dimension.lo, dimension.hi, log=dimension.log)
        elif isinstance(dimension, mfopt.Integer):
            chosen[name] = trial.suggest_int(name, dimension.lo, dimension.hi, log=dimension.log)
        elif isinstance(dimension, mfopt.Ordinal):
            chosen[name] = dimension.values[trial.suggest_int(name, 0, len(dimension.values) - 1)]
        elif isinstance(dimension, mfopt.Categorical):
            chosen[name] = trial.suggest_categorical(name, dimension.choices)
    return chosen


def _place(dimension: Dimension, value: Any) -> Any:
    """What stands for this value where ordinals are handed over as their places."""
    return dimension.values.index(value) if isinstance(dimension, mfopt.Ordinal) else value


# -------------------------------------------------------------------------------------------------------- SMAC3


def smac(meter: Meter, seed: int) -> None:
    """SMAC3's HyperparameterOptimizationFacade, on the target."""
    from smac import HyperparameterOptimizationFacade, Scenario

    def loss(config: Any, seed: int = 0) -> float:
        return -desk.target(_counting(desk.dimensions, dict(config)))

    desk = Desk(meter)
    _run_smac(HyperparameterOptimizationFacade, Scenario, meter, seed, loss, {})


def smac_mf(meter: Meter, seed: int) -> None:
    """SMAC3's MultiFidelityFacade: Hyperband over the fidelities with a random forest as surrogate."""
    from smac import MultiFidelityFacade, Scenario

    def loss(config: Any, seed: int = 0, budget: float = 0.0) -> float:
        shares = [cost / meter.problem.costs[-1] for cost in meter.problem.costs]
        m = min(range(len(shares)), key=lambda k: abs(shares[k] - budget))
        return -desk.query(_counting(desk.dimensions, dict(config)), m)

    desk = Desk(meter)
    lowest = meter.problem.costs[0] / meter.problem.costs[-1]
    _run_smac(MultiFidelityFacade, Scenario, meter, seed, loss, {"min_budget": lowest, "max_budget": 1.0})


def _run_smac(facade: Any, scenario: Any, meter: Meter, seed: int, loss: Any, budgets: dict[str, float]) -> None:
    logging.disable(logging.CRITICAL)
    trials = int(meter.capital * meter.problem.costs[-1] / meter.problem.costs[0 if budgets else -1]) + 1
    with tempfile.TemporaryDirectory() as directory, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        space = _config_space(Desk(meter).dimensions, seed)
        given = scenario(space, deterministic=True, n_trials=trials, seed=seed, output_directory=directory, **budgets)
        optimizer = facade(given, loss, overwrite=True)
        with contextlib.suppress(OutOfCapital):
            while True:
                info = optimizer.ask()
                extra = {"budget": info.budget} if budgets else {}
                from smac.runhistory.dataclasses import TrialValue

                optimizer.tell(info, TrialValue(cost=loss(info.config, **extra)), save=False)


def _config_space(dimensions: dict[str, Dimension], seed: int) -> Any:
    import ConfigSpace as cs

    made: dict[str, Any] = {}
    for name, one in dimensions.items():
        if isinstance(one, mfopt.Real):
            made[name] = cs.Float(name, (one.lo, one.hi), log=one.log)
        elif isinstance(one, mfopt.Integer):
            made[name] = cs.Integer(name, (one.lo, one.hi), log=one.log)
        elif isinstance(one, mfopt.Ordinal):
            made[name] = cs.OrdinalHyperparameter(name, list(one.values))
        elif isinstance(one, mfopt.Categorical):
            made[name] = cs.Categorical(name, list(one.choices))
    space = cs.ConfigurationSpace(seed=seed)
    space.add(list(made.values()))
    for name, one in dimensions.items():
        for parent, values in (one.when or {}).items():
            listed = list(values) if isinstance(values, list | tuple) else [values]
            space.add(cs.InCondition(made[name], made[parent], listed))
    return space


# ---------------------------------------------------------------------------------------------- scikit-optimize


def skopt(meter: Meter, seed: int) -> None:
    """scikit-optimize's gp_minimize settings, on the target, after the design of gp-ei; it knows no conditions."""
    from skopt import Optimizer

    desk = Desk(meter)
    known = [skopt_dimension(name, one) for name, one in desk.dimensions.items()]
    optimizer = Optimizer(known, "GP", n_initial_points=10, random_state=seed)
    with warnings.catch_warnings(), contextlib.suppress(OutOfCapital):
        warnings.simplefilter("ignore")
        for params in desk.design(seed):
            if len(params) == len(desk.dimensions):  # it has no way to say that a parameter does not count
                asked = [_skopt_value(one, params[name]) for name, one in desk.dimensions.items()]
                optimizer.tell(asked, -desk.target(params))
        while True:
            asked = optimizer.ask()
            each = zip(desk.dimensions.items(), asked, strict=True)
            params = {name: from_skopt(one, value) for (name, one), value in each}
            optimizer.tell(asked, -desk.target(_counting(desk.dimensions, params)))


def skopt_dimension(name: str, one: Dimension) -> Any:
    """Ordinals and categories are handed over as places in their lists."""
    from skopt.space import Categorical, Integer, Real

    if isinstance(one, mfopt.Ordinal):
        return Integer(0, len(one.values) - 1, name=name)
    if isinstance(one, mfopt.Categorical):
        return Categorical(list(range(len(one.choices))), name=name)
    kind = Real if isinstance(one, mfopt.Real) else Integer
    return kind(one.lo, one.hi, prior="log-uniform" if one.log else "uniform", name=name)


def _skopt_value(one: Dimension, value: Any) -> Any:
    return one.choices.index(value) if isinstance(one, mfopt.Categorical) else _place(one, value)


def from_skopt(one: Dimension, value: Any) -> Any:
    if isinstance(one, mfopt.Categorical):
        return one.choices[value]
    return one.values[value] if isinstance(one, mfopt.Ordinal) else one.native(value)


METHODS = {
    "optuna-tpe": optuna_tpe,
    "optuna-gp": optuna_gp,
    "optuna-hyperband": optuna_hyperband,
    "smac": smac,
    "smac-mf": smac_mf,
    "skopt": skopt,
    "botorch-mes": botorch_methods.mf_mes,
    "botorch-kg": botorch_methods.mf_kg,
}
_PACKAGES = {"skopt": "scikit-optimize"}


def version(method: str) -> str:
    """The package of this method, with its version."""
    package = method.partition("-")[0]
    package = _PACKAGES.get(package, package)
    return f"{package} {installed(package)}"
