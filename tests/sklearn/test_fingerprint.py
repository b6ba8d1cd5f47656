"""Names of studies: the same in every process, and others for other searches."""

import functools
import itertools
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, f1_score, make_scorer
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC

from mfopt.sklearn.fingerprint import digest, make_name


class Holder:
    def __init__(self, held):
        self.held = held


def itself():
    one = Holder([1])
    one.held.append(one)
    return one


def add(k):
    return lambda x: x + k


COUNT = itertools.count()
FRAME = pd.DataFrame({"a": [1, 2], "b": ["x", None]})

SAME = [
    lambda: np.arange(6.0).reshape(2, 3),
    lambda: scipy.sparse.csr_matrix(np.eye(3)),
    lambda: FRAME.copy(),
    lambda: FRAME.astype({"b": "category"}),
    lambda: pd.Series(["x", "y"]),
    lambda: np.array(["x", None, 1.5], dtype=object),
    lambda: np.array(["2020-01-01"], dtype="datetime64[D]"),
    lambda: {"a": {1, 2, "x"}, "b": frozenset("abc")},
    lambda: make_pipeline(StandardScaler(), FunctionTransformer(np.log1p), SVC(C=2.0)),
    lambda: make_scorer(f1_score, average="macro"),
    lambda: LogisticRegression(random_state=np.random.RandomState(next(COUNT))),
    lambda: KFold(3, shuffle=True, random_state=0),
    lambda: functools.partial(accuracy_score, normalize=False),
    lambda: add(1),
    lambda: Holder("x").__init__,
    lambda: Holder(object()),
    lambda: [np.nan, np.float32(0.1), 1 + 2j, b"x", None, True, "\ud800"],
    itself,
]


@pytest.mark.parametrize("make", SAME)
def test_what_is_the_same_has_one_digest(make):
    assert digest(make()) == digest(make())


def test_no_two_things_have_one_digest():
    things = [make() for make in SAME]
    things += [1, 1.0, True, "1", [1], (1,), {1}, {1: 1}, np.array([1]), np.array([1.0]), np.array([[1]]), [[1]], None]
    things += [["ab", "c"], ["a", "bc"], {"a": 1, "b": 2}, {"a": 2, "b": 1}, FRAME.rename(columns={"a": "A"})]
    things += [FRAME[["b", "a"]], scipy.sparse.csr_matrix(np.eye(3)[::-1]), add(2), lambda x: x - 1, lambda x: x]
    things += [Ridge(), Ridge(2.0), Ridge(solver="svd"), Ridge, SVC(), make_scorer(f1_score), f1_score]
    things += [FRAME.astype({"b": pd.CategoricalDtype(["y", "x"])}), Holder(1), Holder(2)]
    assert len({digest(one) for one in things}) == len(things)


def test_what_was_fitted_is_no_part_of_an_estimator():
    assert digest(DummyClassifier().fit([[0], [1]], [0, 1])) == digest(DummyClassifier())


def test_what_was_fitted_counts_where_it_is_kept():
    frozen = pytest.importorskip("sklearn.frozen").FrozenEstimator
    one, other = (frozen(DummyClassifier().fit([[0], [1]], labels)) for labels in ([0, 1], [1, 2]))
    assert digest(one) != digest(other)


def test_the_format_of_sparse_data_does_not_count():
    rows = scipy.sparse.random(20, 5, 0.3, random_state=0, format="csr")
    coordinates = rows.tocoo()
    again = scipy.sparse.csr_matrix(coordinates.tocsc())
    assert digest(rows) == digest(again)


PROGRAM = """
import numpy as np, pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer, log_loss
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder
from mfopt.sklearn.fingerprint import make_name

class Scorer:
    def __init__(self): self.kinds, self.inner = {"a", "b", "c"}, object()
    def __call__(self, estimator, X, y): return 0.0

model = VotingClassifier([
    ("a", ColumnTransformer([("h", OneHotEncoder(), ["x"]), ("f", FunctionTransformer(lambda x: x + 1), ["y"])])),
    ("b", LogisticRegression(class_weight={"u": 1, "v": 2})),
])
frame = pd.DataFrame({"x": ["u", "v", None], "y": pd.Categorical([1, 2, 1]), "z": pd.to_datetime(["2020-01-01"] * 3)})
print(make_name(model, frame, Scorer(), make_scorer(log_loss, greater_is_better=False), lambda e, X, y: {1, 2, "q"}))
"""


def test_the_name_is_the_same_in_every_process(capsys):
    exec(PROGRAM, {"__name__": "__main__"})
    here = capsys.readouterr().out
    given = {"capture_output": True, "text": True, "check": True, "env": {**os.environ, "PYTHONHASHSEED": "1"}}
    assert subprocess.run([sys.executable, "-c", PROGRAM], **given).stdout == here
    assert here.startswith("VotingClassifier-")


def test_a_name_says_whose_study_it_is():
    assert make_name(SVC(), 1).startswith("SVC-")
    assert make_name(SVC(), 1) != make_name(SVC(), 2)
