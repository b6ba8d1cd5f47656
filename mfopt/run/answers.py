"""Answers: what a run says of its functions. Where is f how large, and which point is to be settled on?

They come from the strategy's own models where it has some (hooks.PredictsValues), otherwise from models of the given
surrogates that are fitted to the history (beliefs.py). To ask for them changes nothing of what is asked later.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from mfopt.domains.missing import MissingDomain
from mfopt.domains.params import params_of
from mfopt.errors import InputError, NoValue
from mfopt.fidelities import Fidelity
from mfopt.hooks import AcquisitionDefaults
from mfopt.protocols import Array, BoolArray, Domain, Model, Posterior
from mfopt.run.beliefs import fit_beliefs
from mfopt.run.gain import LOOK, NEAR, expected_maximum_gain
from mfopt.run.history import History
from mfopt.run.inputs import as_many, parse_fidelity
from mfopt.run.prices import CostEstimate
from mfopt.run.session import Session
from mfopt.run.trial import Recommendation

_STREAM = 3  # of the generator for the maximum of the mean
_DEPTH = 10.0  # times the spread of the means: how much lower they are taken to be where evaluations fail


class Answers:
    """The part of an Optimizer that answers; it has a session."""

    _session: Session

    @property
    def surrogates(self) -> tuple[Any, ...]:
        """The kinds of model of the strategy, one per fidelity."""
        return self._session.setup.make_surrogates()

    @property
    def cost_estimates(self) -> tuple[CostEstimate, ...]:
        """What the next query at each fidelity will cost, with the factor by which that is uncertain."""
        return self._session.look(lambda ledger: ledger.prices.estimates)

    @property
    def cost_oddities(self) -> list[str]:
        """A sentence for each pair of neighbouring fidelities whose learnt costs are out of order or nearly equal."""
        return self._session.look(lambda ledger: ledger.prices.oddities())

    def predict(self, x: object, fidelity: int | str | None = None) -> tuple[Any, Any]:
        """Mean and standard deviation of f at x, without the noise of an observation, in your units and sign.

        x: one point (then two floats) or many (then two arrays): rows of an array or a data frame, or a list of points;
        a point may be a dict of params. fidelity: its number or its name; by default the target. The models are the
        strategy's own, with all that was told; a strategy without models is asked nothing, and the given surrogates are
        fitted to the history. Where the strategy has softened the values (docs/glossary.md), the mean is a median and
        the deviation half the width of the middle 68 %. Trials that are asked for later do not depend on it. A NoValue
        error before the first value.
        """
        return predict(self._session, x, fidelity)

    def recommend(self, anywhere: bool = False) -> Recommendation:
        """The point to settle on: .x, .params, and .mean and .std of f there, as `predict` gives them.

        Of the points with a value at the target (before the first such value: at any fidelity) it is the one whose
        posterior mean at the target is best. Where the target is noiseless that is the point of `best`. With noise it
        is a better answer, since the best of noisy values is mostly luck. anywhere=True: the best posterior mean in X.
        """
        return recommend(self._session, anywhere)

    def expected_gain(self) -> float:
        """By how much the target queries that the remaining capital pays for may still raise (lower) the best value.

        An estimate from the models (run/gain.py), in your unit, never negative; inf before a value at the target.
        """
        return expected_gain(self._session)

    def believed_history(self) -> History:
        """The history with values that the strategy's models are not shown, far below the rest, as failed."""
        return discount_history(self._session)

    def recommend_if_noisy(self) -> Recommendation | None:
        """What `recommend` says where values at the target are noisy; None where `best` is as good an answer."""
        return recommend_if_noisy(self._session)


def predict(session: Session, x: object, fidelity: object) -> tuple[float, float] | tuple[Array, Array]:
    """Mean and standard deviation of the function at x, one point or many; Answers.predict says more."""
    setup = session.setup
    m = _find_fidelity(setup.fidelities, fidelity)
    given = as_many(x)
    read = setup.domain.read if isinstance(setup.domain, MissingDomain) else setup.domain.validate
    points = [read(point) for point in ([x] if given is None else given)]
    posterior = _find_posterior(session, m)
    if not points:
        return np.empty(0), np.empty(0)
    mean, std = posterior.predict(setup.domain.encode(np.array(points)))
    mean = setup.sign * mean
    return (float(mean[0]), float(std[0])) if given is None else (mean, std)


def recommend(session: Session, anywhere: bool) -> Recommendation:
    """The point to settle on; Answers.recommend says which."""
    setup = session.setup
    posterior = _find_posterior(session, len(setup.fidelities) - 1)
    ledger = session.ledger
    candidates = _find_candidates(session)
    best = ledger.best
    if anywhere:
        u = _maximise_mean(session, posterior, candidates)
    elif best is not None and not posterior.noisy:
        u = setup.domain.encode(best.x[None])[0]
    else:
        u = candidates[int(np.argmax(posterior.model.posterior(candidates)[0]))]
    mean, std = posterior.predict(u[None])
    x = setup.domain.decode(u[None])[0]
    if best is not None and not anywhere and not posterior.noisy:
        x = best.x  # to the bit: the way to unit coordinates and back may round
    x.flags.writeable = False
    return Recommendation(x, float(setup.sign * mean[0]), float(std[0]), posterior.noisy, params_of(setup.domain, x))


def recommend_if_noisy(session: Session) -> Recommendation | None:
    """The point to settle on, where it need not be that of the best value at the target."""
    session.refresh()
    if session.ledger.best is None or session.setup.fidelities[-1].noise == 0.0:
        return None
    recommended = recommend(session, anywhere=False)
    return recommended if recommended.noisy else None


def discount_history(session: Session) -> History:
    """The history as the models see it; Answers.believed_history says more."""
    session.refresh()
    setup, history = session.setup, session.ledger.history.snapshot()
    if isinstance(setup.domain, MissingDomain):
        return history
    with session.asking.held:
        posteriors = [session.strategist().posterior(m) for m in range(len(setup.fidelities))]
    lowest = np.array([-np.inf if one is None or one.lowest is None else one.lowest for one in posteriors])
    return history.discount(setup.sign * history.y < lowest[history.fidelity])


def expected_gain(session: Session) -> float:
    """What the rest of the capital may gain; Answers.expected_gain says more."""
    setup, ledger = session.setup, session.ledger
    if ledger.best is None:
        return math.inf
    posterior, domain = _find_posterior(session, len(setup.fidelities) - 1), setup.domain
    known = _find_candidates(session)
    best = float(posterior.predict(known)[0].max()) if posterior.noisy else setup.sign * ledger.best.y
    rng = np.random.default_rng([setup.seed, _STREAM, len(ledger.history)])
    points = domain.points
    if points is None:
        peak = _maximise_mean(session, posterior, known)
        near = np.clip(peak + NEAR * rng.standard_normal((LOOK // 4, domain.dim)), 0.0, 1.0)
        points = np.vstack([peak[None], domain.sample(LOOK, rng), near[domain.contains(near)]])
    elif len(points) > LOOK:
        points = rng.choice(points, LOOK, replace=False)
    queries = session.look(lambda now: now.capital.remaining / now.costs[-1])
    return expected_maximum_gain(*posterior.predict(points), best, queries)


def _find_fidelity(fidelities: tuple[Fidelity, ...], given: object) -> int:
    """The number of a fidelity that was given by number or name; None stands for the target."""
    if isinstance(given, str):
        names = [fidelity.name for fidelity in fidelities]
        if given not in names:
            raise InputError(f"fidelity must be one of {names} or its number, got {given!r}")
        return names.index(given)
    return len(fidelities) - 1 if given is None else parse_fidelity(given, len(fidelities))


def _find_posterior(session: Session, m: int) -> Posterior:
    """What is believed of fidelity m, given all that was told."""
    session.refresh()
    history, domain = session.ledger.history.snapshot(), session.setup.domain
    if not np.isfinite(history.y).any():
        raise NoValue("a prediction needs at least one value, got none; tell or add one first")
    if isinstance(domain, MissingDomain):  # no strategy can start on it
        domain.check_measures()
    else:
        with session.asking.held:  # an ask of another thread works on the same models
            posterior = session.strategist().posterior(m)
        if posterior is not None:
            return posterior
    if session.beliefs is None or session.beliefs[0] != len(history):
        fitted = fit_beliefs(session.setup, history, session.setup.make_surrogates(), coupled=True)
        session.beliefs = (len(history), fitted)
    beliefs = session.beliefs[1]
    return Posterior(beliefs.models[m], beliefs.noise(m) > 0.0)


def _find_candidates(session: Session) -> Array:
    """The points with a value at the target, in unit coordinates; before the first one, those with any value."""
    history = session.ledger.history.snapshot()
    known = np.isfinite(history.y)
    target = known & (history.fidelity == len(session.setup.fidelities) - 1)
    return session.setup.domain.encode(history.x[target if target.any() else known])


def _maximise_mean(session: Session, posterior: Posterior, candidates: Array) -> Array:
    """Where the model's mean is largest in X, but for what is likely to fail; at least as good as the candidates."""
    means, variances = posterior.model.posterior(candidates)
    depth = _DEPTH * (float(np.ptp(means)) + float(np.sqrt(variances.max())))
    setup, mean = session.setup, PosteriorMean(posterior.model, posterior.failing, depth)
    domain: Domain = setup.domain
    if isinstance(domain, MissingDomain):
        raise domain.refuse("search all of X")
    if domain.points is not None:
        return np.array(domain.points[mean.argmax(domain.points, None)])
    rng = np.random.default_rng([setup.seed, _STREAM])
    found = setup.make_maximiser().maximise(mean, domain, rng, len(session.ledger.history))
    points = np.vstack([found[None], candidates])
    heights = np.append(mean(found[None]), means)  # the candidates have worked
    return np.array(points[int(np.argmax(heights))])


class PosteriorMean(AcquisitionDefaults):
    """The mean of a model, to be maximised; lower by `depth` where evaluations are likely to fail."""

    def __init__(self, model: Model, failing: Callable[[Array], BoolArray] | None = None, depth: float = 0.0) -> None:
        self._model = model
        self._failing = failing
        self._depth = depth

    def __call__(self, u: Array) -> Array:
        """Means at the rows of u."""
        return self._lower(u, self._model.posterior(u)[0])

    def gradient(self, u: Array) -> tuple[Array, Array]:
        """Means and their gradients."""
        mean, _, slope, _ = self._model.posterior_gradient(u)
        return self._lower(u, mean), slope

    def _lower(self, u: Array, mean: Array) -> Array:
        return mean if self._failing is None else np.where(self._failing(u), mean - self._depth, mean)

    @property
    def rows(self) -> int:
        """Rows of the model: what an evaluation costs."""
        return self._model.n
