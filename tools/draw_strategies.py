"""Draws docs/strategies/<name>.png: one run of every strategy on one function of one variable.

    python tools/draw_strategies.py [folder]

The target is Forrester et al.'s function turned round, the cheap fidelity a tilted and shifted version of it whose
maximum lies elsewhere. Each run has the capital of 15 target queries, a cheap one costs a tenth. Above: where the run
asked, below: in which order.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import mfopt

COSTS, CAPITAL, SEED = (1.0, 10.0), 150.0, 1
BEST, OPTIMUM = 0.75724876, 6.0207400557671
CHEAP, TARGET = "#4477aa", "#ee6677"
NAMES = ["mf-gp-ucb", "gp-ucb", "gp-ei", "gp-pi", "direct", "random"]
NAMES += ["mf-naive", "mf-naive-random", "mf-sko", "co-kriging"]


def target(x: np.ndarray) -> float:
    """Maximum 6.0207 at 0.7572; a second one, 0.986, at 0.1426."""
    return -float((6 * x[0] - 2) ** 2 * np.sin(12 * x[0] - 4))


def cheap(x: np.ndarray) -> float:
    """Half the target with a trend of its own: its maximum is the target's second one."""
    return 0.5 * target(x) - 5 * (x[0] - 0.5)


def draw(name: str, path: Path) -> mfopt.Optimizer:
    """Run one strategy and draw it."""
    optimizer = mfopt.Optimizer([(0.0, 1.0)], COSTS, strategy=name, capital=CAPITAL, rng=SEED)
    while not optimizer.done:
        trial = optimizer.ask()
        optimizer.tell(trial, (cheap, target)[trial.fidelity](trial.x))
    history = optimizer.history
    figure = Figure(figsize=(7, 5), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1))
    grid = np.linspace(0.0, 1.0, 400)
    for m, (function, colour, label) in enumerate(
        [(cheap, CHEAP, "cheap, cost 1"), (target, TARGET, "target, cost 10")]
    ):
        rows = history.fidelity == m
        above.plot(grid, [function(np.array([x])) for x in grid], color=colour, lw=1.0)
        above.scatter(history.x[rows, 0], history.y[rows], s=22 if m else 12, color=colour, label=label, zorder=3)
        below.scatter(history.x[rows, 0], np.flatnonzero(rows) + 1, s=22 if m else 12, color=colour)
    above.axvline(BEST, color="0.7", lw=0.8, zorder=0)
    below.axvline(BEST, color="0.7", lw=0.8, zorder=0)
    counts = np.bincount(history.fidelity, minlength=2)
    best = optimizer.best
    above.set_title(f"{name}: {counts[0]} cheap and {counts[1]} target queries, regret {OPTIMUM - best.y:.1e}")
    above.legend(fontsize=8, loc="lower right")
    above.set_ylabel("value")
    below.set_ylabel("query")
    below.set_xlabel("x")
    figure.savefig(path, dpi=80)
    return optimizer


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name in NAMES:
        optimizer = draw(name, folder / f"{name}.png")
        print(f"{name:16} best x = {optimizer.best.x[0]:.6f}, regret {OPTIMUM - optimizer.best.y:.2e}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[1] / "docs" / "strategies")
