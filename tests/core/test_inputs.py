"""What may come in, what is refused, and that a refusal changes nothing."""

import numpy as np
import pytest

import mfopt_core
from mfopt_core import GP


def small():
    gp = GP("se", [0.5, 0.5], 1.0, 1e-3)
    gp.extend([[0.1, 0.2], [0.6, 0.3]], [1.0, 2.0])
    return gp


def frozen(a):
    a = np.array(a)
    a.setflags(write=False)
    return a


X = np.random.default_rng(0).random((6, 2))
INPUTS = {
    "read-only": frozen(X),
    "fortran order": np.asfortranarray(X),
    "non-contiguous": np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3],
    "reversed": X[::-1][::-1],
    "big-endian": X.astype(">f8"),
    "list": X.tolist(),
    "unaligned": np.frombuffer(b"\0" + X.tobytes(), dtype=np.uint8)[1:].view(np.float64).reshape(X.shape),
}


@pytest.mark.parametrize("name", INPUTS)
def test_any_layout_is_accepted_and_never_modified(name):
    given = INPUTS[name]
    copy = np.array(given, dtype=float)
    gp, plain = small(), small()
    gp.extend(given, frozen(np.arange(6.0)))
    plain.extend(X, np.arange(6.0))
    np.testing.assert_array_equal(gp.x, plain.x)
    np.testing.assert_array_equal(gp.posterior(given)[0], plain.posterior(X)[0])
    np.testing.assert_array_equal(gp.track(given).mean, plain.track(X).mean)
    np.testing.assert_array_equal(np.array(given, dtype=float), copy)


def test_memory_mapped_input_is_accepted(tmp_path):
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    np.testing.assert_array_equal(small().posterior(mapped)[0], small().posterior(X)[0])


def test_float32_and_integers_are_converted():
    gp = small()
    gp.extend(X.astype(np.float32), np.arange(6))
    np.testing.assert_array_equal(gp.x[2:], X.astype(np.float32).astype(float))
    gp.append(np.array([1, 0]), np.float32(0.5))
    gp.append((0, 1), 3)
    assert gp.y[-2:].tolist() == [0.5, 3.0]


BAD_POINTS = [
    (np.zeros(2), r"x must have shape \(q, 2\): q points, one per row, in 2 dimensions; got shape \(2,\)"),
    (np.zeros((3, 3)), r"got shape \(3, 3\)"),
    (np.zeros((1, 2, 1)), r"got shape \(1, 2, 1\)"),
    (np.zeros((3, 0)), r"got shape \(3, 0\)"),
    ([[0.0, np.nan]], r"x must be finite, got nan at index \(0, 1\)"),
    ([[0.0, 1.0], [-np.inf, 0.0]], r"x must be finite, got -inf at index \(1, 0\)"),
    ([["a", "b"]], "x must be real numbers"),
    ([[1j, 0]], "x must be real numbers"),
    (None, "x must be real numbers"),
]


@pytest.mark.parametrize(("bad", "message"), BAD_POINTS)
def test_bad_points_are_refused_and_change_nothing(bad, message):
    gp = small()
    before = gp.posterior(X)
    calls = [
        lambda: gp.posterior(bad),
        lambda: gp.posterior_gradient(bad),
        lambda: gp.covariance(bad),
        lambda: gp.extend(bad, np.zeros(1)),
        lambda: gp.track(bad),
        lambda: gp.sample(bad, 1, np.random.default_rng(0)),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=message):
            call()
    assert gp.n == 2
    np.testing.assert_array_equal(before, gp.posterior(X))


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ([0.1, 0.2, 0.3], 1.0, r"x must have shape \(2,\), got shape \(3,\)"),
        ([[0.1, 0.2]], 1.0, r"x must have shape \(2,\), got shape \(1, 2\)"),
        ([0.1, 0.2], np.nan, "y must be finite, got nan"),
        ([0.1, 0.2], 1e200, r"y must be within 1e\+152 times √scale of the prior mean, got 1e\+200"),
        ([0.1, 0.2], [1.0, 2.0], "y must be one real number"),
        ([0.1, 0.2], "1", "y must be one real number"),
        ([0.1, 0.2], None, "y must be one real number"),
        ([0.1, np.inf], 1.0, "x must be finite"),
    ],
)
def test_bad_observations_are_refused_and_change_nothing(x, y, message):
    gp = small()
    with pytest.raises(ValueError, match=message):
        gp.append(x, y)
    assert gp.n == 2


def test_lengths_must_match_and_rows_must_exist():
    gp = small()
    with pytest.raises(ValueError, match=r"y must have shape \(6,\), got shape \(5,\)"):
        gp.extend(X, np.zeros(5))
    for n in (-1, 3):
        with pytest.raises(ValueError, match=f"n must be between 0 and the 2 rows there are, got {n}"):
            gp.truncate(n)
    assert gp.n == 2


def test_an_isotropic_gp_learns_its_dimension_from_the_first_points():
    gp = GP("se", 0.5, 1.0, 0.1)
    assert gp.d == 0
    with pytest.raises(ValueError, match=r"x must have at least one coordinate, got shape \(0,\)"):
        gp.append([], 1.0)
    with pytest.raises(ValueError, match="d >= 1"):
        gp.posterior(np.zeros(3))
    gp.append([0.1, 0.2, 0.3], 1.0)
    assert gp.d == 3
    with pytest.raises(ValueError, match=r"x must have shape \(q, 3\)"):
        gp.posterior(X)


@pytest.mark.parametrize(
    ("noise", "mean", "message"),
    [
        (-1.0, 0.0, "noise is a variance between 0 and 1e150 times the scale, got noise=-1.0"),
        (np.nan, 0.0, "noise must be finite"),
        (1e200, 0.0, "noise is a variance between"),
        (0.1, np.inf, "mean must be finite"),
        ("a", 0.0, "noise must be one real number"),
    ],
)
def test_bad_parameters_are_refused(noise, mean, message):
    with pytest.raises(ValueError, match=message):
        GP("se", 0.5, 1.0, noise, mean)


class Slippery(np.ndarray):
    """An array that cannot be printed, as one that another thread reshapes meanwhile."""

    def __repr__(self):
        raise IndexError("out of bounds")


@pytest.mark.parametrize(
    "call",
    [
        lambda given: mfopt_core.GP("se", given(-1.0, 1.0), 1.0, 0.0),
        lambda given: mfopt_core.GP("se", [1.0], given(1.0, 2.0), 0.0),
        lambda given: mfopt_core.Mixture([mfopt_core.Kernel("se", [1.0])], given([0.0])),
        lambda given: mfopt_core.LevelLikelihood(np.zeros((2, 1)), given(0, 7), np.zeros(2), 2),
    ],
)
def test_an_error_about_an_array_does_not_depend_on_printing_that_very_array(call):
    with pytest.raises(ValueError, match="must be"):
        call(lambda *values: np.array(values).view(Slippery))
