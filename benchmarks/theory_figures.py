"""The pictures of docs/theory.md: vol(H⁽²⁾)/vol(X) against ζ_1, and the partition for four fidelities.

    python benchmarks/theory_figures.py [--out docs/theory] [--samples 500]

Settings of the paper's figure: SE kernel with bandwidth 1 and scale 1, γ_1 = ζ_1/3, a uniform grid of 10⁴ points. The
paper does not name the domain; it is [0, 1]^d here.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from mfopt import theory
from mfopt.plots.theory import RatioCurve, plot_partition, plot_ratios
from mfopt.protocols import Array

ZETAS = np.geomspace(0.001, 2.0, 20)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("docs/theory"))
    parser.add_argument("--samples", type=int, default=500)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    curves = [ratio_curve(d, arguments.samples) for d in (1, 2)]
    plot_ratios(curves, arguments.out / "ratio.png")
    for curve in curves:
        means = ", ".join(f"{z:.3g}: {r:.3f}" for z, r in zip(curve.zetas, curve.ratios.mean(axis=1), strict=True))
        print(f"{curve.title}: {means}")
    partition_picture(arguments.out / "partition.png")


def square(side: int) -> Array:
    """A uniform grid of [0, 1]², the first coordinate running fastest."""
    axis = np.linspace(0, 1, side)
    return np.array(np.meshgrid(axis, axis)).reshape(2, -1).T.copy()


def ratio_curve(d: int, samples: int) -> RatioCurve:
    """vol(H⁽²⁾)/vol(X) for samples of the generative process at each ζ_1."""
    points = np.linspace(0, 1, 10_000)[:, None] if d == 1 else square(100)
    kernel = theory.squared_exponential(1.0, 1.0)
    ratios = np.empty((len(ZETAS), samples))
    for i, zeta in enumerate(ZETAS):
        rng = np.random.default_rng([d, i])
        for j, values in enumerate(theory.sample_fidelities(kernel, points, [zeta], rng, samples)):
            ratios[i, j] = theory.volumes(theory.partition(values, [zeta], [zeta / 3]), 2)[1]
    return RatioCurve("one dimension" if d == 1 else "two dimensions", ZETAS, ratios)


def partition_picture(path: Path) -> None:
    """H⁽¹⁾..H⁽⁴⁾ of a sample with ζ falling by half from fidelity to fidelity."""
    points = square(200)
    zetas = [0.8, 0.4, 0.2]
    gammas = [zeta / 6 for zeta in zetas]
    kernel = theory.squared_exponential(0.4, 1.0)
    values = theory.sample_fidelities(kernel, points, zetas, np.random.default_rng(6))[0]
    plot_partition(values, theory.partition(values, zetas, gammas), zetas, gammas, path)


if __name__ == "__main__":
    main()
