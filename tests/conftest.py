"""One BLAS thread: the suite runs in parallel processes, and threads would only get in each other's way.

Hypothesis draws the same examples at every run; HYPOTHESIS_PROFILE=explore looks for new ones.
"""

import os

from hypothesis import settings

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

settings.register_profile("reproducible", derandomize=True)
settings.register_profile("explore", max_examples=500)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "reproducible"))
