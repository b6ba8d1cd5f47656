"""Runs that are recorded one by one and gone on with."""

import resumable
from arena import results


def test_what_is_done_is_not_run_again_and_every_method_is_warmed_up_once(tmp_path, capsys):
    wanted = resumable.plan(["a", "b"], ["x", "y"], "3-4")
    assert wanted[:3] == [("a", "x", 3), ("a", "y", 3), ("b", "x", 3)]
    assert len(wanted) == 8
    warmed, out = [], tmp_path / "runs.jsonl"

    def go_on(done, minutes):
        resumable.complete(
            wanted,
            done,
            carry_out=lambda cell: {"cell": cell},
            warm_up=lambda problem, method: warmed.append((problem, method)),
            describe=lambda found: f"{found['cell'][2]} done",
            out=out,
            minutes=minutes,
        )

    go_on(wanted[:6], minutes=1.0)
    assert [tuple(run["cell"]) for run in results.load(out)] == wanted[6:]
    assert warmed == [("b", "x"), ("b", "y")]
    assert "8/8 b y 4: 4 done" in capsys.readouterr().out
    go_on([], minutes=-1.0)
    assert len(results.load(out)) == 2
    assert "8 of 8 runs are left" in capsys.readouterr().err


def test_seeds_are_one_or_a_range():
    assert resumable.parse_seeds("7") == [7]
    assert resumable.parse_seeds("0-3") == [0, 1, 2, 3]


def test_numbers_of_runs_are_one_or_a_range():
    assert resumable.tell_range([10, 3, 7]) == "3 to 10"
    assert resumable.tell_range([5, 5]) == "5"
