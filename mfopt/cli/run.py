"""The command `mfopt run`: the whole loop on a problem file."""

from __future__ import annotations

import argparse
import json
import math
import os
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from mfopt import loop, registry
from mfopt.cli._storage import STORAGE, by_name, plugin
from mfopt.cli.plot import check_matplotlib
from mfopt.cli.problem_file import ProblemFile, load
from mfopt.errors import InputError, MfoptError
from mfopt.optimizer import Optimizer
from mfopt.parallel.engine import INTERRUPTED
from mfopt.parallel.simulator import Simulator
from mfopt.run.setup import Setup
from mfopt.run.trial import Trial
from mfopt.study import Study

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

_INTERRUPTED = 130  # what a shell reports for a program that Ctrl-C ended
_SHOWN = 5  # failures told about at the end

_EPILOG = """A problem file defines, in Python,

  domain = [(0, 1), (10, 500)]              or a mfopt.Box with names, scales and constraints, or a mfopt.FiniteSet
  costs = [1, 20]                           from cheap to dear, the last is the target; or a list of mfopt.Fidelity
  commands = ["./sim coarse", "./sim fine"] a program per fidelity; or functions = [cheap, dear] in Python

and may define capital, direction, strategy, surrogate, maximiser, seed, workers, limits, timeout and retries. A program
reads {"x": {name: value, ...}, "fidelity": 0, "name": "fidelity 0"} from stdin and prints the value on its last line.

examples:
  mfopt run wing.py --capital 500
  mfopt run wing.py --capital 500 --workers 8 --limits - 2 --storage study.db --study wing --plot wing.png
  mfopt run wing.py --capital 900 --workers 8 --storage study.db --study wing --resume

Ctrl-C or SIGTERM ends a run; what was told is kept, and --resume takes up what was under way.

exit codes: 0 done, 1 failed or without a value at the target, 2 wrong usage, 130 interrupted"""


def add(commands: Any) -> None:
    parser = commands.add_parser(
        "run",
        help="optimise your own problem: a Python file, or any program",
        description="Optimise the problem of a file: ask, evaluate, tell, until the capital is used up.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("problem", metavar="PROBLEM", help="problem.py, problem.py:name, or package.module:name")
    what = parser.add_argument_group("what to do")
    what.add_argument("--capital", type=float, help="total budget, in the unit of the costs")
    what.add_argument("--minimize", action="store_true", help="look for the smallest value")
    for group in ("strategy", "surrogate", "maximiser"):
        text = "a name, or name:option=value,option=value"
        what.add_argument(f"--{group}", metavar="NAME", help=f"{text}; `mfopt plugins` lists the names")
    what.add_argument("--seed", type=int, help="default: a fresh one")
    what.add_argument("--time-limit", type=float, metavar="S", help="start nothing after S seconds")
    where = parser.add_argument_group("where to keep it")
    where.add_argument("--storage", help=STORAGE)
    where.add_argument("--study", metavar="NAME", help='its name there (default: "default")')
    where.add_argument("--resume", action="store_true", help="go on with a study that exists, pending trials first")
    where.add_argument("--lease", type=float, metavar="S", help="for several runs on one study: see docs/storage.md")
    how = parser.add_argument_group("how to evaluate")
    how.add_argument("--workers", type=int, metavar="N", help="evaluations at once (default: 1)")
    how.add_argument("--limits", nargs="+", metavar="N", help="at most N at once of each fidelity, - for no limit")
    how.add_argument(
        "--executor",
        metavar="E",
        help="threads, processes, or the address of a Dask scheduler, tcp://host:8786 "
        "(default: processes for functions; programs have threads, also with processes)",
    )
    how.add_argument("--timeout", type=float, metavar="S", help="an evaluation that takes longer has failed")
    how.add_argument("--retries", type=int, metavar="N", help="try a failed evaluation again, N times (default: 0)")
    give_up = "stop when N evaluations in a row have failed (default: 10)"
    how.add_argument("--give-up", type=int, default=10, metavar="N", help=give_up)
    output = parser.add_argument_group("what to show")
    output.add_argument("--plot", metavar="FILE", help="draw the run into a PNG, SVG or PDF file")
    output.add_argument("--json", action="store_true", help="the result as JSON")
    output.add_argument("--quiet", action="store_true", help="no progress on stderr")


def run(arguments: argparse.Namespace) -> int:
    problem = load(arguments.problem)
    options = {**problem.options, **_given(arguments)}
    if arguments.storage is None and (arguments.resume or arguments.study or arguments.lease):
        raise InputError("--resume, --study and --lease must come with --storage, got none")
    if arguments.plot is not None:
        check_matplotlib()
    optimizer = _optimizer(problem, options, arguments)
    watch = _Watch(arguments.give_up)
    if not arguments.quiet:
        _announce(optimizer, arguments)
    if isinstance(optimizer, Study) and arguments.resume and arguments.lease is not None:
        optimizer.offer_unleased()
    try:
        with _terminated_as_interrupted(), _executor(problem, options, arguments) as (executor, workers):
            result = loop.run(
                optimizer,
                problem.functions,
                resume=arguments.resume and arguments.lease is None,
                executor=executor,
                workers=workers,
                limits=options.get("limits"),
                timeout=_timeouts(problem, options),
                retries=options.get("retries", 0),
                progress=not arguments.quiet,
                callback=watch,
                time_limit=arguments.time_limit,
                on_error="record",
            )
    finally:
        for function in problem.functions:
            if isinstance(function, Simulator):
                function.stop()
        if isinstance(optimizer, Study) and arguments.lease is not None:
            with suppress(MfoptError):  # of a storage that is gone the leases run out all the same
                optimizer.offer_own()
    if watch.gave_up:
        result["message"] = f"given up: {arguments.give_up} evaluations in a row have failed"
    _tell(optimizer, result, arguments)
    if arguments.plot is not None and len(optimizer.history):
        from mfopt.plots.study import plot_study

        plot_study(optimizer, arguments.plot, optimizer.reasons() if isinstance(optimizer, Study) else watch.reasons)
    optimizer.close()
    if result.status == INTERRUPTED:
        return _INTERRUPTED
    return 0 if result.x is not None and not watch.gave_up else 1


def _given(arguments: argparse.Namespace) -> dict[str, Any]:
    """The options of the command line, as a problem file would define them."""
    names = ("capital", "seed", "workers", "timeout", "retries")
    given = {name: getattr(arguments, name) for name in names if getattr(arguments, name) is not None}
    if arguments.minimize:
        given["direction"] = "minimize"
    for name, group in (
        ("strategy", registry.STRATEGIES),
        ("surrogate", registry.SURROGATES),
        ("maximiser", registry.MAXIMISERS),
    ):
        if getattr(arguments, name) is not None:
            given[name] = plugin(group, getattr(arguments, name))
    if arguments.limits is not None:
        try:
            given["limits"] = [None if limit == "-" else int(limit) for limit in arguments.limits]
        except ValueError:
            raise InputError(f"--limits must be numbers or -, got {' '.join(arguments.limits)}") from None
    return given


def _optimizer(problem: ProblemFile, options: dict[str, Any], arguments: argparse.Namespace) -> Optimizer:
    made: dict[str, Any] = {
        "domain": problem.domain,
        "fidelities": problem.fidelities,
        "rng": options.get("seed"),
        **{key: options[key] for key in ("direction", "strategy", "surrogate", "maximiser") if key in options},
    }
    capital = options.get("capital")
    store = header = None
    if arguments.storage is not None:
        from mfopt.storage import connect
        from mfopt.storage import header as headers

        store = connect(arguments.storage)
        header = store.find(headers.study_name(arguments.study))
    if header is None and capital is None and arguments.time_limit is None:
        raise InputError("a run must have a --capital or a --time-limit to end it, got neither")
    if store is None:
        return Optimizer(**made, capital=capital)
    leased: dict[str, Any] = {
        "lease": arguments.lease,
        "worker": f"{socket.gethostname()} {os.getpid()}",  # one of its own: at the end it gives back what it holds
    }
    if header is None:
        return Study(**made, **leased, capital=capital, storage=store, study=arguments.study)
    if not arguments.resume:
        raise InputError(f"study must be a new one without --resume, got {header.name!r}, which {store} holds already")
    study = Study.resume(Setup.from_arguments(**made), store, header, **leased)
    if capital is not None and capital != study.capital:
        study.raise_capital(capital)
    return study


@contextmanager
def _executor(
    problem: ProblemFile, options: dict[str, Any], arguments: argparse.Namespace
) -> Iterator[tuple[object, int | None]]:
    """What loop.run takes as executor and workers."""
    executor, workers = arguments.executor, options.get("workers")
    if executor is not None and "://" in executor:
        try:
            import distributed
        except ImportError:
            raise MfoptError("a Dask scheduler needs distributed: pip install 'mfopt[dask]'") from None
        connect: Any = distributed.Client
        with connect(executor) as client:
            if problem.path is not None:
                client.upload_file(str(problem.path))  # so that the workers can import the functions
            yield client, workers
        return
    programs = all(isinstance(function, Simulator) for function in problem.functions)
    if executor is None and (programs or workers not in (None, 1) or "timeout" in options):
        executor = "threads" if programs else "processes"
    yield executor, workers or 1


def _timeouts(problem: ProblemFile, options: dict[str, Any]) -> list[float | None] | None:
    """The engine's timeouts; a program gets its own, since only there it can be killed."""
    timeouts = loop.timeouts(options.get("timeout"), len(problem.functions))
    for function, seconds in zip(problem.functions, timeouts, strict=True):
        if isinstance(function, Simulator) and seconds < math.inf:
            function.timeout = seconds
    ours = [
        None if isinstance(function, Simulator) or seconds == math.inf else seconds
        for function, seconds in zip(problem.functions, timeouts, strict=True)
    ]
    return ours if any(seconds is not None for seconds in ours) else None


class _Watch:
    """The callback: keeps the reasons, and ends a run in which nothing works before it has spent everything."""

    def __init__(self, limit: int) -> None:
        self.reasons: dict[int, Any] = {}
        self.gave_up = False
        self._limit = limit
        self._row = 0

    def __call__(self, optimizer: Optimizer, trial: Trial, y: float | None) -> bool:
        self.reasons[trial.id] = trial.reason
        self._row = self._row + 1 if y is None else 0
        self.gave_up = self.gave_up or self._row >= self._limit
        return self.gave_up


@contextmanager
def _terminated_as_interrupted() -> Iterator[None]:
    """Within, SIGTERM (a batch system's way to end a job) does as Ctrl-C does."""

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    try:
        before = signal.signal(signal.SIGTERM, interrupt)
    except ValueError:  # not in the main thread
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _announce(optimizer: Optimizer, arguments: argparse.Namespace) -> None:
    ends = "no limit" if optimizer.capital is None else f"{optimizer.capital:g}"
    told = f", {len(optimizer.history)} told and {len(optimizer.pending)} pending before" if arguments.resume else ""
    costs = " + ".join(f"{cost:g}" for cost in optimizer.costs)
    print(f"{optimizer.direction}: costs {costs}, capital {ends}, seed {optimizer.seed}{told}", file=sys.stderr)


def _tell(optimizer: Optimizer, result: OptimizeResult, arguments: argparse.Namespace) -> None:
    failures = result.failures
    if arguments.json:
        found = {
            "x": None if result.x is None else by_name(optimizer, result.x),
            "value": None if result.x is None else result.fun,
            "status": result.status,
            "message": result.message,
            "spent": result.spent,
            "queries": result.nfev_at,
            "pending": len(optimizer.pending),
            "seed": optimizer.seed,
            "failures": [
                {
                    "id": failure.trial_id,
                    "fidelity": failure.fidelity,
                    "x": by_name(optimizer, failure.x),
                    "message": failure.message,
                }
                for failure in failures
            ],
        }
        print(json.dumps(found))
        return
    print(f"ended    {result.message}")
    if result.x is not None:
        print(f"best     {result.fun!r}")
        for name, value in by_name(optimizer, result.x).items():
            print(f"  {name} = {value!r}")
    names = [fidelity.name for fidelity in optimizer.fidelities]
    queries = ", ".join(f"{count} at {name}" for name, count in zip(names, result.nfev_at, strict=True))
    print(f"queries  {queries}; spent {result.spent:g}")
    if failures:
        print(f"failed   {len(failures)}, the last ones:")
        for failure in failures[-_SHOWN:]:
            print(f"  trial {failure.trial_id} at {names[failure.fidelity]}: {failure.message}")
    if len(optimizer.pending) and arguments.storage is not None:
        print(f"pending  {len(optimizer.pending)}; the same command with --resume goes on")
    if arguments.plot is not None:
        print(f"picture  {arguments.plot}")
