"""docs/defaults.md: its program runs, and the settings that it names exist."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

from mfopt_plugins.strategies.mf_gp_ucb import MFGPUCB
from mfopt_plugins.strategies.ucb.departures import MODES, NAMES

LIKELIHOOD = '`"likelihood"`'
PAGE = (Path(__file__).resolve().parents[2] / "docs" / "defaults.md").read_text(encoding="utf-8")


def test_the_program_of_the_page_runs():
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("initial design: fidelity 0, point 1 of")


def test_every_setting_of_the_page_is_one_of_the_strategy():
    settings = set(inspect.signature(MFGPUCB).parameters)
    named = {name for call in re.findall(r"MFGPUCB\(([^)]*)\)", PAGE) for name in re.findall(r"(\w+)=", call)}
    assert {"mode", "coupled", "doubt", "affine", "initial_capital", "beta_factor"} <= named <= settings


def test_the_table_has_every_departure_from_the_paper():
    listed = re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)
    assert sorted(listed) == sorted([*NAMES, "initial_capital"])


def test_the_table_prints_what_each_mode_has():
    printed = {"rule": ('`"gamma"`', '`"worth"`'), "share": ("0", "1/3"), "learn_every": ("25 iterations", "0")}
    printed |= {name: (text, "as the surrogate") for name, text in (("isotropic", "`True`"), ("learning", LIKELIHOOD))}
    for name in NAMES:
        modes = [getattr(MODES[mode], name) for mode in ("paper", "practical")]
        expected = printed.get(name, tuple(f"`{value}`" for value in modes))
        (row,) = re.findall(rf"^\| `{name}` \| (.*?) \| (.*?) \|", PAGE, re.MULTILINE)
        assert all(cell.startswith(text) for cell, text in zip(row, expected, strict=True)), (name, row)
    assert MODES["paper"].share == 0.0
    assert MODES["practical"].share == 1 / 3
    assert (MODES["paper"].learn_every, MODES["practical"].learn_every) == (25, 0)
    assert (MODES["paper"].isotropic, MODES["practical"].isotropic) == (True, None)
    assert (MODES["paper"].learning, MODES["practical"].learning) == ("likelihood", None)
    assert (MODES["paper"].rule, MODES["practical"].rule) == ("gamma", "worth")
