"""What a reason says."""

from math import inf

from mfopt.run.reason import ImprovementReason, Reason

REASON = Reason(
    "ucb", "β½σ ≥ γ: this fidelity is still uncertain here", 1, 12, 1.5, (0, 1, 2), (3.0, 2.0, 0.0), (0.5, 0.25, inf),
    (0.2, 0.1, 0.0), (3.7, 2.35, inf), (0.6, 0.2, inf),
)  # fmt: skip


def test_the_table_marks_the_smallest_bound_and_the_chosen_fidelity():
    lines = str(REASON).splitlines()
    assert lines[0] == "ucb: fidelity 1, β½σ ≥ γ: this fidelity is still uncertain here"
    assert "upper bound φ = μ + β½σ + ζ" in lines[1]
    assert "1*<" in lines[3]
    assert "2.35" in lines[3]
    assert "inf" not in str(REASON)
    assert "t = 12" in lines[-1]
    assert len({len(line) for line in lines[1:5]}) == 1


def test_negating_turns_upper_bounds_into_lower_ones_and_keeps_the_tightest():
    negated = REASON.negated()
    assert negated.phi == (-3.7, -2.35, -inf)
    assert negated.width == REASON.width
    assert negated.minimum == REASON.minimum == 1
    assert "lower bound φ = μ - β½σ - ζ" in str(negated)
    assert negated.negated() == REASON


def test_without_numbers_it_is_one_line():
    assert str(Reason("initial design", "point 1 of 3", 0, 1)) == "initial design: fidelity 0, point 1 of 3"
    assert Reason("initial design", "point 1 of 3", 0, 1).minimum is None


def test_an_improvement_is_told_with_its_incumbent():
    reason = ImprovementReason(
        "expected improvement", "promises most", 1, 7, 2.5, -3.25, (0, 1), (1.0, 2.0), (0.5, 0.25)
    )
    lines = str(reason).splitlines()
    assert lines[0] == "expected improvement: fidelity 1, promises most"
    assert "1<" in lines[3]
    assert "incumbent 2.5, log of the acquisition -3.25" in lines[-1]
    assert reason.negated().incumbent == -2.5
    assert reason.negated().mean == (-1.0, -2.0)
    assert reason.negated().negated() == reason
