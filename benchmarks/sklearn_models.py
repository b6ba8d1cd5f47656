"""MultiFidelitySearchCV beside other searches on eight scikit-learn models, at equal CPU time, judged on test data.

    MFOPT_DATA=DIRECTORY python benchmarks/sklearn_models.py run [--seeds 0-9] [--minutes 8]
    python benchmarks/sklearn_models.py report          the table and the picture, into docs/

The clock of every method is the CPU time of the process (one thread), the optimiser's own included, so that other
programs do not matter. No evaluation starts after the limit; refitting the best candidate is not counted. For one seed
all methods have the same training, test and validation rows. The score is the accuracy, for regressions R².

mfopt       MultiFidelitySearchCV with a time limit and the levels of the case, otherwise as it comes: it begins
            with the estimator's own parameters
no start    the same with start=False, since the others are not told the estimator's own parameters
random      the candidates of RandomizedSearchCV, as many as there is time for
halving     HalvingRandomSearchCV over the same levels from 27 candidates on, again with new ones until the time is
            over; a rung that has begun is completed
optuna      Optuna's default sampler, TPE
skopt       scikit-optimize's Optimizer with its Gaussian process

Each run is a line of JSON in --out; what is there is not run again.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import math
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from arena import results  # first: it limits the threads

import numpy as np  # isort: skip
from arena.peers import from_skopt, skopt_dimension, suggest  # isort: skip
from resumable import complete, parse_seeds, plan, tell_range  # isort: skip
from sklearn.base import clone  # isort: skip
from sklearn.model_selection import ParameterSampler, cross_val_score  # isort: skip
from sklearn_cases import CASES, Case, split  # isort: skip

import mfopt  # isort: skip
from mfopt.bench.cells import code_digest  # isort: skip
from mfopt.sklearn import MultiFidelitySearchCV  # isort: skip

HERE = Path(__file__).resolve().parent
DOCS = HERE.parent / "docs"
LIMIT = 2.0  # seconds of CPU time
FOLDS = 3
CANDIDATES = 27  # of a bracket of successive halving
OUT = HERE / "results" / "sklearn-models.jsonl"
Params = dict[str, Any]
Found = tuple[Params, float, list[int]]  # the best candidate, its cross-validated score, evaluations at each level


class TimeIsUp(Exception):
    """No evaluation may start any more."""


class Task:
    """One run of a method: the case, its rows, and the clock."""

    def __init__(self, case: Case, seed: int, limit: float) -> None:
        self.case, self.seed, self.limit = case, seed, limit
        self.x, self.y, self.x_test, self.y_test = split(case, seed)
        self._end = time.process_time() + limit
        self._best: tuple[float, Params] = (-math.inf, {})
        self._values: list[float] = []

    def check(self) -> None:
        if time.process_time() >= self._end:
            raise TimeIsUp

    def score(self, params: Params) -> float:
        """The cross-validated score with the full resource; a failure counts as the worst that was seen."""
        self.check()
        model = clone(self.case.make()).set_params(**params)
        value = float(np.mean(cross_val_score(model, self.x, self.y, cv=FOLDS, error_score=math.nan)))
        if math.isnan(value):
            value = min(self._values, default=0.0)
        elif value > self._best[0]:
            self._best = value, params
        self._values.append(value)
        return value

    def found(self) -> Found:
        return self._best[1], self._best[0], [0] * (len(self.case.levels) - 1) + [len(self._values)]

    def judge(self, params: Params) -> float:
        """The score on test data of the model that is fitted to all training rows."""
        return float(clone(self.case.make()).set_params(**params).fit(self.x, self.y).score(self.x_test, self.y_test))


# ------------------------------------------------------------------------------------------------------ methods


class _ByCPUTime(MultiFidelitySearchCV):
    _clock = staticmethod(time.process_time)


def ours(task: Task, start: bool = True) -> Found:
    case = task.case
    search = _ByCPUTime(
        case.make(), case.space, resource=case.resource, levels=case.levels, time_limit=task.limit, cv=FOLDS,
        random_state=task.seed, start=start,
    )  # fmt: skip
    search.refit = False  # it would count
    results = search.fit(task.x, task.y).cv_results_
    best = search._select_best_index(False, "score", results)
    counts = np.bincount(results["fidelity"], minlength=len(case.levels)).tolist()
    return results["params"][best], float(results["mean_test_score"][best]), counts


def random(task: Task) -> Found:
    for params in ParameterSampler(_distributions(task.case), 1_000_000, random_state=task.seed):
        try:
            task.score(params)
        except TimeIsUp:
            break
    return task.found()


def halving(task: Task) -> Found:
    from sklearn.experimental import enable_halving_search_cv  # noqa: F401
    from sklearn.model_selection import HalvingRandomSearchCV

    rungs: list[tuple[float, float, Params]] = []  # resource, score and parameters of every evaluation

    class Watched(HalvingRandomSearchCV):  # type: ignore[misc]
        def _run_search(self, evaluate_candidates: Callable[..., Any], callback_ctx: Any = None) -> None:
            def evaluate(candidates: Any, *others: Any, **options: Any) -> Any:
                task.check()
                out = evaluate_candidates(candidates, *others, **options)
                last = slice(-len(candidates), None)
                columns = (out[name][last] for name in ("n_resources", "mean_test_score", "params"))
                rungs.extend(zip(*columns, strict=True))
                return out

            context = {} if callback_ctx is None else {"callback_ctx": callback_ctx}  # since scikit-learn 1.9
            super()._run_search(evaluate, **context)

    case, count = task.case, len(task.case.levels)
    top = case.rows if case.resource == "n_samples" else int(case.levels[-1])
    for bracket in itertools.count():
        search = Watched(
            case.make(), _distributions(case), n_candidates=CANDIDATES, factor=3, resource=case.resource, cv=FOLDS,
            min_resources=top // 3 ** (count - 1), max_resources=top, refit=False,
            random_state=1000 * task.seed + bracket,
        )  # fmt: skip
        try:
            search.fit(task.x, task.y)
        except TimeIsUp:
            break
    sizes = sorted({resource for resource, _, _ in rungs})
    known = [one for one in rungs if not math.isnan(one[1])]
    _, score, params = max(known, key=lambda one: one[:2])
    counts = [sum(int(one[0] == size) for one in rungs) for size in sizes]
    return _complete(case, params), float(score), counts


def optuna(task: Task) -> Found:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=task.seed))
    try:
        while True:
            trial = study.ask()
            study.tell(trial, task.score(suggest(trial, task.case.space)))
    except TimeIsUp:
        return task.found()


def skopt(task: Task) -> Found:
    from skopt import Optimizer

    space = task.case.space
    optimizer = Optimizer([skopt_dimension(*one) for one in space.items()], "GP", random_state=task.seed)
    try:
        while True:
            asked = optimizer.ask()
            pairs = zip(space.items(), asked, strict=True)
            optimizer.tell(asked, -task.score({name: from_skopt(one, value) for (name, one), value in pairs}))
    except TimeIsUp:
        return task.found()


NO_START = "no start"
METHODS: dict[str, Callable[[Task], Found]] = {
    "mfopt": ours, NO_START: functools.partial(ours, start=False),
    "random": random, "halving": halving, "optuna": optuna, "skopt": skopt,
}  # fmt: skip


class _Drawn:
    """A dimension as scikit-learn's samplers want it."""

    def __init__(self, dimension: Any) -> None:
        self._dimension = dimension

    def rvs(self, random_state: Any) -> Any:
        u = self._dimension.spread(random_state.uniform(size=1))
        return self._dimension.native(self._dimension.decode(u)[0])


def _distributions(case: Case) -> dict[str, Any]:
    """The space for scikit-learn's samplers."""
    listed = {name: one.choices for name, one in case.space.items() if isinstance(one, mfopt.Categorical)}
    return {name: listed.get(name) or _Drawn(one) for name, one in case.space.items()}


def _complete(case: Case, params: Params) -> Params:
    """With the full resource, which successive halving leaves to the estimator's own value."""
    return params if case.resource == "n_samples" else {**params, case.resource: int(case.levels[-1])}


# -------------------------------------------------------------------------------------------------------- runs


def carry_out(name: str, method: str, seed: int, limit: float) -> dict[str, Any]:
    task = Task(CASES[name], seed, limit)
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        params, score, counts = METHODS[method](task)
        seconds = time.process_time() - began
        test = task.judge(params)
    return {
        "case": name, "method": method, "seed": seed, "limit": limit, "code": _code(method), "test": test,
        "validation": score, "evaluations": counts, "seconds": round(seconds, 3),
        "params": {key: value.item() if isinstance(value, np.generic) else value for key, value in params.items()},
    }  # fmt: skip


def _code(method: str) -> str:
    """With what it was run: a digest of our code, or the package and its version."""
    packages = {"random": "scikit-learn", "halving": "scikit-learn", "optuna": "optuna", "skopt": "scikit-optimize"}
    if method not in packages:
        return f"mfopt {code_digest()}"
    return f"{packages[method]} {version(packages[method])}"


def run(arguments: argparse.Namespace) -> None:
    """Every run that is not recorded yet, seed by seed, until the minutes are over."""
    limit = arguments.limit
    runs = [one for one in results.load(arguments.out) if one["limit"] == limit]
    complete(
        plan(arguments.cases, arguments.methods, arguments.seeds),
        {(one["case"], one["method"], one["seed"]) for one in runs},
        carry_out=lambda cell: carry_out(*cell, limit),
        warm_up=lambda case, method: carry_out(case, method, 0, 0.5),
        describe=_describe,
        out=arguments.out,
        minutes=arguments.minutes,
    )


def _describe(found: dict[str, Any]) -> str:
    return f"test {found['test']:.4f}, validation {found['validation']:.4f}, {found['evaluations']}"


# ------------------------------------------------------------------------------------------------------ report


def report(arguments: argparse.Namespace) -> None:
    """Print the table; with --docs write it and the picture there."""
    runs = [one for one in results.load(arguments.out) if one["limit"] == arguments.limit]
    runs = [one for one in runs if one["seed"] in parse_seeds(arguments.seeds)]
    scores = {
        name: {m: [one["test"] for one in runs if (one["case"], one["method"]) == (name, m)] for m in METHODS}
        for name in CASES
    }
    table = make_table(scores, arguments.limit, sorted({one["code"] for one in runs}))
    print(table)
    if arguments.docs:
        sys.path.insert(0, str(HERE.parent))
        from tools.pages import write_section

        write_section(DOCS / "sklearn-models.md", "sklearn models", table)
        draw(scores, DOCS / "sklearn-models.png")


def make_table(scores: dict[str, dict[str, list[float]]], limit: float, codes: Sequence[str]) -> str:
    """Medians and quartiles on test data; the best median of each row is bold, and so are those equal to it.

    codes: with what the runs were made.
    """
    lines = ["| model, data | " + " | ".join(METHODS) + " |", "|---|" + "---|" * len(METHODS)]
    good = dict.fromkeys(("mfopt", NO_START), 0)
    for name, by_method in scores.items():
        if not all(by_method.values()):
            continue
        medians = {method: round(float(np.median(values)), 4) for method, values in by_method.items()}
        cells = []
        for method, values in by_method.items():
            low, high = np.quantile(values, [0.25, 0.75])
            text = f"{medians[method]:.4f}"
            text = f"**{text}**" if medians[method] == max(medians.values()) else text
            cells.append(f"{text} ({low:.3f} to {high:.3f})")
        others = max(median for method, median in medians.items() if method not in good)
        good = {own: count + (medians[own] >= others) for own, count in good.items()}
        lines.append(f"| {name}, {CASES[name].data} | " + " | ".join(cells) + " |")
    seeds = tell_range([len(values) for by_method in scores.values() for values in by_method.values()])
    head = f"Median (quartiles) of {seeds} seeds on test data after {limit:g} s of CPU time; {', '.join(codes)}."
    rows = len(lines) - 2
    tail = (
        f"Medians as good as those of all others: mfopt in {good['mfopt']} of {rows} rows, with start=False in "
        f"{good[NO_START]}."
    )
    return "\n".join([head, "", *lines, "", tail])


def draw(scores: dict[str, dict[str, list[float]]], path: Path) -> None:
    """Boxes of the test scores, a panel per model."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13, 6), layout="constrained")
    for axes, (name, by_method) in zip(figure.subplots(2, 4).ravel(), scores.items(), strict=True):
        values = list(by_method.values())
        boxes = axes.boxplot(values, widths=0.6, showfliers=False, patch_artist=True, medianprops={"color": "black"})
        for k, box in enumerate(boxes["boxes"]):
            box.set_facecolor(("#cc3311", "#ee9988", *["#bbccdd"] * 4)[k])
        for k, own in enumerate(values):
            axes.plot(np.full(len(own), k + 1), own, ".", color="#444444", markersize=4, alpha=0.6)
        inside = np.concatenate(values)
        low = np.quantile(inside, 0.1)
        axes.set_ylim(low - 0.1 * (inside.max() - low), inside.max() + 0.1 * (inside.max() - low))
        axes.set_xticks(range(1, len(values) + 1), list(by_method), fontsize=7)
        axes.set_title(f"{name}, {CASES[name].data}", fontsize=10)
        axes.grid(axis="y", alpha=0.25)
    figure.supylabel("score on test data (a tenth of the runs may lie below the picture)", fontsize=9)
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["run", "report"])
    parser.add_argument("--seeds", default="0-9", help="of the splits and of the methods, such as 0-9")
    parser.add_argument("--cases", nargs="+", default=list(CASES), choices=list(CASES))
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds of CPU time of a run")
    parser.add_argument("--minutes", type=float, default=math.inf, help="start no run later")
    parser.add_argument("--out", type=Path, default=OUT, help="the file of runs")
    parser.add_argument("--docs", action="store_true", help="write table and picture into docs/")
    arguments = parser.parse_args()
    run(arguments) if arguments.command == "run" else report(arguments)


if __name__ == "__main__":
    main()
