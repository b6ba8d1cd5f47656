"""Problems by name: those whose optimum is known, and real ones.

    currin, park, borehole, hartmann3, hartmann6, bad-currin    the paper's synthetic problems
    hartmann3-two                                               two fidelities of hartmann3, for the study of γ
    illustration                                                one dimension, for the step-by-step illustration
    kde                                                         bandwidth of a density estimate, 300 and 3,000 points
    gp-sample, gp-scaled                                        random functions, see gp_sample and gp_scaled
    svm, salsa, vj, supernova                                   the paper's real experiments; their data: data.py
    cloud                                                       measured configurations with their dollars

A name may carry options: "borehole:costs=[0.1,1]" is borehole with other costs (every problem takes those),
"gp-sample:dim=1,seed=3" is gp_sample(dim=1, seed=3), and "package.module.maker:size=3" is the Benchmark that
your function package.module.maker returns when it is called with size=3.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import Any

from mfopt.checks import find_closest, one_each, real_number, show
from mfopt.errors import InputError
from mfopt.options import check_options, parse_options, write_options
from mfopt.problems import paper
from mfopt.problems.additive_ridge import salsa
from mfopt.problems.bandwidth import kde
from mfopt.problems.benchmark import Benchmark
from mfopt.problems.cosmology import supernova
from mfopt.problems.face_detection import vj
from mfopt.problems.gp import gp_sample, gp_scaled
from mfopt.problems.one_dimension import illustration
from mfopt.problems.rented_machines import cloud
from mfopt.problems.support_vectors import svm

__all__ = ["REAL", "SYNTHETIC", "Benchmark", "canonical", "get", "gp_sample", "gp_scaled", "names"]

SYNTHETIC = ("currin", "park", "borehole", "hartmann3", "hartmann6", "bad-currin")  # the paper's comparison
_MAKERS: dict[str, Callable[..., Benchmark]] = {
    **paper.MAKERS,
    "illustration": illustration,
    "kde": kde,
    "gp-sample": gp_sample,
    "gp-scaled": gp_scaled,
    "svm": svm,
    "salsa": salsa,
    "vj": vj,
    "supernova": supernova,
    "cloud": cloud,
}
REAL = ("svm", "salsa", "vj", "supernova", "cloud")  # they need data


def names() -> tuple[str, ...]:
    """The names that `get` knows."""
    return tuple(_MAKERS)


def get(name: str) -> Benchmark:
    """The problem of this name, freshly made."""
    plain, options = parse_options(name)
    costs = options.pop("costs", None)
    make = _find_maker(plain)
    check_options(make, options, plain, others=["costs"])
    problem: Any = make(**options)
    if not isinstance(problem, Benchmark):
        raise InputError(f"{plain} must return a Benchmark, got {show(problem)}")
    return problem if costs is None else replace(problem, costs=_check_costs(costs, len(problem.functions)))


def canonical(name: str) -> str:
    """The one way to write this name with its options; an InputError if there is no such problem or option.

    Nothing is built: whether the values of the options will do, only `get` can tell.
    """
    plain, options = parse_options(name)
    own = {key: value for key, value in options.items() if key != "costs"}
    check_options(_find_maker(plain), own, plain, others=["costs"])
    return write_options(plain, options)


def _find_maker(name: str) -> Callable[..., Benchmark]:
    if name in _MAKERS:
        return _MAKERS[name]
    module, dot, attribute = name.rpartition(".")
    if not dot:
        close = find_closest(name, _MAKERS)
        hint = "" if close is None else f"; did you mean {close!r}?"
        raise InputError(f"a problem's name must be one of {', '.join(_MAKERS)}, got {name!r}{hint}")
    try:
        maker: Callable[..., Benchmark] = getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(f"a problem's name with dots must be that of a function, got {name!r}: {error}") from None
    return maker


def _check_costs(costs: object, count: int) -> list[float]:
    prices = [real_number(cost, "each of costs") for cost in one_each(costs, count, "costs, one per function,")]
    if prices[0] <= 0 or sorted(set(prices)) != prices:
        raise InputError(f"costs must be positive and strictly increasing, got {prices}")
    return prices
