"""The paper's synthetic figures, each by name: what is run, what is drawn, and the data behind it.

A figure is a function of a Plan: how to run cells, where to write, which seeds, which mode. It writes NAME.png,
NAME.svg and NAME.csv and gives their paths; in paper mode NAME is followed by "-paper".
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise, product
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from mfopt import problems
from mfopt.bench import report, runner
from mfopt.bench.cells import Cell
from mfopt.bench.methods import METHODS, Method
from mfopt.errors import InputError
from mfopt.protocols import Array

Run = Callable[..., list[Cell]]
CHEAP_COSTS = (0.01, 0.05, 0.1, 0.2, 0.5)
GAMMAS = (0.03, 0.1, 0.3, 1.0)
SHOWN = ("mf-gp-ucb", "gp-ucb", "gp-ei", "direct", "mf-naive", "mf-sko")  # in the paper's figures
MODES = ("practical", "paper")
HISTOGRAM_QUERIES = 184  # of mf-gp-ucb, that the paper's histogram counts
# Λ₀ of methods with several fidelities on Hartmann-6 in paper mode. 10 λ_M would be 5,000 random points at the first
# fidelity, and a process of so many rows; 0.4 λ_M are 200, as many as in the authors' code.
_HARTMANN6 = "initial_capital=400.0"
_SEVERAL = ("mf-gp-ucb", "mf-sko")
_BESIDE = ("#000000", "-")  # the style of our default beside the paper's


@dataclass(frozen=True)
class Plan:
    """How a figure is made: `run` runs cells, `default` puts the default of mf-gp-ucb beside the paper's."""

    run: Run
    into: Path
    seeds: Sequence[int]
    mode: str = "practical"
    default: bool = False

    @property
    def paper(self) -> bool:
        """Whether methods run as the paper has them; its curves are means with standard errors."""
        return self.mode == "paper"

    def name(self, figure: str) -> str:
        """Of the files."""
        return f"{figure}-paper" if self.paper else figure

    def method(self, strategy: str, options: str = "", label: str = "") -> Method:
        """A strategy in this mode."""
        every = [part for part in (options, "mode=paper" if self.paper and strategy != "direct" else "") if part]
        text = Method.parse(f"{strategy}:{','.join(every)}" if every else strategy).text
        return Method(text, label or strategy)

    def beside(self, options: str = "", label: str = "mf-gp-ucb, our default") -> list[Method]:
        """The default of mf-gp-ucb, where it is to be shown beside the paper's."""
        text = f"mf-gp-ucb:{options}" if options else "mf-gp-ucb"
        return [Method(Method.parse(text).text, label)] if self.paper and self.default else []

    def shown(self, problem: str) -> list[Method]:
        """The methods of the comparison on this problem."""
        if not self.paper:
            return [Method(name, name) for name in METHODS]
        own = _HARTMANN6 if problem.startswith("hartmann6") else ""
        return [*(self.method(name, own if name in _SEVERAL else "") for name in SHOWN), *self.beside()]


def figure(
    name: str,
    out: str | PathLike[str] = "out/bench",
    into: str | PathLike[str] | None = None,
    seeds: Sequence[int] = range(20),
    *,
    jobs: int = 1,
    time_limit: float | None = 60.0,
    any_code: bool = False,
    progress: bool | None = None,
    mode: str = "practical",
    default: bool = False,
    finished: bool = False,
) -> list[Path]:
    """Run what the figure of this name needs, as far as `out` does not hold it, and draw it into the directory `into`.

    mode     "practical": the methods as they are by default. "paper": those of the paper's figure as it has them, means
             with standard errors.
    default  in paper mode, also the default of mf-gp-ucb.

    The other arguments are those of mfopt.bench.run.
    """
    if mode not in MODES:
        raise InputError(f"a figure's mode must be one of {', '.join(MODES)}, got {mode!r}")
    if name not in FIGURES:
        raise InputError(f"a figure's name must be one of {', '.join(FIGURES)}, got {name!r}")
    directory = Path(out) / "figures" if into is None else Path(into)
    run = partial(
        runner.run, out=out, jobs=jobs, time_limit=time_limit, any_code=any_code, progress=progress, finished=finished
    )
    directory.mkdir(parents=True, exist_ok=True)
    return FIGURES[name](Plan(run, directory, seeds, mode, default))


def synthetic(plan: Plan) -> list[Path]:
    """S(Λ) of all methods on all synthetic problems."""
    from mfopt.bench.plots import plot_regret

    if not plan.paper:
        cells = plan.run(problems.SYNTHETIC, METHODS, plan.seeds)
    else:  # the authors' code has 0.1 δ on Hartmann-6, the text δ: both are shown
        names = [*problems.SYNTHETIC[:-1], "hartmann6:delta=0.1"]
        cells = [cell for name in names for cell in plan.run([name], plan.shown(name), plan.seeds)]
    found = report.series(cells)
    pictures = _name_pictures(plan, "synthetic")
    plot_regret(found, pictures, mean=plan.paper, styles=_choose_styles(found))
    return [*pictures, *_write_tables(found, plan, "synthetic")]


def histogram(plan: Plan) -> list[Path]:
    """How often mf-gp-ucb queries the fidelities of Hartmann-3, by the target's value there."""
    from mfopt.bench.plots import plot_histogram

    problem = problems.get("hartmann3")
    edges = np.append(np.linspace(0, 3.5, 8), problem.optimum)
    counted = {}  # by method: (M, 2, bins), of the initial design and chosen
    for method in [plan.method("mf-gp-ucb"), *plan.beside()]:
        cells = plan.run(["hartmann3"], [method], plan.seeds, 100.0 if plan.paper else 20.0, history=True)
        done = [cell for cell in cells if cell.status != "failed"]
        total = sum(
            (_count_queries(cell, problem, edges, plan.paper) for cell in done), np.zeros((3, 2, len(edges) - 1))
        )
        counted[f"{method.label}, mean of {len(done)} runs"] = total / max(len(done), 1)
    names = [f"fidelity {m + 1} {which}" for m in range(len(problem.costs)) for which in ("initial", "chosen")]
    lines = [
        [label, low, high, *counts[..., i].ravel().tolist()]
        for label, counts in counted.items()
        for i, (low, high) in enumerate(pairwise(edges.tolist()))
    ]
    data = _write_csv(plan.into / f"{plan.name('histogram')}.csv", ["method", "from", "to", *names], lines)
    pictures = _name_pictures(plan, "histogram")
    plot_histogram(edges, counted, pictures)
    return [*pictures, data]


def _count_queries(cell: Cell, problem: problems.Benchmark, edges: Array, own_only: bool) -> Array:
    """Queries by fidelity, origin and target value; if `own_only`, the first of the method's own, as in the paper."""
    history = cell.history or {}
    value = np.minimum(problem.functions[-1](np.array(history["x"])), problem.optimum)
    fidelity, chosen = np.array(history["fidelity"]), np.array(history["kind"]) != "initial design"
    counted = chosen & (np.cumsum(chosen) <= HISTOGRAM_QUERIES) if own_only else np.ones_like(chosen)
    counts = np.zeros((len(problem.costs), 2, len(edges) - 1))
    for m, own in product(range(len(counts)), (0, 1)):
        counts[m, own] = np.histogram(value[(fidelity == m) & (chosen == own) & counted], edges)[0]
    return counts


def costs(plan: Plan) -> list[Path]:
    """mf-gp-ucb on Borehole with λ₂ = 1 and λ₁ from 0.01 to 0.5, and gp-ucb, which does not use f⁽¹⁾."""
    names = {problems.canonical(f"borehole:costs=[{cost},1.0]"): f"λ₁ = {cost:g}" for cost in CHEAP_COSTS}
    single = report.series(plan.run([next(iter(names))], [plan.method("gp-ucb")], plan.seeds, 50.0))
    found = []
    for method, title in _titles(plan, "borehole, λ₂ = 1"):
        cells = plan.run(list(names), [method], plan.seeds, 50.0)
        own = [replace(one, label=names[one.problem]) for one in report.series(cells)]
        found += [replace(one, problem=title) for one in [*own, *single]]
    return _draw_parameter(found, plan, "costs")


def bad_approximations(plan: Plan) -> list[Path]:
    """The Currin function with f⁽¹⁾ = −f⁽²⁾: the functions, and S(Λ) of all methods."""
    from mfopt.bench.plots import plot_bad_approximation

    found = report.series(plan.run(["bad-currin"], plan.shown("bad-currin"), plan.seeds))
    pictures = _name_pictures(plan, "bad-approximations")
    plot_bad_approximation(problems.get("bad-currin"), found, pictures, plan.paper, _choose_styles(found))
    return [*pictures, *_write_tables(found, plan, "bad-approximations")]


def gamma(plan: Plan) -> list[Path]:
    """mf-gp-ucb on the two-fidelity Hartmann-3 with ζ known and fixed γ, with the initial design and without."""
    titles = {"": "hartmann3-two, ζ known", "initial_capital=0,": "the same without an initial design"}
    found = []
    for option, title in titles.items():
        own = [f"gammas=[{value}],{option}zetas=known" for value in GAMMAS]
        labels = [f"γ = {value:g}" for value in GAMMAS]
        methods = [plan.method("mf-gp-ucb", *pair) for pair in zip(own, labels, strict=True)]
        others = [one for pair in zip(own, labels, strict=True) for one in plan.beside(*pair)]
        for which, chosen in ((title, methods), (f"{title}, our default", others)):
            if chosen:
                cells = plan.run(["hartmann3-two"], chosen, plan.seeds)
                found += [replace(one, problem=which) for one in report.series(cells)]
    return _draw_parameter(found, plan, "gamma")


def kde(plan: Plan) -> list[Path]:
    """The cross-validated likelihood of a bandwidth with 300 and with 3,000 points; nothing is run."""
    from mfopt.bench.plots import plot_kde

    problem = problems.get("kde")
    h = np.geomspace(0.05, 1.0, 80)
    values = np.array([function(h[:, None]) for function in problem.functions])
    names = ["h", "300 points", "3000 points"]
    data = _write_csv(plan.into / f"{plan.name('kde')}.csv", names, np.column_stack([h, values.T]).tolist())
    pictures = _name_pictures(plan, "kde")
    plot_kde(h, values, pictures)
    return [*pictures, data]


def challenges(plan: Plan) -> list[Path]:
    """Where the target is worth its price if f⁽¹⁾ is known: too small a set, too large, as it should be, two modes."""
    from mfopt.bench.illustration import challenge
    from mfopt.bench.plots import plot_challenges

    x, panels = challenge()
    names = ["x", *(f"{panel.title}: {what}" for panel in panels for what in ("f1", "f2", "inside"))]
    columns = [x, *(column for panel in panels for column in (*panel.functions, panel.inside))]
    data = _write_csv(plan.into / f"{plan.name('challenges')}.csv", names, np.column_stack(columns).tolist())
    pictures = _name_pictures(plan, "challenges")
    plot_challenges(x, panels, pictures)
    return [*pictures, data]


def gpucb(plan: Plan) -> list[Path]:
    """One step of gp-ucb in one dimension: f, its upper bound, the queries so far and the next; nothing is run."""
    from mfopt.bench.illustration import single_steps
    from mfopt.bench.plots import plot_single_step

    step = single_steps()[-1]
    columns = np.column_stack([step.grid, step.functions[1], step.bounds[1]])
    data = _write_csv(plan.into / f"{plan.name('gpucb')}.csv", ["x", "f", "bound"], columns.tolist())
    pictures = _name_pictures(plan, "gpucb")
    plot_single_step(step, pictures)
    return [*pictures, data]


def illustration(plan: Plan) -> list[Path]:
    """MF-GP-UCB step by step in one dimension, six panels and an animation; nothing is run."""
    from mfopt.bench.illustration import PANELS, steps
    from mfopt.bench.plots import animate_steps, plot_steps

    every = steps()
    names = ["t", "x", "fidelity", "width", "gamma"]
    lines = [[step.t, step.x, step.fidelity + 1, step.width_at_x, step.gamma] for step in every]
    data = _write_csv(plan.into / f"{plan.name('illustration')}.csv", names, lines)
    pictures = _name_pictures(plan, "illustration")
    plot_steps([step for step in every if step.t in PANELS], pictures)
    moving = plan.into / f"{plan.name('illustration')}.gif"
    animate_steps(every, moving)
    return [*pictures, moving, data]


FIGURES: dict[str, Callable[[Plan], list[Path]]] = {
    "synthetic": synthetic,
    "histogram": histogram,
    "costs": costs,
    "bad-approximations": bad_approximations,
    "gamma": gamma,
    "challenges": challenges,
    "gpucb": gpucb,
    "kde": kde,
    "illustration": illustration,
}


def _titles(plan: Plan, title: str) -> list[tuple[Method, str]]:
    """mf-gp-ucb, and our default where it is shown beside it, with the title of a panel for each."""
    return [(plan.method("mf-gp-ucb"), title), *((one, f"{title}, our default") for one in plan.beside())]


def _choose_styles(found: Sequence[report.Series]) -> dict[str, tuple[str, str]]:
    """A strategy has its own style whatever its options; others take the next free one, our default is black."""
    from mfopt.bench.plots import STYLES, choose_styles

    own = {one.label: STYLES[one.label] for one in found if one.label in STYLES}
    others = choose_styles([one for one in found if one.label not in own])
    return {**own, **{label: _BESIDE if style in own.values() else style for label, style in others.items()}}


def _draw_parameter(found: Sequence[report.Series], plan: Plan, name: str) -> list[Path]:
    """Curves of a parameter that rises from label to label; gp-ucb, where it is, stays itself. Problems are titles."""
    from mfopt.bench.plots import STYLES, make_ramp, plot_regret

    labels = list(dict.fromkeys(one.label for one in found if one.label != "gp-ucb"))
    styles = {**dict(zip(labels, make_ramp(len(labels)), strict=True)), "gp-ucb": STYLES["gp-ucb"]}
    pictures = _name_pictures(plan, name)
    plot_regret(found, pictures, mean=plan.paper, styles=styles)
    return [*pictures, *_write_tables(found, plan, name)]


def _write_tables(found: Sequence[report.Series], plan: Plan, name: str) -> list[Path]:
    """The curves, every λ_M, as CSV; the table of a few capitals as Markdown."""
    longest = max((one.capital for one in found), default=0.0)
    curves = report.rows(found, np.arange(1.0, longest + 1).tolist())
    data, table = (plan.into / f"{plan.name(name)}.{kind}" for kind in ("csv", "md"))
    data.write_text(report.as_csv(curves), encoding="utf-8")
    table.write_text(report.as_markdown(report.rows(found)), encoding="utf-8")
    return [data, table]


def _name_pictures(plan: Plan, name: str) -> list[Path]:
    return [plan.into / f"{plan.name(name)}.{kind}" for kind in ("png", "svg")]


def _write_csv(path: Path, names: Sequence[str], lines: Sequence[Sequence[Any]] | Array) -> Path:
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        writer.writerows(lines)
    return path
