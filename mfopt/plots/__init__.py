"""Pictures (need `mfopt[plot]`): of a run, of a study, of the paper's sets.

They are drawn without a display and without global state; matplotlib is imported when something is drawn.
"""

from mfopt.plots.run import plot_run
from mfopt.plots.study import plot_study
from mfopt.plots.theory import RatioCurve, plot_partition, plot_ratios

__all__ = ["RatioCurve", "plot_partition", "plot_ratios", "plot_run", "plot_study"]
