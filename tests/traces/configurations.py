"""Runs of 60 or 120 trials that together pass through every part of the optimiser, and how to record one.

A refactoring must leave every trace identical to the bit on one machine: `make traces-record` before it and
`make traces-compare` after it (tools/traces.py). Most traces depend on the last bits of BLAS and of the compiled
kernels; those that do not are PORTABLE, and a test holds them against the numbers in portable.json.
"""

from __future__ import annotations

import hashlib
import tempfile
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import mfopt
from mfopt import registry

TRIALS = {1: 60, 2: 60, 3: 120, 4: 120}  # by number of fidelities: at least 40 of them come after the initial design
COSTS = {1: [1.0], 2: [1.0, 8.0], 3: [1.0, 4.0, 20.0], 4: [1.0, 3.0, 9.0, 30.0]}


@dataclass(frozen=True)
class Configuration:
    """A run: `domain` is a key of DOMAINS, `script` of SCRIPTS; plugins are names, with options of the strategy."""

    strategy: str = "mf-gp-ucb"
    options: Mapping[str, Any] = field(default_factory=dict)
    surrogate: Any = "se"
    maximiser: str = "direct"
    domain: str = "box"
    fidelities: int = 2
    script: str = "plain"
    noise: float = 0.0  # standard deviation of what is added to each value
    known_noise: float | None = None
    zetas: tuple[float | None, ...] | None = None
    direction: str = "maximize"
    shape: str = "waves"
    capital: float | None = None


def _constrained(x: np.ndarray) -> np.ndarray:
    return x[:, 0] + x[:, 1] <= 1.2


DOMAINS: dict[str, Callable[[], Any]] = {
    "line": lambda: [(0.0, 1.0)],
    "box": lambda: mfopt.Box([(0.0, 1.0), (-1.0, 1.0)]),
    "box3": lambda: mfopt.Box([(0.0, 1.0)] * 3),
    "log": lambda: mfopt.Box([(1e-3, 10.0), (0.0, 1.0)], names=["rate", "share"], log=[True, False]),
    "constrained": lambda: mfopt.Box([(0.0, 1.0)] * 2, constraints=_constrained),
    "finite": lambda: mfopt.FiniteSet(np.random.default_rng(5).random((300, 2))),
    "small": lambda: mfopt.FiniteSet(np.random.default_rng(6).random((18, 2))),
    "mixed": lambda: mfopt.Space(
        {
            "rate": mfopt.Real(1e-3, 1.0, log=True),
            "kind": mfopt.Categorical(["a", "b", "c"]),
            "depth": mfopt.Integer(2, 9),
            "units": mfopt.Integer(16, 2048, log=True),
            "drop": mfopt.Real(0.0, 1.0, when={"kind": ["a", "c"]}),
        },
        constraints=lambda p: p["depth"] * p["rate"] <= 4.0,
    ),
    "discrete": lambda: mfopt.Space(
        {"kind": ["a", "b", "c"], "depth": mfopt.Integer(1, 9), "size": mfopt.Ordinal([1, 2, 4], when={"kind": "b"})}
    ),
    "grid": lambda: mfopt.FiniteSet(np.stack(np.meshgrid(*[np.linspace(0, 1, 7)] * 3), -1).reshape(-1, 3)),
}


def _value(shape: str, u: np.ndarray, m: int, top: int) -> float:
    """f_m at a point in unit coordinates."""
    off = 0.3 * (top - m)
    waves = float(np.sum(np.sin(3.0 * u + 0.5 * np.arange(len(u)))) - np.sum((u - 0.6) ** 2))
    if shape == "waves":
        return waves + off * float(np.cos(4.0 * u[0]))
    if shape == "peak":
        return float(10.0 * np.exp(-25.0 * np.sum((u - 0.37) ** 2)) + 0.3 * off * np.sin(5.0 * u[-1]))
    return 100.0 + 20.0 * waves + 40.0 * off  # "shifted"


def _surrogate(given: Any) -> Any:
    if isinstance(given, list):
        return [_surrogate(one) for one in given]
    name, options = given if isinstance(given, tuple) else (given, None)
    return name if options is None else registry.make(registry.SURROGATES, name, options)


def _optimizer(config: Configuration, seed: int, **more: Any) -> mfopt.Optimizer:
    strategy: Any = config.strategy
    if config.options:
        strategy = registry.make(registry.STRATEGIES, config.strategy, config.options)
    costs = COSTS[config.fidelities]
    zetas = config.zetas or (None,) * len(costs)
    pairs = zip(costs, zetas, strict=True)
    fidelities = [mfopt.Fidelity(f"level {m}", cost, zeta) for m, (cost, zeta) in enumerate(pairs)]
    return mfopt.Optimizer(
        DOMAINS[config.domain](),
        fidelities=fidelities,
        strategy=strategy,
        surrogate=_surrogate(config.surrogate),
        maximiser=config.maximiser,
        direction=config.direction,
        noise=config.known_noise,
        capital=config.capital,
        rng=seed,
        **more,
    )


class Trace:
    """The run of a configuration, and the lines that record it."""

    def __init__(self, config: Configuration, seed: int, folder: Path) -> None:
        self.config = config
        self._storage = {"storage": str(folder / "study.db")} if config.script in ("resumed", "shared") else {}
        self._seed = seed
        self.trials = TRIALS[config.fidelities]
        self.optimizer = _optimizer(config, seed, **self._storage)
        self._noise = np.random.default_rng([seed, 77])
        self.lines: list[str] = []
        self.asked: list[tuple[int, int, list[float]]] = []  # id, fidelity and point of each trial

    @property
    def left(self) -> int:
        return 0 if self.optimizer.done else self.trials - len(self.lines)

    def ask(self, n: int | None = None) -> list[mfopt.Trial]:
        trials = [self.optimizer.ask()] if n is None else self.optimizer.ask(n)
        for trial in trials:
            x = " ".join(v.hex() for v in trial.x.tolist())
            why = hashlib.sha256(str(trial.reason).encode()).hexdigest()[:12]
            self.lines.append(f"{trial.id} {trial.fidelity} {trial.index} {x} {why}")
            self.asked.append((trial.id, trial.fidelity, trial.x.tolist()))
        return trials

    def value(self, x: np.ndarray, m: int) -> float:
        u = self.optimizer.domain.encode(np.asarray(x)[None])[0]
        sign = 1.0 if self.config.direction == "maximize" else -1.0
        y = sign * _value(self.config.shape, u, m, self.config.fidelities - 1)
        return y + self.config.noise * float(self._noise.standard_normal())

    def tell(self, trial: mfopt.Trial) -> None:
        self.optimizer.tell(trial, self.value(trial.x, trial.fidelity))

    def fail(self, trial: mfopt.Trial) -> None:
        self.optimizer.tell(trial, status="failed")

    def reopen(self) -> None:
        self.optimizer.close()
        self.optimizer = _optimizer(self.config, self._seed, **self._storage)

    def end(self) -> list[str]:
        opt, history = self.optimizer, self.optimizer.history
        digest = hashlib.sha256(history.x.tobytes() + history.y.tobytes() + history.cost.tobytes()).hexdigest()[:16]
        best = None if opt.best is None else (opt.best.y.hex(), opt.best.trial_id)
        return [*self.lines, f"end {len(history)} {opt.spent.hex()} {best} {len(opt.pending)} {digest}"]


def _plain(trace: Trace) -> None:
    while trace.left > 0:
        trace.tell(trace.ask()[0])


def _pending(trace: Trace) -> None:
    """Four at once, told in another order; a few stay pending for long."""
    late: list[mfopt.Trial] = []
    while trace.left > 0:
        trials = trace.ask(min(4, trace.left))
        late.append(trials.pop(0))
        for trial in reversed(trials):
            trace.tell(trial)
        if len(late) > 2:
            trace.tell(late.pop(0))


def _failing(trace: Trace) -> None:
    """Every sixth trial fails, and all that begin their first coordinate above 0.85 of its range."""
    while trace.left > 0:
        trial = trace.ask()[0]
        u = trace.optimizer.domain.encode(trial.x[None])[0]
        (trace.fail if trial.id % 6 == 3 or u[0] > 0.85 else trace.tell)(trial)


def _warm(trace: Trace) -> None:
    """Data that nobody asked for before the run, and in the middle of it."""
    domain, levels = trace.optimizer.domain, trace.config.fidelities
    for n, seed in ((trace.trials // 2, 1), (0, 2)):
        points = domain.decode(domain.sample(5, np.random.default_rng(seed)))
        for i, x in enumerate(points):
            trace.optimizer.add(x, i % levels, trace.value(x, i % levels))
        while trace.left > n:
            trace.tell(trace.ask()[0])


def _resumed(trace: Trace) -> None:
    """A study that is closed and opened again, with a trial pending."""
    while trace.left > 0:
        trial = trace.ask()[0]
        if len(trace.lines) in (13, 27, 50):
            trace.reopen()
        trace.tell(trial)


def _shared(trace: Trace) -> None:
    """Two optimisers at one study take turns."""
    other = Trace.__new__(Trace)
    other.__dict__ |= trace.__dict__
    other.optimizer = _optimizer(trace.config, trace._seed, **trace._storage)
    turn = 0
    while trace.left > 0:
        (trace, other)[turn % 2].tell((trace, other)[turn % 2].ask()[0])
        turn += 1
    trace.optimizer.refresh()


SCRIPTS: dict[str, Callable[[Trace], None]] = {
    "plain": _plain,
    "pending": _pending,
    "failing": _failing,
    "warm": _warm,
    "resumed": _resumed,
    "shared": _shared,
}

C = Configuration
THEORY = {"mode": "theory", "xi": 1.0, "a": 1.0, "b": 1.0}
PAPER = {"mode": "paper"}
CONFIGURATIONS: dict[str, Configuration] = {
    # the default, by number of fidelities, domain and course of events
    "default-1": C(fidelities=1),
    "default-2": C(),
    "default-3": C(fidelities=3),
    "default-4": C(fidelities=4, domain="box3"),
    "default-line": C(domain="line"),
    "default-log": C(domain="log", direction="minimize"),
    "default-constrained": C(domain="constrained", fidelities=3),
    "default-finite": C(domain="finite"),
    "default-finite-3": C(domain="finite", fidelities=3),
    "default-small": C(domain="small", known_noise=0.0),
    "default-small-unknown": C(domain="small"),
    "default-grid-4": C(domain="grid", fidelities=4),
    "default-peak": C(shape="peak"),
    "default-peak-3": C(shape="peak", fidelities=3, domain="box3"),
    "default-shifted": C(shape="shifted", fidelities=3),
    "default-capital": C(capital=150.0),
    "default-capital-3": C(capital=500.0, fidelities=3),
    "default-noise": C(noise=0.2),
    "default-known-noise": C(noise=0.2, known_noise=0.04, fidelities=3),
    "default-noise-finite": C(noise=0.2, domain="small"),
    "default-noiseless": C(known_noise=0.0, fidelities=3),
    "default-pending": C(script="pending"),
    "default-pending-3": C(script="pending", fidelities=3, capital=600.0),
    "default-pending-finite": C(script="pending", domain="small", fidelities=2),
    "default-failing": C(script="failing"),
    "default-failing-3": C(script="failing", fidelities=3, domain="constrained"),
    "default-failing-finite": C(script="failing", domain="small"),
    "default-warm": C(script="warm", fidelities=3),
    "default-warm-minimize": C(script="warm", direction="minimize", domain="log"),
    "default-resumed": C(script="resumed", fidelities=3),
    "default-resumed-finite": C(script="resumed", domain="finite", direction="minimize"),
    "default-resumed-peak": C(script="resumed", shape="peak", capital=150.0),
    "default-shared": C(script="shared"),
    # surrogates and maximisers under it
    "matern": C(surrogate="matern"),
    "matern-3": C(surrogate=("matern", {"nu": 1.5}), fidelities=3),
    "matern-rough": C(surrogate=("matern", {"nu": 0.5}), domain="finite"),
    "matern-general": C(surrogate=("matern", {"nu": 1.2})),
    "se-python": C(surrogate="se-python", fidelities=3),
    "se-python-alone": C(surrogate="se-python", options={"coupled": False}),
    "se-given": C(surrogate=("se", {"lengthscale": [0.3, 0.4], "scale": 2.0, "mean": 0.5})),
    "se-given-alone": C(surrogate=("se", {"lengthscale": 0.3}), options={"coupled": False, "softened": False}),
    "ar1": C(surrogate="ar1"),
    "ar1-3": C(surrogate=("ar1", {"rho": 1.0}), fidelities=3, domain="finite"),
    "mixed-surrogates": C(surrogate=["se", "matern", "se-python"], fidelities=3),
    "two-instances": C(surrogate=[("se", {}), ("se", {})]),
    "nlopt-direct": C(maximiser="nlopt-direct"),
    "nlopt-direct-constrained": C(maximiser="nlopt-direct", domain="constrained"),
    "multistart": C(maximiser="multistart", fidelities=3),
    "multistart-constrained": C(maximiser="multistart", domain="constrained", script="failing"),
    # its options
    "alone": C(options={"coupled": False}, fidelities=3),
    "alone-finite": C(options={"coupled": False}, domain="finite", fidelities=3),
    "alone-pending": C(options={"coupled": False}, script="pending", fidelities=4, domain="box3"),
    "alone-noise": C(options={"coupled": False}, noise=0.2, script="failing"),
    "unsoftened-peak": C(options={"softened": False}, shape="peak"),
    "alone-peak": C(options={"coupled": False}, shape="peak"),
    "no-doubt": C(options={"doubt": False}, capital=200.0),
    "paper-like": C(options={"coupled": False, "softened": False, "doubt": False}, fidelities=3),
    "affine": C(options={"affine": True}, shape="shifted"),
    "affine-3": C(options={"affine": True}, shape="shifted", fidelities=3, script="pending"),
    "zetas": C(zetas=(0.6, 0.3, None), fidelities=3),
    "zetas-some": C(zetas=(None, 0.3, None), fidelities=3, noise=0.05),
    "gammas": C(options={"gammas": [0.1, 0.05]}, fidelities=3),
    "gamma-shrink": C(options={"gamma_shrink": 2.0}, fidelities=3),
    "no-design": C(options={"initial_capital": 0.0}),
    "long-design": C(options={"initial_capital": 60.0}, fidelities=3),
    "beta": C(options={"beta_factor": 0.6}, script="resumed"),
    "theory": C(options=THEORY, zetas=(0.3, None)),
    "theory-3": C(options=THEORY, zetas=(0.6, 0.3, None), fidelities=3, script="pending"),
    "theory-finite": C(options=THEORY, zetas=(0.3, None), domain="finite"),
    "theory-design": C(options={**THEORY, "initial_capital": 24.0, "xi": 0.5}, zetas=(0.3, None)),
    "paper": C(options={**PAPER, "initial_capital": 60.0}),
    "paper-3": C(options={**PAPER, "initial_capital": 100.0}, fidelities=3, script="pending"),
    "paper-finite": C(options={**PAPER, "initial_capital": 60.0}, domain="finite", script="resumed"),
    # the other strategies
    "gp-ucb": C(strategy="gp-ucb"),
    "gp-ucb-finite": C(strategy="gp-ucb", domain="finite", fidelities=1),
    "gp-ucb-failing": C(strategy="gp-ucb", script="failing", domain="box3", fidelities=3),
    "gp-ucb-pending": C(strategy="gp-ucb", script="pending", capital=400.0),
    "gp-ucb-theory": C(strategy="gp-ucb", options={"mode": "theory", "a": 1.0, "b": 1.0}),
    "gp-ucb-paper": C(strategy="gp-ucb", options=PAPER, fidelities=1),
    "gp-ucb-resumed": C(strategy="gp-ucb", script="resumed", surrogate="matern"),
    "gp-ei": C(strategy="gp-ei"),
    "gp-ei-noise": C(strategy="gp-ei", noise=0.3, script="pending"),
    "gp-ei-finite": C(strategy="gp-ei", domain="finite", script="failing"),
    "gp-ei-resumed": C(strategy="gp-ei", script="resumed", direction="minimize"),
    "gp-pi": C(strategy="gp-pi"),
    "gp-pi-finite": C(strategy="gp-pi", domain="grid", options={"xi": 0.05}, script="pending"),
    "direct": C(strategy="direct"),
    "direct-constrained": C(strategy="direct", domain="constrained", script="failing"),
    "direct-finite": C(strategy="direct", domain="grid", script="pending"),
    "direct-resumed": C(strategy="direct", domain="box3", script="resumed"),
    "mixed": C(domain="mixed"),
    "mixed-3": C(domain="mixed", fidelities=3, surrogate="matern"),
    "mixed-pending": C(domain="mixed", script="pending"),
    "mixed-failing": C(domain="mixed", script="failing"),
    "mixed-noise": C(domain="mixed", noise=0.2),
    "mixed-discrete": C(domain="discrete", known_noise=0.0),
    "mixed-multistart": C(domain="mixed", maximiser="multistart", strategy="gp-ei"),
    "mixed-nlopt": C(domain="mixed", maximiser="nlopt-direct", strategy="gp-pi"),
    "mixed-gp-ucb": C(domain="mixed", strategy="gp-ucb"),
    "mixed-sko": C(domain="mixed", strategy="mf-sko"),
    "mixed-co-kriging": C(domain="mixed", strategy="co-kriging"),
    "mixed-naive": C(domain="mixed", strategy="mf-naive"),
    "random": C(strategy="random"),
    "random-constrained": C(strategy="random", domain="constrained", script="failing", fidelities=3),
    "random-finite": C(strategy="random", domain="small", script="pending"),
    "random-resumed": C(strategy="random", domain="log", script="resumed"),
    "mf-naive": C(strategy="mf-naive", capital=300.0),
    "mf-naive-3": C(strategy="mf-naive", fidelities=3, capital=800.0, domain="finite"),
    "mf-naive-pending": C(strategy="mf-naive", capital=300.0, script="pending"),
    "mf-naive-random": C(strategy="mf-naive-random", capital=300.0),
    "mf-naive-random-finite": C(strategy="mf-naive-random", capital=300.0, domain="finite", script="failing"),
    "mf-sko": C(strategy="mf-sko"),
    "mf-sko-3": C(strategy="mf-sko", fidelities=3, domain="finite", noise=0.05),
    "mf-sko-pending": C(strategy="mf-sko", script="pending"),
    "mf-sko-1": C(strategy="mf-sko", fidelities=1),
    "co-kriging": C(strategy="co-kriging"),
    "co-kriging-3": C(strategy="co-kriging", fidelities=3, script="failing"),
    "co-kriging-ar1": C(strategy="co-kriging", surrogate="ar1", domain="constrained"),
}

# No model stands behind these choices, so that they hold on every machine.
PORTABLE = [
    name for name, config in CONFIGURATIONS.items() if config.strategy in ("random", "direct", "mf-naive-random")
]


def record(name: str, seed: int = 12) -> Trace:
    """Run the configuration of this name."""
    config = CONFIGURATIONS[name]
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", mfopt.ZetaWarning)
        trace = Trace(config, seed, Path(folder))
        SCRIPTS[config.script](trace)
        trace.lines = trace.end()
        trace.optimizer.close()
    return trace


def rounded(name: str) -> list[list[Any]]:
    """[id, fidelity, *point] of each trial of the configuration, the point to nine digits."""
    return [[id, m, *(float(f"{value:.9g}") for value in x)] for id, m, x in record(name).asked]
