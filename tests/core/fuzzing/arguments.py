"""Arguments: good ones in every layout and type, odd ones, and hostile ones."""

import numpy as np

D = 2  # coordinates of a point


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

    def mask(self, n, d):
        return self.dress(self.rng.random((n, d + self.chance(0.02))) < 0.6)

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
