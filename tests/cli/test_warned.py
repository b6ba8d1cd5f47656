"""Warnings are a line each, and said once."""

import pytest

from tests.cli.test_run import folder, shell  # noqa: F401

ODD = """\
import warnings
import mfopt
domain = [(0.0, 1.0)]
fidelities = [mfopt.Fidelity("low", 1.0, zeta=0.001), mfopt.Fidelity("high", 5.0)]
seed = 1
def low(x): return {"value": 2 - (x[0] - 0.4) ** 2, "cost": 9.0}
def high(x):
    warnings.warn("of the user")
    return {"value": 1 - (x[0] - 0.5) ** 2, "cost": 2.0}
functions = [low, high]
"""


@pytest.mark.usefixtures("folder")
def test_our_warnings_are_lines_without_source_and_others_show_where_they_come_from():
    with open("odd.py", "w") as file:
        file.write(ODD)
    done = shell("run", "odd.py", "--cost", "reported", "--capital", "90", "--quiet", "--plot", "odd.png")
    ours = [line for line in done.stderr.splitlines() if line.startswith("mfopt: warning: ")]
    assert len([line for line in ours if line.startswith("mfopt: warning: costs should rise with the fidelity: ")]) == 1
    assert len([line for line in ours if line.startswith("mfopt: warning: the zetas given let fidelities ")]) == 1
    assert len(ours) == 2
    assert "odd.py:8: UserWarning: of the user" in done.stderr
    assert "CostWarning" not in done.stderr
    assert "ZetaWarning" not in done.stderr
