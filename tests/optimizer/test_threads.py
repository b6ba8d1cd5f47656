"""threads=: several threads for the models, the same trials to the bit."""

import numpy as np
import pytest

import mfopt
from mfopt.cli import main

RNG = np.random.default_rng(0)
X = RNG.random((700, 3))


def f(x, m):
    return np.sin(5 * x.sum(axis=-1)) + 0.1 * m * x[..., 0]


def trials(threads, strategy="mf-gp-ucb", domain=None, **given):
    opt = mfopt.Optimizer(domain or [(0, 1)] * 3, [1.0, 10.0], strategy=strategy, rng=0, threads=threads, **given)
    opt.add(X[:400], 0, f(X[:400], 0))
    opt.add(X[400:460], 1, f(X[400:460], 1))
    found = []
    for _ in range(6):
        trial = opt.ask()
        opt.tell(trial, f(trial.x, trial.fidelity))
        found.append((*trial.x, trial.fidelity))
    return found


@pytest.mark.parametrize("strategy", ["mf-gp-ucb", "gp-ucb", "mf-sko"])
def test_trials_do_not_depend_on_the_number_of_threads(strategy):
    assert trials(1, strategy) == trials(3, strategy)


def test_trials_on_a_finite_set_do_not_either():
    points = mfopt.FiniteSet(np.vstack([X, RNG.random((5000, 3))]))
    assert trials(1, domain=points) == trials(2, domain=points)


def test_a_study_is_opened_with_any_number(tmp_path):
    made = {"storage": tmp_path / "study.db", "study": "one"}
    first = trials(2, **made)
    study = mfopt.Study.open(tmp_path / "study.db", threads=3)
    again = mfopt.Optimizer([(0, 1)] * 3, [1.0, 10.0], rng=0, **made)
    assert len(study.history) == len(again.history) == 460 + len(first)
    trial = study.ask()
    assert mfopt.Study.open(tmp_path / "study.db").pending[0].x.tolist() == trial.x.tolist()


@pytest.mark.parametrize("threads", [0, -2, 257, 1.5, "two", None])
def test_the_number_is_checked(threads, tmp_path):
    with pytest.raises(mfopt.InputError, match="threads must be"):
        mfopt.Optimizer([(0, 1)], [1.0], threads=threads)
    mfopt.Optimizer([(0, 1)], [1.0], storage=tmp_path / "study.db", capital=3.0)
    with pytest.raises(mfopt.InputError, match="threads must be"):
        mfopt.Study.open(tmp_path / "study.db", threads=threads)


def test_a_surrogate_given_as_an_instance_stays_as_it_is():
    from mfopt_plugins.surrogates.se import SE

    surrogate = SE()
    assert trials(2, surrogate=surrogate) == trials(1, surrogate=SE())
    assert surrogate.threads == 1


def test_the_commands_take_it(tmp_path, capsys):
    problem = tmp_path / "wave.py"
    problem.write_text("domain = [(0, 1)]\ncosts = [1]\nfunctions = [lambda x: x[0]]\ncapital = 3\n")
    storage = str(tmp_path / "study.db")
    assert main(["run", str(problem), "--seed", "1", "--threads", "2", "--quiet", "--storage", storage]) == 0
    assert main(["ask", storage, "--threads", "2"]) == 3  # the capital is used up
    assert main(["ask", storage, "--threads", "0"]) in (1, 2)
    assert "threads must be from 1 to 256, got 0" in capsys.readouterr().err
