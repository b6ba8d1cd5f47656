"""Problems whose evaluations fail, in one table: where, at which fidelity, and what is to be found nevertheless.

The regions are in unit coordinates. `optimum` is the best target value that an evaluation can have: where a region
holds the maximum of the function itself, it is the best one outside.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

import mfopt

Array = npt.NDArray[np.float64]
Region = Callable[[Array, int, int], bool]  # (u, m, M) -> whether an evaluation of fidelity m at u fails


@dataclass(frozen=True)
class Failing:
    """A problem, and where its evaluations fail."""

    name: str
    what: str  # in words
    problem: mfopt.problems.Benchmark
    queries: float  # the capital in units of λ_M
    fails: Region | None = None
    rate: float = 0.0  # of failures anywhere
    noise: float = 0.0  # standard deviation of the values
    regional: bool = True  # whether a share of capital lost above 20 % is too much
    known: Region | None = None  # given as a constraint when the problem is run without failures

    @property
    def size(self) -> float:
        """The spread of the target's values: its standard deviation over X."""
        x = self.problem.domain.sample(2000, np.random.default_rng(0))
        return float(np.std(self.problem.functions[-1](self.problem.domain.decode(x))))

    def without_failures(self, domain: mfopt.Box) -> Failing:
        """The same problem over `domain`, where nothing fails."""
        return replace(self, fails=None, rate=0.0, problem=replace(self.problem, domain=domain))

    def failed(self, u: Array, m: int, draw: float) -> bool:
        """Whether this evaluation fails; `draw` is uniform on [0, 1)."""
        count = len(self.problem.costs)
        return draw < self.rate or (self.fails is not None and self.fails(u, m, count))


def uphill() -> mfopt.problems.Benchmark:
    """Rises towards large a; where a ≤ 0.5 is all that works, the best is 1 at (0.5, 0.4)."""

    def target(x: Array) -> Array:
        x = np.atleast_2d(x)
        return 2.0 * x[:, 0] - 3.0 * (x[:, 1] - 0.4) ** 2

    def cheap(x: Array) -> Array:
        x = np.atleast_2d(x)
        return target(x) + 0.15 * np.cos(7.0 * x[:, 1] + 3.0 * x[:, 0])

    domain = mfopt.Box([(0.0, 1.0)] * 2, names=["a", "b"])
    return mfopt.problems.Benchmark(
        "uphill", [cheap, target], domain, [1.0, 10.0], 1.0, np.array([0.5, 0.4]), [0.15, 0]
    )


def branin() -> mfopt.problems.Benchmark:
    """−Branin, one fidelity: three equal maxima, near (0.124, 0.818), (0.543, 0.152) and (0.962, 0.165)."""

    def target(x: Array) -> Array:
        x = np.atleast_2d(x)
        a, b = 15.0 * x[:, 0] - 5.0, 15.0 * x[:, 1]
        bowl = (b - 5.1 * a**2 / (4 * np.pi**2) + 5.0 * a / np.pi - 6.0) ** 2
        return -(bowl + 10.0 * (1.0 - 1.0 / (8 * np.pi)) * np.cos(a) + 10.0)

    domain = mfopt.Box([(0.0, 1.0)] * 2)
    return mfopt.problems.Benchmark("branin", [target], domain, [1.0], -0.397887, np.array([0.543, 0.152]), [0])


def ellipsoid(dim: int) -> mfopt.problems.Benchmark:
    """A bowl in `dim` dimensions with its maximum 0 at 0.3, and a shifted, wavy one below it."""

    def target(x: Array) -> Array:
        x = np.atleast_2d(x)
        return -np.sum(np.linspace(1.0, 3.0, dim) * (x - 0.3) ** 2, axis=1)

    def cheap(x: Array) -> Array:
        x = np.atleast_2d(x)
        return target(x) + 0.1 * np.sin(6.0 * x[:, 0]) + 0.1 * x[:, 1]

    domain = mfopt.Box([(0.0, 1.0)] * dim)
    return mfopt.problems.Benchmark("ellipsoid", [cheap, target], domain, [1.0, 10.0], 0.0, np.full(dim, 0.3), [0.2, 0])


def _near(centre: list[float], radius: float) -> Callable[[Array], bool]:
    return lambda u: bool(np.linalg.norm(u[: len(centre)] - centre) < radius)


def table() -> list[Failing]:
    """All of them; the first ten are those of the issue in their order."""
    currin, park, borehole = (mfopt.problems.get(name) for name in ("currin", "park", "borehole"))
    cheap_hartmann = mfopt.problems.get("hartmann3:costs=[1,4,16]")
    best = borehole.domain.encode(borehole.argmax[None])[0]
    edge = currin.argmax[0] + 0.005
    return [
        Failing("half space", "a > 0.5 fails, and the values rise towards it", uphill(), 20,
                lambda u, m, count: bool(u[0] > 0.5), known=lambda u, m, count: bool(u[0] > 0.5)),
        Failing("half space away", "a > 0.5 fails, the optimum is in the other half", currin, 20,
                lambda u, m, count: bool(u[0] > 0.5)),
        Failing("corner", "x0 + x1 + x2 < 1.2 fails, a corner of four dimensions", park, 20,
                lambda u, m, count: bool(u[:3].sum() < 1.2)),
        Failing("disc", "a disc around one of three maxima, one fidelity", branin(), 40,
                lambda u, m, count: _near([0.543, 0.152], 0.25)(u)),
        Failing("band", "only 0.865 < x0 + x1 < 1.025 works, a seventh of the square", branin(), 90,
                lambda u, m, count: bool(abs(u[0] + u[1] - 0.945) >= 0.08)),
        Failing("edge", "x0 > x0* + 0.005 fails: the optimum lies on the edge", currin, 20,
                lambda u, m, count: bool(u[0] > edge)),
        Failing("target only", "x0 > 0.5 fails at the target alone, three fidelities", cheap_hartmann, 30,
                lambda u, m, count: bool(m == count - 1 and u[0] > 0.5)),
        Failing("cheap only", "the first fidelity fails within 0.4 of the optimum", currin, 20,
                lambda u, m, count: bool(m == 0 and _near([0.2167, 0.0], 0.4)(u))),
        Failing("random 5 %", "5 % fail anywhere", currin, 20, rate=0.05, regional=False),
        Failing("random 30 %", "30 % fail anywhere", park, 20, rate=0.30, regional=False),
        Failing("everything", "everything fails", currin, 15, lambda u, m, count: True, regional=False),
        Failing("eight dimensions", "u3 < 0.4 fails, in eight dimensions", borehole, 20,
                lambda u, m, count: bool(u[3] < 0.4 if best[3] > 0.5 else u[3] > 0.6)),
        Failing("noisy oblique", "u0 + u1 > 1.1 fails in six dimensions; noise of 2 % of the range", ellipsoid(6), 30,
                lambda u, m, count: bool(u[0] + u[1] > 1.1), noise=0.1),
        Failing("three fidelities", "a ball of radius 0.3 around the second maximum fails", cheap_hartmann, 30,
                lambda u, m, count: _near([0.109, 0.860, 0.564], 0.3)(u)),
        Failing("mixed", "a > 0.5 fails, as do 5 % anywhere; noise", uphill(), 20,
                lambda u, m, count: bool(u[0] > 0.5), rate=0.05, noise=0.03,
                known=lambda u, m, count: bool(u[0] > 0.5)),
    ]  # fmt: skip
