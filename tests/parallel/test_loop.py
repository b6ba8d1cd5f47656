import inspect
import io
import itertools
import sys

import numpy as np
import pytest

import mfopt
from mfopt import InputError, maximize, minimize
from mfopt.loop import Status, run
from mfopt.parallel.progress import Progress, line
from tests.optimizer.toys import toys

DOMAIN = [(0.0, 1.0), (0.0, 1.0)]
COSTS = [1.0, 4.0]


def low(x):
    return 1.0 - np.square(x - 0.4).sum()


def high(x):
    return 2.0 - np.square(x - 0.5).sum()


def go(functions=(low, high), costs=COSTS, capital=40.0, what=maximize, **options):
    return what(list(functions), DOMAIN, costs, capital, **{"rng": 0, "progress": False, **toys(), **options})


def test_the_result_is_scipys_with_the_history():
    result = go()
    history = result.history
    assert result.success
    assert result.fun == history.y[history.fidelity == 1].max() == high(result.x)
    assert result.nfev == len(history) == sum(result.nfev_at)
    assert result.nfev_at == np.bincount(history.fidelity).tolist()
    assert 36.0 < result.spent <= 40.0
    assert "capital" in result.message


def test_maximize_and_minimize_are_functions_with_the_same_documented_arguments():
    assert inspect.isfunction(maximize)
    assert inspect.isfunction(minimize)
    assert inspect.signature(maximize) == inspect.signature(minimize)
    for name in ("functions", "domain", "costs", "capital", "zetas", "mfopt.loop.run"):
        assert name in maximize.__doc__


def test_what_ended_a_loop_has_a_name_and_is_a_plain_number_too():
    assert [int(status) for status in Status] == list(range(8))
    assert [status.name for status in Status if status.is_regular] == [
        "CAPITAL",
        "POINTS",
        "CALLBACK",
        "TARGET",
        "CONVERGED",
    ]
    status = go().status
    assert status is Status.CAPITAL
    assert status == 0
    assert (str(status), f"{status}") == ("0", "0")


def test_minimize_keeps_the_users_sign():
    result = go([lambda x: -low(x), lambda x: -high(x)], what=minimize)
    assert result.fun == go().fun * -1.0
    assert result.fun == result.history.y[result.history.fidelity == 1].min()


def test_functions_get_their_own_fresh_point_in_user_units():
    def spoil(x):
        assert x.shape == (1,)
        assert 10.0 <= x[0] <= 20.0
        x[:] = -99.0
        return 1.0

    result = maximize([spoil], [(10, 20)], [1.0], 5.0, progress=False, **toys())
    assert (result.history.x >= 10.0).all()


def broken(x):
    raise RuntimeError("diverged")


@pytest.mark.parametrize("bad", [broken, lambda x: None])
def test_an_exception_is_raised_by_default_and_says_how_to_go_on(bad):
    with pytest.raises((RuntimeError, InputError), match=r"diverged|real number") as caught:
        go([low, bad])
    if sys.version_info >= (3, 11):
        (note,) = caught.value.__notes__
        assert note.startswith("trial 0 (fidelity 1, {'x0': ")
        assert note.endswith('on_error="record" would tell it as failed and go on')


@pytest.mark.parametrize(
    "bad", [broken, lambda x: np.nan, lambda x: np.inf, lambda x: 1e200, lambda x: "1", lambda x: None]
)
def test_or_recorded_as_a_failed_trial(bad):
    result = go([low, bad], on_error="record")
    target = result.history.fidelity == 1
    assert target.any()
    assert (result.history.status[target] == "failed").all()
    assert (result.history.status[~target] == "ok").all()
    assert [failure.trial_id for failure in result.failures] == result.history.id[target].tolist()
    assert all(failure.fidelity == 1 and ": " in failure.message for failure in result.failures)
    assert all(list(failure.params.values()) == failure.x.tolist() for failure in result.failures)
    assert not any("array" in repr(failure) for failure in result.failures)  # params say it
    assert result.spent <= 40.0
    assert not result.success
    assert result.x is None
    assert np.isnan(result.fun)
    assert "no value at the target" in result.message


def test_a_value_that_is_no_number_is_raised_by_default():
    with pytest.raises(InputError, match=r"the value of function 1 at .* must be finite, got nan"):
        go([low, lambda x: np.nan])


def test_ctrl_c_returns_the_result_so_far():
    calls = itertools.count()

    def interrupted(x):
        if next(calls) == 7:
            raise KeyboardInterrupt
        return high(x)

    result = maximize([interrupted], DOMAIN, [1.0], 40.0, rng=0, progress=False, on_error="record", **toys())
    assert not result.success
    assert "interrupted" in result.message
    assert result.nfev == 7
    assert result.fun == result.history.y.max()


def test_the_callback_sees_each_trial_and_may_stop():
    seen = []

    def callback(opt, trial, y):
        seen.append((opt.history.id[-1] == trial.id, y))
        return len(seen) == 5

    result = go(callback=callback)
    assert result.nfev == 5
    assert seen == [(True, y) for y in result.history.y.tolist()]
    assert "callback" in result.message


def test_a_failed_trial_is_none_to_the_callback():
    seen = []
    go([broken, broken], on_error="record", callback=lambda opt, trial, y: seen.append(y))
    assert set(seen) == {None}


def test_the_time_limit_ends_the_loop(monkeypatch):
    now = [100.0]
    monkeypatch.setattr("mfopt.parallel.engine.time.monotonic", lambda: now[0])

    def slow(x):
        now[0] += 1.5
        return high(x)

    for limit in (10.0, "10s"):
        result = go([slow, slow], capital=None, time_limit=limit)
        assert result.nfev == 7
        assert not result.success
        assert "time limit" in result.message
    assert go([slow, slow], capital=None, time_limit=0).nfev == 0


def test_a_noiseless_finite_set_ends_the_loop():
    domain = mfopt.FiniteSet(np.random.default_rng(0).random((4, 2)))
    result = maximize([high], domain, [1.0], 40.0, noise=0.0, progress=False, **toys())
    assert result.success
    assert result.nfev == 4
    assert "all 4 points" in result.message


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        ({"functions": [high]}, "costs, one per function, must have 1 entry, got 2"),
        ({"functions": [low, 3]}, "callable, got 3"),
        ({"on_error": "ignore"}, "on_error must be"),
        ({"time_limit": "long"}, "time_limit must be a number of seconds, or one with s, m, h or d, got 'long'"),
        ({"workers": 2}, "workers must be 1 without an executor, got 2"),
        ({"workers": 0, "executor": "threads"}, "workers must be at least 1, got 0"),
        ({"executor": "fibres"}, "executor must be .* got 'fibres'"),
        ({"limits": [1]}, "limits, one per function, must have 2"),
        ({"limits": [1, 0]}, "limits must be at least 1 or None"),
        ({"timeout": 3.0}, "timeout needs an executor"),
        ({"timeout": [3.0, 0.0], "executor": "threads"}, "timeout must be positive"),
        ({"retries": -1}, "retries must not be negative"),
        ({"capital": None}, "needs a time_limit or a callback"),
        ({"zetas": [0.1]}, "zetas, one per function, must have 2"),
        ({"zetas": [-0.1, 0.0]}, "zeta must not be negative"),
    ],
)
def test_bad_arguments_are_refused_before_any_evaluation(options, rule):
    def counted(x):
        raise AssertionError("evaluated")

    with pytest.raises(InputError, match=rule):
        go(**{"functions": [counted, counted], **options})


def test_a_rule_that_is_refused_makes_no_study(tmp_path):
    with pytest.raises(InputError, match="on_error must be"):
        go(on_error="ignore", storage=str(tmp_path / "study.db"))
    assert list(tmp_path.iterdir()) == []


def test_zetas_and_noise_reach_the_strategy():
    seen = []
    go(zetas=[0.3, None], noise=[0.1, 0.0], callback=lambda opt, trial, y: seen.append(opt.strategy.problem))
    assert seen[0].zetas == (0.3, 0.0)
    assert seen[0].noises == (0.1, 0.0)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def optimiser():
    opt = mfopt.Optimizer(DOMAIN, COSTS, capital=8.0, **toys())
    opt.add([0.5, 0.5], 0, 9.0)
    opt.add([0.5, 0.5], 1, 1.5, cost=4.0)
    return opt


def test_the_progress_line_tells_cost_best_and_counts():
    assert line(optimiser()) == "[##########..........] 4/8  best 1.5  queries 1 + 1"
    assert line(optimiser(), running=3, failed=2).endswith("queries 1 + 1  running 3  failed 2")
    assert line(mfopt.Optimizer(DOMAIN, COSTS, **toys())) == "0  best none  queries 0 + 0"


def test_a_terminal_line_is_redrawn_and_a_file_gets_few_lines(monkeypatch):
    clock = itertools.count()
    monkeypatch.setattr("mfopt.parallel.progress.time.monotonic", lambda: float(next(clock)))
    opt = optimiser()
    for stream, lines in ((Terminal(), 1), (io.StringIO(), 3)):
        display = Progress(stream)
        for _ in range(50):
            display.update(opt)
        display.close(opt)
        text = stream.getvalue()
        assert text.count("\n") == lines
        assert "\x1b[A" not in text
        assert (text.count("\r") == 51) == stream.isatty()
        assert text.endswith("queries 1 + 1\n")


def test_the_reason_of_the_last_trial_has_a_line_of_its_own_no_longer_than_the_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    opt = mfopt.Optimizer(DOMAIN, COSTS, rng=0)
    trial = opt.ask()
    stream, pipe = Terminal(), io.StringIO()
    for _ in range(2):
        Progress(pipe).close(opt, trial)
    display = Progress(stream)
    display.update(opt, trial)
    display.close(opt, trial)
    assert stream.getvalue().count("\x1b[A") == 1
    assert max(len(part) for part in stream.getvalue().replace("\r", "\n").split("\n")) <= 40 + len("\x1b[A\x1b[K")
    assert "last 0: initial design: fidelity 0," in pipe.getvalue().splitlines()[0]


def test_a_failed_evaluation_is_tried_again_and_paid_for_once():
    calls = []

    def flaky(x):
        calls.append(x.tolist())
        return np.nan if len(calls) % 3 else high(x)

    result = go([flaky], [1.0], 4.0, retries=2)
    assert result.success
    assert result.spent == 4.0
    assert result.failures == []
    assert calls == [x for x in result.history.x.tolist() for _ in range(3)]
    del calls[:]
    assert len(go([flaky], [1.0], 4.0, retries=1, on_error="record").failures) == 2  # every third call succeeds


def test_progress_goes_to_stderr_when_asked(capsys):
    go(progress=True)
    out, err = capsys.readouterr()
    assert out == ""
    assert "best" in err
    go(progress=None)
    assert capsys.readouterr() == ("", "")


def test_an_optimiser_in_mid_run_can_be_continued():
    opt = mfopt.Optimizer(DOMAIN, COSTS, capital=40.0, rng=0, **toys())
    run(opt, [low, high], callback=lambda o, t, y: len(o.history) == 5)
    assert len(opt.history) == 5
    assert run(opt, [low, high]).spent > 36.0


def test_functions_of_a_space_are_given_params():
    seen = []

    def depth(params):
        seen.append(params)
        return params["depth"] + params.get("drop", 0.0)

    space = {"depth": mfopt.Integer(1, 9), "kind": ["a", "b"], "drop": mfopt.Real(0, 1, when={"kind": "b"})}
    result = maximize([depth], space, [1.0], 12.0, strategy="random", rng=0, progress=False)
    assert seen == result.history.params
    assert result.params in seen
    assert depth(dict(result.params)) == result.fun
    seen.pop()
    assert {type(params["depth"]) for params in seen} == {int}
    assert {"drop" in params for params in seen} == {True, False}
    with pytest.raises(InputError, match=r"the value of function 0 at \{'depth': \d, .* must be finite"):
        maximize([lambda params: np.nan], space, [1.0], 2.0, strategy="random", rng=0, progress=False)
