"""Experiments: problems × methods × seeds, run in parallel processes and kept in a file as they finish.

    from mfopt import bench
    cells = bench.run(["currin", "park"], ["mf-gp-ucb", "gp-ucb"], seeds=range(5), capital=50, jobs=2, out="out/bench")

The command line has the same: `mfopt bench run`, `mfopt bench report`, `mfopt bench figure`.
"""

from mfopt.bench.cells import Cell, Task
from mfopt.bench.figures import figure
from mfopt.bench.methods import METHODS, Method
from mfopt.bench.runner import run
from mfopt.bench.store import load

__all__ = ["METHODS", "Cell", "Method", "Task", "figure", "load", "run"]
