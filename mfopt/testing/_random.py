"""The random state that plugins must not touch."""

from __future__ import annotations

import pickle

import numpy as np


def global_random_state() -> bytes:
    """NumPy's global generator, to be compared."""
    return pickle.dumps(np.random.get_state())  # noqa: NPY002
