"""The paper's real experiments: the best value against time, ours and Optuna beside each other.

    MFOPT_DATA=DIRECTORY python benchmarks/real_problems.py run [--problems svm ...] [--seeds 0-9] [--minutes 8]
    MFOPT_DATA=DIRECTORY python benchmarks/real_problems.py report --write

The clock is simulated: a query takes the CPU seconds that its evaluation takes on a quiet machine, and the CPU time
that the method needed to choose it, measured in the run (cloud costs dollars, vj images; there only these count). So
runs are independent of other programs, and a point that is in the record costs nothing to evaluate again.

svm         as mfopt.problems has it; its seconds are counted, from the solver's steps and the support vectors, with
            what each of them took on a quiet machine (STEP, VECTOR: right to 10 % for half of the points). Values and
            seconds are recorded by point (--record)
salsa       with a quarter of the points (500, 1,000, 2,000), since one query with 8,000 takes 20 s; recorded likewise.
            Every query at a fidelity does the same arithmetic, so that its seconds are measured once (SALSA)
supernova   likewise (SECONDS); values on the grid of 10⁶ points are extrapolated from 10⁴, which is right to 1e-11
vj          as mfopt.problems has it. Every method starts from OpenCV's own thresholds, the centre of the box: whoever
            tunes them knows them, and direct would start there alone
cloud       as mfopt.problems has it, but that all methods are told −log(1 − accuracy): accuracies go from 0.1 to 0.99,
            and between 0.98 and 0.99 lies half of the errors. The table shows accuracies

Each run is a line of JSON in --out; what is there is not run again.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from arena import results  # first: it limits the threads

import numpy as np  # isort: skip
from arena.peers import suggest  # isort: skip
from resumable import complete, plan, tell_range  # isort: skip

from mfopt import problems  # isort: skip
from mfopt.bench.cells import code_digest  # isort: skip
from mfopt.bench.methods import Method  # isort: skip
from mfopt.domains.params import argument_of  # isort: skip
from mfopt.problems.additive_ridge import make_salsa  # isort: skip
from mfopt.problems.benchmark import Benchmark  # isort: skip
from mfopt.problems.cosmology import GRIDS, Likelihood  # isort: skip
from mfopt.problems.data import POWER_PLANT, SUPERNOVAE  # isort: skip
from mfopt.problems.recorded import Recorded  # isort: skip
from mfopt.problems.support_vectors import SIZES, Accuracy  # isort: skip

METHODS = {
    "mf-gp-ucb": "mf-gp-ucb",
    "mf-gp-ucb, mode paper": "mf-gp-ucb:mode=paper",
    **{name: name for name in ("gp-ucb", "gp-ei", "direct", "mf-naive", "mf-sko")},
    "Optuna (TPE)": "",
}
CAPITAL = {"svm": 15.0, "salsa": 15.0, "supernova": 15.0, "vj": 50.0, "cloud": 20.0}  # in target queries
UNITS = {"svm": "s", "salsa": "s", "supernova": "s", "vj": "images", "cloud": "dollars"}
VALUES = {
    "svm": "accuracy", "salsa": "−log of the squared error", "supernova": "log-likelihood", "vj": "accuracy",
    "cloud": "accuracy",
}  # fmt: skip
# Λ₀ of mf-gp-ucb in paper mode, in target queries. The paper's 10 would be most of the capital; at supernova's first
# fidelity even one pays for hundreds of points.
DESIGN = {"svm": 3.0, "salsa": 3.0, "supernova": 1.0, "vj": 10.0, "cloud": 4.0}
STARTED = ("vj",)  # every method starts from the centre of the box
ERRORS = ("cloud",)  # methods are told −log(1 − value)
MARKS = (0.15, 0.3, 0.6, 1.0)  # parts of the capital
SECONDS = (1.4e-3, 5.3e-3, 0.92)  # CPU time of a query of supernova, by grid
SALSA = {500: 0.009, 1000: 0.047, 2000: 0.29}  # CPU time of a query, by points
SVM = (0.05, 0.4)  # the mean CPU time of a query of svm,
STEP, VECTOR = (4.1e-7, 1.02e-6), (1.56e-5, 3.5e-5)  # and by step and by support vector, by fidelity
HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"
OUT, RECORD = RESULTS / "real.jsonl", RESULTS / "real-evaluations.jsonl"


class OutOfTime(Exception):
    """The capital is spent."""


# ----------------------------------------------------------------------------------------------------- problems


def find_problem(name: str, record: Path) -> Benchmark:
    if name == "supernova":
        return make_supernova()
    if name == "salsa":
        table = np.loadtxt(POWER_PLANT.find(), delimiter=",", skiprows=1)
        chosen = np.random.default_rng(0).permutation(len(table))[: max(SALSA)]
        made = make_salsa(table[chosen], list(SALSA), str(record))
        return _with_costs(made, list(SALSA.values()))
    return make_svm(record) if name == "svm" else problems.get(name)


def make_svm(record: Path) -> Benchmark:
    """The problem with counted seconds."""
    known: Any = problems.get("svm")
    functions = [
        Recorded(Counted(known.functions[m].function, STEP[m], VECTOR[m]), f"svm counted {size}", m, str(record))
        for m, size in enumerate(SIZES)
    ]
    return replace(known, functions=functions, costs=list(SVM))


class Counted:
    """An accuracy with the seconds that the steps of its solver and its support vectors stand for."""

    def __init__(self, accuracy: Accuracy, step: float, vector: float) -> None:
        self._accuracy, self._step, self._vector = accuracy, step, vector

    def __call__(self, x: Any) -> dict[str, float]:
        found = self._accuracy.validate(x)
        steps = sum(int(np.sum(model.n_iter_)) for model in found["estimator"])
        vectors = sum(len(model.support_) for model in found["estimator"])
        return {"value": float(found["test_score"].mean()), "cost": self._step * steps + self._vector * vectors}


def _with_costs(problem: Benchmark, costs: list[float]) -> Benchmark:
    """The problem with these costs in the place of what is measured."""

    def timed(m: int) -> Callable[[Any], dict[str, float]]:
        return lambda x: {"value": problem.functions[m](x)["value"], "cost": costs[m]}

    return replace(problem, functions=[timed(m) for m in range(len(costs))], costs=costs)


def make_supernova() -> Benchmark:
    """The problem with the seconds of SECONDS and values on the finest grid by extrapolation."""
    table = np.loadtxt(SUPERNOVAE.find(), delimiter=",", skiprows=1)
    likelihoods = [Likelihood(table, GRIDS[0]), Likelihood(table, GRIDS[1]), Extrapolated(table)]
    functions = [Recorded(one, "supernova", m, None) for m, one in enumerate(likelihoods)]
    return _with_costs(replace(problems.get("supernova"), functions=functions), list(SECONDS))


class Extrapolated(Likelihood):
    """The likelihood with trapezoidal rules on 10⁶ points, whose error is that of 10⁴ points divided by 10⁴.

    The error of the rule with step h is c h² + O(h⁴); c follows from the steps h and 3h.
    """

    def __init__(self, table: Any) -> None:
        super().__init__(table, GRIDS[1])
        self._coarse = Likelihood(table, (GRIDS[1] - 1) // 3 + 1)

    def _integrate(self, z: float, matter: float, curvature: float, energy: float) -> float:
        fine, coarse = (one(z, matter, curvature, energy) for one in (super()._integrate, self._coarse._integrate))
        error = (coarse - fine) / 8.0
        return fine - error * (1.0 - ((GRIDS[1] - 1) / (GRIDS[2] - 1)) ** 2)


class Clock:
    """Evaluates a problem until the capital is spent, and keeps the best target value against what was spent."""

    def __init__(self, problem: Benchmark, capital: float, timed: bool) -> None:
        self.problem, self.capital, self._timed = problem, capital, timed
        self.spent = self.thinking = 0.0
        self.queries = [0] * len(problem.costs)
        self.curve: list[tuple[float, float]] = []
        self._free_since = time.process_time()

    def query(self, argument: Any, m: int) -> tuple[float, float]:
        """What a method is told, value and cost; OutOfTime where everything is spent."""
        if self.spent >= self.capital:
            raise OutOfTime
        thought = time.process_time() - self._free_since
        found = self.problem.functions[m](argument)
        if not isinstance(found, dict):
            found = {"value": float(np.ravel(found)[0]), "cost": self.problem.costs[m]}
        value, cost = found["value"], found["cost"] + (thought if self._timed else 0.0)
        self.spent, self.thinking = self.spent + cost, self.thinking + thought
        self.queries[m] += 1
        if m == len(self.queries) - 1 and (not self.curve or value > self.curve[-1][1]):
            self.curve.append((self.spent, value))
        told = -math.log(1.0 - value) if self.problem.name in ERRORS else value
        self._free_since = time.process_time()
        return told, cost


# ------------------------------------------------------------------------------------------------------ methods


def run_ours(clock: Clock, text: str, seed: int) -> None:
    if text.endswith("mode=paper"):
        text += f",initial_capital={DESIGN[clock.problem.name] * clock.problem.costs[-1]}"
    optimizer = Method(text, text).optimizer(clock.problem, clock.capital, seed)
    domain, told = clock.problem.domain, clock.problem.cost is not None
    if clock.problem.name in STARTED and text != "direct":  # which starts there itself
        x, top = find_centre(domain), len(clock.queries) - 1
        value, cost = clock.query(argument_of(domain, x), top)
        optimizer.add(x, top, value, cost=cost)
    while not optimizer.done:
        trial = optimizer.ask()
        value, cost = clock.query(argument_of(domain, trial.x), trial.fidelity)
        optimizer.tell(trial, value, cost=cost if told else None)


def run_optuna(clock: Clock, seed: int) -> None:
    """Optuna's default sampler at the target; in a list of candidates, by their numbers."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
    domain: Any = clock.problem.domain
    dimensions = dict(zip(domain.names, domain.dimensions, strict=True))
    if clock.problem.name in STARTED:
        study.enqueue_trial(dict(zip(domain.names, find_centre(domain).tolist(), strict=True)))
    while True:
        trial = study.ask()
        params = suggest(trial, dimensions)
        if domain.points is None:
            x = np.array([params[name] for name in domain.names])
        else:  # the candidate nearest to what is asked for
            wanted = np.array([[one.validate(params[name], name) for name, one in dimensions.items()]])
            distance = ((domain.points - domain.encode(wanted)) ** 2).sum(axis=1)
            x = domain.decode(domain.points[[int(distance.argmin())]])[0]
        value, _ = clock.query(argument_of(domain, x), len(clock.queries) - 1)
        study.tell(trial, value)


def find_centre(domain: Any) -> np.ndarray:
    return np.asarray(domain.decode(np.full((1, domain.dim), 0.5))[0])


def carry_out(name: str, label: str, seed: int, capital: float, record: Path) -> dict[str, Any]:
    problem = find_problem(name, record)
    clock = Clock(problem, capital * problem.costs[-1], UNITS[name] == "s")
    with contextlib.suppress(OutOfTime):
        run_ours(clock, METHODS[label], seed) if METHODS[label] else run_optuna(clock, seed)
    return {
        "problem": name, "method": label, "seed": seed, "capital": capital, "code": _code(label),
        "total": clock.capital, "spent": clock.spent, "thinking": round(clock.thinking, 3), "queries": clock.queries,
        "curve": clock.curve,
    }  # fmt: skip


def _code(label: str) -> str:
    return f"mfopt {code_digest()}" if METHODS[label] else f"optuna {version('optuna')}"


def run(arguments: argparse.Namespace) -> None:
    """Every run that is not recorded yet, seed by seed, until the minutes are over."""
    complete(
        plan(arguments.problems, arguments.methods, arguments.seeds),
        {(one["problem"], one["method"], one["seed"]) for one in results.load(arguments.out)},
        carry_out=lambda cell: carry_out(*cell, CAPITAL[cell[0]], arguments.record),
        warm_up=lambda _, label: carry_out("cloud", label, 0, 1.0, arguments.record),
        describe=_describe,
        out=arguments.out,
        minutes=arguments.minutes,
    )


def _describe(found: dict[str, Any]) -> str:
    best = found["curve"][-1][1] if found["curve"] else math.nan
    return f"{best:.5g} with {found['queries']}, {found['thinking']:.1f} s of its own"


# ------------------------------------------------------------------------------------------------------- report


def report(arguments: argparse.Namespace) -> None:
    """Print the tables; with --write, put them and the picture where they belong."""
    runs = [one for one in results.load(arguments.out) if one["problem"] in arguments.problems]
    tables = [make_table(name, [one for one in runs if one["problem"] == name]) for name in arguments.problems]
    text = "\n\n".join(tables)
    print(text)
    if arguments.write:
        sys.path.insert(0, str(HERE.parent))
        from tools.pages import write_section

        write_section(HERE / "README.md", "real problems", text)
        draw(runs, arguments.problems, [RESULTS / "real.png", RESULTS / "real.svg"])


def best_at(curve: Sequence[Sequence[float]], spent: float) -> float:
    """The best target value within so much; NaN where there is none."""
    return max((value for when, value in curve if when <= spent * (1 + 1e-9)), default=math.nan)


def make_table(name: str, runs: Sequence[dict[str, Any]]) -> str:
    """Mean ± standard error at the marks; bold is the best of a column and what is within a standard error of it."""
    if not runs:
        return f"{name}: no runs"
    total, unit = runs[0]["total"], UNITS[name]
    columns = [
        {label: [best_at(one["curve"], part * total) for one in runs if one["method"] == label] for label in METHODS}
        for part in MARKS
    ]
    best = [_find_best(column) for column in columns]
    lines = [f"| {name} | runs | queries | " + " | ".join(f"{part * total:.3g} {unit}" for part in MARKS) + " |"]
    lines.append("|---|---|---|" + "---|" * len(MARKS))
    for label in METHODS:
        own = [one for one in runs if one["method"] == label]
        if not own:
            continue
        cells = [_show(column, label, top) for column, top in zip(columns, best, strict=True)]
        queries = " + ".join(f"{count:.0f}" for count in np.mean([one["queries"] for one in own], axis=0))
        lines.append(f"| {label} | {len(own)} | {queries} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _find_best(column: dict[str, list[float]]) -> tuple[float, str] | None:
    """The best mean and whose it is, among methods all of whose runs have a value."""
    means = [(float(np.mean(values)), label) for label, values in column.items() if values]
    return max((one for one in means if not math.isnan(one[0])), default=None)


def _show(column: dict[str, list[float]], label: str, best: tuple[float, str] | None) -> str:
    values = column[label]
    known = [value for value in values if not math.isnan(value)]
    if len(known) < len(values):
        return f"– ({len(known)} of {len(values)})" if known else "–"
    error = _error(values)
    text = f"{np.mean(values):.6g} ± {error:.1g}"
    if best is None:
        return text
    return f"**{text}**" if np.mean(values) >= best[0] - max(error, _error(column[best[1]])) else text


def _error(values: Sequence[float]) -> float:
    if len(set(values)) == 1:  # their mean may be off by a last bit
        return 0.0
    return float(np.std(values, ddof=1) / len(values) ** 0.5)


def draw(runs: Sequence[dict[str, Any]], names: Sequence[str], paths: Sequence[Path]) -> None:
    """Means with one standard error against time, as in the paper, from when all runs of a method have a value."""
    from matplotlib.figure import Figure

    from mfopt.bench.plots import STYLES
    from mfopt.bench.plots.files import save

    styles = {**STYLES, "mf-gp-ucb, mode paper": ("#882255", "-."), "Optuna (TPE)": ("#999933", "--")}
    lines = math.ceil((len(names) + 1) / 3)  # one panel for the legend
    figure = Figure(figsize=(13, 3.5 * lines), layout="constrained")
    panels = figure.subplots(lines, 3, squeeze=False).ravel()
    handles: dict[str, Any] = {}
    for axes, name in zip(panels, names, strict=False):
        shown = []
        for label in METHODS:
            own = [one for one in runs if (one["problem"], one["method"]) == (name, label)]
            if own:
                grid = np.linspace(0, own[0]["total"], 301)[1:]
                values = np.array([[best_at(one["curve"], spent) for spent in grid] for one in own])
                mean, error = values.mean(axis=0), values.std(axis=0, ddof=1 if len(own) > 1 else 0) / len(own) ** 0.5
                colour, line = styles[label]
                width = 2.2 if label == "mf-gp-ucb" else 1.3
                (handles[label],) = axes.plot(grid, mean, line, color=colour, linewidth=width)
                axes.fill_between(grid, mean - error, mean + error, color=colour, alpha=0.12, linewidth=0)
                shown.append(mean[len(grid) // 4 :])
        seen = np.concatenate(shown)
        low, high = np.nanquantile(seen, 0.08), np.nanmax(seen)
        axes.set_ylim(low - 0.05 * (high - low), high + 0.05 * (high - low))
        counts = [sum((one["problem"], one["method"]) == (name, label) for one in runs) for label in METHODS]
        axes.set_title(f"{name}, {tell_range([count for count in counts if count])} runs", fontsize=10)
        axes.set_xlabel(UNITS[name])
        axes.locator_params(axis="x", nbins=6)
        axes.set_ylabel(VALUES[name])
        axes.grid(alpha=0.25)
    for axes in panels[len(names) :]:
        axes.set_axis_off()
    panels[-1].legend(handles.values(), handles.keys(), loc="center")
    figure.supylabel("best value at the target")
    save(figure, paths)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["run", "report"])
    parser.add_argument("--problems", nargs="+", default=list(CAPITAL), choices=list(CAPITAL))
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--seeds", default="0-9")
    parser.add_argument("--minutes", type=float, default=math.inf, help="start no run later")
    parser.add_argument("--out", type=Path, default=OUT, help="the file of runs")
    parser.add_argument("--record", type=Path, default=RECORD, help="the file of evaluations")
    parser.add_argument("--write", action="store_true", help="table into benchmarks/README.md, picture into results/")
    arguments = parser.parse_args()
    run(arguments) if arguments.command == "run" else report(arguments)


if __name__ == "__main__":
    main()
