"""The problems of the arena that need no data, and a finite table made here."""

import math

import numpy as np
import pytest
from arena import cells, finite, groups, noisy, optima, ours, results, simulators
from arena.problem import Meter

from mfopt.domains.params import params_of


def random_points(problem, n, seed=0):
    domain = problem.domain
    return [params_of(domain, x) for x in domain.decode(domain.sample(n, np.random.default_rng(seed)))]


@pytest.mark.parametrize("name", simulators.SIMULATORS)
def test_finer_solvers_agree_better_with_the_finest(name):
    problem = simulators.simulator(name)
    values = np.array([[problem.evaluate(p, m) for m in range(len(problem.costs))] for p in random_points(problem, 30)])
    distances = np.nanmedian(np.abs(values - values[:, -1:]), axis=0)
    assert list(problem.costs) == sorted(set(problem.costs))
    assert distances[-1] == 0.0
    assert (np.diff(distances) < 0).all()


@pytest.mark.parametrize("name", simulators.SIMULATORS)
def test_no_random_point_is_better_than_the_recorded_optimum(name):
    problem = simulators.simulator(name)
    values = [problem.evaluate(p, len(problem.costs) - 1) for p in random_points(problem, 60)]
    assert np.nanmax(values) < problem.optimum == optima.known(name)


def test_coarse_steps_blow_up_and_fine_ones_do_not():
    problem = simulators.simulator("hares")
    failed = np.isnan([[problem.evaluate(p, m) for m in range(3)] for p in random_points(problem, 30)]).mean(axis=0)
    assert 0.1 < failed[0] < 0.9
    assert failed[0] > failed[1] >= failed[2] == 0.0


def test_a_simulator_gives_the_same_value_twice():
    for name in simulators.SIMULATORS:
        (p,) = random_points(simulators.simulator(name), 1)
        first, again = (simulators.simulator(name).evaluate(p, 0) for _ in range(2))
        assert first == again or (math.isnan(first) and math.isnan(again))


def test_a_noisy_problem_is_the_quiet_one_with_noise():
    one, quiet = noisy.noisy("noisy-currin"), groups.find("currin")
    (p,) = random_points(quiet, 1)
    assert one.evaluate(p, 1) == quiet.evaluate(p, 1)
    assert 0.2 < one.noise < 1.5  # a tenth of a range of about 10
    assert Meter(one, 5.0).query(p, 1) != quiet.evaluate(p, 1)


HEAD = "n_workers,learning_rate,batch_size,synchronism,vm_flavor,training_set_size,acc,cost_usd"
TABLE = "\n".join(
    [
        HEAD,
        "8,0.001,16,async,t2.small,60000,0.9,4.0",
        "8,0.001,16,async,t2.small,1000,0.5,1.0",
        "16,0.001,16,sync,t2.small,1000,0.6,0.5",
        "16,0.001,16,sync,t2.small,60000,0.8,1.0",
        "8,0.0001,256,sync,t2.medium,1000,0.1,1.5",
        "8,0.0001,256,sync,t2.medium,60000,0.7,4.0",
    ]
)


def test_a_table_is_a_finite_set_that_charges_what_was_paid():
    problem = finite.cloud("cloud", finite.read(TABLE))
    assert len(problem.domain.points) == 3
    assert problem.costs == (1.0, 3.0)
    assert problem.optimum == pytest.approx(90.0)
    params = {"n_workers": 16, "learning_rate": 0.001, "batch_size": 16, "synchronism": "sync", "vm_flavor": "t2.small"}
    assert problem.evaluate(params, 0) == pytest.approx(60.0)
    assert problem.charge(params, 1) == 1.0
    assert finite.cloud("cloud-fixed", finite.read(TABLE)).charge is None


def test_thrift_takes_a_per_cent_for_each_doubling():
    problem = finite.cloud("cloud-thrift", finite.read(TABLE))
    params = {"n_workers": 8, "learning_rate": 0.001, "batch_size": 16, "synchronism": "async", "vm_flavor": "t2.small"}
    assert problem.evaluate(params, 1) == pytest.approx(90.0 - math.log2(4.0 / 3.0))


def test_without_the_directory_of_the_data_the_error_says_so(monkeypatch):
    monkeypatch.delenv("MFOPT_DATA", raising=False)
    finite._trainings.cache_clear()
    with pytest.raises(SystemExit, match="MFOPT_DATA must name the directory"):
        finite.cloud("cloud")


def test_an_unknown_problem_is_refused():
    with pytest.raises(SystemExit, match=r"must be one of .*'currin'.*, got 'nonsense'"):
        groups.find("nonsense")


def test_ours_spend_what_there_is_and_recommend_at_the_marks():
    meter = Meter(groups.find("currin"), 10.0)
    ours.run(meter, 0, "gp-ei")
    meter.finish()
    assert meter.spent == pytest.approx(10.0)
    assert meter.recommended == {5.0: meter.best_at(5.0), 10.0: meter.best_at(10.0)}  # without noise: the best


def test_costs_that_depend_on_the_point_are_told():
    problem = finite.cloud("cloud", finite.read(TABLE))
    meter = Meter(problem, 4.0)
    ours.run(meter, 0, "gp-ei")
    assert 0.0 < meter.spent <= 4.0
    assert meter.best_at(4.0) == pytest.approx(90.0)


def test_the_design_for_peers_is_the_one_of_the_strategy():
    asked = []
    problem = groups.find("currin")
    meter = Meter(problem, 10.0)
    meter.query, query = lambda p, m: (asked.append((p, m)), query(p, m))[1], meter.query
    ours.run(meter, 4, "mf-gp-ucb")
    design = ours.design(problem, 10.0, 4, "mf-gp-ucb")
    assert 1 < len(design) < len(asked)
    assert design == asked[: len(design)]


@pytest.mark.parametrize("jobs", [1, 2])
def test_cells_are_recorded_once_for_each_code(tmp_path, capsys, jobs):
    into = tmp_path / "runs.jsonl"
    plan = cells.plan(["forrester-tilted"], ["random"], [0, 1], 5.0, "a")
    cells.run(plan[:1], into, jobs)
    cells.run(plan, into, jobs)
    assert [one["seed"] for one in results.load(into)] == [0, 1]
    cells.run(cells.plan(["forrester-tilted"], ["random"], [0], 5.0, "b"), into, jobs)
    assert [(one["seed"], one["code"]) for one in results.load(into)] == [(0, "a"), (1, "a"), (0, "b")]
    one = results.load(into)[0]
    assert one["capital"] == 5.0
    assert one["best"]["5"] <= one["optimum"]
    assert capsys.readouterr().out.count("forrester-tilted") == 3
