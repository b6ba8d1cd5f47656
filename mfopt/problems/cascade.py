"""Cascades of boosted stumps on Haar features (Viola and Jones), as OpenCV stores and evaluates them.

Notation: n windows of h × w grey pixels, K stages with thresholds t_1 .. t_K. I is the integral image of a window,
I[y, x] the sum of the pixels above y and left of x, so that the pixels of any rectangle are summed by four of its
entries. A feature is a weighted sum of two or three rectangles, divided by the deviation of the window's pixels,

    v = Σ_r w_r (I[top, left] − I[top, right] − I[bottom, left] + I[bottom, right]) / ν,   ν² = a Σp² − (Σp)²,

where p are the a pixels inside a margin of one. A stump gives one of two numbers, by whether v lies below its split. A
stage passes a window if the sum of its stumps reaches its threshold, the cascade if all stages do. A stage's sum does
not depend on any stage's threshold.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from mfopt.errors import InputError
from mfopt.protocols import Array

Pixels = npt.NDArray[np.uint8]
Singles = npt.NDArray[np.float32]
Places = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

_SLACK = np.float32(1e-5)  # OpenCV subtracts it from every threshold that it reads
_LEAST_DEVIATION = 10.0  # OpenCV passes no window that is flatter


@dataclass(frozen=True)
class Stage:
    """S stumps, each on one feature, which has C corners in the integral image (three rectangles have 12)."""

    corners: Places  # (S, C): places in the integral image, row by row
    weights: Singles  # (S, C): of the corners; 0 where a feature has fewer
    splits: Singles  # (S,)
    below: Singles  # (S,): what a stump gives where the feature is below its split,
    above: Singles  # (S,): and where it is not
    threshold: float

    def add_up(self, integrals: Singles, scales: Singles) -> Array:
        """The sums (n,) of windows with these integral images (places, n) and 1/ν.

        Single precision is OpenCV's; pixels and weights are integers, so that only the product with 1/ν is rounded.
        """
        features = np.zeros((len(self.splits), integrals.shape[1]), dtype=np.float32)
        for places, weights in zip(self.corners.T, self.weights.T, strict=True):
            used = np.flatnonzero(weights)
            features[used] += weights[used, None] * integrals[places[used]]
        features *= scales
        given = np.where(features < self.splits[:, None], self.below[:, None], self.above[:, None])
        return np.asarray(given.sum(axis=0, dtype=np.float64))


@dataclass(frozen=True)
class Cascade:
    """Stages, for windows of `height` × `width` pixels."""

    height: int
    width: int
    stages: tuple[Stage, ...]

    @property
    def thresholds(self) -> Array:
        """Those that the cascade came with, (K,)."""
        return np.array([stage.threshold for stage in self.stages])

    @property
    def spans(self) -> Array:
        """By how much the largest sum that a stage can give exceeds its smallest, (K,)."""
        return np.array([np.abs(stage.above - stage.below).sum(dtype=np.float64) for stage in self.stages])

    def add_up(self, windows: Pixels) -> Array:
        """The sums of all stages (n, K); −∞ for windows that are too flat to be looked at."""
        clear, integrals, scales = self._prepare(windows)
        sums = np.full((len(windows), len(self.stages)), -np.inf)
        for k, stage in enumerate(self.stages):
            sums[clear, k] = stage.add_up(integrals, scales)
        return sums

    def detect(self, windows: Pixels, thresholds: Array) -> Flags:
        """Which windows (n,) pass with these thresholds (K,). A stage sees only what passed all before it."""
        left, integrals, scales = self._prepare(windows)
        for k, stage in enumerate(self.stages):
            passed = reach(stage.add_up(integrals, scales), thresholds[k])
            left, integrals, scales = left[passed], integrals[:, passed], scales[passed]
        found = np.zeros(len(windows), dtype=np.bool_)
        found[left] = True
        return found

    def _prepare(self, windows: Pixels) -> tuple[Places, Singles, Singles]:
        """Which windows are not too flat, their integral images (places, n) and their 1/ν."""
        if windows.dtype != np.uint8 or windows.shape[1:] != (self.height, self.width):
            rule = f"windows must be grey pixels (n, {self.height}, {self.width}) of type uint8"
            raise InputError(f"{rule}, got {windows.shape} of type {windows.dtype}")
        inside = windows[:, 1:-1, 1:-1].astype(np.int64)
        area = (self.height - 2) * (self.width - 2)
        squared = area * (inside**2).sum(axis=(1, 2)) - inside.sum(axis=(1, 2)) ** 2
        scales = (1.0 / np.sqrt(np.maximum(squared, 1))).astype(np.float32)
        clear = np.flatnonzero((squared > 0) & (area * scales.astype(np.float64) < 1.0 / _LEAST_DEVIATION))
        integrals = np.zeros((len(clear), self.height + 1, self.width + 1), dtype=np.float32)
        integrals[:, 1:, 1:] = windows[clear].astype(np.int64).cumsum(axis=1).cumsum(axis=2)
        places = (self.height + 1) * (self.width + 1)
        return clear, np.ascontiguousarray(integrals.reshape(len(clear), places).T), scales[clear]


def reach(sums: Array, thresholds: Array | float) -> Flags:
    """Which sums reach their thresholds, as OpenCV compares them."""
    return np.asarray(sums >= np.asarray(thresholds, dtype=np.float32) - _SLACK)


def read_cascade(path: Path) -> Cascade:
    """The cascade in a file of OpenCV's format; an InputError unless it has stumps on upright Haar features."""
    root = ElementTree.parse(path).getroot().find("cascade")
    if root is None or _text(root, "featureType") != "HAAR":
        raise InputError(f"a cascade must have Haar features, got {path}")
    height, width = int(_text(root, "height")), int(_text(root, "width"))
    features = [_read_feature(feature, width) for feature in _list(root, "features")]
    return Cascade(height, width, tuple(_read_stage(stage, features) for stage in _list(root, "stages")))


def _read_stage(node: ElementTree.Element, features: list[tuple[list[int], list[float]]]) -> Stage:
    stumps = []
    for weak in _list(node, "weakClassifiers"):
        tree = [float(number) for number in _text(weak, "internalNodes").split()]
        if len(tree) != 4:  # left, right, feature and split of the only node
            raise InputError(f"weak classifiers must be stumps with 1 node, got one with {len(tree) / 4:g}")
        below, above = (float(number) for number in _text(weak, "leafValues").split())
        stumps.append((int(tree[2]), tree[3], below, above))
    most = max(len(features[chosen][0]) for chosen, *_ in stumps)
    corners = np.zeros((len(stumps), most), dtype=np.int64)
    weights = np.zeros((len(stumps), most), dtype=np.float32)
    for row, (chosen, *_) in enumerate(stumps):
        places, own = features[chosen]
        corners[row, : len(places)], weights[row, : len(places)] = places, own
    splits, below, above = np.array([rest for _, *rest in stumps], dtype=np.float32).T
    return Stage(corners, weights, splits, below, above, float(_text(node, "stageThreshold")))


def _read_feature(node: ElementTree.Element, width: int) -> tuple[list[int], list[float]]:
    """Corners of a feature in the integral image, and their weights."""
    if int(node.findtext("tilted", "0")) != 0:
        raise InputError("features must be upright, got a tilted one")
    corners, weights = [], []
    for rectangle in _list(node, "rects"):
        *place, weight = (rectangle.text or "").split()
        left, top, across, down = map(int, place)
        for y, x, sign in ((top, left, 1), (top, left + across, -1), (top + down, left, -1)):
            corners.append(y * (width + 1) + x)
            weights.append(sign * float(weight))
        corners.append((top + down) * (width + 1) + left + across)
        weights.append(float(weight))
    return corners, weights


def _list(node: ElementTree.Element, name: str) -> Iterator[ElementTree.Element]:
    """The entries of a list: elements called "_" inside the one of this name."""
    return node.iterfind(f"{name}/_")


def _text(node: ElementTree.Element, name: str) -> str:
    text = node.findtext(name)
    if text is None:
        raise InputError(f"a cascade must have {name} in each {node.tag}, got none")
    return text
