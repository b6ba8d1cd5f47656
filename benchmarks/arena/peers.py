"""Other people's optimisers as methods of the arena, with the settings that their documentation recommends.

All of them see the names and kinds of the parameters, log scales and conditions as far as they know such things. A peer
that knows no conditions is handed every parameter, and those that do not count are dropped before the evaluation.
"""

from __future__ import annotations

import contextlib
import logging
import tempfile
import warnings
from typing import Any

import mfopt
from arena.problem import Meter, OutOfCapital, Params
from mfopt.domains.dimensions import Dimension


def _parameters(meter: Meter) -> dict[str, Dimension]:
    domain: Any = meter.problem.domain
    return dict(zip(domain.names, domain.dimensions, strict=True))


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

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    dimensions = _parameters(meter)
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed, multivariate=True))
    with warnings.catch_warnings(), contextlib.suppress(OutOfCapital):
        warnings.simplefilter("ignore")
        while True:
            trial = study.ask()
            params = _suggest(trial, dimensions)
            study.tell(trial, meter.query(params, meter.top))


def optuna_hyperband(meter: Meter, seed: int) -> None:
    """TPE with Optuna's HyperbandPruner over the fidelities."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    dimensions = _parameters(meter)
    pruner = optuna.pruners.HyperbandPruner(min_resource=1, max_resource=meter.top + 1, reduction_factor=3)
    sampler = optuna.samplers.TPESampler(seed=seed, multivariate=True)
    study = optuna.create_study(direction="maximize", sampler=sampler, pruner=pruner)
    with warnings.catch_warnings(), contextlib.suppress(OutOfCapital):
        warnings.simplefilter("ignore")
        while True:
            trial = study.ask()
            params = _suggest(trial, dimensions)
            for m in range(meter.top + 1):
                value = meter.query(params, m)
                trial.report(value, m + 1)
                if m < meter.top and trial.should_prune():
                    study.tell(trial, state=optuna.trial.TrialState.PRUNED)
                    break
            else:
                study.tell(trial, value)


def _suggest(trial: Any, dimensions: dict[str, Dimension]) -> Params:
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


# -------------------------------------------------------------------------------------------------------- SMAC3


def smac(meter: Meter, seed: int) -> None:
    """SMAC3's HyperparameterOptimizationFacade, on the target."""
    from smac import HyperparameterOptimizationFacade, Scenario

    def loss(config: Any, seed: int = 0) -> float:
        return -meter.query(_counting(dimensions, dict(config)), meter.top)

    dimensions = _parameters(meter)
    _run_smac(HyperparameterOptimizationFacade, Scenario, meter, seed, loss, {})


def smac_mf(meter: Meter, seed: int) -> None:
    """SMAC3's MultiFidelityFacade: Hyperband over the fidelities with a random forest as surrogate."""
    from smac import MultiFidelityFacade, Scenario

    def loss(config: Any, seed: int = 0, budget: float = 0.0) -> float:
        shares = [cost / meter.problem.costs[-1] for cost in meter.problem.costs]
        m = min(range(len(shares)), key=lambda k: abs(shares[k] - budget))
        return -meter.query(_counting(dimensions, dict(config)), m)

    dimensions = _parameters(meter)
    lowest = meter.problem.costs[0] / meter.problem.costs[-1]
    _run_smac(MultiFidelityFacade, Scenario, meter, seed, loss, {"min_budget": lowest, "max_budget": 1.0})


def _run_smac(facade: Any, scenario: Any, meter: Meter, seed: int, loss: Any, budgets: dict[str, float]) -> None:
    logging.disable(logging.CRITICAL)
    trials = int(meter.capital * meter.problem.costs[-1] / meter.problem.costs[0 if budgets else -1]) + 1
    with tempfile.TemporaryDirectory() as directory, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        space = _config_space(_parameters(meter), seed)
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
    """scikit-optimize's gp_minimize settings, on the target; it knows no conditions."""
    from skopt import Optimizer
    from skopt.space import Categorical, Integer, Real

    dimensions = _parameters(meter)
    known = []
    for name, one in dimensions.items():
        if isinstance(one, mfopt.Real):
            known.append(Real(one.lo, one.hi, prior="log-uniform" if one.log else "uniform", name=name))
        elif isinstance(one, mfopt.Integer):
            known.append(Integer(one.lo, one.hi, prior="log-uniform" if one.log else "uniform", name=name))
        elif isinstance(one, mfopt.Ordinal):
            known.append(Integer(0, len(one.values) - 1, name=name))
        elif isinstance(one, mfopt.Categorical):
            known.append(Categorical(list(range(len(one.choices))), name=name))
    optimizer = Optimizer(known, "GP", n_initial_points=10, random_state=seed)
    with warnings.catch_warnings(), contextlib.suppress(OutOfCapital):
        warnings.simplefilter("ignore")
        while True:
            asked = optimizer.ask()
            params = {
                name: one.choices[value]
                if isinstance(one, mfopt.Categorical)
                else one.values[value]
                if isinstance(one, mfopt.Ordinal)
                else one.native(value)
                for (name, one), value in zip(dimensions.items(), asked, strict=True)
            }
            optimizer.tell(asked, -meter.query(_counting(dimensions, params), meter.top))


METHODS = {
    "optuna-tpe": optuna_tpe,
    "optuna-hyperband": optuna_hyperband,
    "smac": smac,
    "smac-mf": smac_mf,
    "skopt": skopt,
}
