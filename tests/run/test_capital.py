import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mfopt.run.ledger import Capital


@pytest.mark.parametrize(("cost", "n"), [(0.1, 10), (0.1, 3), (0.7, 7), (1 / 3, 300), (1.1, 50), (1e-9, 1000)])
def test_a_capital_of_n_costs_pays_for_exactly_n_queries(cost, n):
    capital = Capital(n * cost, [cost])
    paid = 0
    while capital.remaining >= cost:
        capital.promise(cost)
        capital.pay(cost)
        paid += 1
    assert paid == n
    assert capital.spent <= capital.total


@given(st.lists(st.sampled_from(["promise0", "promise1", "pay0", "pay1"]), max_size=60))
def test_spent_and_remaining_add_up(moves):
    costs = [0.3, 2.0]
    capital = Capital(100.0, costs)
    pending, told = [0, 0], [0, 0]
    for move in moves:
        m = int(move[-1])
        if move.startswith("promise"):
            capital.promise(costs[m])
            pending[m] += 1
        elif pending[m]:
            capital.pay(costs[m])
            pending[m] -= 1
            told[m] += 1
    assert capital.spent == pytest.approx(0.3 * told[0] + 2.0 * told[1])
    assert capital.remaining == pytest.approx(
        max(100.0 - 0.3 * (told[0] + pending[0]) - 2.0 * (told[1] + pending[1]), 0)
    )


def test_a_promise_can_be_taken_back():
    capital = Capital(5.0, [1.0, 5.0])
    capital.promise(5.0)
    assert capital.remaining == 0.0
    capital.release(5.0)
    assert capital.remaining == 5.0


def test_without_a_total_nothing_runs_out():
    capital = Capital(None, [1.0])
    capital.promise(1.0)
    capital.pay(1.0)
    capital.charge(2.5)
    assert capital.spent == 3.5
    assert capital.remaining == math.inf


def test_what_was_promised_is_corrected_by_what_it_cost():
    capital = Capital(10.0, [1.0, 5.0])
    capital.promise(5.0)
    capital.promise(1.0)
    assert capital.remaining == 4.0
    capital.pay(5.0, 3.0)
    assert (capital.spent, capital.remaining) == (3.0, 6.0)
    capital.pay(1.0, 0.0)
    assert (capital.spent, capital.remaining) == (3.0, 7.0)


def test_an_overdraft_is_shown_as_it_is_and_leaves_nothing():
    capital = Capital(10.0, [1.0, 5.0])
    capital.promise(5.0)
    capital.pay(5.0, 12.5)
    assert (capital.spent, capital.remaining) == (12.5, 0.0)
