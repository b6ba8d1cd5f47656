"""How commands show the point to settle on."""

from __future__ import annotations

from typing import Any

from mfopt.checks import escape
from mfopt.run.trial import Recommendation


def print_recommendation(recommended: Recommendation) -> None:
    """For people, beside the best value."""
    print(f"recommended  {recommended.mean!r} ± {recommended.std:.3g}: the values are noisy, this mean is the best")
    for name, value in recommended.params.items():
        print(f"  {escape(name)} = {value!r}")


def as_dict(recommended: Recommendation | None) -> dict[str, Any] | None:
    """For programs."""
    if recommended is None:
        return None
    return {"x": recommended.params, "mean": recommended.mean, "std": recommended.std}
