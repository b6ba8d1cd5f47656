"""The pictures of the theory are drawn from what they are given."""

import numpy as np
import pytest

from mfopt import theory
from mfopt.errors import InputError
from mfopt.plots.theory import RatioCurve, plot_partition, plot_ratios

PNG = b"\x89PNG\r\n\x1a\n"


def square(side):
    axis = np.linspace(0, 1, side)
    return np.array(np.meshgrid(axis, axis)).reshape(2, -1).T.copy()


def test_ratio_curves_are_drawn(tmp_path):
    curve = RatioCurve("line", np.array([0.1, 1.0]), np.array([[0.1, 0.2, 0.3], [0.9, 1.0, 1.0]]))
    plot_ratios([curve, curve], tmp_path / "ratio.png")
    assert (tmp_path / "ratio.png").read_bytes().startswith(PNG)
    with pytest.raises(InputError, match="at least one curve"):
        plot_ratios([], tmp_path / "none.png")


def test_a_partition_is_drawn_with_queries_on_top(tmp_path):
    points, zetas, gammas = square(20), [0.8, 0.4], [0.1, 0.05]
    values = theory.sample_fidelities(theory.squared_exponential(0.5), points, zetas, np.random.default_rng(0))[0]
    labels = theory.partition(values, zetas, gammas)
    plot_partition(values, labels, zetas, gammas, tmp_path / "a.svg")
    plot_partition(values, labels, zetas, gammas, tmp_path / "b.svg", queries=points[:5])
    plain, queried = ((tmp_path / name).read_text() for name in ("a.svg", "b.svg"))
    assert len(queried) > len(plain)
    with pytest.raises(InputError, match="square grid, got 7 points"):
        plot_partition(values[:, :7], labels[:7], zetas, gammas, tmp_path / "c.png")


def test_the_ratio_falls_with_zeta():
    # The claim of the figure, small: a better approximation leaves a smaller set to the target.
    points, kernel = square(15), theory.squared_exponential()
    ratios = []
    for zeta in (0.01, 0.1, 1.0):
        draws = theory.sample_fidelities(kernel, points, [zeta], np.random.default_rng(0), 50)
        ratios.append(np.mean([theory.volumes(theory.partition(f, [zeta], [zeta / 3]), 2)[1] for f in draws]))
    assert ratios[0] < 0.1 < ratios[1] < 0.5 < 0.9 < ratios[2] <= 1
