"""Pictures of experiments (need `mfopt[plot]`). Drawn without a display and without global state.

curves    the simple regret of methods against capital
figures   histogram of queries, bad approximations, bandwidth
steps     the step-by-step illustration
"""

from mfopt.bench.plots.curves import STYLES, make_ramp, plot_regret
from mfopt.bench.plots.figures import plot_bad_approximation, plot_histogram, plot_kde
from mfopt.bench.plots.steps import animate_steps, plot_steps

__all__ = [
    "STYLES",
    "animate_steps",
    "make_ramp",
    "plot_bad_approximation",
    "plot_histogram",
    "plot_kde",
    "plot_regret",
    "plot_steps",
]
