"""Small plugins for the tests of the framework."""

from __future__ import annotations

import numpy as np

from mfopt.errors import Exhausted
from mfopt.hooks import SnapsPoints
from mfopt.protocols import Suggestion


class Said:
    """A reason that knows whether it was turned round."""

    def __init__(self, sign=1):
        self.sign = sign

    def negated(self):
        return Said(-self.sign)


class RandomSearch:
    """Random points at random affordable fidelities; the last query of the capital goes to the target.

    A finite noiseless set is walked through without repetition at each fidelity.
    """

    def __init__(self):
        self.records = []
        self.views = []

    def start(self, problem):
        self.problem = problem

    def ask(self, view):
        self.views.append(view)
        costs = self.problem.costs
        target = len(costs) - 1
        cheap = [m for m in range(target) if view.remaining >= costs[m] + costs[-1]]
        m = int(view.rng.choice([*cheap, target]))
        domain = self.problem.domain
        seen = {(tuple(q.u), q.fidelity) for q in [*view.pending, *self.records]}
        if domain.points is not None and self.problem.noises[m] == 0.0:
            open_ = [(u, k) for k in [*cheap, target] for u in domain.points if (tuple(u), k) not in seen]
            if not open_:
                raise Exhausted("nothing left")
            u, m = open_[int(view.rng.integers(len(open_)))]
            return Suggestion(u, m, Said())
        for u in domain.sample(50, view.rng):
            if domain.points is not None or (tuple(u), m) not in seen:
                return Suggestion(u, m, Said())
        raise Exhausted("nothing left")

    def tell(self, record):
        self.records.append(record)


class FixedGP:
    """A surrogate with an SE kernel of fixed length-scale; recomputes everything, so it can hardly be wrong."""

    def __init__(self, lengthscale=0.5):
        self.lengthscale = lengthscale

    def model(self, dim, noise=None):
        return FixedGPModel(dim, noise or 0.0, self.lengthscale)


class FixedGPModel:
    def __init__(self, dim, noise, lengthscale):
        self.u, self.y = np.empty((0, dim)), np.empty(0)
        self.offset, self.scale, self.noise, self.lengthscale = 0.0, 1.0, noise, lengthscale

    @property
    def n(self):
        return len(self.y)

    def fit(self, u, y, rng):
        self.offset, self.scale = float(np.mean(y)), 4.0 * float(np.var(y)) or 1.0
        self.u, self.y = u.copy(), y.copy()

    def extend(self, u, y):
        self.u, self.y = np.concatenate([self.u, u]), np.concatenate([self.y, y])

    def truncate(self, n):
        self.u, self.y = self.u[:n], self.y[:n]

    def _kernel(self, a, b):
        return self.scale * np.exp(-0.5 * np.square((a[:, None] - b) / self.lengthscale).sum(axis=2))

    def posterior(self, u):
        return self.posterior_gradient(u)[:2]

    def posterior_gradient(self, u):
        k = self._kernel(u, self.u)
        gram = self._kernel(self.u, self.u) + (self.noise + 1e-10 * self.scale) * np.eye(self.n)
        solved = np.linalg.solve(gram, np.column_stack([self.y - self.offset, k.T]))
        alpha, weights = solved[:, 0], solved[:, 1:].T
        slope = -k[:, :, None] * (u[:, None] - self.u) / self.lengthscale**2
        mean_slope = np.einsum("qnd,n->qd", slope, alpha)
        var_slope = -2.0 * np.einsum("qnd,qn->qd", slope, weights)
        var = np.maximum(self.scale - (k * weights).sum(axis=1), 0.0)
        return self.offset + k @ alpha, var, mean_slope, var_slope

    def describe(self):
        return {"lengthscale": self.lengthscale, "noise": self.noise}


class RandomMaximiser:
    """The best of many random points, then of many near it, ever nearer."""

    def maximise(self, acquisition, domain, rng, t):
        u = domain.sample(500, rng)
        best = u[np.argmax(acquisition(u))]
        for step in np.geomspace(0.3, 1e-3, 30):
            near = np.clip(best + step * rng.standard_normal((100, domain.dim)), 0.0, 1.0)
            near = domain.snap(near) if isinstance(domain, SnapsPoints) else near
            near = np.concatenate([best[None], near[domain.contains(near)]])
            best = near[np.argmax(acquisition(near))]
        return best


def toys():
    """Keyword arguments that make an Optimizer use these."""
    return {"strategy": RandomSearch(), "surrogate": FixedGP(), "maximiser": RandomMaximiser()}
