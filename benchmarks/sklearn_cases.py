"""Eight scikit-learn models with data: what sklearn_models.py tunes.

Spaces are wide, with integers and categories, as somebody gives them who does not know the answer. The digits come with
scikit-learn; MAGIC, the power plant and the faces are those of mfopt's real problems (MFOPT_DATA). Training sets are
small enough for a short run, test sets large where the data allow it, so that their noise is small beside the
differences between candidates.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mfopt import Categorical, Integer, Real
from mfopt.problems.data import FACES, MAGIC, POWER_PLANT

TEST = 6000  # rows at most


@dataclass(frozen=True)
class Case:
    """A model, what is searched, and what cheaper fidelities have less of; `levels` are MultiFidelitySearchCV's."""

    make: Callable[[], Any]
    space: dict[str, Any]
    resource: str
    levels: tuple[float, ...]
    data: str
    rows: int  # of the training set


def _forest() -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(n_estimators=45, random_state=0)


def _vectors() -> Any:
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    return Pipeline([("scale", StandardScaler()), ("svc", SVC(max_iter=20_000))])


def _histogram_boosting() -> Any:
    from sklearn.ensemble import HistGradientBoostingRegressor

    return HistGradientBoostingRegressor(max_iter=60, early_stopping=False, random_state=0)


def _network() -> Any:
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler

    return Pipeline([("scale", StandardScaler()), ("mlp", MLPClassifier(max_iter=27, random_state=0))])


def _neighbours() -> Any:
    from sklearn.decomposition import PCA
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler

    return Pipeline([("scale", StandardScaler()), ("pca", PCA(random_state=0)), ("knn", KNeighborsClassifier())])


def _faces() -> Any:
    from sklearn.decomposition import PCA
    from sklearn.pipeline import Pipeline
    from sklearn.svm import SVC

    return Pipeline([("pca", PCA(svd_solver="covariance_eigh", random_state=0)), ("svc", SVC(max_iter=20_000))])


def _regression() -> Any:
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVR

    return Pipeline([("scale", StandardScaler()), ("svr", SVR(max_iter=5_000))])


def _boosting() -> Any:
    from sklearn.ensemble import GradientBoostingClassifier

    return GradientBoostingClassifier(n_estimators=45, random_state=0)


CASES = {
    "forest": Case(
        _forest,
        {
            "max_depth": Integer(1, 25),
            "max_features": Real(0.05, 1.0),
            "min_samples_leaf": Integer(1, 100, log=True),
            "criterion": Categorical(["gini", "entropy"]),
            "bootstrap": Categorical([True, False]),
        },
        "n_estimators", (5, 15, 45), "magic", 1200,
    ),
    "vectors": Case(
        _vectors,
        {
            "svc__kernel": Categorical(["rbf", "poly", "sigmoid"]),
            "svc__C": Real(1e-3, 1e4, log=True),
            "svc__gamma": Real(1e-5, 1e1, log=True),
            "svc__degree": Integer(2, 5),
            "svc__class_weight": Categorical(["balanced", None]),
        },
        "n_samples", (0.1, 0.3, 1.0), "magic", 2400,
    ),
    "histogram boosting": Case(
        _histogram_boosting,
        {
            "loss": Categorical(["squared_error", "absolute_error"]),
            "learning_rate": Real(1e-3, 1.0, log=True),
            "max_leaf_nodes": Integer(2, 60, log=True),
            "min_samples_leaf": Integer(1, 200, log=True),
            "l2_regularization": Real(1e-4, 1e3, log=True),
        },
        "n_samples", (0.1, 0.3, 1.0), "power plant", 2500,
    ),
    "network": Case(
        _network,
        {
            "mlp__hidden_layer_sizes": Integer(4, 128, log=True),
            "mlp__activation": Categorical(["relu", "tanh", "logistic"]),
            "mlp__solver": Categorical(["adam", "sgd"]),
            "mlp__alpha": Real(1e-6, 1e1, log=True),
            "mlp__learning_rate_init": Real(1e-5, 1e-1, log=True),
            "mlp__batch_size": Integer(16, 256, log=True),
        },
        "mlp__max_iter", (3, 9, 27), "digits", 800,
    ),
    "neighbours": Case(
        _neighbours,
        {
            "scale__with_std": Categorical([True, False]),
            "pca__n_components": Integer(2, 60, log=True),
            "pca__whiten": Categorical([True, False]),
            "knn__n_neighbors": Integer(1, 200, log=True),
            "knn__weights": Categorical(["uniform", "distance"]),
            "knn__p": Categorical([1, 2, 3]),
        },
        "n_samples", (0.1, 0.3, 1.0), "faces", 2500,
    ),
    "faces": Case(
        _faces,
        {
            "pca__n_components": Integer(2, 40, log=True),
            "pca__whiten": Categorical([True, False]),
            "svc__kernel": Categorical(["rbf", "poly", "sigmoid"]),
            "svc__C": Real(1e-2, 1e4, log=True),
            "svc__gamma": Real(1e-6, 1e1, log=True),
        },
        "n_samples", (0.1, 0.3, 1.0), "faces", 2000,
    ),
    "regression": Case(
        _regression,
        {
            "svr__kernel": Categorical(["rbf", "linear"]),
            "svr__shrinking": Categorical([True, False]),
            "svr__C": Real(1e-3, 1e3, log=True),
            "svr__gamma": Real(1e-4, 1e2, log=True),
            "svr__epsilon": Real(1e-3, 1e1, log=True),
        },
        "n_samples", (0.1, 0.3, 1.0), "power plant", 2000,
    ),
    "boosting": Case(
        _boosting,
        {
            "loss": Categorical(["log_loss", "exponential"]),
            "learning_rate": Real(1e-3, 1.0, log=True),
            "max_depth": Integer(1, 8),
            "min_samples_leaf": Integer(1, 100, log=True),
            "max_features": Real(0.1, 1.0),
            "subsample": Real(0.3, 1.0),
        },
        "n_samples", (0.1, 0.3, 1.0), "magic", 1300,
    ),
}  # fmt: skip


@functools.cache
def _load(name: str) -> tuple[np.ndarray, np.ndarray]:
    if name == "digits":
        from sklearn.datasets import load_digits

        x, y = load_digits(return_X_y=True)
    elif name == "magic":
        table = np.loadtxt(MAGIC.find(), delimiter=",", dtype=str)
        x, y = table[:, :-1].astype(np.float64), (table[:, -1] == "g").astype(int)
    elif name == "power plant":
        table = np.loadtxt(POWER_PLANT.find(), delimiter=",", skiprows=1)
        x, y = table[:, :-1], (table[:, -1] - table[:, -1].mean()) / table[:, -1].std()
    else:
        with np.load(FACES.find()) as file:
            patches = [file[kind][:, ::2, ::2].reshape(3000, -1) / 255.0 for kind in ("face", "nonface")]
        x, y = np.concatenate(patches), np.repeat([1, 0], 3000)
    return x, y


def split(case: Case, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Features and outputs of the training set, then those of the test set."""
    x, y = _load(case.data)
    order = np.random.default_rng([seed, 18]).permutation(len(y))
    train, test = order[: case.rows], order[case.rows : case.rows + TEST]
    return x[train], y[train], x[test], y[test]
