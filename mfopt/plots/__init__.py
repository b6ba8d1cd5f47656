"""Pictures (need `mfopt[plot]`): of a run, of a study, of the paper's sets. Drawn without a display and without global
state."""

from mfopt.plots.run import plot_run
from mfopt.plots.study import plot_study

__all__ = ["plot_run", "plot_study"]
