"""What anyone's surrogate must do."""

from __future__ import annotations

import json

import numpy as np

from mfopt import registry
from mfopt.hooks import TiesScales
from mfopt.protocols import Array, Model, Surrogate


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

    def _fit(self, n: int = 20, noise: float | None = 0.0) -> Model:
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
        model = self._fit(20)
        assert model.n == 20
        model.fit(*self._data(7), np.random.default_rng(1))
        assert model.n == 7, f"fit must replace the rows, n is {model.n} after fitting 7"

    def test_the_posterior_has_a_mean_and_a_variance_per_row(self) -> None:
        mean, var = self._fit().posterior(self._queries(11))
        assert mean.shape == var.shape == (11,)
        assert np.isfinite(mean).all()
        assert np.isfinite(var).all()
        assert (var >= 0.0).all(), f"variances must not be negative, got {var.min()}"

    def test_noiseless_data_is_interpolated(self) -> None:
        u, y = self._data()
        mean, var = self._fit().posterior(u)
        assert np.abs(mean - y).max() <= 1e-3 * np.ptp(y), "the mean must pass through noiseless data"
        far = self._fit().posterior(self._queries(200))[1].max()
        assert var.max() <= max(0.5 * far, 1e-6 * np.var(y)), "the variance must be small at noiseless data"

    def test_predictions_beat_the_constant(self) -> None:
        u = self._queries(100)
        truth = self._smooth(u)
        error = self._fit(30).posterior(u)[0] - truth
        assert np.sqrt(np.mean(error**2)) < 0.25 * np.std(truth), "30 values of a smooth function must teach something"

    def test_a_row_never_adds_variance(self) -> None:
        model = self._fit(6)
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
        once, stepwise = self._fit(6), self._fit(6)
        u, y = self._data(5, seed=3)
        once.extend(u, y)
        for k in range(5):
            stepwise.extend(u[k : k + 1], y[k : k + 1])
        prior = _prior_variance(self._fit(6), self.dim)
        mean, var = once.posterior(self._queries())
        other_mean, other_var = stepwise.posterior(self._queries())
        assert np.abs(mean - other_mean).max() <= 1e-6 * np.ptp(y)
        assert np.abs(var - other_var).max() <= 1e-6 * prior

    def test_truncate_undoes_extend(self) -> None:
        model = self._fit()
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
        model = self._fit()
        model.truncate(0)
        assert model.n == 0
        mean, var = model.posterior(self._queries())
        assert np.isfinite(mean).all()
        assert (var > 0.0).all(), "the prior variance must be positive"
        model.extend(*self._data(3))
        assert model.n == 3

    def test_gradients_agree_with_differences(self) -> None:
        model = self._fit(6)  # few rows, so that the variance has slopes worth comparing
        u = self._queries(10)
        mean, var, mean_slope, var_slope = model.posterior_gradient(u)
        prior = _prior_variance(self._fit(6), self.dim)
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
        reference = self._fit().posterior(self._queries())[0]
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

    def test_where_it_ties_scales_the_coordinates_of_a_group_are_interchangeable(self) -> None:
        surrogate = self.surrogate()
        if not isinstance(surrogate, TiesScales):
            return
        # A category of three choices and a number. All choices but the first are the same for the function, so that a
        # length-scale per coordinate would tell the first coordinate from the others.
        rng = np.random.default_rng(4)
        u = np.column_stack([np.sqrt(0.5) * np.eye(3)[rng.integers(0, 3, 30)], rng.random(30)])
        y = np.where(u[:, 0] > 0.0, 2.0, 0.0) + np.sin(3.0 * u[:, 3])
        model = surrogate.tied([0, 0, 0, 1]).model(4, 0.0)
        model.fit(u, y, np.random.default_rng(1))
        assert np.abs(model.posterior(u)[0] - y).max() <= 1e-3 * np.ptp(y), "the mean must pass through noiseless data"
        model.truncate(0)
        model.extend(np.array([[0.0, 0.0, 0.0, 0.5]]), np.array([1.0]))
        shifts = np.array([[0.5, 0, 0, 0.5], [0, 0.5, 0, 0.5], [0, 0, 0.5, 0.5]])
        var = model.posterior(shifts)[1]
        assert np.ptp(var) <= 1e-9 * var.max(), "coordinates of a group must have one length-scale"

    def test_describe_is_plain_data(self) -> None:
        json.dumps(dict(self._fit().describe()))


def _prior_variance(model: Model, dim: int) -> float:
    """The variance without data, against which roundings are measured; `model` loses its rows."""
    model.truncate(0)
    return float(model.posterior(np.full((1, dim), 0.5))[1][0])
