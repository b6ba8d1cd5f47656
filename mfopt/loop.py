"""The loop: maximize and minimize ask, evaluate and tell until the capital is used up.

    maximize, minimize   functions in, result out
    run                  the same for an Optimizer, or a Study, of your own
    drive                what all of them come to, with rules that have been checked

How evaluations are run, one after the other or many at once, is in mfopt/parallel.
"""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from mfopt.checks import one_each, show
from mfopt.errors import CostWarning, InputError
from mfopt.fidelities import Fidelity
from mfopt.optimizer import Optimizer
from mfopt.parallel.engine import Engine, FailedTrial
from mfopt.parallel.evaluation import Function
from mfopt.parallel.pools import as_pool
from mfopt.parallel.progress import Progress
from mfopt.parallel.rules import Rules, as_rules
from mfopt.parallel.status import Status
from mfopt.parallel.stopping import Callback
from mfopt.run.trial import Recommendation

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

__all__ = ["Status", "drive", "maximize", "minimize", "run"]


def maximize(
    functions: Sequence[Function],
    domain: object,
    costs: Sequence[float] | None,
    capital: float | None,
    *,
    strategy: object = "mf-gp-ucb",
    surrogate: object = None,
    maximiser: object = "direct",
    zetas: Sequence[float | None] | None = None,
    noise: object = None,
    rng: int | np.random.Generator | None = None,
    threads: int = 1,
    storage: object = None,
    study: str | None = None,
    resume: bool = False,
    executor: object = None,
    workers: int | None = None,
    limits: Sequence[int | None] | None = None,
    timeout: float | Sequence[float | None] | None = None,
    retries: int = 0,
    progress: bool | None = None,
    callback: Callback | None = None,
    time_limit: float | str | None = None,
    on_error: str = "raise",
    cost: str | None = None,
    target: float | None = None,
    stop: str | None = None,
    tolerance: float | None = None,
) -> OptimizeResult:
    """Find the largest value of the last of `functions`, with the help of the others, within `capital`.

    functions   f⁽¹⁾, ..., f⁽ᴹ⁾ from cheap to expensive; each takes a point and returns a number. The point is an array
                x (d,) in user units; for a mfopt.Space, or candidates that are not all numbers, trial.params
    domain      mfopt.Space, mfopt.Box, mfopt.FiniteSet, a dict of parameters, or [(lo, hi), ...]
    costs       λ_1 < ... < λ_M, one per function; None where they are not known and `cost` says how to find out
    capital     the budget Λ, in the unit of the costs; None needs a time limit or a callback to end the loop
    zetas       known bounds ζ_m ≥ ‖f⁽ᴹ⁾ − f⁽ᵐ⁾‖∞, one per function (0 or None for the last); None: to be learnt

    The other arguments up to study are those of mfopt.Optimizer; those from resume on are those of mfopt.loop.run.
    Returns a SciPy OptimizeResult: x, params and fun, the best point and value observed at the last function; where
    values are noisy also recommended, the point with the best posterior mean; and what else mfopt.loop.run lists.
    """
    fidelities = _as_fidelities(functions, costs, zetas, cost)
    rules = as_rules(len(fidelities), limits, timeout, retries, time_limit, on_error, cost, target, stop, tolerance)
    optimizer = Optimizer(
        domain,
        fidelities=fidelities,
        strategy=strategy,
        surrogate=surrogate,
        maximiser=maximiser,
        direction="maximize",
        capital=capital,
        noise=noise,
        rng=rng,
        threads=threads,
        storage=storage,
        study=study,
    )
    return drive(optimizer, functions, rules, executor, workers, resume=resume, progress=progress, callback=callback)


def minimize(
    functions: Sequence[Function],
    domain: object,
    costs: Sequence[float] | None,
    capital: float | None,
    *,
    strategy: object = "mf-gp-ucb",
    surrogate: object = None,
    maximiser: object = "direct",
    zetas: Sequence[float | None] | None = None,
    noise: object = None,
    rng: int | np.random.Generator | None = None,
    threads: int = 1,
    storage: object = None,
    study: str | None = None,
    resume: bool = False,
    executor: object = None,
    workers: int | None = None,
    limits: Sequence[int | None] | None = None,
    timeout: float | Sequence[float | None] | None = None,
    retries: int = 0,
    progress: bool | None = None,
    callback: Callback | None = None,
    time_limit: float | str | None = None,
    on_error: str = "raise",
    cost: str | None = None,
    target: float | None = None,
    stop: str | None = None,
    tolerance: float | None = None,
) -> OptimizeResult:
    """Find the smallest value of the last of `functions`; everything else is as in mfopt.maximize.

    All values, also those in the history and in reasons, keep their own sign.
    """
    fidelities = _as_fidelities(functions, costs, zetas, cost)
    rules = as_rules(len(fidelities), limits, timeout, retries, time_limit, on_error, cost, target, stop, tolerance)
    optimizer = Optimizer(
        domain,
        fidelities=fidelities,
        strategy=strategy,
        surrogate=surrogate,
        maximiser=maximiser,
        direction="minimize",
        capital=capital,
        noise=noise,
        rng=rng,
        threads=threads,
        storage=storage,
        study=study,
    )
    return drive(optimizer, functions, rules, executor, workers, resume=resume, progress=progress, callback=callback)


def run(
    optimizer: Optimizer,
    functions: Sequence[Function],
    *,
    resume: bool = False,
    executor: object = None,
    workers: int | None = None,
    limits: Sequence[int | None] | None = None,
    timeout: float | Sequence[float | None] | None = None,
    retries: int = 0,
    progress: bool | None = None,
    callback: Callback | None = None,
    time_limit: float | str | None = None,
    on_error: str = "raise",
    cost: str | None = None,
    target: float | None = None,
    stop: str | None = None,
    tolerance: float | None = None,
) -> OptimizeResult:
    """Ask `optimizer`, evaluate, tell, until it is done.

    functions   one per fidelity, from cheap to expensive; each takes a point and returns a number. The point is an
                array x (d,) in user units; for a mfopt.Space, or candidates that are not all numbers, trial.params
    resume      begin with the trials that an interrupted loop left pending; nobody else may still be evaluating them
    executor    where the evaluations run. None: here, one after the other. "threads" or "processes": started and ended
                for this run (threads in either case if all functions are programs, mfopt.Simulator). Or any executor
                of concurrent.futures, or a distributed.Client (Dask)
    workers     how many evaluations run at once; by default one per CPU, for a Dask cluster one per thread of it;
                needed with an executor of your own
    limits      how many of them may be at each fidelity, a list with None for no limit: [None, 2]
    timeout     seconds that an evaluation may take, one number or one per fidelity, None for no limit; one that takes
                longer has failed. The time counts while it runs; in an executor of your own, from its submission
    retries     how often an evaluation that failed (by an exception, by a value that is not a finite number, by its
                timeout, by the death of its worker) is tried again; its cost is charged once. What is lost with a
                worker of a Dask cluster is first run again without counting (docs/parallel.md)
    progress    True, False, or None: when stderr is a terminal
    callback    called as callback(optimizer, trial, y) after each tell, y None for a failed one; True ends the loop
    time_limit  seconds, or a string such as "90s", "30m" or "2h"; no evaluation starts later
    on_error    what to do when an evaluation has failed for good: "raise" its exception, or "record" the trial as
                failed and go on
    cost        how to find out what an evaluation costs (docs/costs.md). None: it costs what the optimiser says.
                "time": the seconds that it takes; "total-time": with those of the ask before it; "reported": what the
                function says, by returning {"value": value, "cost": cost}
    target      a value at the target that is good enough to stop or not to begin; docs/costs.md has stop and tolerance

    Results are told as they arrive. When the callback, a value or the time limit ends the loop, what runs is awaited
    and told. Ctrl-C ends it at once with the result so far and success False; trials under way stay pending and are not
    paid for. An executor that cannot work at all ends it with an ExecutorError.

    The result has x, params (x by name) and fun (the best observed at the target; None and NaN without one),
    recommended (what Optimizer.recommend says where values at the target are noisy, otherwise None), success, status,
    message, nfev, nfev_at (evaluations per fidelity), spent, costs (what a query at each fidelity is expected to cost),
    expected_gain (None unless stop is given), history and failures (trial_id, x, params, fidelity and message of each
    failed trial). status, an mfopt.loop.Status, says what ended the loop: 0 the capital, 1 a finite set that was used
    up, 2 the callback, 3 Ctrl-C, 4 the time limit, 5 that every worker hangs, 6 the target value, 7 convergence.
    success is True for 0 to 2, 6 and 7, and a value at the target.
    """
    count = len(optimizer.costs)
    rules = as_rules(count, limits, timeout, retries, time_limit, on_error, cost, target, stop, tolerance)
    return drive(optimizer, functions, rules, executor, workers, resume=resume, progress=progress, callback=callback)


def drive(
    optimizer: Optimizer,
    functions: Sequence[Function],
    rules: Rules,
    executor: object,
    workers: int | None,
    *,
    resume: bool = False,
    progress: bool | None = None,
    callback: Callback | None = None,
) -> OptimizeResult:
    """The loop itself, under rules (mfopt.parallel.rules.as_rules makes them); the rest is as in `run`."""
    for function in one_each(functions, len(optimizer.costs), "functions, one per cost,"):
        if not callable(function):
            raise InputError(f"functions must be callable, got {show(function)}")
    if not (callback is None or callable(callback)):
        raise InputError(f"callback must be callable or None, got {show(callback)}")
    if optimizer.capital is None and rules.time_limit == math.inf and callback is None:
        raise InputError("a loop without capital needs a time_limit or a callback to end it, got neither")
    if executor is None and min(rules.timeouts) < math.inf:
        raise InputError(
            f"timeout needs an executor, since nothing can end an evaluation here, got {show(list(rules.timeouts))}"
        )
    pool = as_pool(executor, workers, functions)
    display = Progress() if (sys.stderr.isatty() if progress is None else progress) else None
    engine = Engine(optimizer, functions, pool, rules, callback, display, optimizer.pending if resume else [])
    try:
        status, message = engine.run()
    except KeyboardInterrupt:
        status, message = Status.INTERRUPTED, "interrupted by the user"
    finally:
        engine.close()
        pool.close()
    for oddity in optimizer.cost_oddities:
        warnings.warn(f"costs should rise with the fidelity: {oddity}", CostWarning, stacklevel=3)
    return _as_result(optimizer, status, message, engine.failures, engine.stopping.gain)


def _as_result(
    optimizer: Optimizer, status: Status, message: str, failures: Sequence[FailedTrial], gain: float | None
) -> OptimizeResult:
    from scipy.optimize import OptimizeResult  # slow to import

    best = optimizer.best
    counts = np.bincount(optimizer.history.fidelity, minlength=len(optimizer.costs))
    result = OptimizeResult()
    result.update(
        x=None if best is None else best.x.copy(),
        params=None if best is None else best.params,
        fun=math.nan if best is None else best.y,
        success=status.is_regular and best is not None,
        status=status,
        message=message if best is not None else f"{message}; no value at the target fidelity",
        nfev=int(counts.sum()),
        nfev_at=counts.tolist(),
        recommended=_recommend(optimizer),
        spent=optimizer.spent,
        costs=optimizer.cost_estimates,
        expected_gain=gain,
        history=optimizer.history,
        failures=failures,
    )
    return result


def _recommend(optimizer: Optimizer) -> Recommendation | None:
    """What is recommended where values are noisy. A plugin that fails at it must not cost the user the result."""
    try:
        return optimizer.recommend_if_noisy()
    except Exception as error:
        warnings.warn(f"there is no recommendation, its models failed: {error!r}", RuntimeWarning, stacklevel=3)
        return None


def _as_fidelities(
    functions: Sequence[Function],
    costs: Sequence[float] | None,
    zetas: Sequence[float | None] | None,
    how: str | None,
) -> list[Fidelity]:
    """One fidelity per function, called by its number; costs may be missing where it is said how they are found out."""
    count = len(functions) if hasattr(functions, "__len__") else 1
    if costs is None and how is None:
        raise InputError("costs must be a list of one per function unless cost says how they are found out, got None")
    prices = [None] * count if costs is None else one_each(costs, count, "costs, one per function,")
    bounds = [None] * count if zetas is None else one_each(zetas, count, "zetas, one per function,")
    pairs = zip(prices, bounds, strict=True)
    return [Fidelity(f"fidelity {m}", cost, zeta) for m, (cost, zeta) in enumerate(pairs)]
