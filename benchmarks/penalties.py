"""Values that say "bad": what penalties in part of X, or outliers of a cheap fidelity, cost in regret.

    python benchmarks/penalties.py                       # all problems, seeds 10 to 14, into RESULTS.md
    python benchmarks/penalties.py --problems waves --keep   # the others stay as they are recorded
    python benchmarks/penalties.py --only-print --problems waves --seeds 0 1 2 --penalties 1e2 --methods gp-ei

A penalty −P takes the place of every value in a slab of X that leaves the maximum out and begins close to it (0.02 of
the first coordinate) or far from it (0.25): half of X, or a twentieth. It is there at both fidelities, at the cheap one
or at the target only. `blown up` puts +P into a cheap fidelity instead. Each figure is the median over seeds of the
simple regret, in units of the maximum's distance from the median of the function.

A penalty does no harm if the regret is within a factor of WITHIN of that without it. Nobody cares for regrets below
FLOOR, and a ratio of two of them is luck: smaller ones, without a penalty too, count as FLOOR. The problems are none of
the paper's and none of families.py; constants of the method were chosen on seeds 0 to 4.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import timing  # first: it limits the threads

import mfopt  # isort: skip
import numpy as np  # isort: skip

Function = Callable[[np.ndarray], float]
FLOOR = 1e-6
WITHIN = 10.0
COSTS = [1.0, 10.0]
SHARES = {"half": 0.5, "twentieth": 0.05}
WHERE = ("both", "cheap", "target", "blown up")
SEVERAL = ("mf-gp-ucb",)  # methods that use the cheap fidelity
METHODS = ("mf-gp-ucb", "gp-ei")


@dataclass(frozen=True)
class Problem:
    """Functions of the unit cube, cheap and target, with the target's maximum."""

    name: str
    functions: tuple[Function, Function]
    argmax: tuple[float, ...]

    @property
    def optimum(self) -> float:
        return self.functions[1](np.array(self.argmax))

    @property
    def scale(self) -> float:
        points = np.random.default_rng(12345).random((2000, len(self.argmax)))
        return self.optimum - float(np.median([self.functions[1](x) for x in points]))


def waves(x: np.ndarray) -> float:
    return float(np.sin(5 * x[0]) + x[1])


def forrester(x: np.ndarray) -> float:
    return float(-((6 * x[0] - 2) ** 2) * np.sin(12 * x[0] - 4))


def dixon_price(x: np.ndarray) -> float:
    z = 4 * x - 2
    return float(-((z[0] - 1) ** 2 + sum((i + 1) * (2 * z[i] ** 2 - z[i - 1]) ** 2 for i in range(1, len(z)))) / 50)


def cosines(x: np.ndarray) -> float:
    z = 2 * (x - 0.4)
    return float((0.1 * np.cos(5 * np.pi * z) - z**2).sum())


PROBLEMS = {
    problem.name: problem
    for problem in (
        Problem("waves", (lambda x: waves(x) - 0.1 * float(np.cos(9 * x[0])), waves), (np.pi / 10, 1.0)),
        Problem("forrester", (lambda x: 0.8 * forrester(x) - 3 * float(x[0] - 0.5), forrester), (0.7572487144,)),
        Problem(
            "dixon-price",
            (lambda x: 0.9 * dixon_price(x) + 0.2 * float(np.sin(4 * x[0] + x[1])), dixon_price),
            tuple((np.array([1.0, 2**-0.5, 2**-0.75]) + 2) / 4),
        ),
        Problem("cosines", (lambda x: cosines(x + 0.02) - 0.1 * float(x[0]), cosines), (0.4,) * 4),
    )
}


@dataclass(frozen=True)
class Penalty:
    """−size where the first coordinate lies `margin` to `margin + share` behind the maximum, wrapped around."""

    size: float
    share: float
    margin: float
    where: str

    def apply(self, problem: Problem) -> list[Function]:
        def bad(x: np.ndarray) -> bool:
            return bool((x[0] - problem.argmax[0] - self.margin) % 1.0 < self.share)

        def with_penalty(function: Function, value: float) -> Function:
            return lambda x: value if bad(x) else function(x)

        value = self.size if self.where == "blown up" else -self.size
        cheap, target = problem.functions
        return [
            cheap if self.where == "target" else with_penalty(cheap, value),
            with_penalty(target, value) if self.where in ("both", "target") else target,
        ]


def regret(problem: Problem, functions: Sequence[Function], method: str, capital: float, seed: int) -> float:
    """The simple regret at the end of a run, in units of the problem's scale."""
    opt = mfopt.Optimizer(
        [(0.0, 1.0)] * len(problem.argmax), COSTS, strategy=method, capital=capital * COSTS[-1], rng=seed
    )
    while not opt.done:
        trial = opt.ask()
        opt.tell(trial, functions[trial.fidelity](trial.x))
    assert opt.best is not None
    return max((problem.optimum - opt.best.y) / problem.scale, FLOOR)


def measure(given: argparse.Namespace, problem: Problem, penalty: Penalty | None, method: str) -> float:
    """The median regret over the seeds."""
    functions = problem.functions if penalty is None else penalty.apply(problem)
    return float(np.median([regret(problem, functions, method, given.capital, seed) for seed in given.seeds]))


def run(given: argparse.Namespace, problem: Problem) -> tuple[dict[str, float], list[dict[str, Any]]]:
    """Regrets without penalties by method, and of every cell."""
    without = {method: measure(given, problem, None, method) for method in ["random", *given.methods]}
    cells = []
    for where in given.where:
        for share in given.shares:
            for margin in given.margins:
                for method in given.methods:
                    if where != "both" and method not in SEVERAL:
                        continue  # it sees the target alone
                    found = [
                        measure(given, problem, Penalty(size, SHARES[share], margin, where), method)
                        for size in given.penalties
                    ]
                    cell = {"where": where, "share": share, "margin": margin, "method": method, "regrets": found}
                    print(problem.name, cell, flush=True)
                    cells.append(cell)
    return without, cells


def show(given: argparse.Namespace, found: dict[str, tuple[dict[str, float], list[dict[str, Any]]]]) -> str:
    """The table as Markdown, and how many cells are within the factor."""
    sizes = " | ".join(f"{size:.0e}" for size in given.penalties)
    lines = [
        f"mfopt {mfopt.__version__}, `python benchmarks/penalties.py`: median regret over {len(given.seeds)} seeds "
        f"({given.seeds[0]} to {given.seeds[-1]}) after {given.capital:g} λ_M, in units of the maximum's distance from "
        f"the median; smaller ones than {FLOOR:g} count as {FLOOR:g}. **Bold**: more than {WITHIN:g} times that "
        "without a penalty.",
        "",
        f"| problem | penalty at | share of X, distance from the maximum | method | none | {sizes} |",
        "|---" * (5 + len(given.penalties)) + "|",
    ]
    tried = dict.fromkeys(given.methods, 0)
    missed = dict.fromkeys(given.methods, 0)
    for name, (without, cells) in found.items():
        for cell in cells:
            method, base = cell["method"], without[cell["method"]]
            row = []
            for value in cell["regrets"]:
                bad = value > WITHIN * base
                tried[method] += 1
                missed[method] += bad
                row.append(f"**{value:.0e}**" if bad else f"{value:.0e}")
            slab = f"{cell['share']}, {cell['margin']:g}"
            lines.append(f"| {name} | {cell['where']} | {slab} | {method} | {base:.0e} | " + " | ".join(row) + " |")
    chance = ", ".join(f"{name} {without['random']:.0e}" for name, (without, _) in found.items())
    counts = "; ".join(f"{method} {tried[method] - missed[method]} of {tried[method]}" for method in given.methods)
    lines += ["", f"Within the factor: {counts}. Random search without penalties: {chance}."]
    return "\n".join([*lines, "What is not listed was not run."])


def recorded(given: argparse.Namespace) -> dict[str, tuple[dict[str, float], list[dict[str, Any]]]]:
    """What is recorded of all problems, if it was run with the same settings."""
    data = json.loads((timing.HERE / "penalties.json").read_text())
    for name in ("methods", "seeds", "penalties", "shares", "margins", "where", "capital"):
        if data["given"][name] != vars(given)[name]:
            raise SystemExit(f"what is kept must have the same {name}: {data['given'][name]}, got {vars(given)[name]}")
    return dict(data["found"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", nargs="+", choices=list(PROBLEMS), default=list(PROBLEMS))
    parser.add_argument("--methods", nargs="+", default=list(METHODS))
    parser.add_argument("--seeds", nargs="+", type=int, default=list(range(10, 15)))
    parser.add_argument("--penalties", nargs="+", type=float, default=[1e2, 1e10, 1e100])
    parser.add_argument("--shares", nargs="+", choices=list(SHARES), default=list(SHARES))
    parser.add_argument("--margins", nargs="+", type=float, default=[0.02, 0.25])
    parser.add_argument("--where", nargs="+", choices=WHERE, default=list(WHERE))
    parser.add_argument("--capital", type=float, default=30.0, help="in units of the target's cost")
    parser.add_argument("--only-print", action="store_true", help="do not record")
    parser.add_argument("--keep", action="store_true", help="keep what is recorded of other problems")
    given = parser.parse_args()
    kept = recorded(given) if given.keep else {}
    kept |= {name: run(given, PROBLEMS[name]) for name in given.problems}
    found = {name: kept[name] for name in PROBLEMS if name in kept}
    table = show(given, found)
    if given.only_print:
        print(table)
    else:
        settings = vars(given) | {"problems": list(found)}
        timing.record("penalties", table, {"machine": timing.machine(), "given": settings, "found": found})


if __name__ == "__main__":
    main()
