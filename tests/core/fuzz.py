"""Random calls on everything that mfopt_core offers, with good, odd and hostile arguments, from one thread and several.

A run is made of rounds. Each has a seed of its own and a fresh World: a few Gaussian processes, trackers, kernels and
searches. CALLS calls follow, one after the other; in every THREADED-th round they come from several threads at once,
while another one overwrites the arrays that are given. What is required:

    only errors of DECLARED kinds come out;
    after an error all objects are as they were, to the bit (one thread; arguments that call back are let off);
    at the end of a round trackers agree with their GP, and a GP with one that is built anew from its rows.

`python -m tests.core.fuzz CALLS SEED` runs it by itself. A round that went wrong is named in the error and can be
repeated by `run_round(seed, number)`.
"""

import contextlib
import copy
import pickle
import sys
import threading
from collections import Counter

import numpy as np

from mfopt_core import GP, KERNELS, Ascent, Direct, Kernel, Tracked, argmax_ucb, mf_ucb, ucb_pieces

DECLARED = (ValueError, TypeError, MemoryError)
CALLS = 100
THREADED = 10
WORKERS = 3
MOST_ROWS = 60
D = 2
PROBE = np.random.default_rng(0).random((3, D))


class Acting:
    """An array that does something while it is converted."""

    def __init__(self, value, act):
        self.value, self.act = value, act

    def __array__(self, dtype=None, copy=None):
        self.act()
        return np.asarray(self.value, dtype=dtype)


class Normals:
    """A generator that returns whatever it was given."""

    def __init__(self, value):
        self.value = value

    def standard_normal(self, shape):
        return self.value(shape) if callable(self.value) else self.value


# -- arguments -----------------------------------------------------------------------------------------------

INTEGERS = [-(10**30), -(2**63), -1, 0, 1, 2, 3, 5, 2**62, 2**63 - 1, 2**63, 2**64, 10**30]
NUMBERS = [0.0, -0.0, 1.0, -1.0, 1e-320, 1e-150, 1e150, 1.7e308, -1.7e308, np.inf, -np.inf, np.nan, True]
NUMBERS += [np.float32(0.5), np.float64(0.5), np.int64(2), np.uint8(3), np.bool_(True), np.array(0.5), np.array([0.5])]
THINGS = [None, "a", "0.5", b"x", 1j, object(), int, len, {}, {1: 2}, {1}, range(3), slice(3), Ellipsis, NotImplemented]
THINGS += [
    [],
    [[]],
    [[], []],
    [[1], [1, 2]],
    [[1, 2], 3],
    [["a", "b"]],
    [[None, 1.0]],
    [10**30],
    [[10**30, 0]],
    (),
    ((),),
]
ARRAYS = [
    np.zeros(shape) for shape in ((), (0,), (1,), (2,), (0, 2), (2, 0), (1, 2), (2, 2), (2, 3), (1, 2, 2), (3,) * 4)
]
ARRAYS += [np.zeros((2, 2), dtype=kind) for kind in ("c16", "O", "U3", "S3", "M8[s]", "m8[s]", "V8", "f2", "?", "i1")]
ARRAYS += [np.zeros((2, 2), dtype=[("a", "f8"), ("b", "i4")]), np.ma.masked_array(np.ones((2, 2)), [[0, 1], [1, 0]])]
ARRAYS += [np.full((2, 2), np.nan), np.array([[0.1, np.inf]]), np.broadcast_to(0.5, (4, 2)), np.broadcast_to(0.5, (2,))]
HOSTILE = [*INTEGERS, *NUMBERS, *THINGS, *ARRAYS, memoryview(b"ab"), bytearray(8)]


class Arguments:
    """Draws arguments: most of them good, in some layout or type, and others of no use at all."""

    def __init__(self, rng, shared):
        self.rng = rng
        self.shared = shared  # arrays that another thread overwrites

    def chance(self, p):
        return self.rng.random() < p

    def choice(self, options):
        return options[self.rng.integers(len(options))]

    def anything(self):
        return self.choice(HOSTILE)

    def dress(self, a):
        """The same numbers in another layout or type; or something else, or an array that others write to."""
        if self.chance(0.05):
            return self.anything()
        if self.shared and self.chance(0.3):
            return self.choice(self.shared)
        how = self.rng.integers(14)
        if how == 0:
            return np.repeat(a, 2, axis=0)[::2]
        if how == 1:
            return np.asfortranarray(a)
        if how == 2:
            return a[::-1]
        if how == 3:
            a.setflags(write=False)
        return {4: a.tolist, 5: lambda: a.astype(np.float32), 6: lambda: a.astype(">f8")}.get(int(how), lambda: a)()

    def points(self, d=D):
        q = int(self.choice([0, 1, 1, 2, 3, 5, 7, 8, 9, 20, 40]))
        x = self.rng.random((q, d + (self.chance(0.02))))
        if self.chance(0.05):
            x *= self.choice([0.0, 1e-300, 1e10, 1e308])
        return self.dress(x)

    def point(self):
        return self.dress(self.rng.random(D + self.chance(0.02)))

    def numbers(self, n, most=1.0):
        values = most * self.rng.standard_normal(max(0, n + int(self.chance(0.03)) - int(self.chance(0.03))))
        return self.dress(values * (1e100 if self.chance(0.02) else 1.0))

    def number(self, most=1.0):
        return self.choice([*NUMBERS, *INTEGERS]) if self.chance(0.1) else float(most * self.rng.random())

    def integer(self, most):
        if self.chance(0.1):
            return self.anything()
        return self.choice(INTEGERS) if self.chance(0.2) else int(self.rng.integers(0, max(1, most + 1)))

    def flag(self):
        return self.anything() if self.chance(0.03) else bool(self.chance(0.5))

    def normals(self):
        kinds = [
            self.rng.standard_normal,
            lambda shape: np.zeros(shape, dtype=np.float32),
            lambda shape: np.ones(shape, dtype=np.int64),
            lambda shape: np.zeros(shape[::-1]),
            lambda shape: self.rng.standard_normal((*shape[:-1], shape[-1] + 1)),
            lambda shape: [[0.0] * shape[1]] * min(shape[0], 3),
        ]
        return self.rng if self.chance(0.5) else Normals(self.choice([*kinds, self.anything()]))


# -- objects -------------------------------------------------------------------------------------------------


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


# -- calls ---------------------------------------------------------------------------------------------------


class Calls:
    """One random call at a time on the objects of a world; `made` counts them by name."""

    def __init__(self, world, rng, shared=()):
        self.world = world
        self.draw = Arguments(rng, shared)
        self.made = Counter()
        self.kinds = [self.grow, self.grow, self.ask_gp, self.ask_gp, self.look, self.use_kernel, self.make]
        self.kinds += [self.track, self.track, self.bound, self.bound, self.search, self.climb, self.blind, self.act]

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
        thing = draw.choice([*world.gps, *world.kernels, world.trackers[0][1], world.search, world.ascent])
        value = self.on(thing, draw.choice(LOOKS[type(thing)]))
        if isinstance(value, np.ndarray) and value.flags.writeable:
            value.fill(-1.0)  # it is the caller's now
        if isinstance(thing, (GP, Kernel)):
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
            self.world.ascent = Ascent(draw.points(), draw.number())

    def track(self):
        draw = self.draw
        gp, tracked, known = draw.choice(self.world.trackers)
        if draw.chance(0.1):
            self.on(gp, "track", draw.points(), draw.flag(), draw.integer(50))
        elif draw.chance(0.1):
            self.made["Tracked"] += 1
            Tracked(gp if draw.chance(0.9) else draw.anything(), draw.points(), draw.flag(), draw.integer(50))
        elif draw.chance(0.4):
            x = draw.points()
            first = self.on(tracked, "add", x)
            known[first] = None if draw.shared else np.array(x, dtype=float)
        elif draw.chance(0.5):
            indices = draw.rng.integers(0, len(tracked) + int(draw.chance(0.1)), int(draw.rng.integers(0, 9)))
            chosen = draw.choice(draw.shared) if draw.shared and draw.chance(0.5) else indices
            self.on(tracked, "bounds", draw.anything() if draw.chance(0.1) else chosen, draw.number(), draw.number())
        else:
            self.on(tracked, draw.choice(["mean", "var", "fresh", "__len__", "capacity", "gp"]))

    def bound(self):
        draw, world = self.draw, self.world
        count = int(draw.rng.integers(1, 4))
        function = draw.choice([mf_ucb, ucb_pieces, argmax_ucb, argmax_ucb])
        self.made[function.__name__] += 1
        zetas = draw.numbers(count, 0.1)
        if function is argmax_ucb:
            members = [tracked for _, tracked, _ in world.trackers]
            chosen = [members[k] for k in draw.rng.permutation(len(members))[:count]]
            exclude = draw.dress(draw.rng.random(len(chosen[0])) < 0.3) if draw.chance(0.5) else None
            argmax_ucb(chosen if draw.chance(0.95) else draw.anything(), draw.number(), zetas, exclude)
        else:
            gps = [draw.choice(world.gps) for _ in range(count)] if draw.chance(0.95) else draw.anything()
            grad = (draw.flag(),) if function is mf_ucb else ()
            function(gps, draw.points(), draw.number(), zetas, *grad)

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
            self.world.ascent = Ascent(draw.rng.random((3, D)), 1.0)
            return
        pieces = int(draw.rng.integers(1, 3))
        heights = draw.rng.standard_normal((pieces, len(points))) * draw.choice([1.0, 1e-300, 1e300])
        heights[draw.rng.random(heights.shape) < 0.05] = draw.choice([-np.inf, np.nan])
        slopes = draw.rng.standard_normal((pieces, *points.shape)) * draw.choice([0.0, 1.0, 1e300])
        self.on(ascent, "tell", draw.dress(heights), draw.dress(slopes))

    def blind(self):
        """Any method with any arguments."""
        draw, world = self.draw, self.world
        thing = draw.choice([*world.gps, *world.kernels, world.trackers[0][1], world.search, world.ascent])
        name = draw.choice([name for name in public_names(type(thing)) if callable(getattr(thing, name))])
        self.on(thing, name, *[draw.anything() for _ in range(int(draw.rng.integers(0, 4)))])

    def act(self):
        """Arguments that, while they are converted, reshape another one or use the very object that waits for them."""
        draw, world = self.draw, self.world
        gp, x = draw.choice(world.gps), draw.rng.random((6, D))
        world.touched = True

        def reshape():
            x.shape = draw.choice([(12, 1), (1, 12), (3, 4), (12,), (6, 2)])

        def reenter():
            with contextlib.suppress(*DECLARED):
                draw.choice([self.grow, self.ask_gp, self.track, self.bound])()

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
                lambda: self.on(world.trackers[0][1], "bounds", Acting([0, 1], act), 1.0, Acting(0.0, act)),
            ]
        )()


def public_names(kind):
    """The methods and properties of a class of the core, with the special ones that are part of its use."""
    return [name for name in dir(kind) if not name.startswith("_")] + [
        name for name in ("__call__", "__len__", "__repr__", "__reduce__") if name in vars(kind)
    ]


def without_arguments(kind, *names):
    """What can be looked at: the properties of a class, and the given methods."""
    return [name for name in public_names(kind) if not callable(getattr(kind, name))] + list(names)


LOOKS = {
    GP: without_arguments(GP, "cholesky", "__repr__", "__reduce__"),
    Kernel: without_arguments(Kernel, "__reduce__"),
    Tracked: without_arguments(Tracked, "__len__"),
    Direct: without_arguments(Direct, "centres", "seen", "__len__"),
    Ascent: without_arguments(Ascent, "points", "result"),
}


# -- rounds --------------------------------------------------------------------------------------------------


def run_alone(calls, count):
    """Calls one after the other; after every error the world must be as it was."""
    world = calls.world
    before = world.snapshot()
    for k in range(count):
        world.touched, refusal = False, None
        try:
            calls.step()
        except DECLARED as error:
            refusal = error
        after = world.snapshot()
        if refusal is not None and not world.touched:
            assert after == before, f"call {k} has left something behind: {refusal!r}"
        before = after


def run_together(world, seed, count):
    """Calls from several threads, while one more overwrites the arrays that are given."""
    shared = [np.zeros((6, D)), np.zeros(6), np.zeros(6, dtype=np.intp), np.zeros(12, dtype=bool)]
    workers = [Calls(world, np.random.default_rng([*seed, k]), shared) for k in range(WORKERS)]
    failures, done = [], threading.Event()

    def work(calls):
        try:
            for _ in range(count // WORKERS):
                with contextlib.suppress(*DECLARED):
                    calls.step()
        except BaseException as error:  # a thread's exception would be lost otherwise
            failures.append(error)

    def overwrite(rng):
        while not done.is_set():
            for array in shared:
                array.fill(rng.choice([0, 1, 5, 10**15]) if array.dtype.kind == "i" else rng.choice([0.0, 0.5, np.nan]))
            shared[0].shape = (D, 6) if rng.random() < 0.5 else (6, D)
            done.wait(1e-5)

    threads = [threading.Thread(target=work, args=(calls,)) for calls in workers]
    writer = threading.Thread(target=overwrite, args=(np.random.default_rng(seed),))
    for thread in (*threads, writer):
        thread.start()
    for thread in threads:
        thread.join()
    done.set()
    writer.join()
    if failures:
        raise failures[0]
    return sum((calls.made for calls in workers), Counter())


def run_round(seed, number):
    """The calls that were made, by name."""
    rng = np.random.default_rng([seed, number])
    world = World(rng)
    try:
        if number % THREADED == THREADED - 1:
            made = run_together(world, [seed, number], CALLS)
        else:
            calls = Calls(world, rng)
            run_alone(calls, CALLS)
            made = calls.made
        world.verify()
    except Exception as error:
        raise AssertionError(f"round {number} of seed {seed} went wrong: {error!r}") from error
    return made


def run(calls, seed=0):
    """At least so many calls; how many of each kind were made."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with np.errstate(all="ignore"):
            return sum((run_round(seed, number) for number in range(-(-calls // CALLS))), Counter())
    finally:
        sys.setswitchinterval(interval)


if __name__ == "__main__":
    print(run(int(sys.argv[1]), int(sys.argv[2])))
