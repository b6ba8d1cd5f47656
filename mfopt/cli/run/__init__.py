"""The command `mfopt run`: the whole loop on a problem file.

arguments   what the command line takes, and what it says over the problem file
opening     the optimiser or the study that is run
running     the run itself
summary     what is printed before and after it
"""

from mfopt.cli.run.arguments import add
from mfopt.cli.run.running import run

__all__ = ["add", "run"]
