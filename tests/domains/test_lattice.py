"""`contains` remembers combinations of discrete values; it must answer as snap and the constraints do."""

import pickle

import numpy as np
import pytest

import mfopt
from mfopt.domains import lattice

PARAMETERS = {
    "rate": mfopt.Real(1e-3, 1.0, log=True),
    "x": (-1.0, 3.0),
    "depth": mfopt.Integer(1, 6),
    "kind": ["a", "b", "c"],
    "drop": mfopt.Real(0.0, 1.0, when={"kind": "b"}),
}


def holds(p):
    return p["x"] + p["depth"] + p.get("drop", 0.0) <= 5.0 and p["rate"] > 0.01


def slow(space, u):
    """The same row by row, with nothing remembered."""
    return np.array(
        [np.array_equal(space.snap(row[None])[0], row) and holds(space.params(space.decode(row[None])[0])) for row in u]
    )


@pytest.fixture
def points():
    rng = np.random.default_rng(0)
    u = mfopt.Space(PARAMETERS).sample(60, rng)
    moved = u.copy()
    moved[np.arange(60), rng.integers(0, u.shape[1], 60)] = rng.random(60)  # off the values, or not at rest
    return np.vstack([u, moved])


def test_it_answers_as_it_would_with_nothing_remembered(points):
    space = mfopt.Space(PARAMETERS, constraints=holds)
    expected = slow(space, points)
    assert 5 < expected.sum() < 100
    for _ in range(2):
        assert space.contains(points).tolist() == expected.tolist()
    assert [bool(space.contains(row[None])[0]) for row in points] == expected.tolist()


def test_what_is_remembered_is_bounded_and_not_copied(points, monkeypatch):
    monkeypatch.setattr(lattice, "_KNOWN", 5)
    space = mfopt.Space(PARAMETERS)
    expected = space.contains(points)
    assert [bool(space.contains(row[None])[0]) for row in points] == expected.tolist()
    assert 0 < len(space._lattice._known) <= 5
    copy = pickle.loads(pickle.dumps(space))
    assert len(copy._lattice._known) == 0
    assert copy.contains(points).tolist() == expected.tolist()
