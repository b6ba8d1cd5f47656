"""Tables in plain text."""

from mfopt.run.tables import align

ROWS = [("name", "n"), ("a", "100"), ("long name", "")]


def test_columns_are_aligned_on_the_left_without_blanks_at_the_end():
    assert align(ROWS) == ["name       n", "a          100", "long name"]


def test_columns_are_aligned_on_the_right():
    assert align(ROWS, right=True) == ["     name    n", "        a  100", "long name     "]
