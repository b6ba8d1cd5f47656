"""The way back from the description of a box or a space to the domain itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mfopt.domains.box import Box
from mfopt.domains.dimensions import Dimension, Real
from mfopt.domains.discrete import Categorical, Integer, Ordinal
from mfopt.domains.space import Space

_KINDS = {"real": Real, "integer": Integer, "ordinal": Ordinal, "categorical": Categorical}


def rebuild_product(spec: Mapping[str, Any]) -> Box | Space | None:
    """The domain that `describe` described; None where it has functions or objects, which no description holds."""
    constraints = spec.get("constraints", [])
    dimensions = rebuild_dimensions(spec)
    if dimensions is None or any(one["kind"] != "linear" for one in constraints):
        return None
    linear = _rebuild_linear(constraints) if constraints else None
    feasible = spec.get("feasible")
    if spec["kind"] == "box":
        reals = [dimension for dimension in dimensions.values() if isinstance(dimension, Real)]
        return Box(reals, names=list(dimensions), constraints=linear, feasible=feasible)
    return Space(dimensions, constraints=linear, feasible=feasible)


def rebuild_dimensions(spec: Mapping[str, Any]) -> dict[str, Dimension] | None:
    """The parameters that a description of a box or a space holds; None where it describes something else."""
    if spec["kind"] not in ("box", "space") or any(one["kind"] not in _KINDS for one in spec["dimensions"]):
        return None
    return {one["name"]: _rebuild_dimension(one) for one in spec["dimensions"]}


def _rebuild_dimension(spec: Mapping[str, Any]) -> Dimension:
    options = {key: value for key, value in spec.items() if key not in ("kind", "name")}
    dimension: Dimension = _KINDS[spec["kind"]](**options)
    return dimension


def _rebuild_linear(constraints: Sequence[Mapping[str, Any]]) -> list[Any]:
    from scipy.optimize import LinearConstraint  # slow to import

    return [LinearConstraint(one["A"], _to_floats(one["lb"]), _to_floats(one["ub"])) for one in constraints]


def _to_floats(values: Sequence[Any]) -> list[float]:
    """Infinite bounds are strings in a description that was JSON."""
    return [float(value) for value in values]
