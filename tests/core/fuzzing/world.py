"""World: the objects of a round, and what must hold of them."""

import pickle

import numpy as np

from mfopt_core import GP, Ascent, Direct, Kernel
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
        self.kernels = [gp.kernel for gp in self.gps] + [Kernel("matern32", 0.5), Kernel("se", [0.1, 0.2])]
        self.search = Direct(int(rng.integers(1, 4)))
        self.ascent = Ascent(rng.random((int(rng.integers(1, 6)), D)), 1.0)
        self.touched = False  # an argument has called back: nothing is known of what a failed call left

    def new_tracker(self, rng, gp):
        """A tracker and the points that it has, by the index of the first; None where they are not known."""
        x = rng.random((12, D))
        return gp.track(x, lazy=bool(rng.random() < 0.5), capacity=40), {0: x}

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
        for gp, tracked, known in self.trackers:
            points = np.full((len(tracked), D), np.nan)
            for first, x in known.items():
                if x is not None:
                    points[first : first + len(x)] = x
            sure = ~np.isnan(points).any(axis=1)
            if gp.n and min(gp.noises) < 1e-4:
                continue  # too ill-conditioned to compare
            scale = 1e-6 * (1.0 + np.abs(gp.y).max(initial=0.0))
            mean, var = gp.posterior(points[sure])
            np.testing.assert_allclose(tracked.mean[sure], mean, atol=scale, rtol=0)
            np.testing.assert_allclose(tracked.var[sure], var, atol=1e-6)
            again = pickle.loads(pickle.dumps(gp))
            np.testing.assert_allclose(again.posterior(PROBE)[0], gp.posterior(PROBE)[0], atol=scale, rtol=0)
