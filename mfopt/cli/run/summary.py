"""What `mfopt run` tells about a run, before and after it."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from mfopt.checks import escape
from mfopt.cli.answers import as_dict, print_recommendation
from mfopt.domains.params import params_of
from mfopt.optimizer import Optimizer
from mfopt.study import Study

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

_SHOWN = 5  # failures told about at the end


def announce(optimizer: Optimizer, resumed: bool) -> None:
    """One line on stderr: what is about to be run."""
    ends = "no limit" if optimizer.capital is None else f"{optimizer.capital:g}"
    told = f", {len(optimizer.history)} told and {len(optimizer.pending)} pending before" if resumed else ""
    known = optimizer.fidelities[0].cost is not None
    costs = " + ".join(f"{cost:g}" for cost in optimizer.costs) if known else "to be learnt"
    print(f"{optimizer.direction}: costs {costs}, capital {ends}, seed {optimizer.seed}{told}", file=sys.stderr)


def print_json(optimizer: Optimizer, result: OptimizeResult) -> None:
    """The result for programs."""
    failures = [
        {"id": one.trial_id, "fidelity": one.fidelity, "x": one.params, "message": one.message}
        for one in result.failures
    ]
    found = {
        "x": None if result.x is None else params_of(optimizer.domain, result.x),
        "value": None if result.x is None else result.fun,
        "status": int(result.status),
        "recommended": as_dict(result.recommended),
        "message": result.message,
        "spent": result.spent,
        "costs": [{"cost": one.cost, "factor": one.factor, "told": one.told} for one in result.costs],
        "expected_gain": result.expected_gain,
        "queries": result.nfev_at,
        "pending": len(optimizer.pending),
        "seed": optimizer.seed,
        "failures": failures,
    }
    print(json.dumps(found))


def print_result(optimizer: Optimizer, result: OptimizeResult, picture: str | None) -> None:
    """The result for people; `picture` is the file into which the run will be drawn."""
    print(f"ended    {result.message}")
    if result.x is not None:
        print(f"best     {result.fun!r}")
        for name, value in params_of(optimizer.domain, result.x).items():
            print(f"  {escape(name)} = {value!r}")
    if result.recommended is not None:
        print_recommendation(result.recommended)
    names = [fidelity.name for fidelity in optimizer.fidelities]
    queries = ", ".join(f"{count} at {escape(name)}" for name, count in zip(names, result.nfev_at, strict=True))
    print(f"queries  {queries}; spent {result.spent:g}")
    if any(one.told for one in result.costs):
        costs = [f"{one} at {escape(name)}" for name, one in zip(names, result.costs, strict=True)]
        print(f"costs    {', '.join(costs)}")
    if result.expected_gain is not None:
        print(f"gain     {result.expected_gain:.3g} expected of the rest of the capital")
    if result.failures:
        print(f"failed   {len(result.failures)}, the last ones:")
        for failure in result.failures[-_SHOWN:]:
            print(f"  trial {failure.trial_id} at {escape(names[failure.fidelity])}: {failure.message}")
    if len(optimizer.pending) and isinstance(optimizer, Study):
        print(f"pending  {len(optimizer.pending)}; the same command with --resume goes on")
    if picture is not None:
        print(f"picture  {picture}")
