"""Cloud: how to train a network on rented machines, a finite set with real measurements and real prices.

288 configurations (machines and their number, learning rate, batch size, synchronism) were each trained with 1,000,
6,000, 15,000, 30,000 and 60,000 examples, the fidelities. f is the accuracy with all of them; a query costs the dollars
that its training cost.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mfopt.domains.finite import FiniteSet
from mfopt.problems.benchmark import Benchmark
from mfopt.problems.data import CLOUD
from mfopt.protocols import Array

NAMES = ("n_workers", "learning_rate", "batch_size", "synchronism", "vm_flavor")


def cloud(data: str | None = None) -> Benchmark:
    """The problem with the data in the directory `data`."""
    return make_cloud(CLOUD.find(data))


def make_cloud(path: Path) -> Benchmark:
    """The problem of a table with a row for each configuration and size; costs at the start are the mean dollars."""
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    sizes = sorted({int(row["training_set_size"]) for row in rows})
    configurations = list(dict.fromkeys(tuple(row[name] for name in NAMES) for row in rows))
    value, price = (np.full((len(sizes), len(configurations)), np.nan) for _ in range(2))
    places = {one: k for k, one in enumerate(configurations)}
    for row in rows:
        m, k = sizes.index(int(row["training_set_size"])), places[tuple(row[name] for name in NAMES)]
        value[m, k], price[m, k] = float(row["acc"]), float(row["cost_usd"])
    domain = FiniteSet(
        [_read_configuration(one) for one in configurations],
        names=NAMES,
        log=[name == "learning_rate" for name in NAMES],
    )
    best = int(np.argmax(value[-1]))
    return Benchmark(
        name="cloud",
        functions=[Lookup(domain, value[m], price[m]) for m in range(len(sizes))],
        domain=domain,
        costs=price.mean(axis=1).tolist(),
        optimum=float(value[-1, best]),
        argmax=domain.decode(domain.points)[best],
        zetas=np.abs(value[-1] - value).max(axis=1).tolist(),
        cost="reported",
    )


class Lookup:
    """What was measured of each configuration at one size: accuracy and dollars."""

    def __init__(self, domain: FiniteSet, values: Array, prices: Array) -> None:
        self._domain = domain
        self._values = values
        self._prices = prices

    def __call__(self, params: dict[str, object]) -> dict[str, float]:
        """{"value": accuracy, "cost": dollars} of a configuration."""
        x = self._domain.validate(params)
        row = self._domain.locate(self._domain.encode(x[None])[0])
        return {"value": float(self._values[row]), "cost": float(self._prices[row])}


def _read_configuration(cells: Sequence[str]) -> list[object]:
    workers, rate, batch, synchronism, flavour = cells
    return [int(workers), float(rate), int(batch), synchronism, flavour]
