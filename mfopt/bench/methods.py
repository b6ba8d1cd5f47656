"""Methods of an experiment: a strategy by name, with options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mfopt import registry
from mfopt.errors import InputError
from mfopt.fidelities import Fidelity
from mfopt.optimizer import Optimizer
from mfopt.options import parse_options, write_options
from mfopt.problems import Benchmark

METHODS = (
    "mf-gp-ucb", "gp-ucb", "gp-ei", "gp-pi", "direct", "random", "mf-naive", "mf-naive-random", "mf-sko", "co-kriging",
)  # fmt: skip
_PLUGGED = {"surrogate": registry.SURROGATES, "maximiser": registry.MAXIMISERS}


@dataclass(frozen=True)
class Method:
    """A strategy with options, written "label=strategy:option=value,...". The label is optional and for pictures only.

    The options are those of the strategy's constructor, and

        surrogate=matern      an installed surrogate, with options of its own as surrogate.nu=1.5
        maximiser=multistart  an installed maximiser, likewise maximiser.samples=60
        zetas=known           the problem's true bounds ζ_m are told to the method
    """

    text: str  # as write_options has it: the same for the same method
    label: str

    @classmethod
    def parse(cls, text: str) -> Method:
        """Read a method as a user writes it; an InputError unless it can be built, which is tried once."""
        before = text.split(":", 1)[0]
        label, equals, rest = text.partition("=") if "=" in before else ("", "", text)
        name, options = parse_options(rest)
        if equals and not label.strip():
            raise InputError(f"a label must stand before the first =, got {text!r}")
        written = write_options(name, options)
        _make_parts(written)
        return cls(written, label.strip() or written)

    def optimizer(self, problem: Benchmark, capital: float, seed: int) -> Optimizer:
        """An optimiser of this method for the problem; `capital` in the unit of its costs."""
        parts, known = _make_parts(self.text)
        zetas = problem.zetas if known else [None] * len(problem.costs)
        pairs = zip(problem.costs, zetas, strict=True)
        return Optimizer(
            problem.domain,
            fidelities=[Fidelity(f"fidelity {m}", cost, zeta) for m, (cost, zeta) in enumerate(pairs)],
            capital=capital,
            rng=seed,
            **parts,
        )


def _make_parts(text: str) -> tuple[dict[str, Any], bool]:
    """Fresh strategy, surrogate and maximiser where they are named; and whether ζ is to be told."""
    name, options = parse_options(text)
    known = options.get("zetas") == "known"
    if known:
        del options["zetas"]
    parts = {}
    for part, group in _PLUGGED.items():
        own = {key.split(".", 1)[1]: options.pop(key) for key in list(options) if key.startswith(f"{part}.")}
        if part in options:
            parts[part] = registry.make(group, str(options.pop(part)), own)
        elif own:
            raise InputError(f"{part} must be named to have options, got {text!r}")
    parts["strategy"] = registry.make(registry.STRATEGIES, name, options)
    return parts, known
