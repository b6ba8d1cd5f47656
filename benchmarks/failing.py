"""Failing evaluations: how much of the capital they take, and what is found nevertheless.

    python benchmarks/failing.py [--seeds 0-9] [--problems NAME ...] [--methods NAME ...] [--keep] [--only-print]

Methods: the default strategy, told `failed`; the same, told the worst value so far in place of a failure; random
search; Optuna's TPE and SMAC3 at the target alone, where they are installed (a failure is Optuna's FAIL, SMAC3's
crash). Against each stands the regret of the default strategy on the same problem without failures, with the capital
divided by 1.5. Regrets are compared by their medians over the seeds, in units of the deviation of f over X; below a
thousandth they are equal, since the ratio of two such regrets says nothing about failures. Results are recorded after
every seed; with --keep those recorded before stay, so that methods can be measured one after the other, and in other
environments.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import timing  # first: it limits the threads

import mfopt  # isort: skip
import numpy as np  # isort: skip
from failing_problems import Failing, table  # isort: skip

RECORDED = Path(__file__).with_suffix(".json")
MORE = 1.5  # capital of a problem with failures in units of that without
LOST, WORSE = 0.2, 2.0  # the most that may be lost on a regional problem; the largest ratio of regrets
SMALLEST = 1e-3  # of the spread of f: smaller regrets count as this


class Run(NamedTuple):
    """What became of one run."""

    lost: float  # share of the capital that went to failures
    regret: float  # in units of the spread of f; +∞ without a target value


class Arena:
    """One run's evaluations: what fails, what it costs, what was found."""

    def __init__(self, case: Failing, seed: int) -> None:
        self.case = case
        self._rng = np.random.default_rng([seed, 77])
        self.capital = case.queries * case.problem.costs[-1]
        self.spent = self.wasted = 0.0
        self.best = -math.inf

    def evaluate(self, x: Any, m: int) -> float | None:
        """The value, None for a failure."""
        case, problem = self.case, self.case.problem
        draw, noise = self._rng.random(), case.noise * self._rng.standard_normal()
        self.spent += problem.costs[m]
        if case.failed(problem.domain.encode(np.atleast_2d(x))[0], m, draw):
            self.wasted += problem.costs[m]
            return None
        value = float(np.ravel(problem.functions[m](np.atleast_2d(x)))[0])
        if m == len(problem.costs) - 1:
            self.best = max(self.best, value)
        return value + noise

    def result(self) -> Run:
        return Run(self.wasted / self.capital, max((self.case.problem.optimum - self.best) / self.case.size, 0.0))


def default(arena: Arena, seed: int, strategy: str = "mf-gp-ucb", impute: bool = False) -> None:
    """A strategy of ours; with `impute` a failure is told as the worst value so far."""
    problem = arena.case.problem
    opt = mfopt.Optimizer(problem.domain, problem.costs, strategy=strategy, capital=arena.capital, rng=seed)
    worst = math.inf
    while not opt.done:
        trial = opt.ask()
        y = arena.evaluate(trial.x, trial.fidelity)
        if y is not None:
            worst = min(worst, y)
            opt.tell(trial, y)
        elif impute and worst < math.inf:
            opt.tell(trial, worst)
        else:
            opt.tell(trial, status="failed")


def without_failures(case: Failing, seed: int) -> Run:
    """The default strategy on the same problem, nothing failing, with less capital."""
    problem, known = case.problem, case.known
    domain = problem.domain
    if known is not None:

        def works(x: Any) -> Any:
            return np.array([not known(u, 0, 1) for u in problem.domain.encode(np.atleast_2d(x))])

        domain = mfopt.Box([(0.0, 1.0)] * len(problem.domain.names), constraints=works)
    easy = case.without_failures(domain)
    arena = Arena(easy, seed)
    arena.capital /= MORE
    default(arena, seed)
    return arena.result()


def optuna_tpe(arena: Arena, seed: int) -> None:
    """Optuna's TPE at the target alone."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
    problem, top = arena.case.problem, len(arena.case.problem.costs) - 1
    dim = problem.domain.dim
    while arena.spent + problem.costs[-1] <= arena.capital + 1e-9:
        trial = study.ask()
        u = np.array([trial.suggest_float(f"u{j}", 0.0, 1.0) for j in range(dim)])
        y = arena.evaluate(problem.domain.decode(u[None])[0], top)
        study.tell(trial, y) if y is not None else study.tell(trial, state=optuna.trial.TrialState.FAIL)


def smac3(arena: Arena, seed: int) -> None:
    """SMAC3's black-box facade at the target alone."""
    import logging
    import tempfile

    from ConfigSpace import ConfigurationSpace, Float
    from smac import BlackBoxFacade, Scenario
    from smac.runhistory import StatusType, TrialValue

    logging.disable(logging.WARNING)
    problem, top = arena.case.problem, len(arena.case.problem.costs) - 1
    space = ConfigurationSpace(seed=seed)
    space.add([Float(f"u{j}", (0.0, 1.0)) for j in range(problem.domain.dim)])
    trials = int(arena.capital / problem.costs[-1] + 1e-9)
    with tempfile.TemporaryDirectory() as directory:
        scenario = Scenario(space, n_trials=trials, seed=seed, output_directory=directory, deterministic=True)
        facade = BlackBoxFacade(scenario, lambda config, seed=0: 0.0, overwrite=True, logging_level=False)
        for _ in range(trials):
            info = facade.ask()
            u = np.array([info.config[f"u{j}"] for j in range(problem.domain.dim)])
            y = arena.evaluate(problem.domain.decode(u[None])[0], top)
            value = TrialValue(cost=-y) if y is not None else TrialValue(cost=1e9, status=StatusType.CRASHED)
            facade.tell(info, value)


Method = Callable[[Arena, int], None]
METHODS: dict[str, Method] = {
    "mf-gp-ucb": default,
    "worst value": lambda arena, seed: default(arena, seed, impute=True),
    "random": lambda arena, seed: default(arena, seed, "random"),
    "Optuna TPE": optuna_tpe,
    "SMAC3": smac3,
}
REFERENCE = "no failures"
NEEDS = {"Optuna TPE": "optuna", "SMAC3": "smac"}
Runs = dict[str, dict[str, dict[str, list[float]]]]  # by problem, method and seed


def measure(case: Failing, method: str, seed: int) -> list[float]:
    """One run, as share lost and regret; JSON knows no infinite regret, so it is -1 there."""
    if method == REFERENCE:
        run = without_failures(case, seed)
    else:
        arena = Arena(case, seed)
        METHODS[method](arena, seed)
        run = arena.result()
    return [run.lost, run.regret if math.isfinite(run.regret) else -1.0]


def verdict(found: dict[str, list[float]]) -> dict[str, float]:
    """The figures of a problem and a method, over the seeds."""
    runs = [Run(lost, regret if regret >= 0.0 else math.inf) for lost, regret in found.values()]
    return {
        "seeds": len(runs),
        "lost": float(np.mean([run.lost for run in runs])),
        "without a value": sum(math.isinf(run.regret) for run in runs),
        "regret": max(float(np.median([run.regret for run in runs])), SMALLEST),
    }


def cell(figures: dict[str, float]) -> str:
    """Share lost, regret, and how many runs have no target value."""
    none = int(figures["without a value"])
    text = f"{100 * figures['lost']:.0f} %, {figures['regret']:.2g}" if none < figures["seeds"] else "no value"
    return text + (f" ({none} without)" if 0 < none < figures["seeds"] else "")


def show(results: Runs, cases: list[Failing]) -> str:
    """The table as Markdown."""
    methods = [name for name in METHODS if any(name in found for found in results.values())]
    seeds = {name: max(len(found.get(name, ())) for found in results.values()) for name in methods}
    lines = [
        f"mfopt {mfopt.__version__}, `python benchmarks/failing.py`: mean share of the capital lost, and median regret "
        f"in units of the deviation of f over X (at least {SMALLEST:g}); seeds: "
        + ", ".join(f"{name} {count}" for name, count in seeds.items())
        + f". The last column is the regret of mf-gp-ucb on the problem without failures at 1/{MORE} of the capital. "
        "The band was made wider after first results had been seen.",
        "",
        "| problem | | " + " | ".join(methods) + f" | {REFERENCE} |",
        "|---|---|" + "---|" * (len(methods) + 1),
    ]
    for case in cases:
        found = results[case.name]
        row = [cell(verdict(found[name])) if name in found else "" for name in methods]
        reference = f"{verdict(found[REFERENCE])['regret']:.2g}" if REFERENCE in found else ""
        lines.append(f"| {case.name} | {case.what} | " + " | ".join(row) + f" | {reference} |")
    return "\n".join(lines)


def judge(results: Runs, cases: list[Failing]) -> list[str]:
    """What the default strategy does not reach."""
    complaints = []
    for case in cases:
        found = results[case.name]
        if not {"mf-gp-ucb", REFERENCE} <= set(found) or case.name == "everything":
            continue
        ours, reference = verdict(found["mf-gp-ucb"]), verdict(found[REFERENCE])["regret"]
        if case.regional and ours["lost"] > LOST:
            complaints.append(f"- {case.name}: {100 * ours['lost']:.0f} % of the capital lost")
        if ours["without a value"]:
            complaints.append(f"- {case.name}: {ours['without a value']:.0f} runs without a target value")
        if ours["regret"] > WORSE * reference:
            complaints.append(f"- {case.name}: regret {ours['regret']:.2g}, without failures {reference:.2g}")
    return ["Not reached:", "", *complaints] if complaints else ["Every goal is reached."]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", default="0-9", help="first and last seed")
    parser.add_argument("--problems", nargs="*", help="names; by default all")
    parser.add_argument("--methods", nargs="*", choices=list(METHODS), help="by default all that are installed")
    parser.add_argument(
        "--keep", action="store_true", help="keep what was recorded before, and do not measure it again"
    )
    parser.add_argument("--only-print", action="store_true", help="do not record")
    arguments = parser.parse_args()
    first, last = (int(part) for part in arguments.seeds.split("-"))
    methods = arguments.methods or [name for name in METHODS if name not in NEEDS or find_spec(NEEDS[name])]
    if "mf-gp-ucb" in methods:
        methods = [REFERENCE, *methods]
    results: Runs = json.loads(RECORDED.read_text())["results"] if arguments.keep else {}
    for seed in range(first, last + 1):
        for case in table():
            if arguments.problems and case.name not in arguments.problems:
                continue
            found = results.setdefault(case.name, {})
            for name in methods:
                if str(seed) not in found.setdefault(name, {}):
                    found[name][str(seed)] = measure(case, name, seed)
        print("seed", seed, flush=True)
        cases = [case for case in table() if case.name in results]
        text = "\n".join([show(results, cases), "", *judge(results, cases)])
        if not arguments.only_print:
            timing.record("failing", text, {"machine": timing.machine(), "results": results})
    if arguments.only_print:
        print(text)


if __name__ == "__main__":
    main()
