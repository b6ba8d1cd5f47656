"""The loop: maximize and minimize ask, evaluate and tell until the capital is used up."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from mfopt.checks import integer, one_each, one_or_each, real_number, shown
from mfopt.errors import InputError
from mfopt.fidelities import Fidelity
from mfopt.optimizer import Optimizer
from mfopt.parallel.engine import INTERRUPTED, Callback, Engine, Rules
from mfopt.parallel.evaluation import Function
from mfopt.parallel.pools import as_pool
from mfopt.parallel.progress import Progress
from mfopt.parallel.simulator import Simulator

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult


class _Loop:
    """maximize and minimize: the same call for either direction."""

    def __init__(self, direction: str) -> None:
        self._direction = direction

    def __call__(
        self,
        functions: Sequence[Function],
        domain: object,
        costs: Sequence[float],
        capital: float | None,
        *,
        strategy: object = "mf-gp-ucb",
        surrogate: object = "se",
        maximiser: object = "direct",
        zetas: Sequence[float | None] | None = None,
        noise: object = None,
        rng: int | np.random.Generator | None = None,
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
        time_limit: float | None = None,
        on_error: str = "raise",
    ) -> OptimizeResult:
        """The best value of the last of `functions`, found with the help of the others, within `capital`.

        functions   f⁽¹⁾, ..., f⁽ᴹ⁾ from cheap to dear, each from a point x (d,) in user units to a number
        zetas       known bounds ζ_m ≥ ‖f⁽ᴹ⁾ − f⁽ᵐ⁾‖∞, one per function (0 or None for the last); None: to be learnt

        domain, costs, capital, strategy, surrogate, maximiser, noise, rng, storage and study are those of
        mfopt.Optimizer; resume to on_error, and the result, those of mfopt.loop.run. All values keep the user's sign.
        `capital` None needs a time limit or a callback to end the loop.
        """
        count = len(functions) if hasattr(functions, "__len__") else 1
        prices = one_each(costs, count, "costs, one per function,")
        bounds = [None] * count if zetas is None else one_each(zetas, count, "zetas, one per function,")
        pairs = zip(prices, bounds, strict=True)
        optimizer = Optimizer(
            domain,
            fidelities=[Fidelity(f"fidelity {m}", cost, zeta) for m, (cost, zeta) in enumerate(pairs)],
            strategy=strategy,
            surrogate=surrogate,
            maximiser=maximiser,
            direction=self._direction,
            capital=capital,
            noise=noise,
            rng=rng,
            storage=storage,
            study=study,
        )
        return run(
            optimizer,
            functions,
            resume=resume,
            executor=executor,
            workers=workers,
            limits=limits,
            timeout=timeout,
            retries=retries,
            progress=progress,
            callback=callback,
            time_limit=time_limit,
            on_error=on_error,
        )


maximize = _Loop("maximize")
minimize = _Loop("minimize")


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
    time_limit: float | None = None,
    on_error: str = "raise",
) -> OptimizeResult:
    """Ask `optimizer`, evaluate, tell, until it is done.

    resume      begin with the trials that are pending already, those of a loop that was interrupted; others must not be
                at them any more
    executor    where the evaluations run: None, here, one after the other; "threads" or "processes", which are
                started and ended for this run (where all functions are programs, mfopt.Simulator, threads in either
                case); any executor of concurrent.futures; a distributed.Client (Dask)
    workers     how many evaluations run at once; by default one per processor, for a Dask cluster one per thread of it;
                needed with an executor of your own
    limits      how many of them at each fidelity, a list with None for no limit: [None, 2]
    timeout     seconds that an evaluation may take, one number or one per fidelity, None for no limit; one that takes
                longer has failed
    retries     how often an evaluation that failed (by an exception, by a value that is not a finite number, by its
                timeout, by the death of its worker) is tried again; its cost is charged once
    progress    True, False, or None: when stderr is a terminal
    callback    called as callback(optimizer, trial, y) after each tell, y None for a failed one; True ends the loop
    time_limit  seconds; no evaluation starts later
    on_error    what becomes of an evaluation that failed for good: "raise" lets its exception out, "record" tells the
                trial as failed and goes on

    Results are told as they arrive; nothing waits for the slowest. When the callback or the time limit ends the loop,
    what runs is awaited and told. Ctrl-C ends it at once with the result so far and success False; trials under way
    stay pending and are not paid for. An executor that cannot work at all ends it with an ExecutorError.

    The result has x, fun (the best observed at the target; None and NaN without one), success, status, message,
    nfev, nfev_at (evaluations per fidelity), spent, history and failures (trial_id, x, fidelity and message of each
    failed trial). status says what ended the loop: 0 the capital, 1 a finite set that was used up, 2 the callback,
    3 Ctrl-C, 4 the time limit, 5 that every worker hangs. success is True for 0 to 2 and a value at the target.
    """
    count = len(optimizer.costs)
    functions = _checked_functions(functions, count)
    if on_error not in ("raise", "record"):
        raise InputError(f'on_error must be "raise" or "record", got {shown(on_error)}')
    deadline = math.inf
    if time_limit is not None:
        deadline = time.monotonic() + real_number(time_limit, "time_limit")
    if optimizer.capital is None and time_limit is None and callback is None:
        raise InputError("a loop without capital needs a time_limit or a callback to end it, got neither")
    if timeout is not None and executor is None:
        raise InputError(f"timeout needs an executor, since nothing can end an evaluation here, got {shown(timeout)}")
    if integer(retries, "retries") < 0:
        raise InputError(f"retries must not be negative, got {retries}")
    rules = Rules(_limits(limits, count), timeouts(timeout, count), retries, on_error == "record", deadline)
    if executor == "processes" and all(isinstance(function, Simulator) for function in functions):
        executor = "threads"  # a process that is killed could not end its program
    pool = as_pool(executor, workers)
    display = Progress() if (sys.stderr.isatty() if progress is None else progress) else None
    pending = optimizer.pending if resume else []
    engine = Engine(optimizer, functions, pool, rules, callback, display, pending)
    try:
        status, message = engine.run()
    except KeyboardInterrupt:
        status, message = INTERRUPTED, "interrupted by the user"
    finally:
        engine.close()
        pool.close()
    return _result(optimizer, engine, status, message)


def _result(optimizer: Optimizer, engine: Engine, status: int, message: str) -> OptimizeResult:
    from scipy.optimize import OptimizeResult  # slow to import

    best = optimizer.best
    counts = np.bincount(optimizer.history.fidelity, minlength=len(optimizer.costs))
    result = OptimizeResult()
    result.update(
        x=None if best is None else best.x.copy(),
        fun=math.nan if best is None else best.y,
        success=status < INTERRUPTED and best is not None,
        status=status,
        message=message if best is not None else f"{message}; no value at the target fidelity",
        nfev=int(counts.sum()),
        nfev_at=counts.tolist(),
        spent=optimizer.spent,
        history=optimizer.history,
        failures=engine.failures,
    )
    return result


def _limits(given: object, count: int) -> list[float]:
    limits = [None] * count if given is None else one_each(given, count, "limits, one per function,")
    if any(limit is not None and integer(limit, "limits") < 1 for limit in limits):
        raise InputError(f"limits must be at least 1 or None, got {shown(given)}")
    return [math.inf if limit is None else limit for limit in limits]


def timeouts(given: object, count: int) -> list[float]:
    each = one_or_each(given, count, "timeout, unless it is one number,")
    seconds = [math.inf if one is None else real_number(one, "timeout") for one in each]
    if min(seconds) <= 0.0:
        raise InputError(f"timeout must be positive, got {shown(given)}")
    return seconds


def _checked_functions(functions: Sequence[Function], count: int) -> Sequence[Function]:
    for function in one_each(functions, count, "functions, one per cost,"):
        if not callable(function):
            raise InputError(f"functions must be callable, got {shown(function)}")
    return functions
