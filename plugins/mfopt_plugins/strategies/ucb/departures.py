"""Departures: every rule in which the default of mf-gp-ucb differs from the paper, each an option of its own.

    PAPER      none of them: section "Some Implementation Details" and nothing else
    THEORY     none of them: Algorithm (mfgpucb), with the kernel, ζ, γ and the constants of β_t given
    PRACTICAL  all of them, the default

docs/defaults.md says why each is there and what it is worth.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal

from mfopt_plugins.strategies.base.manner import EXACT, PAPER, Manner

Rule = Literal["worth", "gamma"]


@dataclass(frozen=True)
class Departures(Manner):
    """Those of the manner, and those of mf-gp-ucb's own choice.

    one_kernel      fidelities with a process each have one kernel, learnt from the values of all of them
    coupled         one process models all fidelities (surrogates/coupled)
    calibrated      and learns the unit, the zero and the sign of each
    rule            "gamma" is the paper's choice of the fidelity, "worth" ours
    share           the part of the capital that the target gets at least
    promoted        the first target query goes to the best point of the cheapest fidelity, not to a random one
    hedged          where the target's own values predict it better than all fidelities do, GP-UCB has most of the
                    capital (hedge.py)
    muted           and at once where the values of cheap fidelities cannot be predicted from each other (muteness.py)
    softened        values of functions that are flat but for peaks are softened
    doubt           where the bounds promise nothing, the target is asked elsewhere too
    contradictions  values that contradict the bounds are checked, those of the initial design and the best one too
    informed        φ leaves out fidelities without values
    by_capital      γ counts the capital that went by without a query above, not iterations
    all_queries     t counts the queries of the initial design and checks of ζ too, not iterations alone
    """

    one_kernel: bool = True
    coupled: bool = True
    calibrated: bool = True
    rule: Rule = "worth"
    share: float = 1 / 3
    promoted: bool = True
    hedged: bool = True
    muted: bool = True
    softened: bool = True
    doubt: bool = True
    contradictions: bool = True
    informed: bool = True
    by_capital: bool = True
    all_queries: bool = True


NAMES = tuple(field.name for field in fields(Departures) if field.name != "design")
SWITCHES = ("isotropic", *(name for name in NAMES if isinstance(getattr(Departures, name), bool)))


def _depart_nowhere(manner: Manner) -> Departures:
    """This manner with the paper's own choice."""
    return Departures(
        **vars(manner),
        one_kernel=False,
        coupled=False,
        calibrated=False,
        rule="gamma",
        share=0.0,
        promoted=False,
        hedged=False,
        muted=False,
        softened=False,
        doubt=False,
        contradictions=False,
        informed=False,
        by_capital=False,
        all_queries=False,
    )


MODES = {"practical": Departures(), "paper": _depart_nowhere(PAPER), "theory": _depart_nowhere(EXACT)}


def find_departures(mode: str, given: dict[str, Any]) -> Departures:
    """Those of the mode, but for what was given; None: nothing."""
    own = vars(MODES[mode])
    return Departures(**{**own, **{name: value for name, value in given.items() if value is not None}})
