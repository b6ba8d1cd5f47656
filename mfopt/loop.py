"""The loop: maximize and minimize ask, evaluate and tell until the capital is used up."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mfopt.checks import one_each, real_number, shown
from mfopt.errors import Exhausted, InputError
from mfopt.fidelities import Fidelity
from mfopt.optimizer import Optimizer
from mfopt.progress import Progress
from mfopt.protocols import Array
from mfopt.trial import Trial

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

Function = Callable[[Array], Any]
Callback = Callable[[Optimizer, Trial, "float | None"], Any]


def maximize(
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
    progress: bool | None = None,
    callback: Callback | None = None,
    time_limit: float | None = None,
    on_error: str = "raise",
) -> OptimizeResult:
    """The maximum of the last of `functions`, found with the help of the others, within `capital`.

    functions   f⁽¹⁾, ..., f⁽ᴹ⁾ from cheap to dear, each from a point x (d,) in user units to a number
    zetas       known bounds ζ_m ≥ ‖f⁽ᴹ⁾ − f⁽ᵐ⁾‖∞, one per function (0 or None for the last); None: to be learnt

    domain, costs, capital, strategy, surrogate, maximiser, noise and rng are those of mfopt.Optimizer; progress,
    callback, time_limit and on_error, and the result, those of mfopt.loop.run. `capital` None needs a time limit
    or a callback to end the loop.
    """
    optimizer = _optimizer(
        "maximize", functions, domain, costs, capital, strategy, surrogate, maximiser, zetas, noise, rng
    )
    return run(optimizer, functions, progress=progress, callback=callback, time_limit=time_limit, on_error=on_error)


def minimize(
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
    progress: bool | None = None,
    callback: Callback | None = None,
    time_limit: float | None = None,
    on_error: str = "raise",
) -> OptimizeResult:
    """As maximize, for the minimum; all values keep the user's sign."""
    optimizer = _optimizer(
        "minimize", functions, domain, costs, capital, strategy, surrogate, maximiser, zetas, noise, rng
    )
    return run(optimizer, functions, progress=progress, callback=callback, time_limit=time_limit, on_error=on_error)


def run(
    optimizer: Optimizer,
    functions: Sequence[Function],
    *,
    progress: bool | None = None,
    callback: Callback | None = None,
    time_limit: float | None = None,
    on_error: str = "raise",
) -> OptimizeResult:
    """Ask `optimizer`, evaluate, tell, until it is done.

    progress    True, False, or None: when stderr is a terminal
    callback    called as callback(optimizer, trial, y) after each tell, y None for a failed one; True ends the loop
    time_limit  seconds; no evaluation starts later
    on_error    what becomes of an exception in a function, or of a value that is not a finite number: "raise" lets it
                out, "record" tells the trial as failed and goes on

    The result has x, fun (the best observed at the target; None and NaN without one), success, status, message,
    nfev, nfev_at (evaluations per fidelity), spent and history. success is True when the loop ended of itself (capital
    used up, a finite set exhausted, or the callback's wish) and a target value was observed. Ctrl-C ends the loop
    with the result so far and success False; the interrupted trial stays pending and is not paid for.
    """
    functions = _checked_functions(functions, len(optimizer.costs))
    if on_error not in ("raise", "record"):
        raise InputError(f'on_error must be "raise" or "record", got {shown(on_error)}')
    deadline = math.inf
    if time_limit is not None:
        deadline = time.monotonic() + real_number(time_limit, "time_limit")
    if optimizer.capital is None and time_limit is None and callback is None:
        raise InputError("a loop without capital needs a time_limit or a callback to end it, got neither")
    display = Progress() if (sys.stderr.isatty() if progress is None else progress) else None
    try:
        status, message = _loop(optimizer, functions, display, callback, deadline, on_error == "record")
    except KeyboardInterrupt:
        status, message = 3, "interrupted by the user"
    finally:
        if display is not None:
            display.close(optimizer)
    return _result(optimizer, status, message)


def _loop(
    optimizer: Optimizer,
    functions: Sequence[Function],
    display: Progress | None,
    callback: Callback | None,
    deadline: float,
    record: bool,
) -> tuple[int, str]:
    """Status and message of the end."""
    while time.monotonic() < deadline:
        try:
            trial = optimizer.ask()
        except Exhausted as exhausted:
            return (0 if exhausted.which == "capital" else 1), str(exhausted)
        y = _evaluate(functions[trial.fidelity], trial, record)
        if y is None:
            optimizer.tell(trial, status="failed")
        else:
            optimizer.tell(trial, y)
        if display is not None:
            display.update(optimizer)
        if callback is not None and callback(optimizer, trial, y) is True:
            return 2, "stopped by the callback"
    return 4, "time limit reached"


def _evaluate(function: Function, trial: Trial, record: bool) -> float | None:
    """The function's value at the trial's point; None for a failure that is to be recorded."""
    try:
        value = function(trial.x.copy())
        return real_number(value, f"the value of function {trial.fidelity} at {trial.x.tolist()}")
    except Exception:
        if record:
            return None
        raise


def _result(optimizer: Optimizer, status: int, message: str) -> OptimizeResult:
    from scipy.optimize import OptimizeResult  # slow to import

    best = optimizer.best
    counts = np.bincount(optimizer.history.fidelity, minlength=len(optimizer.costs))
    result = OptimizeResult()
    result.update(
        x=None if best is None else best.x.copy(),
        fun=math.nan if best is None else best.y,
        success=status < 3 and best is not None,
        status=status,
        message=message if best is not None else f"{message}; no value at the target fidelity",
        nfev=int(counts.sum()),
        nfev_at=counts.tolist(),
        spent=optimizer.spent,
        history=optimizer.history,
    )
    return result


def _optimizer(
    direction: str,
    functions: Sequence[Function],
    domain: object,
    costs: Sequence[float],
    capital: float | None,
    strategy: object,
    surrogate: object,
    maximiser: object,
    zetas: Sequence[float | None] | None,
    noise: object,
    rng: int | np.random.Generator | None,
) -> Optimizer:
    prices = one_each(costs, len(functions) if hasattr(functions, "__len__") else 1, "costs, one per function,")
    bounds = [None] * len(prices) if zetas is None else one_each(zetas, len(prices), "zetas, one per function,")
    pairs = zip(prices, bounds, strict=True)
    return Optimizer(
        domain,
        fidelities=[Fidelity(f"fidelity {m}", cost, zeta) for m, (cost, zeta) in enumerate(pairs)],
        strategy=strategy,
        surrogate=surrogate,
        maximiser=maximiser,
        direction=direction,
        capital=capital,
        noise=noise,
        rng=rng,
    )


def _checked_functions(functions: Sequence[Function], count: int) -> Sequence[Function]:
    for function in one_each(functions, count, "functions, one per cost,"):
        if not callable(function):
            raise InputError(f"functions must be callable, got {shown(function)}")
    return functions
