"""The options of mf-gp-ucb and gp-ucb, and what they may be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from numbers import Real
from typing import Literal

from mfopt.errors import InputError
from mfopt.hooks import HowToLearn
from mfopt_plugins.strategies.base.manner import check_initial_capital
from mfopt_plugins.strategies.ucb.departures import MODES, NAMES, SWITCHES, Departures, Rule, find_departures
from mfopt_plugins.strategies.ucb.schedule import require_not_negative

Mode = Literal["practical", "paper", "theory"]
_FREE = ("isotropic", "learning", "learn_every", "polished")  # how the surrogate learns and the maximum is found


@dataclass(eq=False, repr=False)
class UCBOptions:
    """The class of mf-gp-ucb says what they mean; gp-ucb offers some of them. None is for what the mode has."""

    mode: Mode = "practical"
    zetas: Sequence[float | None] | None = None
    gammas: Sequence[float] | None = None
    initial_capital: float | None = None
    beta_factor: float = 0.2
    gamma_shrink: float = 1.0
    delta: float = 0.1
    xi: float | None = None
    a: float | None = None
    b: float | None = None
    affine: bool = False
    doubt: bool | None = None
    coupled: bool | None = None
    softened: bool | None = None
    rule: Rule | None = None
    share: float | None = None
    promoted: bool | None = None
    hedged: bool | None = None
    muted: bool | None = None
    calibrated: bool | None = None
    one_kernel: bool | None = None
    contradictions: bool | None = None
    informed: bool | None = None
    by_capital: bool | None = None
    all_queries: bool | None = None
    isotropic: bool | None = None
    learning: HowToLearn | None = None
    learn_every: int | None = None
    polished: bool | None = None
    outliers: bool | None = None
    noise_tests: bool | None = None
    distinct: bool | None = None
    last_query: bool | None = None

    def __post_init__(self) -> None:
        """Refuse options that make no sense."""
        if self.mode not in MODES:
            raise InputError(f'mode must be "practical", "paper" or "theory", got {self.mode!r}')
        if self.rule not in (None, "worth", "gamma"):
            raise InputError(f'rule must be "worth" or "gamma", got {self.rule!r}')
        if self.learning not in (None, "map", "likelihood"):
            raise InputError(f'learning must be "map" or "likelihood", got {self.learning!r}')
        self._check_numbers()
        for name in SWITCHES:
            if not isinstance(getattr(self, name), bool | None):
                raise InputError(f"{name} must be True, False or None, got {getattr(self, name)!r}")
        if self.affine and self.mode == "theory":
            raise InputError(
                'affine must be False in mode "theory", whose bounds ζ are those of the fidelities themselves'
            )
        check_initial_capital(self.initial_capital)
        require_not_negative("zetas", self.zetas or [])
        require_not_negative("gammas", self.gammas or [])

    @property
    def departures(self) -> Departures:
        """The departures from the paper: those of the mode, but for what was given; theory mode has none."""
        names = _FREE if self.mode == "theory" else NAMES
        return find_departures(self.mode, {name: getattr(self, name) for name in names})

    def _check_numbers(self) -> None:
        for name in ("beta_factor", "gamma_shrink", "delta", "xi", "a", "b", "share", "learn_every"):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, Real)):
                raise InputError(f"{name} must be a number, got {value!r}")
        for name in ("beta_factor", "a", "b"):
            value = getattr(self, name)
            if value is not None and not (isfinite(value) and value > 0):
                raise InputError(f"{name} must be positive and finite, got {value}")
        if not (isfinite(self.gamma_shrink) and self.gamma_shrink >= 1):
            raise InputError(f"gamma_shrink must be at least 1, got {self.gamma_shrink}")
        if self.share is not None and not 0 <= self.share < 1:
            raise InputError(f"share must be at least 0 and below 1, got {self.share}")
        if self.learn_every is not None and not (self.learn_every >= 0 and self.learn_every == int(self.learn_every)):
            raise InputError(f"learn_every must be a whole number, at least 0, got {self.learn_every}")
        if not 0 < self.delta < 1:
            raise InputError(f"delta must lie strictly between 0 and 1, got {self.delta}")
        if self.xi is not None and not 0 < self.xi <= 1:
            raise InputError(f"xi must lie in (0, 1], got {self.xi}")
