"""Ranks, paired differences and tables of the arena."""

import math

import pytest
from arena import report, results


def run(problem, method, seed, best, **more):
    """A run with these best values at 5, 10, ... λ_M; the optimum is 10."""
    marks = dict(zip(("5", "10", "20", "50"), best, strict=False))
    return {
        "problem": problem, "method": method, "seed": seed, "capital": 10.0, "code": "c", "best": marks,
        "recommended": {}, "noisy": False, "first": 1.0, "optimum": 10.0, "seconds": 0.1, **more,
    }  # fmt: skip


def test_runs_are_read_as_they_were_written_and_a_torn_line_does_not_count(tmp_path):
    path = tmp_path / "deep" / "runs.jsonl"
    assert results.load(path) == []
    results.append(path, run("p", "a", 0, [1.0, None]))
    results.append(path, run("p", "b", 0, [1.0, 2.0]))
    path.write_text(path.read_text()[:-20])
    assert results.load(path) == [run("p", "a", 0, [1.0, None])]


def test_the_regret_is_infinite_before_a_target_value_and_never_negative():
    assert results.regret(run("p", "a", 0, [None]), 5.0) == math.inf
    assert results.regret(run("p", "a", 0, [7.5]), 5.0) == 2.5
    assert results.regret(run("p", "a", 0, [10.5]), 5.0) == 0.0


def test_what_is_recommended_counts_where_values_are_noisy():
    quiet = run("p", "a", 0, [7.0], recommended={"5": 9.0})
    assert results.regret(quiet, 5.0) == 3.0
    assert results.recommended_regret(quiet, 5.0) == 1.0
    assert results.regret({**quiet, "noisy": True}, 5.0) == 1.0
    assert results.regret({**quiet, "noisy": True, "recommended": {}}, 5.0) == 3.0
    assert results.recommended_regret(quiet, 10.0) is None


def test_ties_share_their_ranks_and_incomplete_rows_do_not_count():
    rows = {
        ("p", 0): {"a": 1.0, "b": 1.0, "c": 3.0},
        ("p", 1): {"a": 2.0, "b": math.inf, "c": math.inf},
        ("q", 0): {"a": 1.0},
    }
    ranks, n = results.mean_ranks(rows, ["a", "b", "c"])
    assert n == 2
    assert ranks == {"a": 1.25, "b": 2.0, "c": 2.75}
    assert results.mean_ranks(rows, ["a", "d"]) == ({}, 0)


def test_problems_are_the_units_of_a_paired_difference():
    rows = {
        **{("p", seed): {"a": 1.0, "b": 10.0} for seed in range(8)},  # eight seeds of p count once
        ("q", 0): {"a": 100.0, "b": 10.0},
        ("q", 1): {"a": 1000.0, "b": 1.0},
    }
    found = results.paired_difference(rows, "a", ["b"])
    assert found.problems == 2
    assert found.mean == pytest.approx((-1.0 + 2.0) / 2)
    assert found.error == pytest.approx(3.0 / 2)  # deviation 3/√2 over √2


def test_the_better_rival_is_picked_in_each_problem():
    rows = {("p", 0): {"a": 1.0, "b": 10.0, "c": 0.1}, ("q", 0): {"a": 1.0, "b": 0.1, "c": 10.0}}
    assert results.paired_difference(rows, "a", ["b", "c"]).mean == pytest.approx(1.0)
    assert results.paired_difference(rows, "a", ["b"]).mean == pytest.approx(0.0)


def test_infinite_and_tiny_regrets_are_bounded_by_the_largest_of_the_problem():
    assert results.paired_difference({("p", 0): {"a": math.inf, "b": 2.0}}, "a", ["b"]).mean == 0.0
    assert results.paired_difference({("p", 0): {"a": 0.0, "b": 2.0}}, "a", ["b"]).mean == pytest.approx(-8.0)
    assert results.paired_difference({("p", 0): {"a": 0.0, "b": 0.0}}, "a", ["b"]).mean == 0.0
    assert results.paired_difference({("p", 0): {"a": math.inf, "b": 0.0}}, "a", ["b"]).mean == pytest.approx(8.0)


def test_how_small_a_regret_counts_can_be_chosen():
    assert results.paired_difference({("p", 0): {"a": 0.0, "b": 2.0}}, "a", ["b"], 1e-3).mean == pytest.approx(-3.0)
    runs = [run("p", name, 0, [best]) for name, best in (("mine", 10.0), ("gp-ei", 8.0), ("gp-ucb", 8.0))]
    assert "| mine | the better of both | -3.00 ± nan | 1 |" in report.difference_table(runs, ["mine"], 1e-3)


def test_a_difference_needs_runs_of_all_methods():
    assert results.paired_difference({("p", 0): {"a": 1.0}}, "a", ["b"]) is None


def test_the_report_has_ranks_differences_medians_and_recommendations():
    runs = [run(p, "mine", s, [9.0, 9.9], recommended={"5": 8.0, "10": 9.9}) for p in ("p", "q") for s in (0, 1)]
    runs += [
        run(p, name, s, [None, 9.0], first=6.0) for p in ("p", "q") for s in (0, 1) for name in ("gp-ei", "gp-ucb")
    ]
    lines = report.write({"group": runs}, ["mine", "gp-ei", "gp-ucb"])
    assert lines[0] == "## group: 2 problems, seeds 0, 1"
    assert "| mine | **1.00** | **1.00** | 1 λ_M |" in lines
    assert "| gp-ei | 2.50 | 2.50 | 6 λ_M |" in lines
    assert "| mine | the better of both | +0.00 ± 0.00 | -1.00 ± 0.00 | 2 |" in lines
    assert "| p | 1 (1 to 1) / 0.1 (0.1 to 0.1) | ∞ (∞ to ∞) / 1 (1 to 1) | ∞ (∞ to ∞) / 1 (1 to 1) |" in lines
    assert "| p | 2 (2 to 2) / 0.1 (0.1 to 0.1) |" in lines
