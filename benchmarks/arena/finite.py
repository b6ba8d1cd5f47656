"""The trainings of a network on cloud machines, measured by TrimTuner's authors: 288 configurations, 5 training sets.

The table is cloud_cnn.csv below MFOPT_DATA, as published with TrimTuner (Mendes et al. 2020). The fidelity is the size
of the training set, and a query costs the dollars that the training did.

cloud          accuracy in per cent
cloud-fixed    the same, where every training costs the mean of its size
cloud-thrift   accuracy less one per cent for each doubling of the dollars
"""

from __future__ import annotations

import csv
import dataclasses
import functools
import hashlib
import math
import os
from pathlib import Path

import numpy as np

import mfopt
from arena.problem import Params, Problem

NAMES = ("cloud", "cloud-fixed", "cloud-thrift")
COLUMNS = ("n_workers", "learning_rate", "batch_size", "synchronism", "vm_flavor")
_LOGS = (True, True, True, False, False)
_CHECKSUM = "e1f3f37118e7317c260a0bd20d7db4b03fe38bba9dac1188ba9501bef2c99120"
Configuration = tuple[float | str, ...]


@dataclasses.dataclass(frozen=True)
class Trainings:
    """What was measured: accuracy in per cent and dollars, by configuration, from the smallest training set to all."""

    accuracy: dict[Configuration, list[float]]
    dollars: dict[Configuration, list[float]]


def read(text: str) -> Trainings:
    """The table in the format of the published file."""
    accuracy: dict[Configuration, list[float]] = {}
    dollars: dict[Configuration, list[float]] = {}
    for row in sorted(csv.DictReader(text.splitlines()), key=lambda row: int(row["training_set_size"])):
        key = configuration(row)
        accuracy.setdefault(key, []).append(100.0 * float(row["acc"]))
        dollars.setdefault(key, []).append(float(row["cost_usd"]))
    return Trainings(accuracy, dollars)


def configuration(params: Params) -> Configuration:
    """The key of a configuration, from a row of the file or from params."""
    return tuple(str(params[name]) if name in ("synchronism", "vm_flavor") else float(params[name]) for name in COLUMNS)


@functools.cache
def _trainings() -> Trainings:
    where = os.environ.get("MFOPT_DATA")
    if not where:
        raise SystemExit("the environment variable MFOPT_DATA must name the directory that holds cloud_cnn.csv")
    data = (Path(where) / "cloud_cnn.csv").read_bytes()
    if hashlib.sha256(data).hexdigest() != _CHECKSUM:
        raise SystemExit(
            f"{Path(where) / 'cloud_cnn.csv'} is not the file that was measured with: its checksum differs"
        )
    return read(data.decode())


def cloud(name: str, trainings: Trainings | None = None) -> Problem:
    """The problem of this name."""
    known = _trainings() if trainings is None else trainings
    costs = tuple(float(cost) for cost in np.mean(list(known.dollars.values()), axis=0))

    def value(key: Configuration, m: int) -> float:
        spent = math.log2(known.dollars[key][m] / costs[m]) if name == "cloud-thrift" else 0.0
        return known.accuracy[key][m] - spent

    return Problem(
        name,
        mfopt.FiniteSet([list(key) for key in known.accuracy], names=COLUMNS, log=_LOGS),
        lambda params, m: value(configuration(params), m),
        costs,
        optimum=max(value(key, len(costs) - 1) for key in known.accuracy),
        charge=None if name == "cloud-fixed" else lambda params, m: known.dollars[configuration(params)][m],
    )
