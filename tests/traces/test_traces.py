"""Runs without a model behind their choices ask for the same points on every machine and in every version."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.traces.configurations import PORTABLE, rounded

KNOWN = json.loads((Path(__file__).parent / "portable.json").read_text(encoding="utf-8"))


def test_every_portable_configuration_has_its_numbers():
    assert sorted(KNOWN) == sorted(PORTABLE)


@pytest.mark.parametrize("name", PORTABLE)
def test_a_run_asks_for_the_points_it_always_asked_for(name):
    found = rounded(name)
    assert [trial[:2] for trial in found] == [trial[:2] for trial in KNOWN[name]]  # ids and fidelities
    np.testing.assert_allclose([trial[2:] for trial in found], [trial[2:] for trial in KNOWN[name]], rtol=1e-8)
