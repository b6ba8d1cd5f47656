"""Calls on processes over points and levels: one at random of each kind."""

import copy
import pickle

import numpy as np

from mfopt_core import GP, Bound, Improvement, Level, LevelLikelihood, Mixture, Pair
from tests.core.fuzzing.arguments import D
from tests.core.fuzzing.looks import LOOKS


class LevelCalls:
    """The part of Calls that is about several levels of one process."""

    def remember(self):
        """Bounds over levels, with what they remember."""
        draw, world = self.draw, self.world
        level = draw.choice(world.levels)
        if draw.chance(0.1):
            self.made["Level"] += 1
            tail = draw.numbers(int(draw.rng.integers(0, 3)))
            level = Level(level.gp if draw.chance(0.9) else draw.anything(), tail, draw.number(), draw.number())
        if draw.chance(0.2):
            self.on(level, draw.choice(LOOKS[Level]))
            again = draw.choice([copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])(level)
            assert again.remembered == level.remembered or draw.shared
            return
        levels = [level, *([draw.choice(world.levels)] if draw.chance(0.4) else [])]
        self.made["Bound"] += 1
        bound = Bound(levels if draw.chance(0.95) else draw.anything(), draw.number(), draw.numbers(len(levels)))
        x = draw.points()
        if isinstance(x, np.ndarray) and x.ndim == 2 and draw.chance(0.9):
            x = x[:, : level.gp.d - len(level.tail)]
        name = draw.choice(["__call__", "gradient", "pieces", "recurring", "recurring", "argmax", *LOOKS[Bound]])
        if name == "argmax":
            points = draw.choice([world.points, world.points, world.listed, x])
            if points is world.listed:  # the same object, with other points than last time
                points[:] = draw.rng.random((int(draw.rng.integers(1, 13)), D)).tolist()
            avoid = () if draw.chance(0.5) else (draw.dress(draw.rng.random(len(world.points)) < 0.3),)
            self.on(bound, name, points, *avoid)
        elif name in LOOKS[Bound]:
            self.on(bound, name)
        else:
            self.on(bound, name, x)

    def mix(self):
        """Mixtures, and GPs over them."""
        draw, world = self.draw, self.world
        self.made["Mixture"] += 1
        kernels = [draw.choice(world.kernels) for _ in range(2)] if draw.chance(0.9) else draw.anything()
        weights = draw.dress(draw.rng.standard_normal((int(draw.rng.integers(1, 4)), 2)))
        mixture = Mixture(kernels, weights)
        again = draw.choice([copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])(mixture)
        assert again.levels == mixture.levels
        gp = GP.mixed(mixture if draw.chance(0.9) else draw.anything())
        gp.extend(draw.points(D + 1), draw.numbers(3))
        gp.posterior_gradient(draw.points(D + 1))

    def relate(self):
        """Pairs of levels."""
        draw, world = self.draw, self.world
        self.made["Pair"] += 1
        pair = Pair(draw.choice(world.levels), draw.choice(world.levels))
        if draw.chance(0.1):
            pair = pickle.loads(pickle.dumps(pair))
        x = draw.points()
        if isinstance(x, np.ndarray) and x.ndim == 2 and draw.chance(0.9):
            x = x[:, : pair.first.gp.d - len(pair.first.tail)]
        name = draw.choice(["__call__", "gradient", *LOOKS[Pair]])
        self.on(pair, name, *([] if name in LOOKS[Pair] else [x]))

    def improve(self):
        """Improvements over levels of one GP."""
        draw, world = self.draw, self.world
        self.made["Improvement"] += 1
        one = draw.choice(world.levels)
        levels = [level for level in world.levels if level.gp is one.gp and len(level.tail) == len(one.tail)]
        levels = levels if draw.chance(0.9) else draw.choice([world.levels, draw.anything()])
        count = len(levels) if isinstance(levels, list) else 1
        noises, offsets = draw.rng.choice([1.0, 1e-8, 1e-300], count), draw.numbers(count)
        if draw.chance(0.3):
            offsets = np.where(draw.rng.random(count) < 0.5, -np.inf, 0.5)
        improvement = Improvement(levels, draw.number(), 1.5, draw.dress(noises), offsets, 20.0)
        if draw.chance(0.1):
            improvement = pickle.loads(pickle.dumps(improvement))
        x = draw.points()
        if isinstance(x, np.ndarray) and x.ndim == 2 and draw.chance(0.9):
            x = x[:, : one.gp.d - len(one.tail)]
        name = draw.choice(["__call__", "gradient", "recurring", "recurring", *LOOKS[Improvement]])
        self.on(improvement, name, *([] if name in LOOKS[Improvement] else [x]))

    def weigh(self):
        """Likelihoods of values of several levels."""
        draw, world = self.draw, self.world
        self.made["LevelLikelihood"] += 1
        n, levels = int(draw.rng.integers(0, 9)), int(draw.rng.integers(1, 4))
        kernel = draw.choice([*world.kernels, *[gp.kernel for gp in world.mixed]])
        d = D + 1 if isinstance(kernel, Mixture) else D
        level = draw.rng.integers(0, levels + draw.chance(0.05), n)
        likelihood = LevelLikelihood(
            draw.dress(draw.rng.random((n, d))), draw.dress(level), draw.numbers(n), draw.integer(levels)
        )
        noises, factors = draw.dress(1e-3 + draw.rng.random(levels)), draw.dress(0.1 + draw.rng.random(levels))
        self.on(likelihood, draw.choice(LOOKS[LevelLikelihood]))
        self.on(likelihood, "__call__", kernel, draw.number(), noises, factors, draw.numbers(levels))
