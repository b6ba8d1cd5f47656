"""BoTorch's multi-fidelity methods, set up as in its tutorials, from the initial design of mf-gp-ucb.

The model is SingleTaskMultiFidelityGP on standardised values in unit coordinates, with fidelities as equally spaced
numbers up to 1. An acquisition is divided by the cost of its fidelity (InverseCostWeightedUtility). The model knows
neither categories nor lists: what it asks for is moved to the nearest point of X. Failed evaluations are left out. The
last target query goes to the maximum of the posterior mean, which is also what is recommended.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from arena import ours
from arena.problem import Meter, OutOfCapital, Params
from mfopt.domains.params import params_of

_RESTARTS, _RAW, _LIMITS = 5, 128, {"batch_limit": 5, "maxiter": 200}
_FANTASIES = 64  # BoTorch's default
Acquisition = Callable[["Loop", Any], Any]


def mf_mes(meter: Meter, seed: int) -> None:
    """qMultiFidelityMaxValueEntropy."""
    _run(meter, seed, _max_value_entropy)


def mf_kg(meter: Meter, seed: int) -> None:
    """qMultiFidelityKnowledgeGradient."""
    _run(meter, seed, _knowledge_gradient)


def _run(meter: Meter, seed: int, make: Acquisition) -> None:
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(seed)
    loop = Loop(meter)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            for params, m in ours.design(meter.problem, meter.capital, seed, "mf-gp-ucb"):
                loop.query(params, m)
            meter.recommend = lambda: loop.find_best() if loop.values else None
            while meter.capital - meter.spent >= 2.0:
                loop.query(*loop.choose(make))
            loop.query(loop.find_best(), meter.top)
        except OutOfCapital:
            return


class Loop:
    """The queries so far, and what to ask next. `inputs` are unit coordinates with the fidelity as last column."""

    def __init__(self, meter: Meter) -> None:
        self.meter = meter
        self.dim = meter.problem.domain.dim
        self.inputs: list[list[float]] = []
        self.values: list[float] = []

    def query(self, params: Params, m: int) -> None:
        value = self.meter.query(params, m)
        if not np.isnan(value):
            domain = self.meter.problem.domain
            u = domain.encode(domain.validate(self._argument(params))[None])[0]
            self.inputs.append([*u.tolist(), m / max(self.meter.top, 1)])
            self.values.append(value)

    def _argument(self, params: Params) -> Any:
        """Boxes take their coordinates, all others params."""
        domain: Any = self.meter.problem.domain
        return params if hasattr(domain, "params") else [params[name] for name in domain.names]

    def choose(self, make: Acquisition) -> tuple[Params, int]:
        """The point and the fidelity where the acquisition per cost is largest."""
        from botorch.optim import optimize_acqf_mixed

        top = max(self.meter.top, 1)
        point, _ = optimize_acqf_mixed(
            make(self, self.fit()), self.bounds(), q=1, num_restarts=_RESTARTS, raw_samples=_RAW, options=dict(_LIMITS),
            fixed_features_list=[{self.dim: m / top} for m in range(self.meter.top + 1)],
        )  # fmt: skip
        return self._point(point[0, : self.dim].numpy()), round(float(point[0, self.dim]) * top)

    def find_best(self) -> Params:
        """Where the posterior mean of the target is largest."""
        from botorch.optim import optimize_acqf

        mean = self.mean_of_target(self.fit())
        best, _ = optimize_acqf(mean, self.bounds()[:, : self.dim], q=1, num_restarts=10, raw_samples=1024)
        return self._point(best[0].numpy())

    def fit(self) -> Any:
        """The model of all values so far."""
        import torch
        from botorch.fit import fit_gpytorch_mll
        from botorch.models.gp_regression_fidelity import SingleTaskMultiFidelityGP
        from botorch.models.transforms import Standardize
        from gpytorch.mlls import ExactMarginalLogLikelihood

        x = torch.tensor(self.inputs, dtype=torch.float64)
        y = torch.tensor(self.values, dtype=torch.float64)[:, None]
        model = SingleTaskMultiFidelityGP(x, y, data_fidelities=[self.dim], outcome_transform=Standardize(1))
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        return model

    def bounds(self) -> Any:
        import torch

        return torch.tensor([[0.0] * (self.dim + 1), [1.0] * (self.dim + 1)], dtype=torch.float64)

    def mean_of_target(self, model: Any) -> Any:
        """The posterior mean at the target as a function of the point."""
        from botorch.acquisition import PosteriorMean
        from botorch.acquisition.fixed_feature import FixedFeatureAcquisitionFunction

        return FixedFeatureAcquisitionFunction(PosteriorMean(model), self.dim + 1, [self.dim], [1.0])

    def per_cost(self) -> dict[str, Any]:
        """The arguments of an acquisition that divide it by the cost and refer it to the target."""
        import torch
        from botorch.acquisition.cost_aware import InverseCostWeightedUtility
        from botorch.acquisition.utils import project_to_target_fidelity
        from botorch.models.deterministic import GenericDeterministicModel

        costs = torch.tensor(self.meter.problem.costs, dtype=torch.float64) / self.meter.problem.costs[-1]
        column, top = self.dim, self.meter.top
        price = GenericDeterministicModel(lambda x: costs[(x[..., column : column + 1] * top).round().long()])
        project = partial(project_to_target_fidelity, target_fidelities={column: 1.0}, d=column + 1)
        return {"cost_aware_utility": InverseCostWeightedUtility(price), "project": project}

    def _point(self, u: np.ndarray) -> Params:
        """The point of X nearest to these unit coordinates."""
        domain = self.meter.problem.domain
        if domain.points is not None:
            u = domain.points[int(((domain.points - u) ** 2).sum(axis=1).argmin())]
        return params_of(domain, domain.decode(u[None])[0])


def _max_value_entropy(loop: Loop, model: Any) -> Any:
    import torch
    from botorch.acquisition.max_value_entropy_search import qMultiFidelityMaxValueEntropy

    candidates = torch.rand(1000, loop.dim + 1, dtype=torch.float64)
    return qMultiFidelityMaxValueEntropy(model, candidates, **loop.per_cost())


def _knowledge_gradient(loop: Loop, model: Any) -> Any:
    from botorch.acquisition.knowledge_gradient import qMultiFidelityKnowledgeGradient
    from botorch.optim import optimize_acqf

    _, value = optimize_acqf(
        loop.mean_of_target(model), loop.bounds()[:, : loop.dim], q=1, num_restarts=10, raw_samples=1024
    )
    return qMultiFidelityKnowledgeGradient(model, num_fantasies=_FANTASIES, current_value=value, **loop.per_cost())
