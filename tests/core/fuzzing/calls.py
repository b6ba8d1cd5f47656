"""Calls: one at random of all that the core offers."""

import contextlib
import copy
import pickle
from collections import Counter

import numpy as np

from mfopt_core import (
    GP,
    KERNELS,
    Ascent,
    Bound,
    Direct,
    Improvement,
    Kernel,
    Mixture,
    Pair,
    Tracked,
    argmax_ucb,
    ascend,
    choose_apart,
    divide,
    find_distinct,
    mf_ucb,
)
from tests.core.fuzzing.arguments import Acting, Arguments, D, Normals
from tests.core.fuzzing.level_calls import LevelCalls
from tests.core.fuzzing.looks import LOOKS, public_names
from tests.core.fuzzing.world import PROBE

DECLARED = (ValueError, TypeError, MemoryError)
MOST_ROWS = 60


class Calls(LevelCalls):
    """One random call at a time on the objects of a world; `made` counts them by name."""

    def __init__(self, world, rng, shared=()):
        self.world = world
        self.draw = Arguments(rng, shared)
        self.made = Counter()
        self.kinds = [self.grow, self.grow, self.ask_gp, self.ask_gp, self.look, self.use_kernel, self.make]
        self.kinds += [self.track, self.bound, self.bound, self.remember, self.remember, self.explore, self.search]
        self.kinds += [self.climb, self.blind, self.act, self.mix, self.relate, self.improve, self.weigh]

    def step(self):
        self.draw.choice(self.kinds)()

    def on(self, thing, name, *arguments):
        """Call a method, or look at a property."""
        self.made[f"{type(thing).__name__}.{name}"] += 1
        value = getattr(thing, name)
        return value(*arguments) if callable(value) else value

    def grow(self):
        draw, gp = self.draw, self.draw.choice(self.world.gps)
        if gp.n > MOST_ROWS or draw.chance(0.2):
            self.on(gp, "truncate", draw.integer(gp.n))
        elif draw.chance(0.5):
            self.on(gp, "append", draw.point(), draw.number(3.0))
        else:
            x = draw.points()
            n = len(x) if isinstance(x, (list, np.ndarray)) and np.ndim(x) else 1
            noise = () if draw.chance(0.6) else (draw.dress(1e-3 + draw.rng.random(n)),)
            self.on(gp, "extend", x, draw.numbers(n, 3.0), *noise)

    def ask_gp(self):
        draw, gp = self.draw, self.draw.choice(self.world.gps)
        name = draw.choice(["posterior", "posterior_gradient", "covariance", "sample", "log_marginal_likelihood"])
        if name == "sample":
            self.on(gp, name, draw.points(), draw.integer(5), draw.normals())
        elif name == "log_marginal_likelihood":
            self.on(gp, name, draw.flag(), draw.flag())
        else:
            self.on(gp, name, draw.points())

    def look(self):
        """Properties and what else takes no arguments."""
        world, draw = self.world, self.draw
        mixed = [*world.mixed, *[gp.kernel for gp in world.mixed]]
        thing = draw.choice([*world.gps, *mixed, *world.kernels, world.trackers[0][1], world.search, world.ascent])
        value = self.on(thing, draw.choice(LOOKS[type(thing)]))
        if isinstance(value, np.ndarray) and value.flags.writeable:
            value.fill(-1.0)  # it is the caller's now
        if isinstance(thing, (GP, Kernel, Mixture)):
            again = draw.choice([copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])(thing)
            assert type(again) is type(thing)

    def use_kernel(self):
        draw = self.draw
        name = draw.choice(["__call__", "gradient", "hyper_gradient"])
        self.on(draw.choice(self.world.kernels), name, draw.points(), draw.points())

    def make(self):
        """New objects from odd arguments; a GP that comes out must work."""
        draw = self.draw
        name = draw.choice(KERNELS) if draw.chance(0.9) else draw.anything()
        nu = draw.number(5.0) if name == "matern" else (draw.anything() if draw.chance(0.05) else None)
        lengthscale = draw.number() if draw.chance(0.5) else draw.dress(0.1 + draw.rng.random(D))
        kind = draw.choice(["GP", "Kernel", "Direct", "Ascent"])
        self.made[kind] += 1
        if kind == "GP":
            gp = GP(name, lengthscale, draw.number(), draw.number(), draw.number(), nu)
            gp.append(draw.point(), draw.number())
            gp.posterior(draw.points())
        elif kind == "Kernel":
            Kernel(name, lengthscale, draw.number(), nu)(draw.points(), draw.points())
        elif kind == "Direct":
            self.world.search = Direct(draw.integer(4), draw.number(0.1))
        else:
            self.world.ascent = Ascent(draw.points(), draw.number(), draw.mask(3, D) if draw.chance(0.3) else None)

    def track(self):
        draw = self.draw
        gp, tracked, _ = draw.choice(self.world.trackers)
        if draw.chance(0.2):
            self.on(gp, "track", draw.points(), draw.flag())
        elif draw.chance(0.2):
            self.made["Tracked"] += 1
            Tracked(gp if draw.chance(0.9) else draw.anything(), draw.points(), draw.flag())
        else:
            self.on(tracked, draw.choice(["mean", "var", "fresh", "__len__", "gp"]))

    def explore(self):
        """Whole searches, on a bound or on any function."""
        draw, level = self.draw, self.draw.choice(self.world.levels)
        function = Bound([level], 2.0, [0.1])
        d = level.gp.d - len(level.tail)
        kind = draw.choice(["divide", "ascend", "choose_apart", "find_distinct"])
        self.made[kind] += 1
        if kind == "divide":
            divide(function if draw.chance(0.7) else lambda x: draw.numbers(len(x)), d, draw.integer(60))
        elif kind == "ascend":
            starts = draw.rng.random((3, d)) if draw.chance(0.7) else draw.points()
            other = lambda x: (draw.numbers(len(x)), draw.points())  # noqa: E731
            free = draw.mask(3, d) if draw.chance(0.5) else None
            ascend(function if draw.chance(0.7) else other, starts, draw.number(), free, draw.integer(9))
        elif kind == "find_distinct":
            find_distinct(draw.points())
        else:
            choose_apart(draw.points(), draw.numbers(6), draw.integer(5), draw.number())

    def bound(self):
        draw, world = self.draw, self.world
        count = int(draw.rng.integers(1, 4))
        function = draw.choice([mf_ucb, argmax_ucb, argmax_ucb])
        self.made[function.__name__] += 1
        zetas = draw.numbers(count, 0.1)
        if function is argmax_ucb:
            members = [tracked for _, tracked, _ in world.trackers]
            chosen = [members[k] for k in draw.rng.permutation(len(members))[:count]]
            exclude = draw.dress(draw.rng.random(len(chosen[0])) < 0.3) if draw.chance(0.5) else None
            argmax_ucb(chosen if draw.chance(0.95) else draw.anything(), draw.number(), zetas, exclude)
        else:
            gps = [draw.choice(world.gps) for _ in range(count)] if draw.chance(0.95) else draw.anything()
            mf_ucb(gps, draw.points(), draw.number(), zetas, draw.flag())

    def search(self):
        search, draw = self.world.search, self.draw
        if len(search) > 300 or search.d > 4:
            self.world.search = Direct(int(draw.rng.integers(1, 4)))
            return
        self.on(search, "tell", draw.numbers(len(self.on(search, "centres"))))

    def climb(self):
        ascent, draw = self.world.ascent, self.draw
        points = self.on(ascent, "points")
        if len(points) == 0 or len(points) > 50:
            self.world.ascent = Ascent(draw.rng.random((3, D)), 1.0, draw.mask(3, D) if draw.chance(0.5) else None)
            return
        pieces = int(draw.rng.integers(1, 3))
        heights = draw.rng.standard_normal((pieces, len(points))) * draw.choice([1.0, 1e-300, 1e300])
        heights[draw.rng.random(heights.shape) < 0.05] = draw.choice([-np.inf, np.nan])
        slopes = draw.rng.standard_normal((pieces, *points.shape)) * draw.choice([0.0, 1.0, 1e300])
        self.on(ascent, "tell", draw.dress(heights), draw.dress(slopes))

    def blind(self):
        """Any method with any arguments."""
        draw, world = self.draw, self.world
        things = [
            *world.gps,
            *world.mixed,
            Pair(*world.levels[:1] * 2),
            Improvement(world.levels[:1], 0.0, 1.0, [0.1], [0.0], 20.0),
            world.likelihood,
            *world.kernels,
            world.trackers[0][1],
            world.search,
            world.ascent,
        ]
        thing = draw.choice([*things, *world.levels, Bound(world.levels[:2], 1.0, [0.0, 0.1])])
        name = draw.choice([name for name in public_names(type(thing)) if callable(getattr(thing, name))])
        self.on(thing, name, *[draw.anything() for _ in range(int(draw.rng.integers(0, 4)))])

    def act(self):
        """Arguments that, while they are converted, reshape another one or use the very object that waits for them."""
        draw, world = self.draw, self.world
        gp, x, level = draw.choice(world.gps), draw.rng.random((6, D)), draw.choice(world.levels)
        world.touched = True

        def reshape():
            x.shape = draw.choice([(12, 1), (1, 12), (3, 4), (12,), (6, 2)])

        def reenter():
            with contextlib.suppress(*DECLARED):
                draw.choice([self.grow, self.ask_gp, self.track, self.bound, self.remember])()

        act = draw.choice([reshape, reenter, lambda: x.fill(np.nan)])
        draw.choice(
            [
                lambda: self.on(gp, "extend", x, Acting(np.zeros(6), act)),
                lambda: self.on(gp, "extend", x, np.zeros(6), Acting(np.ones(6), act)),
                lambda: self.on(gp, "append", x[0], Acting(1.0, act)),
                lambda: self.on(gp, "sample", x, 2, Normals(lambda shape: (act(), np.zeros(shape))[1])),
                lambda: self.on(gp, "posterior", Acting(PROBE, act)),
                lambda: self.on(gp.kernel, "__call__", x, Acting(PROBE, act)),
                lambda: self.on(gp.kernel, "gradient", x, Acting(PROBE, act)),
                lambda: mf_ucb([gp, world.gps[0]], x, Acting(1.0, act), Acting([0.0, 0.1], act)),
                lambda: Bound(world.levels[:2], Acting(1.0, act), Acting([0.0, 0.1], act)).recurring(Acting(x, act)),
                lambda: divide(lambda points: Acting(np.zeros(len(points)), act), D, 20),
                lambda: self.on(world.search, "tell", Acting(np.zeros(7), world.search.centres)),
                lambda: self.on(level, "tail").resize(draw.choice([(0,), (9, 0), (40,)]), refcheck=False),
                lambda: self.on(world.mixed[0].kernel, "weights").resize((40, 40), refcheck=False),
            ]
        )()
