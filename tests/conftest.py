"""One BLAS thread: the suite runs in parallel processes, and threads would only get in each other's way."""

import os

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
