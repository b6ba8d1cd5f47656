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

import numpy as np
from scipy.linalg import cho_solve, cholesky, solve_triangular

from mfopt.protocols import Array
from mfopt_plugins.method.observations import Observations

HOPE, FEAR = 0.5, -0.3  # deviations by which the label is taken for lower than its mean while little, or much, was lost
LOST = (0.05, 0.15)  # little and much: the share of all costs that failures took beyond those at random
TOO_MUCH = 0.2  # up to this share there is no fear where a cheaper fidelity tells whether the target fails
TIGHTER = 2.0  # of the label: by which the threshold falls from an even chance, per unit of hope below 0
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
_LEARN, _KEEP = 150, 400  # rows that the choice is made from, and that the posterior is conditioned on, at most


@dataclass(frozen=True)
class _Theta:
    """What is chosen by evidence."""

    lengths: Array
    noise: float  # η
    coupling: float  # ρ


class FailureModel:
    """The chance of failure learnt from all outcomes at fidelities of these costs; `active` once there is a failure.

    base   the chance where it mostly works: what failures at random take anyway
    hope   how a chance that is not certain is to be taken, in deviations: optimistic while little was lost
    """

    def __init__(self, observations: Observations, costs: Sequence[float], dim: int) -> None:
        self._observations = observations
        self._costs = np.array(costs)
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
        self._seen = outcomes
        self._u, self._k, labels = self._labels(_KEEP)
        works = labels < 0
        # As long as everything fails no length-scale says more than another.
        if works.any() and (outcomes >= _GROWTH * self._learnt or outcomes <= _FEW):
            self._learnt = outcomes
            self._theta = self._choose()
        theta, residual = self._theta, labels + 1.0
        factor = cholesky(_covariance(self._u, self._k, theta), lower=True, check_finite=False)
        self._weights = cho_solve((factor, True), residual, check_finite=False)
        self._inverse = cho_solve((factor, True), np.eye(len(residual)), check_finite=False)
        self._scale = (float(residual @ self._weights) + _PRIOR) / (len(residual) + _PRIOR)
        if works.any():
            others = labels - self._weights / np.diag(self._inverse)  # each label as the rest predicts it
            self.base = float(np.clip(0.5 * (1.0 + np.median(others[works])), 0.0, _AT_RANDOM))
            lost = self._lost() - self.base
            self.hope = float(np.interp(lost, LOST, (HOPE, FEAR)))
            if lost < TOO_MUCH and any(self.tells(k) for k in range(len(self._costs) - 1)):
                self.hope = max(self.hope, 0.0)  # a failure is found out at little cost

    def _lost(self) -> float:
        """The share of all costs that went to failures."""
        failed = np.bincount([k for _, k in self._observations.failures()], minlength=len(self._costs))
        lost = float(self._costs @ failed)
        return lost / (lost + float(self._costs @ self._observations.counts) + _START * float(self._costs[-1]))

    # ------------------------------------------------------------------------------------------- what it says

    def probability(self, u: Array, k: int) -> Array:
        """The chance of failure at the rows of u, at position k."""
        mean = self._cross(u, k)[0] @ self._weights - 1.0
        return np.asarray(np.clip(0.5 * (1.0 + mean), 0.0, 1.0))

    def is_likely(self, u: Array, k: int) -> bool:
        """Whether one point is more likely to fail at position k than not."""
        return self.active and bool(self.probability(u[None], k)[0] > 0.5)

    def tells(self, k: int) -> bool:
        """Whether position k, below the target, fails where the target does, and costs much less."""
        top = len(self._costs) - 1
        return bool(self._theta.coupling ** (top - k) >= ALIKE and self._costs[k] < CHEAP * self._costs[top])

    def excess(self, u: Array, k: int, hope: float | None = None) -> tuple[Array, Array]:
        """By how much the label at (u, k), taken as μ − hope · σ, lies above a threshold, and the gradient; 0 below it.

        The threshold is 0, an even chance; it falls where hope is negative, but stays above the places where it mostly
        works.
        """
        hope = self.hope if hope is None else hope
        cross, steps = self._cross(u, k)
        threshold = max(TIGHTER * min(hope, 0.0), 2.0 * self.base - 1.0 + ABOVE)
        level = cross @ self._weights - 1.0 - threshold
        value, slope = np.zeros(len(u)), np.zeros_like(u)
        widest = np.sqrt(self._scale * (1.0 + LEVEL))
        near = np.flatnonzero(level > min(hope, 0.0) * widest)  # σ is worth its cost only where it may matter
        if len(near) == 0:
            return value, slope
        cross, steps = cross[near], steps[near]
        half = cross @ self._inverse
        var = self._scale * (1.0 + LEVEL - np.einsum("ij,ij->i", half, cross))
        sigma = np.sqrt(np.maximum(var, 1e-12))
        value[near] = np.maximum(level[near] - hope * sigma, 0.0)
        # ∂ e^−r_i = −steps_i (u − u_i)/ℓ², and ∂σ = −s half · ∂cross/σ
        pull = steps * (self._weights + (hope * self._scale / sigma)[:, None] * half)
        slope[near] = -(pull.sum(axis=1)[:, None] * u[near] - pull @ self._u) / self._theta.lengths**2
        slope[value <= 0.0] = 0.0
        return value, slope

    def _cross(self, u: Array, k: int) -> tuple[Array, Array]:
        """Kernel between the rows of u at position k and the outcomes, and e^−r/r (0 at an outcome itself)."""
        coupling = self._theta.coupling ** np.abs(k - self._k)
        r = _distances(u, self._u, self._theta.lengths)
        decay = coupling * np.exp(-r)
        return LEVEL * coupling + decay, decay / np.where(r > 0.0, r, np.inf)

    # -------------------------------------------------------------------------------------------- learning

    def _labels(self, most: int) -> tuple[Array, Array, Array]:
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
        u, k, labels = self._labels(_LEARN)

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


def _distances(a: Array, b: Array, lengths: Array) -> Array:
    """r: ‖(a_i − b_j)/ℓ‖, by differences."""
    squares = np.zeros((len(a), len(b)))
    for j, length in enumerate(lengths):
        squares += np.square((a[:, j, None] - b[None, :, j]) / length)
    return np.sqrt(squares)


def _covariance(u: Array, k: Array, theta: _Theta) -> Array:
    """Of the labels at the rows of u, at the positions k, in units of s."""
    coupling = theta.coupling ** np.abs(k[:, None] - k[None, :])
    matrix = coupling * (LEVEL + np.exp(-_distances(u, u, theta.lengths)))
    matrix[np.diag_indices_from(matrix)] += theta.noise
    return np.asarray(matrix)


def _evidence(covariance: Array, residual: Array) -> float:
    """log p(labels), up to a constant, with s at its maximum under its prior."""
    factor = cholesky(covariance, lower=True, check_finite=False)
    z = solve_triangular(factor, residual, lower=True, check_finite=False)
    n = len(residual) + _PRIOR
    return float(-0.5 * n * np.log((z @ z + _PRIOR) / n) - np.log(np.diag(factor)).sum())
