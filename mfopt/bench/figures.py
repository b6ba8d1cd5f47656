"""The paper's synthetic figures, each by name: what is run, what is drawn, and the data behind it.

A figure is a function of `run` (mfopt.bench.run with the user's directory, jobs and so on), the directory to write to
and the seeds. It writes NAME.png, NAME.svg and NAME.csv and gives their paths.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import replace
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
) -> list[Path]:
    """Run what the figure of this name needs, as far as `out` does not hold it, and draw it into the directory `into`.

    The other arguments are those of mfopt.bench.run.
    """
    if name not in FIGURES:
        raise InputError(f"a figure's name must be one of {', '.join(FIGURES)}, got {name!r}")
    directory = Path(out) / "figures" if into is None else Path(into)
    run = partial(runner.run, out=out, jobs=jobs, time_limit=time_limit, any_code=any_code, progress=progress)
    directory.mkdir(parents=True, exist_ok=True)
    return FIGURES[name](run, directory, seeds)


def synthetic(run: Run, into: Path, seeds: Sequence[int]) -> list[Path]:
    """S(Λ) of all methods on all synthetic problems."""
    return _draw_regret(run(problems.SYNTHETIC, METHODS, seeds), into, "synthetic")


def histogram(run: Run, into: Path, seeds: Sequence[int]) -> list[Path]:
    """How often mf-gp-ucb queries the fidelities of Hartmann-3, by the target's value there, within 20 λ_M."""
    from mfopt.bench.plots import plot_histogram

    problem = problems.get("hartmann3")
    cells = [cell for cell in run(["hartmann3"], ["mf-gp-ucb"], seeds, 20.0, history=True) if cell.status != "failed"]
    edges = np.append(np.linspace(0, 3.5, 8), problem.optimum)
    counts = np.zeros((len(problem.costs), 2, len(edges) - 1))  # by fidelity; of the initial design, and chosen
    for cell in cells:
        history = cell.history or {}
        value = np.minimum(problem.functions[-1](np.array(history["x"])), problem.optimum)
        fidelity, chosen = np.array(history["fidelity"]), np.array(history["kind"]) != "initial design"
        for m, own in product(range(len(counts)), (0, 1)):
            counts[m, own] += np.histogram(value[(fidelity == m) & (chosen == own)], edges)[0]
    counts /= max(len(cells), 1)
    names = [f"fidelity {m + 1} {which}" for m in range(len(counts)) for which in ("initial", "chosen")]
    lines = [[low, high, *counts[..., i].ravel().tolist()] for i, (low, high) in enumerate(pairwise(edges.tolist()))]
    data = _write_csv(into / "histogram.csv", ["from", "to", *names], lines)
    title = f"hartmann3: {counts.sum():.0f} queries of mf-gp-ucb for 20 target costs, mean of {len(cells)} runs"
    pictures = _name_pictures(into, "histogram")
    plot_histogram(edges, counts, title, pictures)
    return [*pictures, data]


def costs(run: Run, into: Path, seeds: Sequence[int]) -> list[Path]:
    """mf-gp-ucb on Borehole with λ₂ = 1 and λ₁ from 0.01 to 0.5, and gp-ucb, which does not use f⁽¹⁾."""
    names = {problems.canonical(f"borehole:costs=[{cost},1.0]"): f"λ₁ = {cost:g}" for cost in CHEAP_COSTS}
    cells = run(list(names), ["mf-gp-ucb"], seeds, 50.0)
    found = [replace(one, label=names[one.problem]) for one in report.series(cells)]
    found += report.series(run([next(iter(names))], ["gp-ucb"], seeds, 50.0))
    return _draw_parameter([replace(one, problem="borehole, λ₂ = 1") for one in found], into, "costs")


def bad_approximations(run: Run, into: Path, seeds: Sequence[int]) -> list[Path]:
    """The Currin function with f⁽¹⁾ = −f⁽²⁾: the functions, and S(Λ) of all methods."""
    from mfopt.bench.plots import plot_bad_approximation

    found = report.series(run(["bad-currin"], METHODS, seeds))
    pictures = _name_pictures(into, "bad-approximations")
    plot_bad_approximation(problems.get("bad-currin"), found, pictures)
    return [*pictures, *_write_tables(found, into, "bad-approximations")]


def gamma(run: Run, into: Path, seeds: Sequence[int]) -> list[Path]:
    """mf-gp-ucb on the two-fidelity Hartmann-3 with ζ known and fixed γ, with the initial design and without."""
    titles = {"": "hartmann3-two, ζ known", "initial_capital=0,": "the same without an initial design"}
    found = []
    for option, title in titles.items():
        methods = [Method(f"mf-gp-ucb:gammas=[{value}],{option}zetas=known", f"γ = {value:g}") for value in GAMMAS]
        found += [replace(one, problem=title) for one in report.series(run(["hartmann3-two"], methods, seeds))]
    return _draw_parameter(found, into, "gamma")


def kde(run: Run, into: Path, seeds: Sequence[int]) -> list[Path]:
    """The cross-validated likelihood of a bandwidth with 300 and with 3,000 points; nothing is run."""
    from mfopt.bench.plots import plot_kde

    problem = problems.get("kde")
    h = np.geomspace(0.05, 1.0, 80)
    values = np.array([function(h[:, None]) for function in problem.functions])
    names = ["h", "300 points", "3000 points"]
    data = _write_csv(into / "kde.csv", names, np.column_stack([h, values.T]).tolist())
    pictures = _name_pictures(into, "kde")
    plot_kde(h, values, pictures)
    return [*pictures, data]


def illustration(run: Run, into: Path, seeds: Sequence[int]) -> list[Path]:
    """MF-GP-UCB step by step in one dimension, six panels and an animation; nothing is run."""
    from mfopt.bench.illustration import PANELS, steps
    from mfopt.bench.plots import animate_steps, plot_steps

    every = steps()
    names = ["t", "x", "fidelity", "width", "gamma"]
    lines = [[step.t, step.x, step.fidelity + 1, step.width_at_x, step.gamma] for step in every]
    data = _write_csv(into / "illustration.csv", names, lines)
    pictures = _name_pictures(into, "illustration")
    plot_steps([step for step in every if step.t in PANELS], pictures)
    moving = into / "illustration.gif"
    animate_steps(every, moving)
    return [*pictures, moving, data]


FIGURES: dict[str, Callable[[Run, Path, Sequence[int]], list[Path]]] = {
    "synthetic": synthetic,
    "histogram": histogram,
    "costs": costs,
    "bad-approximations": bad_approximations,
    "gamma": gamma,
    "kde": kde,
    "illustration": illustration,
}


def _draw_regret(cells: Sequence[Cell], into: Path, name: str) -> list[Path]:
    from mfopt.bench.plots import plot_regret

    found = report.series(cells)
    pictures = _name_pictures(into, name)
    plot_regret(found, pictures)
    return [*pictures, *_write_tables(found, into, name)]


def _draw_parameter(found: Sequence[report.Series], into: Path, name: str) -> list[Path]:
    """Curves of a parameter that rises from label to label; gp-ucb, where it is, stays itself. Problems are titles."""
    from mfopt.bench.plots import STYLES, make_ramp, plot_regret

    labels = list(dict.fromkeys(one.label for one in found if one.label != "gp-ucb"))
    styles = {**dict(zip(labels, make_ramp(len(labels)), strict=True)), "gp-ucb": STYLES["gp-ucb"]}
    pictures = _name_pictures(into, name)
    plot_regret(found, pictures, styles=styles)
    return [*pictures, *_write_tables(found, into, name)]


def _write_tables(found: Sequence[report.Series], into: Path, name: str) -> list[Path]:
    """The curves, every λ_M, as CSV; the table of a few capitals as Markdown."""
    longest = max((one.capital for one in found), default=0.0)
    curves = report.rows(found, np.arange(1.0, longest + 1).tolist())
    data, table = into / f"{name}.csv", into / f"{name}.md"
    data.write_text(report.as_csv(curves), encoding="utf-8")
    table.write_text(report.as_markdown(report.rows(found)), encoding="utf-8")
    return [data, table]


def _name_pictures(into: Path, name: str) -> list[Path]:
    return [into / f"{name}.png", into / f"{name}.svg"]


def _write_csv(path: Path, names: Sequence[str], lines: Sequence[Sequence[Any]] | Array) -> Path:
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        writer.writerows(lines)
    return path
