"""Vj: the thresholds of a face detector (Viola and Jones), tuned with 300 and with 3,000 images.

The paper's experiment: x are the thresholds of the 22 stages of OpenCV's cascade for frontal faces, each within RADIUS
of the shipped one, in units of the difference between the largest and the smallest sum that the stage can give; f is
the accuracy on faces and other patches. The other 3,000 patches are held out (`held_out`).

What a query costs. A stage's sum does not depend on the thresholds, so all sums are computed once, in a fraction of a
second; a query then compares them, in less than a millisecond at either fidelity. That time says nothing about a
detector at work, so a query costs its number of images, as running the detector on them would. With `timed=True` it is
run, stage by stage on the patches that are left, and costs the CPU seconds of that, the optimiser's own included.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mfopt.domains.box import Box
from mfopt.errors import InputError
from mfopt.problems.benchmark import Benchmark, by_rows
from mfopt.problems.cascade import Cascade, Flags, Pixels, Places, reach, read_cascade
from mfopt.problems.data import CASCADE, FACES
from mfopt.problems.recorded import Recorded
from mfopt.protocols import Array

SIZES = (300, 3000)
RADIUS = 0.05
BEST = (  # accuracy and x, the best that we have seen, by a local search along each threshold in turn
    2905 / 3000,
    *(0.79898, 6.76805, 9.57527, 17.93523, 14.98590, 20.45327, 23.30370, 24.07509),
    *(26.55373, 33.95203, 38.36872, 49.88464, 53.62881, 49.20869, 65.80260, 67.50660),
    *(68.05569, 79.30362, 87.68564, 88.99912, 104.56543, 105.60659),
)
_SEED = 0  # of the order of the patches: the file has hard ones first
_SECONDS = 2e-5  # of CPU time per image, to begin with


def vj(data: str | None = None, timed: bool = False, record: str | None = None) -> Benchmark:
    """The problem with the data in the directory `data`; a file `record` of evaluations (recorded.py) where timed."""
    cascade, windows, faces = _load(data)
    used = max(SIZES)
    return make_vj(cascade, windows[:used], faces[:used], SIZES, BEST, timed, record)


def held_out(data: str | None = None) -> Callable[[Array], Array]:
    """The accuracy on the patches that no fidelity has, a function of thresholds like those of the problem."""
    cascade, windows, faces = _load(data)
    left = slice(max(SIZES), None)
    return by_rows(Accuracy(cascade.add_up(windows[left]), faces[left]))


def make_vj(
    cascade: Cascade,
    windows: Pixels,
    faces: Flags,
    sizes: Sequence[int],
    best: Sequence[float],
    timed: bool = False,
    record: str | None = None,
) -> Benchmark:
    """The problem for these windows, of which each fidelity has the first so many; `best` is an accuracy and its x."""
    if record is not None and not timed:
        raise InputError(f"record must be given with timed=True only, got {record!r}: a query is shorter than its line")
    functions: list[Callable[..., Any]] = []
    if timed:
        for m, size in enumerate(sizes):
            functions.append(Recorded(Detection(cascade, windows[:size], faces[:size]), f"vj {size}", m, record))
    else:
        sums = cascade.add_up(windows)
        functions.extend(by_rows(Accuracy(sums[:size], faces[:size])) for size in sizes)
    middle, radius = cascade.thresholds, RADIUS * cascade.spans
    return Benchmark(
        name="vj",
        functions=functions,
        domain=Box(
            np.column_stack([middle - radius, middle + radius]),
            names=[f"stage_{k + 1}" for k in range(len(middle))],
        ),
        costs=[size * (_SECONDS if timed else 1.0) for size in sizes],
        optimum=best[0],
        argmax=np.array(best[1:]),
        zetas=[None] * (len(sizes) - 1) + [0.0],
        cost="total-time" if timed else None,
    )


class Accuracy:
    """The share of windows that are judged rightly, from the sums (n, K) of the stages."""

    def __init__(self, sums: Array, faces: Flags) -> None:
        self._sums = sums
        self._faces = faces

    def __call__(self, x: Array) -> Array:
        """With each row of thresholds (q, K)."""
        return np.array([np.mean(reach(self._sums, one).all(axis=1) == self._faces) for one in x])


class Detection:
    """The share of windows that are judged rightly by running the cascade on them."""

    def __init__(self, cascade: Cascade, windows: Pixels, faces: Flags) -> None:
        self._cascade = cascade
        self._windows = windows
        self._faces = faces

    def __call__(self, x: Array) -> float:
        """With thresholds (K,)."""
        return float(np.mean(self._cascade.detect(self._windows, x) == self._faces))


def shrink(patches: Pixels, height: int, width: int) -> Pixels:
    """Patches at a smaller size: each new pixel is the mean of the area it covers."""
    down, across = (_overlap(old, new) for old, new in zip(patches.shape[1:], (height, width), strict=True))
    total = down.T @ patches.astype(np.int64) @ across
    return np.asarray(np.rint(total / (patches.shape[1] * patches.shape[2])), dtype=np.uint8)


def _overlap(old: int, new: int) -> Places:
    """How much of each of `old` pixels (rows) each of `new` ones covers, in units in which a new one is `old` long."""
    i, j = np.arange(old)[:, None], np.arange(new)
    return np.asarray(np.maximum(0, np.minimum((i + 1) * new, (j + 1) * old) - np.maximum(i * new, j * old)))


def _load(data: str | None) -> tuple[Cascade, Pixels, Flags]:
    """The cascade, and all patches at the size of its window in a random order, faces and others by turns."""
    cascade = read_cascade(CASCADE.find(data))
    rng = np.random.default_rng(_SEED)
    with np.load(FACES.find(data)) as file:
        kinds = [rng.permutation(file[name]) for name in ("face", "nonface")]
    patches = np.stack(kinds, axis=1).reshape(-1, *kinds[0].shape[1:])
    return cascade, shrink(patches, cascade.height, cascade.width), np.arange(len(patches)) % 2 == 0
