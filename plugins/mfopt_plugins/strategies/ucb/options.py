"""The options of mf-gp-ucb and gp-ucb, and what they may be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from numbers import Real
from typing import Literal

from mfopt.errors import InputError
from mfopt_plugins.strategies.base.cycle import check_initial_capital
from mfopt_plugins.strategies.ucb.schedule import require_not_negative

Mode = Literal["practical", "theory"]
Rule = Literal["worth", "gamma"]


@dataclass(eq=False, repr=False)
class UCBOptions:
    """The class of mf-gp-ucb says what they mean; gp-ucb offers some of them."""

    mode: Mode = "practical"
    zetas: Sequence[float | None] | None = None
    gammas: Sequence[float] | None = None
    initial_capital: float | None = None
    beta_factor: float = 0.2
    gamma_shrink: float = 1.0
    delta: float = 0.1
    xi: float = 1.0
    a: float = 1.0
    b: float = 1.0
    affine: bool = False
    doubt: bool = True
    coupled: bool = True
    softened: bool = True
    rule: Rule = "worth"
    share: float = 1 / 3
    calibrated: bool = True

    def __post_init__(self) -> None:
        """Refuse options that make no sense."""
        if self.mode not in ("practical", "theory"):
            raise InputError(f'mode must be "practical" or "theory", got {self.mode!r}')
        if self.rule not in ("worth", "gamma"):
            raise InputError(f'rule must be "worth" or "gamma", got {self.rule!r}')
        for name in ("beta_factor", "gamma_shrink", "delta", "xi", "a", "b", "share"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, Real):
                raise InputError(f"{name} must be a number, got {value!r}")
        for name, value in (("beta_factor", self.beta_factor), ("a", self.a), ("b", self.b)):
            if not (isfinite(value) and value > 0):
                raise InputError(f"{name} must be positive and finite, got {value}")
        if not (isfinite(self.gamma_shrink) and self.gamma_shrink >= 1):
            raise InputError(f"gamma_shrink must be at least 1, got {self.gamma_shrink}")
        if not 0 <= self.share < 1:
            raise InputError(f"share must be at least 0 and below 1, got {self.share}")
        if not 0 < self.delta < 1:
            raise InputError(f"delta must lie strictly between 0 and 1, got {self.delta}")
        if not 0 < self.xi <= 1:
            raise InputError(f"xi must lie in (0, 1], got {self.xi}")
        if self.affine and self.mode == "theory":
            raise InputError(
                'affine must be False in mode "theory", whose bounds ζ are those of the fidelities themselves'
            )
        check_initial_capital(self.initial_capital)
        require_not_negative("zetas", self.zetas or [])
        require_not_negative("gammas", self.gammas or [])
