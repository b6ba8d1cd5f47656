import math

import numpy as np
import pytest

from mfopt import AlreadyTold, Box, Exhausted, Fidelity, FiniteSet, UnknownTrial
from mfopt.protocols import Record, View
from mfopt.run.events import Added, Asked, CapitalSet, Refused, Told
from mfopt.run.ledger import Ledger

BOX = Box([(0.0, 1.0), (-5.0, 5.0)])


def ledger(domain=BOX, capital=50.0, sign=1.0, noise=None):
    return Ledger(domain, [Fidelity("low", 1.0), Fidelity("high", 10.0, noise=noise)], capital, sign, seed=7)


def asked(id, u=(0.5, 0.5), m=1, domain=BOX):
    u = np.array(u)
    return Asked(id, domain.decode(u[None])[0], u, m, (1.0, 10.0)[m], "because")


def added(id, y, u=(0.25, 0.5), m=1, cost=0.0):
    u = np.array(u)
    return Added(id, BOX.decode(u[None])[0], u, m, cost, y)


def test_an_ask_shows_the_strategy_the_moment_before_it():
    kept = ledger()
    first, second = kept.enter(asked(0, m=0)), kept.enter(asked(1))
    assert (first.t, first.remaining, first.pending) == (1, 50.0, ())
    assert (second.t, second.remaining) == (2, 49.0)
    assert [(query.id, query.u.tolist(), query.fidelity) for query in second.pending] == [(0, [0.5, 0.5], 0)]
    now = kept.view()
    assert (now.t, now.remaining, len(now.pending)) == (3, 39.0, 2)


def test_the_random_stream_of_an_ask_depends_on_the_seed_and_its_number():
    kept = ledger()
    for t in (1, 2):
        expected = np.random.default_rng([7, t]).random(3).tolist()
        assert kept.view().rng.random(3).tolist() == expected
        assert kept.enter(asked(t - 1)).rng.random(3).tolist() == expected


def test_a_refused_ask_is_shown_and_does_not_count_as_one():
    kept = ledger()
    view = kept.enter(Refused("nothing left", "points"))
    assert isinstance(view, View)
    assert kept.view().t == view.t == 1
    assert str(kept.exhausted) == "nothing left"
    kept.enter(added(0, 1.0))
    assert kept.exhausted is None


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_value_shows_the_strategy_a_record_to_be_maximised(sign):
    kept = ledger(sign=sign)
    kept.enter(asked(0))
    kept.enter(asked(1, m=0))
    told, failed, extra = kept.enter(Told(0, 3.0)), kept.enter(Told(1, None)), kept.enter(added(2, 4.0))
    assert all(isinstance(record, Record) for record in (told, failed, extra))
    assert [(record.id, record.fidelity, record.y, record.asked) for record in (told, failed, extra)] == [
        (0, 1, sign * 3.0, True),
        (1, 0, None, True),
        (2, 1, sign * 4.0, False),
    ]
    assert kept.history.y[:1].tolist() == [3.0]
    assert kept.best.y == (4.0 if sign > 0.0 else 3.0)


def test_a_new_capital_is_not_shown_but_lets_the_run_go_on():
    kept = ledger(capital=10.0)
    kept.enter(asked(0))
    assert kept.why_done().which == "capital"
    assert kept.enter(CapitalSet(20.0)) is None
    assert kept.why_done() is None
    assert kept.view().remaining == 10.0


def test_a_withdrawn_ask_was_never_made():
    kept = ledger()
    kept.enter(asked(0))
    before = kept.view()
    kept.enter(asked(1, m=0))
    kept.withdraw(1)
    after = kept.view()
    assert (after.t, after.remaining, after.pending) == (before.t, before.remaining, before.pending)
    assert kept.next_id == 1
    assert [trial.id for trial in kept.pending] == [0]


def test_a_trial_is_found_while_it_is_pending():
    kept = ledger(capital=None)
    kept.enter(asked(0))
    kept.enter(asked(1))
    assert kept.view().remaining == math.inf
    assert kept.find_pending(1) is kept.trial(1)
    kept.enter(Told(1, 1.0))
    with pytest.raises(AlreadyTold, match="got trial 1 again"):
        kept.find_pending(1)
    with pytest.raises(UnknownTrial, match=r"got 2; pending are \[0\]"):
        kept.find_pending(2)


def test_pending_target_queries_use_up_a_noiseless_finite_set():
    domain = FiniteSet([0.0, 1.0])
    kept = ledger(domain, noise=0.0)
    kept.enter(asked(0, [0.0], domain=domain))
    assert not kept.strategy_judges  # the ledger knows better
    assert kept.why_done() is None
    kept.enter(asked(1, [1.0], domain=domain))
    assert isinstance(kept.why_done(), Exhausted)


def test_the_strategy_is_asked_only_where_the_noise_of_a_finite_set_is_not_known():
    assert ledger(FiniteSet([0.0, 1.0])).strategy_judges
    assert ledger(FiniteSet([0.0, 1.0])).used_up().which == "points"
    assert not ledger().strategy_judges
