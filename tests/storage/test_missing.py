"""A study whose domain the storage could not hold is read, told and answered all the same."""

import numpy as np
import pytest

from mfopt import Box, InputError, Integer, Space, Study
from mfopt.cli import main


def low(p):
    return p["a"] + p["b"] <= 1.2


def low_rows(x):
    return x.sum(axis=1) <= 1.2


class Odd(Box):
    """A domain of the user's own."""


DOMAINS = {
    "space": lambda: Space({"a": (0.0, 1.0), "b": (0.0, 2.0)}, constraints=low),
    "box": lambda: Box([(0.0, 1.0), (0.0, 2.0)], names=["a", "b"], constraints=low_rows),
    "custom": lambda: Odd([(0.0, 1.0), (0.0, 2.0)], names=["a", "b"]),
}


def make(path, domain, n=12):
    study = Study(domain, [1.0], strategy="gp-ei", noise=0.09, rng=0, storage=path)
    rng = np.random.default_rng(0)
    for trial in study.ask(n):
        study.tell(trial, -((trial.x[0] - 0.3) ** 2) + 0.3 * rng.standard_normal())
    return study


@pytest.mark.parametrize("kind", ["space", "box"])
def test_answers_need_no_constraint(tmp_path, kind):
    here = make(tmp_path / "study.db", DOMAINS[kind]())
    there = Study.open(tmp_path / "study.db")
    assert there.recommend().params in there.history.params
    assert there.recommend_if_noisy() is not None
    points = [[0.3, 0.2], [0.5, 0.6]]
    mean, std = there.predict(points)
    assert mean == pytest.approx(here.predict(points)[0], abs=0.2)
    assert (std > 0.0).all()
    assert there.predict({"a": 0.3, "b": 0.2}) == (pytest.approx(mean[0]), pytest.approx(std[0]))
    with pytest.raises(InputError, match="b must lie in"):
        there.predict([0.3, 2.5])


@pytest.mark.parametrize("kind", ["space", "box"])
def test_what_needs_the_constraint_says_what_to_do(tmp_path, kind):
    make(tmp_path / "study.db", DOMAINS[kind]())
    there = Study.open(tmp_path / "study.db")
    for refused in (lambda: there.recommend(anywhere=True), there.expected_gain, there.ask, there.verify):
        with pytest.raises(InputError, match=r"from Python with mfopt.Study.open\(storage, name, domain=...\)"):
            refused()
    with pytest.raises(InputError, match="to add, open it"):
        there.add([0.1, 0.1], 0, 1.0)
    assert Study.open(tmp_path / "study.db", domain=DOMAINS[kind]()).verify().holds


def test_points_of_a_discrete_space_are_not_known_without_its_constraint(tmp_path):
    domain = Space({"a": Integer(0, 3), "b": Integer(0, 3)}, constraints=lambda p: p["a"] <= p["b"])
    make(tmp_path / "study.db", domain, 5)
    there = Study.open(tmp_path / "study.db")
    assert there.domain.points is None
    assert there.recommend().params in there.history.params
    with pytest.raises(InputError, match="to search all of X"):
        there.recommend(anywhere=True)


@pytest.mark.parametrize("kind", list(DOMAINS))
def test_the_best_value_is_printed(tmp_path, kind, capsys):
    best = make(tmp_path / "study.db", DOMAINS[kind]()).best
    assert main(["best", str(tmp_path / "study.db")]) == 0
    said = capsys.readouterr()
    assert said.out.startswith(f"value  {best.y!r} (trial {best.trial_id})\n")
    assert ("recommended" in said.out) is (kind != "custom")
    assert said.err.startswith("mfopt: warning: there is no recommendation: ") is (kind == "custom")


def test_it_is_drawn(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    make(tmp_path / "study.db", DOMAINS["space"]())
    assert main(["plot", str(tmp_path / "study.db"), "--out", str(tmp_path / "study.png")]) == 0
    assert (tmp_path / "study.png").stat().st_size > 0
