"""Failing evaluations: how much of the capital they take, and what is found nevertheless.

    python benchmarks/failing.py [--seeds 0-9] [--problems NAME ...] [--methods NAME ...] [--only-print]

Methods: the default strategy, told `failed`; the same, told the worst value so far in place of a failure; random
search; Optuna's TPE and SMAC3 at the target alone, where they are installed (a failure is Optuna's FAIL, SMAC3's
crash). Against each stands the regret of the default strategy on the same problem without failures, with the capital
divided by 1.5.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, NamedTuple

import timing  # first: it limits the threads

import mfopt  # isort: skip
import numpy as np  # isort: skip
from failing_problems import Failing, table  # isort: skip

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
NEEDS = {"Optuna TPE": "optuna", "SMAC3": "smac"}


def measure(case: Failing, method: str, seeds: list[int]) -> list[Run]:
    """One run per seed."""
    runs = []
    for seed in seeds:
        arena = Arena(case, seed)
        METHODS[method](arena, seed)
        runs.append(arena.result())
    return runs


def verdict(case: Failing, runs: list[Run], easy: list[Run]) -> dict[str, Any]:
    """The figures of a problem and a method, over the seeds."""
    median = max(float(np.median([run.regret for run in runs])), SMALLEST)
    reference = max(float(np.median([run.regret for run in easy])), SMALLEST)
    return {
        "lost": float(np.mean([run.lost for run in runs])),
        "most lost": max(run.lost for run in runs),
        "without a value": sum(math.isinf(run.regret) for run in runs),
        "regret": median,
        "reference": reference,
        "runs": [list(run) for run in runs],
    }


def cell(figures: dict[str, Any], seeds: int) -> str:
    """Share lost, regret, and how many runs have no target value."""
    none = figures["without a value"]
    text = f"{100 * figures['lost']:.0f} %, {figures['regret']:.2g}" if none < seeds else "no value"
    return text + (f" ({none} without)" if 0 < none < seeds else "")


def show(results: dict[str, dict[str, dict[str, Any]]], cases: list[Failing], seeds: list[int]) -> str:
    """The table as Markdown."""
    methods = [name for name in METHODS if any(name in found for found in results.values())]
    lines = [
        f"mfopt {mfopt.__version__}, `python benchmarks/failing.py`: mean share of the capital lost, and median regret "
        f"in units of the deviation of f over X (at least {SMALLEST:g}), of {len(seeds)} seeds. The last column is the "
        f"regret of mf-gp-ucb on the problem without failures at 1/{MORE} of the capital.",
        "",
        "| problem | | " + " | ".join(methods) + " | no failures |",
        "|---|---|" + "---|" * (len(methods) + 1),
    ]
    for case in cases:
        found = results[case.name]
        row = [cell(found[name], len(seeds)) if name in found else "" for name in methods]
        reference = next(iter(found.values()))["reference"]
        lines.append(f"| {case.name} | {case.what} | " + " | ".join(row) + f" | {reference:.2g} |")
    return "\n".join(lines)


def judge(results: dict[str, dict[str, dict[str, Any]]], cases: list[Failing]) -> list[str]:
    """What the default strategy does not reach."""
    complaints = []
    for case in cases:
        ours = results[case.name].get("mf-gp-ucb")
        if ours is None or case.name == "everything":
            continue
        if case.regional and ours["lost"] > LOST:
            complaints.append(f"{case.name}: {100 * ours['lost']:.0f} % of the capital lost")
        if ours["without a value"]:
            complaints.append(f"{case.name}: {ours['without a value']} runs without a target value")
        if ours["regret"] > WORSE * ours["reference"]:
            complaints.append(f"{case.name}: regret {ours['regret']:.2g}, without failures {ours['reference']:.2g}")
    return complaints


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", default="0-9", help="first and last seed")
    parser.add_argument("--problems", nargs="*", help="names; by default all")
    parser.add_argument("--methods", nargs="*", choices=list(METHODS), help="by default all that are installed")
    parser.add_argument("--only-print", action="store_true", help="do not record")
    arguments = parser.parse_args()
    first, last = (int(part) for part in arguments.seeds.split("-"))
    seeds = list(range(first, last + 1))
    methods = arguments.methods or [name for name in METHODS if name not in NEEDS or find_spec(NEEDS[name])]
    cases = [case for case in table() if not arguments.problems or case.name in arguments.problems]
    results: dict[str, dict[str, dict[str, Any]]] = {}
    for case in cases:
        easy = [without_failures(case, seed) for seed in seeds]
        results[case.name] = {name: verdict(case, measure(case, name, seeds), easy) for name in methods}
        print(case.name, {name: cell(found, len(seeds)) for name, found in results[case.name].items()}, flush=True)
    text = "\n".join([show(results, cases, seeds), "", *(judge(results, cases) or ["Every goal is reached."])])
    if arguments.only_print:
        print(text)
    else:
        timing.record("failing", text, {"machine": timing.machine(), "seeds": seeds, "results": results})


if __name__ == "__main__":
    main()
