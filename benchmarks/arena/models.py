"""Five scikit-learn models with integer and categorical parameters, on data that scikit-learn brings along.

The value is the accuracy (R² of the regression) in per cent by 3-fold cross-validation, the fidelity the part of the
data that is used; the subsets are nested. The optimum is not known: 100 stands for it, so that only ranks and
differences mean something.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import mfopt
from arena.problem import Params, Problem

_PARTS = (0.1, 0.33, 1.0)  # of the data, which are the costs too


def forest() -> tuple[mfopt.Space, Callable[[Params], Any], str]:
    from sklearn.ensemble import RandomForestClassifier

    space = mfopt.Space(
        {
            "n_estimators": mfopt.Integer(3, 30),
            "max_depth": mfopt.Integer(2, 20),
            "max_features": mfopt.Real(0.05, 1.0),
            "criterion": mfopt.Categorical(["gini", "entropy"]),
            "bootstrap": mfopt.Categorical([True, False]),
            "max_samples": mfopt.Real(0.2, 1.0, when={"bootstrap": True}),
        }
    )
    return space, lambda p: RandomForestClassifier(**p, random_state=0), "digits"


def tree() -> tuple[mfopt.Space, Callable[[Params], Any], str]:
    from sklearn.tree import DecisionTreeClassifier

    space = mfopt.Space(
        {
            "max_depth": mfopt.Integer(1, 25),
            "min_samples_split": mfopt.Integer(2, 60, log=True),
            "min_samples_leaf": mfopt.Integer(1, 60, log=True),
            "max_features": mfopt.Real(0.05, 1.0),
            "criterion": mfopt.Categorical(["gini", "entropy", "log_loss"]),
            "splitter": mfopt.Categorical(["best", "random"]),
            "ccp_alpha": mfopt.Real(1e-6, 1e-1, log=True),
        }
    )
    return space, lambda p: DecisionTreeClassifier(**p, random_state=0), "digits"


def vectors() -> tuple[mfopt.Space, Callable[[Params], Any], str]:
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    space = mfopt.Space(
        {
            "C": mfopt.Real(1e-3, 1e3, log=True),
            "kernel": mfopt.Categorical(["linear", "rbf", "poly"]),
            "gamma": mfopt.Real(1e-5, 1e1, log=True, when={"kernel": ["rbf", "poly"]}),
            "degree": mfopt.Integer(2, 5, when={"kernel": "poly"}),
        }
    )
    return space, lambda p: make_pipeline(StandardScaler(), SVC(**p, max_iter=3000)), "breast cancer"


def neighbours() -> tuple[mfopt.Space, Callable[[Params], Any], str]:
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import Normalizer, QuantileTransformer, StandardScaler

    scalers = {
        "none": lambda: "passthrough",
        "standard": StandardScaler,
        "unit": Normalizer,
        "quantile": lambda: QuantileTransformer(n_quantiles=20),
    }
    space = mfopt.Space(
        {
            "n_neighbors": mfopt.Integer(1, 40, log=True),
            "weights": mfopt.Categorical(["uniform", "distance"]),
            "p": mfopt.Real(1.0, 5.0),
            "scaler": mfopt.Categorical(list(scalers)),
        }
    )

    def make(p: Params) -> Any:
        rest = {name: value for name, value in p.items() if name != "scaler"}
        return make_pipeline(scalers[p["scaler"]](), KNeighborsClassifier(**rest))

    return space, make, "wine"


def boosting() -> tuple[mfopt.Space, Callable[[Params], Any], str]:
    from sklearn.ensemble import GradientBoostingRegressor

    space = mfopt.Space(
        {
            "n_estimators": mfopt.Integer(5, 60),
            "learning_rate": mfopt.Real(1e-3, 1.0, log=True),
            "max_depth": mfopt.Integer(1, 6),
            "subsample": mfopt.Real(0.3, 1.0),
            "min_samples_leaf": mfopt.Integer(1, 50, log=True),
            "loss": mfopt.Categorical(["squared_error", "absolute_error", "huber"]),
            "alpha": mfopt.Real(0.5, 0.99, when={"loss": "huber"}),
        }
    )
    return space, lambda p: GradientBoostingRegressor(**p, random_state=0), "diabetes"


MAKERS = {"forest": forest, "tree": tree, "vectors": vectors, "neighbours": neighbours, "boosting": boosting}


@functools.cache
def _data(name: str) -> tuple[np.ndarray, np.ndarray]:
    from sklearn import datasets

    load = {
        "digits": datasets.load_digits,
        "breast cancer": datasets.load_breast_cancer,
        "wine": datasets.load_wine,
        "diabetes": datasets.load_diabetes,
    }[name]
    x, y = load(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    return x[order], y[order]


def model(name: str) -> Problem:
    """The problem of this name."""
    space, make, data = MAKERS[name]()

    @functools.cache
    def score(key: tuple[tuple[str, Any], ...], m: int) -> float:
        from sklearn.model_selection import cross_val_score

        x, y = _data(data)
        n = max(30, round(_PARTS[m] * len(y)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return 100.0 * float(np.mean(cross_val_score(make(dict(key)), x[:n], y[:n], cv=3)))

    return Problem(name, space, lambda p, m: score(tuple(sorted(p.items())), m), _PARTS, optimum=100.0)
