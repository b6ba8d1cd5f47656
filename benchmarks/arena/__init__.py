"""The arena: methods, ours and other people's, compared on groups of problems at equal capital.

problem      a problem, and the meter that every method evaluates it through
groups       the problems by group, which are made in synthetic, simulators, noisy, finite, yahpo and models
optima       the optima that had to be searched for
ours         the strategies of mfopt as methods
peers        Optuna, SMAC3 and scikit-optimize; botorch_methods: BoTorch
cells        a method on a problem with a seed, carried out and recorded
results      what was measured, one line of JSON per run, and the figures made of it; report: the tables
__main__     the command
"""

import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):  # before NumPy is imported: processes are the parallelism
    os.environ.setdefault(_name, "1")
