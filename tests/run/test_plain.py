"""Plain values read back as they were written, and nothing else is read."""

import time

import numpy as np
import pytest

from mfopt.run.plain import LONGEST, from_text, to_text

VALUE = {
    "none": None,
    "flags": [True, False],
    "numbers": [0, -3, 2**60, 0.1, 1e-310, float("inf"), float("-inf")],
    "text": 'ζ \x00 "quoted"',
    "nested": {"mapping": {"array": [1, [2, [3]]]}, "number": "inf"},
    "arrays": [np.arange(6.0).reshape(2, 3), np.array([], dtype=np.int64), np.array([True, False]), np.array(0.1)],
}


def same(one, other):
    if isinstance(one, np.ndarray):
        return isinstance(other, np.ndarray) and one.dtype == other.dtype and np.array_equal(one, other)
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and one == other


def test_values_read_back_to_the_bit():
    assert same(VALUE, from_text(to_text(VALUE)))
    assert np.isnan(from_text(to_text(float("nan"))))
    bits = np.array([np.nan, -0.0, 5e-324])
    assert from_text(to_text(bits)).tobytes() == bits.tobytes()


def test_numpy_numbers_and_tuples_become_python_ones():
    assert from_text(to_text((np.float64(0.5), np.int64(3), np.bool_(True)))) == [0.5, 3, True]


def test_an_array_that_was_read_can_be_written_to():
    read = from_text(to_text(np.zeros(3)))
    read[0] = 1.0
    assert read[0] == 1.0


@pytest.mark.parametrize(
    "value",
    [object(), {1: 2}, {"f": len}, b"bytes", {1, 2}, np.array(["a"]), np.zeros(2, dtype=np.float32), 1j],
)
def test_what_is_not_plain_is_refused(value):
    with pytest.raises(TypeError, match="must"):
        to_text([value])


def test_what_is_nested_too_deep_is_refused():
    value = []
    for _ in range(30):
        value = [value]
    with pytest.raises(TypeError, match="at most 20 levels"):
        to_text(value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "nonsense",
        '{"pickle": "gASVAAA="}',
        '{"mapping": {}, "array": []}',
        '{"mapping": []}',
        '{"number": "1e5"}',
        '{"array": ["<f8", [3], "AAAA"]}',
        '{"array": ["<f8", [1000000000000], ""]}',
        '{"array": ["<f8", [-1], "AAAAAAAAAAA="]}',
        '{"array": ["<f8", [true], "AAAAAAAAAAA="]}',
        '{"array": ["|O", [1], "AAAAAAAAAAA="]}',
        '{"array": ["<f8", [1], "not base64"]}',
        '{"array": ["|b1", [1], "Ag=="]}',
        '{"array": ["<f8", [0, 0, 0, 0, 0], ""]}',
        "[" * 100 + "]" * 100,
        "[" * 400_000,
        '{"mapping":{"a":' * 30_000,
        "9" * 5000,
        "x" * (LONGEST + 1),
    ],
)
def test_a_hostile_text_is_refused_at_once(text):
    start = time.process_time()
    with pytest.raises(ValueError):  # noqa: PT011  # json's own among them
        from_text(text)
    assert time.process_time() - start < 1.0
