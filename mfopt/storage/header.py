"""The header of a study: what an Optimizer was made with, as JSON, and the way back.

What JSON can express is compared when the study is opened again, field by field, and can be rebuilt from the header
alone: boxes with linear constraints, finite sets, plugins by name or made by name with options. Of what it cannot
express (functions as constraints, other people's domains and objects) the description is stored and compared; the
object itself has to be given again, and whether it still does the same is not known. Without it a study can be read and
told, but not asked: a missing object (missing.py, domains/missing.py) stands in.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from mfopt import registry
from mfopt.checks import direction_sign, escape, printable_name, real_number, show
from mfopt.domains import as_domain
from mfopt.domains.box import Box
from mfopt.domains.discrete import Categorical
from mfopt.domains.finite import FiniteSet
from mfopt.domains.missing import MissingDomain
from mfopt.domains.rebuild import rebuild_product
from mfopt.domains.space import Space
from mfopt.domains.table import Table
from mfopt.errors import StorageDamaged, StudyMismatch
from mfopt.fidelities import Fidelity, as_fidelities
from mfopt.protocols import Domain
from mfopt.run.setup import Setup
from mfopt.storage.plugins import class_name, comparable, describe_plugin, rebuild_plugin, to_plain
from mfopt.storage.store import Header, Store

_INTEGERS = "integers"  # columns of a finite set; studies of older versions do not say


def study_name(name: object) -> str:
    """A study's name, "default" unless given."""
    return "default" if name is None else printable_name(name, "study")


def describe(setup: Setup, stored: Mapping[str, Any] | None = None) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The header of a study with this setup, and its large arrays.

    Plugins that are in the `stored` header too, in the same version, need not be loaded for it.
    """
    described, arrays = _describe_domain(setup.domain)
    before = stored or {}
    spec = {
        "domain": described,
        "fidelities": [asdict(fidelity) for fidelity in setup.fidelities],
        "strategy": describe_plugin(registry.STRATEGIES, setup.strategy, before.get("strategy")),
        "surrogate": describe_plugin(registry.SURROGATES, setup.surrogate, before.get("surrogate")),
        "maximiser": describe_plugin(registry.MAXIMISERS, setup.maximiser, before.get("maximiser")),
        "direction": setup.direction,
        "capital": setup.capital,
        "seed": setup.seed,
    }
    return json.loads(json.dumps(to_plain(spec), allow_nan=False)), arrays  # as it will be read back


def compare(name: str, stored: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    """A StudyMismatch with all differences unless the two are the same."""
    there, here = (_flatten("", one) for one in comparable(stored, given))
    if f"domain.{_INTEGERS}" not in there:
        here.pop(f"domain.{_INTEGERS}", None)
    differences = [
        f"{escape(key)}: stored {_show(there, key)}, given {_show(here, key)}"
        for key in [*there, *(key for key in here if key not in there)]
        if (key in here, here.get(key)) != (key in there, there.get(key))
    ]
    if differences:
        raise StudyMismatch(
            f"study {name!r} must be opened with the arguments that it was made with (a capital can be raised by "
            "Study.open); the differences:",
            differences,
        )


def rebuild(store: Store, header: Header, given: Mapping[str, object]) -> Setup:
    """The setup of a study; what `given` holds under a field's name, unless None, takes the place of what is stored."""
    spec, name = header.spec, header.name
    domain = None if given.get("domain") is None else as_domain(given["domain"])
    try:
        plugins = {
            what: rebuild_plugin(name, what, group, spec[what]) if given.get(what) is None else given[what]
            for what, group in registry.GROUPS.items()
        }
        direction_sign(spec["direction"])
        return Setup(
            domain=_rebuild_domain(store, name, spec["domain"]) if domain is None else domain,
            fidelities=as_fidelities(None, [Fidelity(**fidelity) for fidelity in spec["fidelities"]], None),
            direction=spec["direction"],
            **plugins,
            capital=_read_capital(spec["capital"]),
            seed=header.seed,
            seed_is_free=False,
            threads=1,  # whoever opens it may allow more
        )
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError, RecursionError) as error:
        why = f"{type(error).__name__}: {escape(str(error))}"
        raise StorageDamaged(f"{store}: the header of study {name!r} cannot be read ({why}): restore a copy") from error


def _read_capital(stored: object) -> float | None:
    if not isinstance(stored, float | int | None):
        raise TypeError(f"a capital must be a number or null, got {show(stored)}")
    return None if stored is None else real_number(stored, "capital")


# ---------------------------------------------------------------------------------------------------- domains


def _describe_domain(domain: Domain) -> tuple[Mapping[str, Any], dict[str, bytes]]:
    if type(domain) is FiniteSet:
        points = np.ascontiguousarray(domain.decode(domain.points), dtype="<f8").tobytes()
        rows = np.ascontiguousarray(domain.rows, dtype="<i8").tobytes()
        size = {"count": len(domain), "sha256": hashlib.sha256(points + rows).hexdigest()}
        return {**domain.describe_columns(), **size}, {"points": points, "rows": rows}
    if type(domain) in (Box, Space):
        return domain.describe(), {}
    if isinstance(domain, MissingDomain):
        return domain.spec, {}
    described = {
        "kind": "custom",
        "class": class_name(domain),
        "names": domain.names,
        "description": domain.describe(),
    }
    return described, {}


def _rebuild_domain(store: Store, name: str, spec: Mapping[str, Any]) -> Domain:
    if spec["kind"] == "finite":
        return _rebuild_finite(store, name, spec)
    return rebuild_product(spec) or MissingDomain(name, spec)


def _rebuild_finite(store: Store, name: str, spec: Mapping[str, Any]) -> FiniteSet:
    data, numbers = store.array(name, "points"), store.array(name, "rows")
    if data is None or numbers is None or hashlib.sha256(data + numbers).hexdigest() != spec["sha256"]:
        raise StorageDamaged(f"{store}: the candidates of study {name!r} are damaged: restore a copy")
    values = np.frombuffer(data, dtype="<f8").reshape(spec["count"], -1)
    rows = np.frombuffer(numbers, dtype="<i8")
    # Repeated candidates were dropped; a repetition of the first in their places keeps the user's numbers of rows.
    candidates = np.repeat(values[:1], rows[-1] + 1, axis=0)
    candidates[rows] = values
    names, choices, logs = tuple(spec["names"]), spec.get("choices", {}), spec.get("log", [])
    categories = tuple(Categorical(choices[one]) if one in choices else None for one in names)
    integers = tuple(one in spec.get(_INTEGERS, []) for one in names)
    return FiniteSet(Table(candidates, names, categories, integers), log=[one in logs for one in names])


# ------------------------------------------------------------------------------------------------------- JSON


def _flatten(path: str, value: Any) -> dict[str, Any]:
    """{"domain.dimensions[0].lo": 0.0, ...}"""
    if isinstance(value, Mapping):
        pairs = [(f"{path}.{key}" if path else str(key), one) for key, one in value.items()]
    elif isinstance(value, list) and any(isinstance(one, Mapping) for one in value):
        pairs = [(f"{path}[{k}]", one) for k, one in enumerate(value)]
    else:
        return {path: value}
    return {key: one for start, inner in pairs for key, one in _flatten(start, inner).items()}


def _show(flat: Mapping[str, Any], key: str) -> str:
    return show(flat[key]) if key in flat else "nothing"
