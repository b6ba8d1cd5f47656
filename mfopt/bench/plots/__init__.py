"""Pictures of experiments; importing them needs `mfopt[plot]`.

    curves   the simple regret of methods against capital
    paper    other figures of the paper: histogram of queries, bad approximations, bandwidth
    steps    the illustrations in one dimension: step by step, one step of gp-ucb, the challenges

All are drawn without a display and without global state.
"""

from mfopt.bench.plots.curves import STYLES, choose_styles, make_ramp, plot_regret
from mfopt.bench.plots.paper import plot_bad_approximation, plot_histogram, plot_kde
from mfopt.bench.plots.steps import animate_steps, plot_challenges, plot_single_step, plot_steps

__all__ = [
    "STYLES",
    "animate_steps",
    "choose_styles",
    "make_ramp",
    "plot_bad_approximation",
    "plot_challenges",
    "plot_histogram",
    "plot_kde",
    "plot_regret",
    "plot_single_step",
    "plot_steps",
]
