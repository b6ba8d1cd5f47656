"""Counting queries by fidelity and set."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mfopt import theory
from mfopt.errors import InputError


def history(fidelity):
    return SimpleNamespace(fidelity=np.array(fidelity, dtype=np.int64))


def test_queries_are_counted_step_by_step():
    counts = theory.queries_inside(history([0, 1, 0, 1]), np.array([True, True, False, True]), 2)
    assert counts.tolist() == [[0, 0], [1, 0], [1, 1], [1, 1], [1, 2]]


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), max_size=40))
def test_a_set_and_its_complement_share_all_queries(rows):
    fidelity, labels = [m for m, _ in rows], np.array([h for _, h in rows], dtype=np.int64)
    inside = theory.queries_inside(history(fidelity), labels == 2, 3)
    outside = theory.queries_inside(history(fidelity), labels != 2, 3)
    assert ((inside + outside).sum(axis=1) == np.arange(len(rows) + 1)).all()
    table = theory.queries_by_set(history(fidelity), labels, 3)
    assert table[2].tolist() == inside[-1].tolist()
    assert table.sum() == len(rows)


def test_there_must_be_an_entry_per_query_and_a_column_per_fidelity():
    with pytest.raises(InputError, match="one entry per query, 2, got 1"):
        theory.queries_inside(history([0, 1]), np.array([True]), 2)
    with pytest.raises(InputError, match="more than the highest queried, 1, got 1"):
        theory.queries_by_set(history([0, 1]), np.array([0, 0]), 1)
