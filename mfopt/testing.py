"""Conformance suites: what a surrogate, a maximiser or a domain of anyone's must do, as pytest classes.

    from mfopt.testing import SurrogateConformance
    from my_package import MySurrogate

    class TestMySurrogate(SurrogateConformance):
        def surrogate(self):
            return MySurrogate()

MaximiserConformance (method `maximiser`), DomainConformance (method `domain`) and StrategyConformance (method
`strategy`) work the same way. Each method is called whenever a test needs a fresh plugin. The tests are plain methods
with plain assertions; nothing here needs pytest itself.
"""

from __future__ import annotations

import json

import numpy as np

from mfopt import registry
from mfopt.box import Box
from mfopt.errors import DomainError
from mfopt.protocols import Array, Domain, Maximiser, Model, Surrogate
from mfopt.testing_strategies import StrategyConformance, global_random_state

__all__ = ["DomainConformance", "MaximiserConformance", "StrategyConformance", "SurrogateConformance"]


class SurrogateConformance:
    """Models learn, condition, forget and predict as protocols.Model says; limits are those of a Gaussian process."""

    dim = 2

    def surrogate(self) -> Surrogate:
        """The plugin under test; override it."""
        raise NotImplementedError

    def _smooth(self, u: Array) -> Array:
        return np.asarray(np.sin(3.0 * u[:, 0]) + np.square(u).sum(axis=1))

    def _data(self, n: int = 20, seed: int = 0) -> tuple[Array, Array]:
        u = np.random.default_rng(seed).random((n, self.dim))
        return u, self._smooth(u)

    def _fitted(self, n: int = 20, noise: float | None = 0.0) -> Model:
        model = self.surrogate().model(self.dim, noise)
        model.fit(*self._data(n), np.random.default_rng(1))
        return model

    def _queries(self, n: int = 50) -> Array:
        return np.random.default_rng(2).random((n, self.dim))

    def test_has_the_methods_of_a_surrogate(self) -> None:
        registry.resolve(registry.SURROGATES, self.surrogate())

    def test_a_fresh_model_has_no_rows(self) -> None:
        assert self.surrogate().model(self.dim, None).n == 0

    def test_fit_conditions_on_its_rows_alone(self) -> None:
        model = self._fitted(20)
        assert model.n == 20
        model.fit(*self._data(7), np.random.default_rng(1))
        assert model.n == 7, f"fit must replace the rows, n is {model.n} after fitting 7"

    def test_the_posterior_has_a_mean_and_a_variance_per_row(self) -> None:
        mean, var = self._fitted().posterior(self._queries(11))
        assert mean.shape == var.shape == (11,)
        assert np.isfinite(mean).all()
        assert np.isfinite(var).all()
        assert (var >= 0.0).all(), f"variances must not be negative, got {var.min()}"

    def test_noiseless_data_is_interpolated(self) -> None:
        u, y = self._data()
        mean, var = self._fitted().posterior(u)
        assert np.abs(mean - y).max() <= 1e-3 * np.ptp(y), "the mean must pass through noiseless data"
        far = self._fitted().posterior(self._queries(200))[1].max()
        assert var.max() <= max(0.5 * far, 1e-6 * np.var(y)), "the variance must be small at noiseless data"

    def test_predictions_beat_the_constant(self) -> None:
        u = self._queries(100)
        truth = self._smooth(u)
        error = self._fitted(30).posterior(u)[0] - truth
        assert np.sqrt(np.mean(error**2)) < 0.25 * np.std(truth), "30 values of a smooth function must teach something"

    def test_a_row_never_adds_variance(self) -> None:
        model = self._fitted(6)
        u = self._queries()
        before = model.posterior(u)[1]
        widest = int(np.argmax(before))
        new = u[widest : widest + 1]
        model.extend(new, self._smooth(new))
        after = model.posterior(u)[1]
        limit = 1e-6 * before.max()
        assert (after <= before + limit).all(), "variances must not grow when a row is added"
        assert after[widest] <= 0.1 * before[widest], "the variance must shrink where a noiseless row was added"

    def test_rows_one_by_one_equal_rows_at_once(self) -> None:
        once, stepwise = self._fitted(6), self._fitted(6)
        u, y = self._data(5, seed=3)
        once.extend(u, y)
        for k in range(5):
            stepwise.extend(u[k : k + 1], y[k : k + 1])
        prior = _prior_variance(self._fitted(6), self.dim)
        mean, var = once.posterior(self._queries())
        other_mean, other_var = stepwise.posterior(self._queries())
        assert np.abs(mean - other_mean).max() <= 1e-6 * np.ptp(y)
        assert np.abs(var - other_var).max() <= 1e-6 * prior

    def test_truncate_undoes_extend(self) -> None:
        model = self._fitted()
        u = self._queries()
        before = model.posterior(u)
        model.extend(*self._data(5, seed=3))
        assert model.n == 25
        model.truncate(20)
        assert model.n == 20
        mean, var = model.posterior(u)
        assert np.abs(mean - before[0]).max() <= 1e-10 * np.ptp(before[0]), "truncate must restore the mean"
        prior = _prior_variance(model, self.dim)
        assert np.abs(var - before[1]).max() <= 1e-10 * prior, "truncate must restore the variance"

    def test_a_model_without_rows_still_predicts(self) -> None:
        model = self._fitted()
        model.truncate(0)
        assert model.n == 0
        mean, var = model.posterior(self._queries())
        assert np.isfinite(mean).all()
        assert (var > 0.0).all(), "the prior variance must be positive"
        model.extend(*self._data(3))
        assert model.n == 3

    def test_gradients_agree_with_differences(self) -> None:
        model = self._fitted(6)  # few rows, so that the variance has slopes worth comparing
        u = self._queries(10)
        mean, var, mean_slope, var_slope = model.posterior_gradient(u)
        prior = _prior_variance(self._fitted(6), self.dim)
        assert np.abs(mean - model.posterior(u)[0]).max() <= 1e-8 * np.ptp(mean)
        assert np.abs(var - model.posterior(u)[1]).max() <= 1e-8 * prior
        step = 1e-5
        for j in range(self.dim):
            shift = step * np.eye(self.dim)[j]
            above, below = model.posterior(u + shift), model.posterior(u - shift)
            for slope, high, low in zip((mean_slope, var_slope), above, below, strict=True):
                error = np.abs(slope[:, j] - (high - low) / (2.0 * step)).max()
                assert error <= 1e-2 * np.abs(slope).max(), "gradients must match finite differences"

    def test_scale_and_offset_of_the_values_do_not_matter(self) -> None:
        u, y = self._data()
        reference = self._fitted().posterior(self._queries())[0]
        for scale, offset in ((1e-8, 0.0), (1e9, 0.0), (1.0, 1e4)):
            model = self.surrogate().model(self.dim, 0.0)
            model.fit(u, scale * y + offset, np.random.default_rng(1))
            mean = (model.posterior(self._queries())[0] - offset) / scale
            assert np.abs(mean - reference).max() <= 0.05 * np.ptp(y), f"values times {scale} plus {offset} differ"

    def test_one_row_equal_values_and_repeated_rows_are_harmless(self) -> None:
        u, y = self._data(6)
        cases = ((u[:1], y[:1]), (u, np.full(6, 3.0)), (np.repeat(u, 3, axis=0), np.repeat(y, 3)))
        for rows, values in cases:
            model = self.surrogate().model(self.dim, None)
            model.fit(rows, values, np.random.default_rng(1))
            mean, var = model.posterior(self._queries())
            assert np.isfinite(mean).all()
            assert np.isfinite(var).all()
            assert (var >= 0.0).all()

    def test_the_same_rng_gives_the_same_model_and_inputs_are_kept(self) -> None:
        u, y = self._data()
        u.flags.writeable = y.flags.writeable = False
        posteriors = []
        for _ in range(2):
            model = self.surrogate().model(self.dim, None)
            model.fit(u, y, np.random.default_rng(5))
            posteriors.append(model.posterior(self._queries()))
        assert np.array_equal(posteriors[0], posteriors[1]), "the same rng must give the same posterior"

    def test_describe_is_plain_data(self) -> None:
        json.dumps(dict(self._fitted().describe()))


def _prior_variance(model: Model, dim: int) -> float:
    """The variance without data, against which roundings are measured; `model` loses its rows."""
    model.truncate(0)
    return float(model.posterior(np.full((1, dim), 0.5))[1][0])


class _Bumps:
    """A smooth acquisition with a known maximum value: a high bump at `top`, a lower one elsewhere."""

    def __init__(self, top: Array) -> None:
        self._centres = np.stack([top, 1.0 - 0.7 * top])
        self._heights = np.array([1.0, 0.6])

    def __call__(self, u: Array) -> Array:
        return self.gradient(u)[0]

    def gradient(self, u: Array) -> tuple[Array, Array]:
        difference = u[:, None, :] - self._centres
        bumps = self._heights * np.exp(-4.0 * np.square(difference).sum(axis=2))
        return bumps.sum(axis=1), -8.0 * (bumps[:, :, None] * difference).sum(axis=1)


class _Slope:
    """A linear acquisition, largest in the corner (1, ..., 1)."""

    def __call__(self, u: Array) -> Array:
        return np.asarray(u.sum(axis=1))

    def gradient(self, u: Array) -> tuple[Array, Array]:
        return self(u), np.ones_like(u)


class _Flat:
    """The same everywhere."""

    def __call__(self, u: Array) -> Array:
        return np.zeros(len(u))

    def gradient(self, u: Array) -> tuple[Array, Array]:
        return np.zeros(len(u)), np.zeros_like(u)


class MaximiserConformance:
    """maximise finds a good point of X, the same one for the same rng."""

    def maximiser(self) -> Maximiser:
        """The plugin under test; override it."""
        raise NotImplementedError

    def _found(self, acquisition: _Bumps | _Slope | _Flat, domain: Domain, seed: int = 0, t: int = 20) -> Array:
        u = np.asarray(self.maximiser().maximise(acquisition, domain, np.random.default_rng(seed), t))
        assert u.shape == (domain.dim,), f"a point must have shape ({domain.dim},), got {u.shape}"
        assert domain.contains(u[None])[0], f"the point must lie in X, got {u.tolist()}"
        return u

    def test_has_the_methods_of_a_maximiser(self) -> None:
        registry.resolve(registry.MAXIMISERS, self.maximiser())

    def test_beats_a_thousand_random_points(self) -> None:
        for dim in (1, 2, 5):
            domain = Box([(0.0, 1.0)] * dim)
            acquisition = _Bumps(np.linspace(0.2, 0.35, dim))
            random = acquisition(domain.sample(1000, np.random.default_rng(7))).max()
            value = acquisition(self._found(acquisition, domain)[None])[0]
            assert value >= random, f"{value} in {dim} dimensions is below the best of 1000 random points, {random}"

    def test_reaches_a_corner(self) -> None:
        u = self._found(_Slope(), Box([(0.0, 1.0)] * 3))
        assert u.sum() >= 3.0 - 1e-2, f"the maximum of a linear function lies in the corner, got {u.tolist()}"

    def test_stays_in_a_constrained_box(self) -> None:
        def in_disc(x: Array) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
            return np.asarray(np.square(x - 0.5).sum(axis=1) <= 0.04)

        domain = Box([(0.0, 1.0)] * 2, constraints=in_disc)
        u = self._found(_Slope(), domain)
        best = 1.0 + 0.2 * np.sqrt(2.0)  # the point of the disc farthest along (1, 1)
        assert u.sum() >= best - 0.02, f"{u.sum()} is well below the maximum {best} on the constraint's boundary"

    def test_stays_in_a_small_corner_of_the_box(self) -> None:
        from scipy.optimize import LinearConstraint

        domain = Box([(0.0, 1.0)] * 4, constraints=LinearConstraint(np.ones(4), -np.inf, 0.1))
        assert self._found(_Slope(), domain).sum() >= 0.08

    def test_a_flat_acquisition_is_harmless(self) -> None:
        self._found(_Flat(), Box([(0.0, 1.0)] * 2))

    def test_works_from_the_first_query_to_late_ones(self) -> None:
        for t in (1, 1000):
            self._found(_Slope(), Box([(0.0, 1.0)] * 2), t=t)

    def test_the_same_rng_gives_the_same_point(self) -> None:
        domain, acquisition = Box([(0.0, 1.0)] * 3), _Bumps(np.array([0.3, 0.8, 0.1]))
        assert np.array_equal(self._found(acquisition, domain, 3), self._found(acquisition, domain, 3))

    def test_the_global_random_state_is_not_touched(self) -> None:
        before = global_random_state()
        self._found(_Bumps(np.array([0.3, 0.8])), Box([(0.0, 1.0)] * 2))
        assert global_random_state() == before


class DomainConformance:
    """A domain knows its points and maps them to the unit cube and back."""

    def domain(self) -> Domain:
        """The domain under test; override it."""
        raise NotImplementedError

    def _sample(self, n: int = 40) -> Array:
        return self.domain().sample(n, np.random.default_rng(0))

    def test_has_the_methods_of_a_domain(self) -> None:
        assert isinstance(self.domain(), Domain)

    def test_samples_lie_in_the_domain(self) -> None:
        domain, u = self.domain(), self._sample()
        assert u.shape == (40, domain.dim)
        assert ((u >= 0.0) & (u <= 1.0)).all(), "unit coordinates lie in [0, 1]"
        assert domain.contains(u).all(), "samples must lie in X"

    def test_the_same_rng_gives_the_same_sample(self) -> None:
        assert np.array_equal(self._sample(), self._sample())

    def test_user_units_survive_the_round_trip(self) -> None:
        domain = self.domain()
        x = domain.decode(self._sample())
        again = domain.decode(domain.encode(x))
        assert x.shape == (40, len(domain.names))
        assert np.allclose(x, again, rtol=1e-12, atol=1e-12 * np.abs(x).max()), "decode(encode(x)) must be x"

    def test_decoded_points_are_valid(self) -> None:
        domain = self.domain()
        for x in domain.decode(self._sample(10)):
            point = domain.validate(x)
            assert point.dtype == np.float64
            assert np.array_equal(point, x)

    def test_points_outside_the_cube_are_outside(self) -> None:
        domain = self.domain()
        for value in (-0.5, 1.5, np.nan):
            assert not domain.contains(np.full((3, domain.dim), value)).any(), f"{value} must be outside"

    def test_what_is_no_point_is_refused(self) -> None:
        domain = self.domain()
        d = len(domain.names)
        for bad in (np.zeros(d + 1), np.full(d, np.nan), "text", None, [object()] * d):
            try:
                domain.validate(bad)
            except DomainError:
                continue
            raise AssertionError(f"validate must raise a DomainError, took {bad!r}")

    def test_a_finite_domain_lists_its_points(self) -> None:
        domain = self.domain()
        points = domain.points
        if points is None:
            assert domain.locate(self._sample(1)[0]) is None
        else:
            assert points.shape[1] == domain.dim
            assert domain.contains(points).all()
            assert {tuple(u) for u in self._sample(10)} <= {tuple(u) for u in points}
            assert isinstance(domain.locate(points[-1]), int)

    def test_describe_is_plain_data(self) -> None:
        json.dumps(dict(self.domain().describe()))
