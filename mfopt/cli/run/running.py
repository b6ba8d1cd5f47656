"""Running: ask, evaluate and tell, with the executor and the programs that a problem needs."""

from __future__ import annotations

import argparse
import math
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mfopt import loop
from mfopt.checks import seconds
from mfopt.cli._shared import check_picture
from mfopt.cli.command import ExitCode
from mfopt.cli.problem_file import ProblemFile, load
from mfopt.cli.run.arguments import read_capital, read_options
from mfopt.cli.run.opening import open_optimizer
from mfopt.cli.run.summary import announce, print_json, print_result
from mfopt.errors import InputError, MfoptError
from mfopt.optimizer import Optimizer
from mfopt.parallel.evaluation import Function
from mfopt.parallel.rules import Rules, as_rules
from mfopt.parallel.simulator import Simulator
from mfopt.run.trial import Trial
from mfopt.study import Study

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult


def run(arguments: argparse.Namespace) -> ExitCode:
    """Optimise the problem of a file, tell the result, draw the run."""
    if arguments.storage is None and (arguments.resume or arguments.study or arguments.lease):
        raise InputError("--resume, --study and --lease must come with --storage, got none")
    if arguments.plot is not None:
        check_picture(arguments.plot)
    problem = load(arguments.problem, arguments.cost)
    options = {**problem.options, **read_options(arguments)}
    options["capital"] = read_capital(options.get("capital"), options.get("cost"))
    rules = as_rules(
        len(problem.fidelities),
        options.get("limits"),
        options.get("timeout"),
        options.get("retries", 0),
        None if arguments.time_limit is None else seconds(arguments.time_limit, "--time-limit"),
        "record",
        options.get("cost"),
        arguments.target,
        arguments.stop,
        arguments.tolerance,
    )
    optimizer = open_optimizer(problem, options, arguments)
    watch = _Watch(arguments.give_up)
    if not arguments.quiet:
        announce(optimizer, arguments.resume)
    result = _run_loop(optimizer, problem, rules, options.get("workers"), watch, arguments)
    if watch.gave_up:
        result["message"] = f"given up: {arguments.give_up} evaluations in a row have failed"
    if arguments.json:
        print_json(optimizer, result)
    else:
        print_result(optimizer, result, arguments.plot)
    if arguments.plot is not None and len(optimizer.history):
        from mfopt.plots.study import plot_study

        plot_study(optimizer, arguments.plot, optimizer.reasons() if isinstance(optimizer, Study) else watch.reasons)
    optimizer.close()
    if result.status == loop.Status.INTERRUPTED:
        return ExitCode.INTERRUPTED
    return ExitCode.DONE if result.x is not None and not watch.gave_up else ExitCode.FAILED


def _run_loop(
    optimizer: Optimizer,
    problem: ProblemFile,
    rules: Rules,
    workers: int | None,
    watch: _Watch,
    arguments: argparse.Namespace,
) -> OptimizeResult:
    """The loop's result. At its end no program runs any more, and trials that are leased to this run are given back."""
    leased = arguments.lease is not None
    choice = _choose_executor(problem, rules, workers, arguments.executor)
    if isinstance(optimizer, Study) and arguments.resume and leased:
        optimizer.offer_unleased()
    try:
        with _interrupt_on_sigterm(), choice as (executor, count):
            return loop.drive(
                optimizer,
                problem.functions,
                _hand_over_timeouts(problem.functions, rules),
                executor,
                count,
                resume=arguments.resume and not leased,
                progress=not arguments.quiet,
                callback=watch,
            )
    finally:
        for function in problem.functions:
            if isinstance(function, Simulator):
                function.stop()
        if isinstance(optimizer, Study) and leased:
            with suppress(MfoptError):  # of a storage that is gone the leases run out all the same
                optimizer.offer_own()


@contextmanager
def _choose_executor(
    problem: ProblemFile, rules: Rules, workers: int | None, given: str | None
) -> Iterator[tuple[object, int | None]]:
    """The executor and the workers of the loop; within, a connection to a Dask scheduler is open."""
    if given is not None and "://" in given:
        try:
            import distributed
        except ImportError:
            raise MfoptError("a Dask scheduler needs distributed: pip install 'mfopt[dask]'") from None
        connect: Any = distributed.Client
        with connect(given) as client:
            if problem.path is not None:
                client.upload_file(str(problem.path))  # so that the workers can import the functions
            yield client, workers
        return
    programs = all(isinstance(function, Simulator) for function in problem.functions)
    if given is None and (programs or workers not in (None, 1) or min(rules.timeouts) < math.inf):
        given = "threads" if programs else "processes"
    yield given, 1 if workers is None else workers


def _hand_over_timeouts(functions: Sequence[Function], rules: Rules) -> Rules:
    """Give programs their timeouts, since only a Simulator can kill its program; the rules that are left."""
    left = list(rules.timeouts)
    for m, function in enumerate(functions):
        if isinstance(function, Simulator) and left[m] < math.inf:
            function.timeout, left[m] = left[m], math.inf
    return replace(rules, timeouts=left)


class _Watch:
    """The callback: keeps the reasons, and ends a run in which nothing works before it has spent everything."""

    def __init__(self, limit: int) -> None:
        self.reasons: dict[int, Any] = {}
        self.gave_up = False
        self._limit = limit
        self._failures = 0  # in a row

    def __call__(self, optimizer: Optimizer, trial: Trial, y: float | None) -> bool:
        self.reasons[trial.id] = trial.reason
        self._failures = self._failures + 1 if y is None else 0
        self.gave_up = self.gave_up or self._failures >= self._limit
        return self.gave_up


@contextmanager
def _interrupt_on_sigterm() -> Iterator[None]:
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
