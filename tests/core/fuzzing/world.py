"""World: the objects of a round, and what must hold of them."""

import pickle

import numpy as np

from mfopt_core import GP, Ascent, Bound, Direct, Improvement, Kernel, Level, LevelLikelihood, Mixture
from tests.core.fuzzing.arguments import D

PROBE = np.random.default_rng(0).random((3, D))


class World:
    """The objects that the calls of a round are made on."""

    def __init__(self, rng):
        self.gps = [
            GP("se", [0.3, 0.5], 1.5, 1e-3, 0.1),
            GP("matern52", 0.4, 1.0, 1e-2),
            GP("matern", 0.4, 2.0, 1e-3, 0.0, 1.3),
            GP("se", 0.4, 1.0, 0.0),
        ]
        for gp in self.gps:
            x = rng.random((int(rng.integers(1, 30)), D))
            gp.extend(x, x.sum(axis=1))
        self.trackers = [(gp, *self.new_tracker(rng, gp)) for gp in self.gps[:3] for _ in range(2)]
        self.levels = [Level(gp) for gp in self.gps[:3]]
        self.levels += [Level(self.gps[0], [0.5], -2.0, 0.3), Level(self.gps[0], [0.1]), Level(self.gps[1], [0.5])]
        self.mixed = [self.new_mixed(rng, kernel) for kernel in ("se", "matern52")]
        self.levels += [Level(gp, [k], *unit) for gp in self.mixed for k, unit in enumerate([(-2.0, 0.1), (0.5, 1.0)])]
        self.likelihood = LevelLikelihood(rng.random((5, D)), [0, 1, 1, 0, 1], rng.random(5), 2)
        self.points = rng.random((12, D))  # of a finite set
        self.listed = self.points.tolist()  # of another one, which changes
        self.kernels = [gp.kernel for gp in self.gps] + [Kernel("matern32", 0.5), Kernel("se", [0.1, 0.2])]
        self.search = Direct(int(rng.integers(1, 4)))
        self.ascent = Ascent(rng.random((int(rng.integers(1, 6)), D)), 1.0)
        self.touched = False  # an argument has called back: nothing is known of what a failed call left

    def new_tracker(self, rng, gp):
        """A tracker and its points."""
        x = rng.random((12, D))
        return gp.track(x, lazy=bool(rng.random() < 0.5)), x

    def new_mixed(self, rng, kernel):
        """A GP over points and two levels."""
        gp = GP.mixed(Mixture([Kernel(kernel, [0.3, 0.5]), Kernel(kernel, [0.9, 0.2])], [[1.0, 0.0], [-0.7, 0.4]]))
        x = rng.random((int(rng.integers(1, 30)), D))
        gp.extend(np.column_stack([x, rng.integers(0, 2, len(x))]), x.sum(axis=1), np.full(len(x), 1e-3))
        return gp

    def snapshot(self):
        """What must be the same after an error."""
        state = [array.tobytes() for gp in self.gps for array in gp.posterior(PROBE)]
        state += [gp.n for gp in self.gps] + [len(tracked) for _, tracked, _ in self.trackers] + [len(self.search)]
        return [*state, self.search.centres().tobytes(), self.ascent.points().tobytes()]

    def verify(self):
        """Compare what has grown by many calls with what is computed anew."""
        for gp in self.gps:
            x, y, noises = gp.x, gp.y, gp.noises
            assert np.isfinite(x).all()
            assert len(x) == len(y) == len(noises) == gp.n
        for gp in self.mixed:
            low, high = (level for level in self.levels if level.gp is gp)
            improvement = Improvement([low, high], 0.5, 1.0, [0.1, 0.1], [0.5, 0.0], 20.0)
            np.testing.assert_allclose(improvement.recurring(PROBE), improvement(PROBE), atol=1e-6, rtol=1e-6)
        for gp, tracked, points in self.trackers:
            if gp.n and min(gp.noises) < 1e-4:
                continue  # too ill-conditioned to compare
            scale = 1e-6 * (1.0 + np.abs(gp.y).max(initial=0.0))
            mean, var = gp.posterior(points)
            np.testing.assert_allclose(tracked.mean, mean, atol=scale, rtol=0)
            np.testing.assert_allclose(tracked.var, var, atol=1e-6)
            for level in self.levels:
                if level.gp is gp:
                    bound = Bound([level], 2.0, [0.1])
                    x = points[:, : D - len(level.tail)]
                    np.testing.assert_allclose(bound.recurring(x), bound(x), atol=2e-3 * (1.0 + scale), rtol=0)
            again = pickle.loads(pickle.dumps(gp))
            np.testing.assert_allclose(again.posterior(PROBE)[0], gp.posterior(PROBE)[0], atol=scale, rtol=0)
