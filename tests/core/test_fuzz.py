"""Random calls on the whole core; MFOPT_FUZZ_CALLS says how many, MFOPT_FUZZ_SEED which."""

import os

import pytest

import mfopt_core
from tests.core.fuzzing.looks import public_names
from tests.core.fuzzing.rounds import run


@pytest.mark.filterwarnings("ignore")  # NumPy's, of numbers that overflow and of shapes that are set
def test_only_declared_errors_come_out_and_they_change_nothing():
    made = run(int(os.environ.get("MFOPT_FUZZ_CALLS", "20000")), int(os.environ.get("MFOPT_FUZZ_SEED", "0")))
    offered = {"mf_ucb", "argmax_ucb", "divide", "ascend", "choose_apart", "find_distinct"}
    kinds = [getattr(mfopt_core, name) for name in mfopt_core.__all__]
    for kind in [kind for kind in kinds if isinstance(kind, type)]:
        offered |= {kind.__name__} | {f"{kind.__name__}.{name}" for name in public_names(kind)}
    assert offered <= set(made)  # nothing was left out
