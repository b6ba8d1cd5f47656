"""Learned tables of real training runs (YAHPO Gym, Pfisterer et al. 2022), evaluated with onnxruntime.

The files are found below the directory MFOPT_DATA: rbv2_rpart/, rbv2_xgboost/ and lcbench/ of
https://github.com/slds-lmu/yahpo_data, each with model.onnx, encoding.json and config_space.json. Their
optima are not published; `find_optimum` searches for them (optima.py).
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import mfopt
from arena import optima
from arena.problem import Params, Problem

RPART_TASKS = ("40981", "1220", "4538", "375", "1590", "1461", "40975", "1468", "37", "1485")
XGBOOST_TASKS = RPART_TASKS
LCBENCH_TASKS = ("3945", "7593", "126025", "146212", "167149", "168331", "189354", "189909")
_CHECKSUMS = {
    "lcbench": "b45c0d85ae39abf8820c8bea5ac82f415763afcbaf3b725e36af452b09cb6dcd",
    "rbv2_rpart": "af34bb810107fd809bdd74be227685fb2a1c5cb7b1f3c2dde5629e42ef6819f3",
    "rbv2_xgboost": "85125b6d97f553d10cd50f9e632e1a3f1ad44bcb00300dd2880d70dfd043d9f3",
}


class Table:
    """The network of one folder: `evaluate` takes rows of named inputs."""

    def __init__(self, folder: str) -> None:
        where = os.environ.get("MFOPT_DATA")
        if not where:
            raise SystemExit(
                f"the environment variable MFOPT_DATA must name the directory that holds {folder}/, as published at "
                "https://github.com/slds-lmu/yahpo_data"
            )
        path = Path(where) / folder
        data = (path / "model.onnx").read_bytes()
        if hashlib.sha256(data).hexdigest() != _CHECKSUMS[folder]:
            raise SystemExit(f"{path / 'model.onnx'} is not the file that was measured with: its checksum differs")
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(data, options)
        self._codes = json.loads((path / "encoding.json").read_text())

    def evaluate(
        self, categories: Sequence[Mapping[str, Any]], numbers: np.ndarray, order: Sequence[str], output: int
    ) -> np.ndarray:
        """One output for rows given as categories by name (in `order`) and as numbers."""
        codes = np.array([[self._codes[name][str(row[name])] for name in order] for row in categories], dtype=np.int32)
        values = self._session.run(None, {"x_cat": codes, "x_cont": numbers.astype(np.float32)})[0]
        return np.asarray(values[:, output], dtype=np.float64)


@functools.cache
def table(folder: str) -> Table:
    return Table(folder)


# ------------------------------------------------------------------------------------- rbv2_rpart, rbv2_xgboost

_SIZES = (0.1, 0.3, 1.0)  # of the training data, which are the fidelities and their costs
_NUMBERS = {  # in the order of the network's inputs
    "rbv2_rpart": ("cp", "maxdepth", "minbucket", "minsplit"),
    "rbv2_xgboost": (
        "nrounds", "eta", "gamma", "lambda", "alpha", "subsample", "max_depth", "min_child_weight",
        "colsample_bytree", "colsample_bylevel", "rate_drop", "skip_drop",
    ),
}  # fmt: skip
_IMPUTE = mfopt.Categorical(["impute.mean", "impute.median", "impute.hist"])


def rpart_space() -> mfopt.Space:
    """The hyper-parameters of a decision tree."""
    return mfopt.Space(
        {
            "cp": mfopt.Real(0.0009118819655545162, 1.0, log=True),
            "maxdepth": mfopt.Integer(1, 30),
            "minbucket": mfopt.Integer(1, 100),
            "minsplit": mfopt.Integer(1, 100),
            "impute": _IMPUTE,
        }
    )


def xgboost_space() -> mfopt.Space:
    """The hyper-parameters of gradient boosting: those of trees count with trees, two of them with dropout only."""
    trees, dropout = {"booster": ["gbtree", "dart"]}, {"booster": "dart"}
    penalty = mfopt.Real(0.0009118819655545162, 1096.6331584284585, log=True)
    return mfopt.Space(
        {
            "booster": mfopt.Categorical(["gblinear", "gbtree", "dart"]),
            "alpha": penalty,
            "lambda": penalty,
            "nrounds": mfopt.Integer(7, 2981, log=True),
            "subsample": mfopt.Real(0.1, 1.0),
            "impute": _IMPUTE,
            "colsample_bylevel": mfopt.Real(0.01, 1.0, when=trees),
            "colsample_bytree": mfopt.Real(0.01, 1.0, when=trees),
            "eta": mfopt.Real(0.0009118819655545162, 1.0, log=True, when=trees),
            "gamma": mfopt.Real(4.5399929762484854e-05, 7.38905609893065, log=True, when=trees),
            "max_depth": mfopt.Integer(1, 15, when=trees),
            "min_child_weight": mfopt.Real(2.718281828459045, 148.4131591025766, log=True, when=trees),
            "rate_drop": mfopt.Real(0.0, 1.0, when=dropout),
            "skip_drop": mfopt.Real(0.0, 1.0, when=dropout),
        }
    )


def rbv2_values(folder: str, task: str, rows: Sequence[Params], size: float) -> np.ndarray:
    """The accuracy in per cent; the network is given 0 for a number that does not count."""
    numbers = np.array([[*(row.get(name, 0.0) for name in _NUMBERS[folder]), size, 10.0] for row in rows])
    named = [{"task_id": task, "num.impute.selected.cpo": row["impute"], "booster": row.get("booster")} for row in rows]
    booster = ["booster"] if folder == "rbv2_xgboost" else []
    order = ["task_id", *booster, "num.impute.selected.cpo"]
    return 100.0 * table(folder).evaluate(named, numbers, order, 0)


def rpart(task: str) -> Problem:
    """Accuracy of a tree on one task, with a part of the training data as fidelity."""
    return _rbv2("rpart", task, rpart_space())


def xgboost(task: str) -> Problem:
    """Accuracy of gradient boosting on one task, with a part of the training data as fidelity."""
    return _rbv2("xgboost", task, xgboost_space())


def _rbv2(kind: str, task: str, space: mfopt.Space) -> Problem:
    return Problem(
        name=f"{kind}-{task}",
        domain=space,
        evaluate=lambda params, m: float(rbv2_values(f"rbv2_{kind}", task, [params], _SIZES[m])[0]),
        costs=_SIZES,
        optimum=optima.known(f"{kind}-{task}"),
    )


# ----------------------------------------------------------------------------------------------------- lcbench

_NET = ("batch_size", "learning_rate", "momentum", "weight_decay", "num_layers", "max_units", "max_dropout")
_EPOCHS = (3, 12, 52)


def lcbench_space() -> mfopt.Space:
    """The hyper-parameters of a neural network."""
    return mfopt.Space(
        {
            "batch_size": mfopt.Integer(16, 512, log=True),
            "learning_rate": mfopt.Real(1e-4, 1e-1, log=True),
            "momentum": mfopt.Real(0.1, 0.99),
            "weight_decay": mfopt.Real(1e-5, 1e-1),
            "num_layers": mfopt.Integer(1, 5),
            "max_units": mfopt.Integer(64, 1024, log=True),
            "max_dropout": mfopt.Real(0.0, 1.0),
        }
    )


_SECONDS, _ACCURACY = 0, 1  # outputs of the network


def lcbench_values(task: str, rows: Sequence[Params], epochs: int, output: int = _ACCURACY) -> np.ndarray:
    """The validation accuracy in per cent, or the time of the training in seconds."""
    numbers = np.array([[epochs, *(row[name] for name in _NET)] for row in rows])
    return table("lcbench").evaluate([{"OpenML_task_id": task}] * len(rows), numbers, ["OpenML_task_id"], output)


def lcbench(task: str) -> Problem:
    """Validation accuracy of a network, with 3, 12 and 52 epochs."""
    return Problem(
        name=f"lcbench-{task}",
        domain=lcbench_space(),
        evaluate=lambda params, m: float(lcbench_values(task, [params], _EPOCHS[m])[0]),
        costs=tuple(float(epochs) for epochs in _EPOCHS),
        optimum=optima.known(f"lcbench-{task}"),
        resumable=True,
    )


def lcbench_timed(task: str) -> Problem:
    """The same, where a training costs its time. It depends on the hyper-parameters; one that has ended is not resumed.

    `costs` are the means over 2,000 random points. Where the network says less than a tenth of such a mean, even a
    negative time, that tenth is charged: a real training takes some time.
    """
    space = lcbench_space()
    rows = [space.params(x) for x in space.decode(space.sample(2000, np.random.default_rng(0)))]
    costs = tuple(float(lcbench_values(task, rows, epochs, _SECONDS).mean()) for epochs in _EPOCHS)

    def charge(params: Params, m: int) -> float:
        return max(float(lcbench_values(task, [params], _EPOCHS[m], _SECONDS)[0]), 0.1 * costs[m])

    return dataclasses.replace(lcbench(task), name=f"lcbench-time-{task}", costs=costs, charge=charge, resumable=False)


# ------------------------------------------------------------------------------------------------------ optima


_SPACES = {"rpart": rpart_space, "xgboost": xgboost_space, "lcbench": lcbench_space}


def find_optimum(kind: str, task: str) -> float:
    """The best of many random points and of many points around the best of them."""
    space = _SPACES[kind]()
    rng = np.random.default_rng(12345)

    def values(u: np.ndarray) -> np.ndarray:
        rows = [space.params(x) for x in space.decode(u)]
        return lcbench_values(task, rows, 52) if kind == "lcbench" else rbv2_values(f"rbv2_{kind}", task, rows, 1.0)

    u = space.sample(60_000, rng)
    y = values(u)
    for radius in (0.1, 0.05, 0.02, 0.01, 0.003):
        centres = u[np.argsort(-y)[:20]]
        near = np.repeat(centres, 250, axis=0) + radius * rng.standard_normal((5000, space.dim))
        moved = space.snap(np.clip(near, 0.0, 1.0))
        u, y = np.vstack([centres, moved]), np.concatenate([np.sort(y)[::-1][:20], values(moved)])
    return float(y.max())
