"""The problems with real data, on small data made here; on the real ones where MFOPT_DATA names them."""

import csv
import hashlib
import http.client
import json
import os
import urllib.request

import numpy as np
import pytest

import mfopt
from mfopt import InputError, cli, problems
from mfopt.errors import DataMissing
from mfopt.problems.additive_ridge import make_salsa
from mfopt.problems.cosmology import Likelihood, make_supernova
from mfopt.problems.data import DataFile
from mfopt.problems.recorded import Recorded
from mfopt.problems.rented_machines import NAMES, make_cloud
from mfopt.problems.support_vectors import make_svm

needs_data = pytest.mark.skipif("MFOPT_DATA" not in os.environ, reason="MFOPT_DATA is not set")


def moduli(z, hubble, matter, energy):
    """Distance moduli by quadrature, written down anew."""
    from scipy.integrate import quad

    curvature = 1 - matter - energy
    found = []
    for one in z:
        inside = quad(lambda t: (matter * (1 + t) ** 3 + curvature * (1 + t) ** 2 + energy) ** -0.5, 0, one)[0]
        root = abs(curvature) ** 0.5
        bent = inside if curvature == 0 else (np.sinh if curvature > 0 else np.sin)(root * inside) / root
        found.append(5 * np.log10((1 + one) * 299792.458 / hubble * bent) + 25)
    return np.array(found)


@pytest.fixture
def stars():
    z = np.linspace(0.02, 1.5, 12)
    return np.column_stack([z, moduli(z, 70.0, 0.3, 0.7), np.full(12, 0.2)])


@pytest.fixture
def machines(tmp_path):
    """A table of 6 configurations and 2 sizes."""
    path = tmp_path / "cloud.csv"
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*NAMES, "training_set_size", "acc", "cost_usd"])
        for k, (workers, flavour) in enumerate([(1, "a"), (2, "a"), (4, "a"), (1, "b"), (2, "b"), (4, "b")]):
            for size in (100, 1000):
                writer.writerow([workers, 1e-3, 16, "sync", flavour, size, 0.1 * k + size / 1e5, size * workers / 1e4])
    return path


@pytest.mark.parametrize("x", [(70.0, 0.3, 0.7), (65.0, 0.1, 0.2), (75.0, 0.9, 0.9)])
def test_the_likelihood_of_supernovae_is_that_of_the_exact_integrals(stars, x):
    error = (stars[:, 1] - moduli(stars[:, 0], *x)) / 0.2
    expected = -0.5 * (error**2).sum() - 12 * np.log(0.2 * np.sqrt(2 * np.pi))
    assert Likelihood(stars, 20_000)(np.array(x)) == pytest.approx(expected, rel=1e-6)


def test_a_finer_grid_is_nearer_to_the_integral(stars):
    x = np.array([70.0, 0.3, 0.7])
    values = [Likelihood(stars, size)(x) for size in (10, 100, 100_000)]
    assert abs(values[0] - values[2]) > abs(values[1] - values[2]) > 0.0


def test_supernovae_are_fitted_by_the_parameters_that_made_them(stars):
    problem = make_supernova(stars, (20, 400))
    result = mfopt.maximize(problem.functions, problem.domain, problem.costs, 20 * problem.costs[-1], rng=0)
    made = Likelihood(stars, 400)(np.array([70.0, 0.3, 0.7]))
    assert result.fun > made - 5.0


def test_the_machines_cost_their_dollars(machines):
    problem = make_cloud(machines)
    assert problem.domain.points.shape[0] == 6
    assert problem.optimum == pytest.approx(0.51)
    assert problem.zetas == pytest.approx([0.009, 0.0])
    result = mfopt.maximize(problem.functions, problem.domain, problem.costs, 1.0, cost=problem.cost, rng=0)
    assert result.fun == problem.optimum
    workers = np.array([params["n_workers"] for params in result.history.params])
    sizes = np.array([100, 1000])[result.history.fidelity]
    np.testing.assert_allclose(result.history.cost, sizes * workers / 1e4)


def test_a_classifier_is_cross_validated_on_the_first_so_many_rows():
    rng = np.random.default_rng(0)
    features = rng.normal(size=(200, 3)) * [1, 10, 100]
    problem = make_svm(features, features[:, 0] > 0, (40, 200))
    good, bad = (problem.functions[1](np.array(x))["value"] for x in ((2.0, 10.0), (1e-3, 0.1)))
    assert good > 0.9 > bad
    assert problem.functions[0](np.array([2.0, 10.0]))["value"] <= 1.0


def test_an_additive_function_is_regressed():
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, size=(150, 3))
    table = np.column_stack([x, np.sin(3 * x[:, 0]) + x[:, 1] ** 2])
    problem = make_salsa(table, (50, 150))
    values = [f(np.array([0.1, 1.0, 1.0, 1.0, 1.0]))["value"] for f in problem.functions]
    assert values[0] < values[1]
    assert values[1] > -np.log(0.05)
    assert problem.functions[1](np.array([1e4, 1e-3, 1.0, 1.0, 1.0]))["value"] == pytest.approx(0.0, abs=0.05)


def test_a_recorded_point_is_not_evaluated_again(tmp_path):
    calls = []

    def f(x):
        calls.append(x.tolist())
        return x[0]

    path = str(tmp_path / "out" / "record.jsonl")
    first = Recorded(f, "p", 0, path)
    once, again = first(np.array([0.1, 0.2])), first(np.array([0.1, 0.2]))
    assert once == again
    assert once["value"] == 0.1
    assert Recorded(f, "p", 0, path)(np.array([0.1, 0.2])) == once  # another process
    assert len(calls) == 1
    Recorded(f, "p", 1, path)(np.array([0.1, 0.2]))
    Recorded(f, "q", 0, path)(np.array([0.1, 0.2]))
    first(np.array([0.1, np.nextafter(0.2, 1)]))
    assert len(calls) == 4
    without = Recorded(f, "p", 0, None)
    without(np.array([0.1, 0.2]))
    assert len(calls) == 5


def test_a_function_may_tell_its_own_cost(tmp_path):
    path = str(tmp_path / "record.jsonl")
    told = {"value": 2.0, "cost": 3.5}
    assert Recorded(lambda x: told, "p", 0, path)(np.array([0.1])) == told
    assert Recorded(lambda x: 1.0, "p", 0, path)(np.array([0.1])) == told


def test_a_record_that_was_cut_is_gone_on_with(tmp_path):
    path = tmp_path / "record.jsonl"
    good = json.dumps({"problem": "p", "fidelity": 0, "x": [0.5], "value": 7.0, "cost": 3.0})
    path.write_text(good + "\nrubbish\n" + good[:20])
    assert Recorded(lambda x: 1.0, "p", 0, str(path))(np.array([0.5])) == {"value": 7.0, "cost": 3.0}


def test_a_file_is_found_checked_and_fetched(tmp_path, monkeypatch):
    source, store = tmp_path / "published.csv", tmp_path / "store"
    source.write_text("a,b\n")
    sha = hashlib.sha256(source.read_bytes()).hexdigest()
    monkeypatch.setenv("MFOPT_DATA", str(store))
    there = DataFile("x.csv", sha, "somewhere", source.as_uri())
    assert there.find() == store / "x.csv"
    assert [path.name for path in store.iterdir()] == ["x.csv"]
    (store / "x.csv").write_text("changed")
    with pytest.raises(DataMissing, match=f"must have the SHA-256 {sha}, got .*; it comes from somewhere"):
        there.find()
    with pytest.raises(DataMissing, match="must be there, got no such file; it comes from somewhere: put it into"):
        DataFile("y.csv", sha, "somewhere").find()
    with pytest.raises(DataMissing, match="without a network put it into the directory that MFOPT_DATA names"):
        DataFile("y.csv", sha, "somewhere", (tmp_path / "gone").as_uri()).find()
    with pytest.raises(DataMissing, match=r"published\.csv must have the SHA-256"):
        DataFile("y.csv", "0" * 64, "somewhere", source.as_uri()).find()
    assert [path.name for path in store.iterdir()] == ["x.csv"]


def test_a_place_that_cannot_hold_a_download_is_named(tmp_path):
    (tmp_path / "source").write_bytes(b"1,2")
    (tmp_path / "file").write_text("no directory")
    made = DataFile("d.csv", hashlib.sha256(b"1,2").hexdigest(), "somewhere", (tmp_path / "source").as_uri())
    with pytest.raises(DataMissing, match=r"d\.csv must be there or be downloaded .*source, got .*put it into the dir"):
        made.find(str(tmp_path / "file"))


def test_an_answer_that_is_none_is_a_failed_download(tmp_path, monkeypatch):
    def answer(url, timeout):
        raise http.client.BadStatusLine("garbage")

    monkeypatch.setattr(urllib.request, "urlopen", answer)
    made = DataFile("d.csv", "0" * 64, "somewhere", "https://somewhere/d.csv")
    with pytest.raises(DataMissing, match=r"got garbage; without a network put it into the directory"):
        made.find(str(tmp_path))
    assert not list(tmp_path.iterdir())


def test_without_data_the_error_says_where_they_are_published(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("MFOPT_DATA", str(tmp_path))
    assert cli.main(["run", "supernova", "--capital", "1m", "--quiet"]) == 1
    assert "Davis et al." in capsys.readouterr().err
    with pytest.raises(InputError, match="options of svm must be among data, record, costs, got size"):
        problems.get("svm:size=3")


def test_a_known_problem_is_run_by_its_name(capsys):
    command = ["run", "currin", "--capital", "40", "--strategy", "random", "--seed", "1", "--quiet", "--json"]
    assert cli.main(command) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["queries"] == [0, 4]


@needs_data
@pytest.mark.parametrize("name", [name for name in problems.REAL if name != "vj"])  # test_cascade.py
def test_the_real_problems_have_their_best_values(name):
    problem = problems.get(name)
    argument = problem.argmax if name != "cloud" else problem.domain.params(problem.argmax)
    assert problem.functions[-1](argument)["value"] == pytest.approx(problem.optimum, rel=1e-6)
    assert problem.functions[0](argument)["cost"] > 0.0


def test_results_of_a_real_problem_are_drawn_without_its_data(tmp_path, monkeypatch):
    from mfopt.bench.plots.curves import describe_problem

    monkeypatch.setenv("MFOPT_DATA", str(tmp_path))
    assert describe_problem("cloud") == "cloud"


@needs_data
def test_a_real_problem_is_benched(tmp_path):
    from mfopt import bench

    (cell,) = bench.run(["cloud"], ["mf-gp-ucb"], [0], 5.0, tmp_path, progress=False)
    assert cell.status == "done"
    assert 4.0 < cell.spent[-1] < 8.0
    assert cell.regret[-1] >= 0.0
