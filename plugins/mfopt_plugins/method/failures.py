"""FailureModel: how likely an evaluation is to fail, at any point and fidelity.

The chance is that of a latent process to be positive (crashes.py). What it is learnt with, its metric, the share of
failures at random and how far the fidelities fail at the same places, is chosen by evidence (crash_learning.py)
whenever the outcomes have grown by a fifth.

Nothing is done before the first failure.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from copy import deepcopy
from functools import partial
from typing import Any

import numpy as np

from mfopt.protocols import Array, BoolArray
from mfopt_plugins.method.crash_learning import Shape, learn
from mfopt_plugins.method.crashes import LEVEL, LINK, MEAN, VARIANCE, Crashes, Outcomes, Sites
from mfopt_plugins.method.kept import array, count, flag, group, many, mapping, maybe, number
from mfopt_plugins.method.observations import Observations
from mfopt_plugins.method.scipy_functions import cdist, ndtr

HOPE = 0.5  # deviations of the latent up to which a point may be asked while little was lost
FEAR = MEAN / np.sqrt(VARIANCE)  # when much was: no more risk than there is before anything is known
LOST = (0.03, 0.1)  # little and much: the share of all costs that failures took beyond those at random
TOO_MUCH = 0.15  # up to this share there is no fear where a cheaper fidelity tells whether the target fails
ALIKE = 0.95  # coupling of failures from which a cheaper fidelity tells whether the target fails
CHEAP = 0.3  # of λ_M: what it may cost
_START = 2.0  # target queries that count as paid before the first, so that one failure is no large share
_GROWTH, _FEW = 1.2, 12  # of the outcomes, before the choice is made again; up to a few at every one
_BATCH = 32  # rows that are not worth a choice among them
_LEARN, _KEEP = 100, 200  # rows that the choice is made from, and that the posterior is conditioned on, at most


class FailureModel:
    """The chance of failure learnt from all outcomes at fidelities of these costs; `active` once there is a failure.

    base   the chance where it mostly works: what failures at random take anyway
    hope   up to how many deviations of the latent a point may be asked: z = hope is a chance of Φ(hope)
    """

    def __init__(self, observations: Observations, costs: Sequence[float], dim: int) -> None:
        self._observations = observations
        self._costs = costs
        self._dim = dim
        self.base, self.hope = 0.0, HOPE
        self._seen = 0  # outcomes that the posterior knows
        self._learnt = 0  # outcomes at the last choice of the shape
        self._shape = Shape.typical(dim)

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
            self._shape = learn(self._choose_outcomes(_LEARN), self._shape)
            self._condition()
        elif self._seen == 0 or len(self._outcomes) > _GROWTH * _KEEP or self._marks != self._mark_taken():
            self._condition()
        else:
            self._extend()
        self._seen = outcomes
        if works:
            self._judge()

    def _condition(self) -> None:
        """The posterior of all outcomes, or of a choice of many."""
        self._take()
        self._settle(self._choose_outcomes(_KEEP), None)

    def _extend(self) -> None:
        """The same with the outcomes told since."""
        failed, *worked = self._taken
        fresh = [(u, k, True) for u, k in self._observations.failures()[failed:]]
        for k, known in enumerate(worked):
            fresh += [(u, k, False) for u in self._observations.worked(k)[0][known:]]
        self._take()
        if not fresh:
            return
        self._settle(self._outcomes.extend(fresh), self._sites.extend(len(fresh)))

    def _settle(self, outcomes: Outcomes, sites: Sites | None) -> None:
        """The sites of these outcomes, beginning with those given, and the posterior that they make."""
        crashes = Crashes(outcomes, self._shape.theta, sites)
        crashes.settle()
        self._outcomes, self._sites = outcomes, crashes.sites
        self._believe(crashes)

    def _believe(self, crashes: Crashes) -> None:
        """The posterior; by position the coupling of its outcomes, their part in the mean, and the mean far away."""
        theta, self._belief = self._shape.theta, crashes.believe()
        belief, self._metric = self._belief, theta.metric
        self._coupling = theta.couple(np.arange(len(self._costs))[:, None] - belief.k)
        self._pull = self._coupling * belief.weights
        self._far = MEAN + LEVEL * self._pull.sum(axis=1)

    def _judge(self) -> None:
        """What fails anyway, and how much hope the losses leave."""
        self.base = self._shape.rate
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

    # ------------------------------------------------------------------------------------------- what it says

    def probability(self, u: Array, k: int) -> Array:
        """The chance of failure at the rows of u, at position k."""
        rate = self._shape.rate
        return np.asarray(rate + (1.0 - rate) * ndtr(self._deviations(u, k)))

    def is_likely(self, u: Array, k: int) -> bool:
        """Whether one point is more likely to fail at position k than not, unless failures come at random."""
        return bool(self.are_likely(u[None], k)[0])

    def are_likely(self, u: Array, k: int) -> BoolArray:
        """The same of the rows of u."""
        return np.asarray(self._deviations(u, k) > 0.0) if self.active else np.zeros(len(u), dtype=np.bool_)

    def foresee(self, k: int) -> Callable[[Array], BoolArray] | None:
        """`are_likely` at position k as of all that was told; None where nothing failed.

        It belongs to a copy: what asks find here must not depend on who looks in between.
        """
        if not self.active:
            return None
        own = deepcopy(self)
        own.update()
        return partial(own.are_likely, k=k)

    def _deviations(self, u: Array, k: int) -> Array:
        """The latent's mean at the rows of u, at position k, in its deviations."""
        decay = np.exp(-cdist(u @ self._metric.T, self._belief.z))
        cross = self._coupling[k] * (LEVEL + decay)
        var = VARIANCE - np.einsum("ij,ij->i", cross @ self._belief.inverse, cross)
        return np.asarray((decay @ self._pull[k] + self._far[k]) / np.sqrt(np.maximum(var, 0.0) + LINK))

    def tells(self, k: int) -> bool:
        """Whether position k, below the target, fails where the target does, and costs much less."""
        top = len(self._costs) - 1
        return bool(self._shape.coupling ** (top - k) >= ALIKE and self._costs[k] < CHEAP * self._costs[top])

    def excess(self, u: Array, positions: Sequence[int], hope: float | None = None) -> Array:
        """By how many deviations the latent at the rows of u, one row per position, lies above `hope`; 0 below it."""
        return self._excess(u, positions, hope, None)

    def excess_gradient(self, u: Array, positions: Sequence[int], hope: float | None = None) -> tuple[Array, Array]:
        """The same with the gradients (positions, rows, dim)."""
        slopes = np.zeros((len(positions), *u.shape))
        return self._excess(u, positions, hope, slopes), slopes

    def _excess(self, u: Array, positions: Sequence[int], hope: float | None, slopes: Array | None) -> Array:
        """The excess; its gradients are written into `slopes`."""
        hope = self.hope if hope is None else hope
        belief, metric = self._belief, self._metric
        z = u @ metric.T
        r = cdist(z, belief.z)
        decay = np.exp(-r)
        steps = None if slopes is None else decay / np.where(r > 0.0, r, np.inf)
        # The deviation is worth its cost only where it may matter.
        least = hope * np.sqrt(LINK if hope > 0.0 else VARIANCE + LINK)
        values = np.zeros((len(positions), len(u)))
        for i, k in enumerate(positions):
            mean = decay @ self._pull[k] + self._far[k]
            matters = mean > least
            if not matters.any():
                continue
            near = slice(None) if len(u) <= _BATCH else matters
            mean, cross = mean[near], self._coupling[k] * (LEVEL + decay[near])
            half = cross @ belief.inverse
            var = np.maximum(VARIANCE - np.einsum("ij,ij->i", half, cross), 0.0) + LINK
            deviation = np.sqrt(var)
            values[i, near] = np.maximum(mean / deviation - hope, 0.0)
            if slopes is None or steps is None:
                continue
            # ∂ e^−r_i = −e^−r_i (z − z_i)/r_i, 0 at an outcome itself, and ∂var = −2 half · ∂cross
            part = belief.weights / deviation[:, None] + (mean / (var * deviation))[:, None] * half
            part *= self._coupling[k] * steps[near]
            slope = (part @ belief.z - part.sum(axis=1)[:, None] * z[near]) @ metric
            slopes[i, near] = (values[i, near] > 0.0)[:, None] * slope
        return values

    # ------------------------------------------------------------------------------------------------ outcomes

    def _counts(self) -> list[int]:
        """Failures, and values by position."""
        return [self._observations.failed, *(len(self._observations.worked(k)[0]) for k in range(len(self._costs)))]

    def _take(self) -> None:
        """Note that the posterior is about to know all outcomes there are."""
        self._taken = self._counts()
        self._marks = self._mark_taken()

    def _mark_taken(self) -> list[int]:
        """Checksums of the outcomes that were taken, as they are now: values may become failures, and be taken back."""
        failed, *worked = self._taken
        failures = b"".join(u.tobytes() + k.to_bytes(4, "little") for u, k in self._observations.failures()[:failed])
        rows = [self._observations.worked(k)[0][:known].tobytes() for k, known in enumerate(worked)]
        return [zlib.crc32(part) for part in (failures, *rows)]

    def _choose_outcomes(self, most: int) -> Outcomes:
        """All outcomes; of many the last failures, and values evenly spread over the run."""
        failures = self._observations.failures()[-(most // 2) :]
        points, positions = [u[None] for u, _ in failures], [k for _, k in failures]
        worked = [self._observations.worked(k)[0] for k in range(len(self._costs))]
        share = min(1.0, (most - len(failures)) / max(sum(map(len, worked)), 1))
        for k, rows in enumerate(worked):
            chosen = np.unique(np.linspace(0, len(rows) - 1, int(np.ceil(share * len(rows)))).astype(int))
            points.append(rows[chosen])
            positions += [k] * len(chosen)
        return Outcomes(np.vstack(points), np.array(positions), np.arange(len(positions)) < len(failures))

    # ----------------------------------------------------------------------------------------------- state

    def state(self) -> dict[str, Any]:
        """What was chosen, and the rows with their sites: the posterior follows from them to the bit."""
        rows = None
        if self._seen:
            told, sites = self._outcomes, self._sites
            failed = told.failed.tolist()
            rows = [
                list(self._taken),
                told.u.copy(),
                told.k.tolist(),
                failed,
                sites.precision.copy(),
                sites.shift.copy(),
            ]
        return {
            "shape": self._shape.state(),
            "counts": [self._seen, self._learnt],
            "judgement": [self.base, self.hope],
            "rows": rows,
        }

    def restore(self, state: object) -> None:
        """Be as another one was that saw the same outcomes."""
        given = mapping(state, "shape", "counts", "judgement", "rows")
        self._shape = Shape.read(given["shape"], self._dim)
        self._seen, self._learnt = group(count, count)(given["counts"])
        self.base, self.hope = group(number, number)(given["judgement"])
        read = group(many(count, 1 + len(self._costs)), array, many(count), many(flag), array, array)
        rows = maybe(read)(given["rows"])
        if (rows is None) != (self._seen == 0):
            raise ValueError("outcomes that were seen must have rows, and none others, got something else")
        if rows is not None:
            self._taken, u, k, failed, precision, shift = rows
            n = len(k)
            if u.shape != (n, self._dim) or len(failed) != n or not precision.shape == shift.shape == (n,):
                raise ValueError(f"rows must be points with positions, outcomes and sites, got {u.shape}")
            if not 0 < n <= self._observations.outcomes or max(k) >= len(self._costs) or not (precision >= 0.0).all():
                raise ValueError(f"rows must be outcomes, got {n} of {self._observations.outcomes}")
            self._outcomes = Outcomes(u, np.array(k), np.array(failed, dtype=np.bool_))
            self._sites = Sites(precision, shift)
            self._marks = self._mark_taken()
            self._believe(Crashes(self._outcomes, self._shape.theta, self._sites))
