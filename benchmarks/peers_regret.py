"""Simple regret against BoTorch's multi-fidelity max-value entropy search, from the same initial data.

For each problem and seed mfopt's initial queries (points, fidelities, values, and what they cost) are given to both.
Then each goes on alone until the capital is used up. BoTorch is set up as in its documentation:
SingleTaskMultiFidelityGP with standardised values, qMultiFidelityMaxValueEntropy with inverse-cost weighting (the true
costs), fidelities as equally spaced numbers up to 1. Its last target query goes to the maximiser of its posterior mean.

    python peers_regret.py                      3 seeds, capital 25 λ_M; writes results/peers-regret.json and the table
    python peers_regret.py --problems currin --seeds 1 --capital 12     prints only
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np
import timing

import mfopt
from mfopt.regret import simple_regret

PROBLEMS = ("currin", "park", "borehole", "hartmann3")
SEEDS, CAPITAL = 3, 25.0
Told = list[tuple[np.ndarray, int, float]]  # u in the unit cube, fidelity, value


def ours(problem: mfopt.problems.Benchmark, capital: float, seed: int) -> tuple[Told, int]:
    """All queries of mfopt's default method, and how many of them are its initial design."""
    optimizer = mfopt.Optimizer(problem.domain, problem.costs, capital=capital * problem.costs[-1], rng=seed)
    told: Told = []
    initial = 0
    while not optimizer.done:
        trial = optimizer.ask()
        y = float(problem.functions[trial.fidelity](trial.x))
        optimizer.tell(trial, y)
        told.append((problem.domain.encode(trial.x[None])[0], trial.fidelity, y))
        if trial.reason.kind == "initial design":
            initial = len(told)
    return told, initial


def botorch(problem: mfopt.problems.Benchmark, capital: float, seed: int, initial: Told) -> Told:
    """The initial queries and then those of MF-MES."""
    import torch
    from botorch.acquisition import PosteriorMean
    from botorch.acquisition.cost_aware import InverseCostWeightedUtility
    from botorch.acquisition.fixed_feature import FixedFeatureAcquisitionFunction
    from botorch.acquisition.max_value_entropy_search import qMultiFidelityMaxValueEntropy
    from botorch.acquisition.utils import project_to_target_fidelity
    from botorch.fit import fit_gpytorch_mll
    from botorch.models.deterministic import GenericDeterministicModel
    from botorch.models.gp_regression_fidelity import SingleTaskMultiFidelityGP
    from botorch.models.transforms import Standardize
    from botorch.optim import optimize_acqf, optimize_acqf_mixed
    from gpytorch.mlls import ExactMarginalLogLikelihood

    torch.set_num_threads(1)
    torch.manual_seed(seed)
    dim, top = problem.domain.dim, len(problem.costs) - 1
    costs = torch.tensor(problem.costs, dtype=torch.float64)
    price = GenericDeterministicModel(lambda x: costs[(x[..., dim : dim + 1] * top).round().long()])
    bounds = torch.tensor([[0.0] * (dim + 1), [1.0] * (dim + 1)], dtype=torch.float64)
    told = list(initial)
    left = capital * problem.costs[-1] - sum(problem.costs[m] for _, m, _ in told)

    def fitted() -> Any:
        x = torch.tensor(np.array([[*u, m / top] for u, m, _ in told]))
        y = torch.tensor(np.array([[value] for _, _, value in told]))
        model = SingleTaskMultiFidelityGP(x, y, data_fidelities=[dim], outcome_transform=Standardize(1))
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        return model

    def query(u: np.ndarray, m: int) -> None:
        nonlocal left
        told.append((u, m, float(problem.functions[m](problem.domain.decode(u[None])[0]))))
        left -= problem.costs[m]

    while True:
        acquisition = qMultiFidelityMaxValueEntropy(
            fitted(),
            torch.rand(1000, dim + 1, dtype=torch.float64),
            cost_aware_utility=InverseCostWeightedUtility(price),
            project=lambda x: project_to_target_fidelity(x, {dim: 1.0}, dim + 1),
        )
        point, _ = optimize_acqf_mixed(
            acquisition, bounds, q=1, num_restarts=5, raw_samples=128,
            fixed_features_list=[{dim: m / top} for m in range(top + 1)],
        )  # fmt: skip
        m = round(float(point[0, dim]) * top)
        if problem.costs[m] > left - problem.costs[-1] * (1 - 1e-9):
            break  # what is left is for the recommendation
        query(point[0, :dim].numpy(), m)
    mean = FixedFeatureAcquisitionFunction(PosteriorMean(fitted()), dim + 1, [dim], [1.0])
    best, _ = optimize_acqf(mean, bounds[:, :dim], q=1, num_restarts=10, raw_samples=1024)
    query(best[0].numpy(), top)
    return told


def regret(problem: mfopt.problems.Benchmark, told: Told) -> float:
    fidelity = np.array([m for _, m, _ in told])
    history = SimpleNamespace(
        fidelity=fidelity, y=np.array([y for _, _, y in told]), cost=np.array(problem.costs)[fidelity]
    )
    return float(simple_regret(history, problem.optimum, target=len(problem.costs) - 1)[1][-1])


def compare(name: str, capital: float, seed: int, known: list[dict[str, Any]]) -> dict[str, Any]:
    """Both on one problem with one seed; BoTorch's run is taken from `known` if it started from the same data."""
    problem = mfopt.problems.get(name)
    start = time.perf_counter()
    told, initial = ours(problem, capital, seed)
    seconds = time.perf_counter() - start
    digest = hashlib.sha256(b"".join(u.tobytes() + bytes([m]) for u, m, _ in told[:initial])).hexdigest()[:12]
    out: dict[str, Any] = {"problem": name, "seed": seed, "capital": capital, "initial": digest}
    out["mfopt"] = summary(problem, told, seconds)
    same = [run for run in known if all(run[key] == out[key] for key in ("problem", "seed", "capital", "initial"))]
    if same:
        out["botorch"] = same[0]["botorch"]
    else:
        start = time.perf_counter()
        theirs = botorch(problem, capital, seed, told[:initial])
        out["botorch"] = summary(problem, theirs, time.perf_counter() - start)
    for who in ("mfopt", "botorch"):
        print(f"{name} seed {seed} {who}: {out[who]}", file=sys.stderr)
    return out


def summary(problem: mfopt.problems.Benchmark, told: Told, seconds: float) -> dict[str, Any]:
    counts = np.bincount([m for _, m, _ in told], minlength=len(problem.costs)).tolist()
    return {"regret": regret(problem, told), "queries": counts, "seconds": round(seconds, 1)}


def table(runs: list[dict[str, Any]], capital: float) -> str:
    lines = [f"Median simple regret at {capital:g} λ_M, the same initial data for both; in brackets every run.", ""]
    lines += ["| problem | mfopt | BoTorch MF-MES | seconds a run, mfopt | BoTorch |", "|---|---|---|---|---|"]
    for name in dict.fromkeys(run["problem"] for run in runs):
        own = [run for run in runs if run["problem"] == name]
        cells = []
        for who in ("mfopt", "botorch"):
            values = sorted(run[who]["regret"] for run in own)
            cells.append(f"{np.median(values):.1e} [{', '.join(f'{value:.0e}' for value in values)}]")
        cells += [f"{np.median([run[who]['seconds'] for run in own]):.2g}" for who in ("mfopt", "botorch")]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--problems", nargs="+", default=list(PROBLEMS), choices=PROBLEMS)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--capital", type=float, default=CAPITAL, help="in λ_M")
    parser.add_argument("--reuse", action="store_true", help="recorded runs of BoTorch that started from the same data")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    recorded = (tuple(arguments.problems), arguments.seeds, arguments.capital) == (PROBLEMS, SEEDS, CAPITAL)
    path = timing.HERE / "results" / "peers-regret.json"
    known = json.loads(path.read_text())["runs"] if arguments.reuse and path.exists() else []
    runs = []
    for name in arguments.problems:
        for seed in range(arguments.seeds):
            runs.append(compare(name, arguments.capital, seed, known))
            if recorded:  # at once: the whole takes long
                path.parent.mkdir(exist_ok=True)
                path.write_text(json.dumps({"machine": timing.machine(), "runs": runs}, indent=1) + "\n")
                path.with_suffix(".md").write_text(table(runs, arguments.capital) + "\n")
    print(table(runs, arguments.capital))


if __name__ == "__main__":
    main()
