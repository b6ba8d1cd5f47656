"""FailureModel: how likely an evaluation is to fail, at any point and fidelity.

The outcomes are labels, −1 where there was a value and +1 where the evaluation failed, and a Gaussian process is fitted
to them (least-squares classification, Rasmussen and Williams, section 6.5). With the latent g(u, k) at position k of
the fidelities in use

    label = g + ε,   E g = −1,   cov(g(u, k), g(u′, k′)) = s ρ^|k−k′| (LEVEL + e^−r(u, u′)),   var ε = s η

r is the distance in length-scales, one per coordinate. The exponential kernel suits functions that jump: between a
point that works and one that fails the even chance lies half way. LEVEL lets the chance be high everywhere. A failure
that nothing around it explains is noise: with a large η the model says that failures come at random. ρ says how
far the fidelities fail at the same places. Length-scales, η and ρ climb to a maximum of their evidence times a prior,
with s at its own maximum, whenever the outcomes have grown by a fifth.

Nothing is done before the first failure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.linalg import cho_solve, cholesky, solve_triangular
from scipy.spatial.distance import cdist

from mfopt.protocols import Array
from mfopt_plugins.method.kept import array, count, group, many, mapping, maybe, number
from mfopt_plugins.method.observations import Observations

IntArray: TypeAlias = npt.NDArray[np.intp]

HOPE, FEAR = 0.5, -0.6  # deviations by which the label is taken for lower than its mean while little, or much, was lost
LOST = (0.03, 0.1)  # little and much: the share of all costs that failures took beyond those at random
TOO_MUCH = 0.1  # up to this share there is no fear where a cheaper fidelity tells whether the target fails
TIGHTER = 2.0  # of the label: by which the threshold falls from an even chance, per unit of hope below 0
MOSTLY = 0.25  # of what worked, by the chance that the others predict for it: there it mostly works
ABOVE = 0.4  # of the label: the threshold lies at least so far above the places where it mostly works
ALIKE = 0.8  # correlation of failures from which a cheaper fidelity tells whether the target fails
CHEAP = 0.3  # of λ_M: what it may cost
LEVEL = 0.5  # variance of the overall level, in units of that of the variation
_AT_RANDOM = 0.4  # a larger share of failures is not put down to chance
_START = 2.0  # target queries that count as paid before the first, so that one failure is no large share
_TYPICAL, _TOGETHER, _APART = 0.5, 1.5, 1.0  # prior of length-scales, in units of √dim: log-normal, and of their ratios
_NOISES = {0.01: -1.0, 0.1: 0.0, 1.0: 0.0}  # η, with the logarithm of its prior
_COUPLINGS = {0.0: -4.0, 0.5: -2.0, 0.9: 0.0, 0.98: -0.5}  # ρ, likewise
_FACTORS = (0.4, 2.5)  # steps of a length-scale
_SHORTEST, _LONGEST = 0.02, 20.0
_PASSES = 2  # over all numbers that are chosen
_PRIOR = 3.0  # outcomes for which the prior s = 1 counts
_GROWTH, _FEW = 1.2, 12  # of the outcomes, before the choice is made again; up to a few at every one
_LEARN, _KEEP = 100, 400  # rows that the choice is made from, and that the posterior is conditioned on, at most


@dataclass(frozen=True)
class _Theta:
    """What is chosen by evidence."""

    lengths: Array
    noise: float  # η
    coupling: float  # ρ

    @classmethod
    def read(cls, state: object, dim: int) -> _Theta:
        """From a state; a ValueError where it cannot be one."""
        lengths, noise, coupling = group(array, number, number)(state)
        if lengths.shape != (dim,) or not (lengths > 0.0).all():
            raise ValueError(f"length-scales must be {dim} positive numbers, got {lengths}")
        if noise not in _NOISES or coupling not in _COUPLINGS:
            raise ValueError(f"noise and coupling must be among those tried, got {noise} and {coupling}")
        return cls(lengths, noise, coupling)


class FailureModel:
    """The chance of failure learnt from all outcomes at fidelities of these costs; `active` once there is a failure.

    base   the chance where it mostly works: what failures at random take anyway
    hope   how a chance that is not certain is to be taken, in deviations: optimistic while little was lost
    """

    def __init__(self, observations: Observations, costs: Sequence[float], dim: int) -> None:
        self._observations = observations
        self._costs = costs
        self._dim = dim
        self.base, self.hope = 0.0, HOPE
        self._seen = 0  # outcomes that the posterior knows
        self._learnt = 0  # outcomes at the last choice of theta
        self._theta = _Theta(np.full(dim, _TYPICAL * np.sqrt(dim)), 0.1, 0.9)

    @property
    def active(self) -> bool:
        """Whether anything has failed."""
        return self._observations.failed > 0

    def update(self) -> None:
        """Condition on the outcomes told since."""
        outcomes = self._observations.outcomes
        if not self.active or outcomes == self._seen:
            return
        # As long as everything fails no length-scale says more than another.
        works = outcomes > self._observations.failed
        if works and (outcomes >= _GROWTH * self._learnt or outcomes <= _FEW):
            self._learnt = outcomes
            self._theta = self._choose()
            self._condition()
        elif self._seen == 0:
            self._condition()
        else:
            self._extend()
        self._seen = outcomes
        self._weigh()
        if works:
            self._judge()

    def _weigh(self) -> None:
        """What follows from the inverse covariance and the labels."""
        residual = self._labels + 1.0
        self._weights = self._inverse @ residual
        self._scale = (float(residual @ self._weights) + _PRIOR) / (len(residual) + _PRIOR)
        # By position: the coupling of each outcome, its part in the mean, and the mean far away from all of them.
        self._coupling = _couplings(self._theta, np.arange(len(self._costs))[:, None] - self._k)
        self._pull = self._coupling * self._weights
        self._far = LEVEL * self._pull.sum(axis=1) - 1.0

    def _condition(self) -> None:
        """The inverse covariance of all outcomes, or of a choice of many."""
        self._taken = self._counts()
        self._invert(*self._rows(_KEEP))

    def _invert(self, u: Array, k: IntArray, labels: Array) -> None:
        self._u, self._k, self._labels, self._at_once = u, k, labels, len(labels)
        self._z = self._u / self._theta.lengths
        factor = cholesky(_covariance(self._u, self._k, self._theta), lower=True, check_finite=False)
        self._inverse = cho_solve((factor, True), np.eye(len(factor)), check_finite=False)

    def _extend(self) -> None:
        """The same with the outcomes told since, one after the other."""
        failed, *worked = self._taken
        fresh = [(u, k, 1.0) for u, k in self._observations.failures()[failed:]]
        for k, known in enumerate(worked):
            fresh += [(u, k, -1.0) for u in self._observations.worked(k)[0][known:]]
        self._taken = self._counts()
        for row in fresh:
            self._append(*row)

    def _append(self, u: Array, k: int, label: float) -> None:
        """Add one outcome to the inverse covariance."""
        z = u / self._theta.lengths
        cross = _couplings(self._theta, k - self._k) * (LEVEL + np.exp(-cdist(self._z, z[None])[:, 0]))
        part = self._inverse @ cross
        rest = 1.0 + LEVEL + self._theta.noise - cross @ part
        n = len(part)
        inverse = np.empty((n + 1, n + 1))
        inverse[:n, :n] = self._inverse + np.outer(part, part / rest)
        inverse[n, :n] = inverse[:n, n] = -part / rest
        inverse[n, n] = 1.0 / rest
        self._inverse = inverse
        self._u, self._z = np.vstack([self._u, u]), np.vstack([self._z, z])
        self._k, self._labels = np.append(self._k, k), np.append(self._labels, label)

    def _judge(self) -> None:
        """What fails anyway, and how much hope the losses leave."""
        others = self._labels - self._weights / np.diag(self._inverse)  # each label as the rest predicts it
        self.base = float(np.clip(0.5 * (1.0 + np.quantile(others[self._labels < 0], MOSTLY)), 0.0, _AT_RANDOM))
        lost = self._lost() - self.base
        self.hope = float(np.interp(lost, LOST, (HOPE, FEAR)))
        if lost < TOO_MUCH and any(self.tells(k) for k in range(len(self._costs) - 1)):
            self.hope = max(self.hope, 0.0)  # a failure is found out at little cost

    def _lost(self) -> float:
        """The share of all costs that went to failures."""
        failed = np.bincount([k for _, k in self._observations.failures()], minlength=len(self._costs))
        costs = np.array(self._costs)
        lost = float(costs @ failed)
        return lost / (lost + float(costs @ self._observations.counts) + _START * float(costs[-1]))

    # ----------------------------------------------------------------------------------------------- state

    def state(self) -> dict[str, Any]:
        """What was chosen, and the rows in the order in which they came: the inverse follows from them to the bit."""
        theta = self._theta
        rows = None
        if self._seen:
            rows = [self._at_once, list(self._taken), self._u.copy(), self._k.tolist(), self._labels.copy()]
        return {
            "theta": [theta.lengths.copy(), theta.noise, theta.coupling],
            "counts": [self._seen, self._learnt],
            "judgement": [self.base, self.hope],
            "rows": rows,
        }

    def restore(self, state: object) -> None:
        """Be as another one was that saw the same outcomes."""
        given = mapping(state, "theta", "counts", "judgement", "rows")
        self._theta = _Theta.read(given["theta"], self._dim)
        self._seen, self._learnt = group(count, count)(given["counts"])
        self.base, self.hope = group(number, number)(given["judgement"])
        read = group(count, many(count, 1 + len(self._costs)), array, many(count), array)
        rows = maybe(read)(given["rows"])
        if (rows is None) != (self._seen == 0):
            raise ValueError("outcomes that were seen must have rows, and none others, got something else")
        if rows is not None:
            at_once, self._taken, u, k, labels = rows
            n, most = len(labels), min(_KEEP + 1 + len(self._costs), len(labels))
            if u.shape != (n, self._dim) or len(k) != n or not 0 < at_once <= most or max(k) >= len(self._costs):
                raise ValueError(f"rows must be points with their positions and labels, got {u.shape}")
            if n - at_once > self._observations.outcomes:
                raise ValueError(f"rows must be outcomes, got {n} of {self._observations.outcomes}")
            self._invert(u[:at_once], np.array(k[:at_once]), labels[:at_once])
            for row in zip(u[at_once:], k[at_once:], labels[at_once:].tolist(), strict=True):
                self._append(*row)
            self._at_once = at_once
            self._weigh()

    # ------------------------------------------------------------------------------------------- what it says

    def probability(self, u: Array, k: int) -> Array:
        """The chance of failure at the rows of u, at position k."""
        mean = np.exp(-cdist(u / self._theta.lengths, self._z)) @ self._pull[k] + self._far[k]
        return np.asarray(np.clip(0.5 * (1.0 + mean), 0.0, 1.0))

    def is_likely(self, u: Array, k: int) -> bool:
        """Whether one point is more likely to fail at position k than not."""
        return self.active and bool(self.probability(u[None], k)[0] > 0.5)

    def tells(self, k: int) -> bool:
        """Whether position k, below the target, fails where the target does, and costs much less."""
        top = len(self._costs) - 1
        return bool(self._theta.coupling ** (top - k) >= ALIKE and self._costs[k] < CHEAP * self._costs[top])

    def excess(self, u: Array, positions: Sequence[int], hope: float | None = None) -> Array:
        """By how much the labels at the rows of u, one row per position, lie above a threshold; 0 below it.

        A label is taken as μ − hope · σ. The threshold is 0, an even chance; it falls where hope is negative, but stays
        above the places where it mostly works.
        """
        return self._excess(u, positions, hope, None)

    def excess_gradient(self, u: Array, positions: Sequence[int], hope: float | None = None) -> tuple[Array, Array]:
        """The same with the gradients (positions, rows, dim)."""
        slopes = np.zeros((len(positions), *u.shape))
        return self._excess(u, positions, hope, slopes), slopes

    def _excess(self, u: Array, positions: Sequence[int], hope: float | None, slopes: Array | None) -> Array:
        """The excess; its gradients are written into `slopes`."""
        hope = self.hope if hope is None else hope
        distances = cdist(u / self._theta.lengths, self._z)
        decay = np.exp(-distances)
        threshold = max(TIGHTER * min(hope, 0.0), 2.0 * self.base - 1.0 + ABOVE)
        lowest = min(hope, 0.0) * np.sqrt(self._scale * (1.0 + LEVEL))  # σ is worth its cost only where it may matter
        values = np.zeros((len(positions), len(u)))
        for i, k in enumerate(positions):
            level = decay @ self._pull[k] + (self._far[k] - threshold)
            near = np.flatnonzero(level > lowest)
            if len(near) == 0:
                continue
            coupling = self._coupling[k]
            cross = coupling * (LEVEL + decay[near])
            half = cross @ self._inverse
            var = self._scale * (1.0 + LEVEL - np.einsum("ij,ij->i", half, cross))
            sigma = np.sqrt(np.maximum(var, 1e-12))
            values[i, near] = np.maximum(level[near] - hope * sigma, 0.0)
            if slopes is None:
                continue
            # ∂ e^−r_i = −e^−r_i (z − z_i)/(r_i ℓ), 0 at an outcome itself, and ∂σ = −s half · ∂cross/σ
            r = distances[near]
            steps = coupling * decay[near] / np.where(r > 0.0, r, np.inf)
            pull = steps * (self._weights + (hope * self._scale / sigma)[:, None] * half)
            slope = pull @ self._u - pull.sum(axis=1)[:, None] * u[near]
            slopes[i, near] = np.where(values[i, near] > 0.0, 1.0, 0.0)[:, None] * slope / self._theta.lengths**2
        return values

    # -------------------------------------------------------------------------------------------- learning

    def _counts(self) -> list[int]:
        """Failures, and values by position."""
        return [self._observations.failed, *(len(self._observations.worked(k)[0]) for k in range(len(self._costs)))]

    def _rows(self, most: int) -> tuple[Array, IntArray, Array]:
        """Points, positions and labels; of many the last failures, and values evenly spread over the run."""
        failures = self._observations.failures()[-(most // 2) :]
        points, positions = [u[None] for u, _ in failures], [k for _, k in failures]
        worked = [self._observations.worked(k)[0] for k in range(len(self._costs))]
        share = min(1.0, (most - len(failures)) / max(sum(map(len, worked)), 1))
        for k, rows in enumerate(worked):
            chosen = np.unique(np.linspace(0, len(rows) - 1, int(np.ceil(share * len(rows)))).astype(int))
            points.append(rows[chosen])
            positions += [k] * len(chosen)
        labels = np.where(np.arange(len(positions)) < len(failures), 1.0, -1.0)
        return np.vstack(points), np.array(positions), labels

    def _choose(self) -> _Theta:
        """Climb from the present choice: one number after the other to the best of its neighbours."""
        u, k, labels = self._rows(_LEARN)

        def judge(theta: _Theta) -> float:
            steps = np.log(theta.lengths / (_TYPICAL * np.sqrt(self._dim)))
            prior = -0.5 * float((steps.mean() / _TOGETHER) ** 2 + np.sum(((steps - steps.mean()) / _APART) ** 2))
            prior += _NOISES[theta.noise] + _COUPLINGS[theta.coupling]
            return _evidence(_covariance(u, k, theta), labels + 1.0) + prior

        best, value = self._theta, judge(self._theta)
        for _ in range(_PASSES):
            before = value
            for change in self._changes(several=len(np.unique(k)) > 1):
                theta = change(best)
                found = judge(theta)
                if found > value:
                    best, value = theta, found
            if value == before:
                break
        return best

    def _changes(self, several: bool) -> Iterator[Callable[[_Theta], _Theta]]:
        """All length-scales at once, each of them, η, and ρ where `several` positions have outcomes."""
        everything = [np.ones(self._dim, dtype=np.bool_)]
        for chosen in everything + (list(np.eye(self._dim, dtype=np.bool_)) if self._dim > 1 else []):
            for factor in _FACTORS:
                yield partial(_scale_lengths, scale=np.where(chosen, factor, 1.0))
        yield from (partial(replace, noise=noise) for noise in _NOISES)
        if several:
            yield from (partial(replace, coupling=coupling) for coupling in _COUPLINGS)


def _scale_lengths(theta: _Theta, scale: Array) -> _Theta:
    return replace(theta, lengths=np.clip(theta.lengths * scale, _SHORTEST, _LONGEST))


def _couplings(theta: _Theta, gaps: IntArray) -> Array:
    """ρ^|gap| for gaps between positions."""
    gaps = np.abs(gaps)
    return np.asarray((theta.coupling ** np.arange(int(gaps.max(initial=0)) + 1))[gaps])


def _covariance(u: Array, k: IntArray, theta: _Theta) -> Array:
    """Of the labels at the rows of u, at the positions k, in units of s."""
    z = u / theta.lengths
    matrix = _couplings(theta, k[:, None] - k) * (LEVEL + np.exp(-cdist(z, z)))
    matrix[np.diag_indices_from(matrix)] += theta.noise
    return np.asarray(matrix)


def _evidence(covariance: Array, residual: Array) -> float:
    """log p(labels), up to a constant, with s at its maximum under its prior."""
    factor = cholesky(covariance, lower=True, check_finite=False)
    z = solve_triangular(factor, residual, lower=True, check_finite=False)
    n = len(residual) + _PRIOR
    return float(-0.5 * n * np.log((z @ z + _PRIOR) / n) - np.log(np.diag(factor)).sum())
