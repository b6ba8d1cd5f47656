"""The command `mfopt run`: the whole loop on a problem file.

    arguments   what the command line takes, and its options under the names of a problem file
    opening     the optimiser or the study that is run
    running     the run itself
    summary     what is printed before and after it

What a problem file may define is told in mfopt/cli/problem_file.py.
"""

from mfopt.cli.run.arguments import add
from mfopt.cli.run.running import run

__all__ = ["add", "run"]
