"""What anyone's surrogate must do."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Mapping
from typing import Any

import numpy as np

from mfopt import registry
from mfopt.hooks import TiesScales, UsesThreads
from mfopt.protocols import Array, Model, Surrogate
from mfopt.testing._limit import limit_calls
from mfopt.testing._watch import make_again, set_global_state, silent, untouched_random_state, watch

_METHODS = ("fit", "extend", "truncate", "posterior", "posterior_gradient", "describe")


class _Models:
    """The data and the models of the suite."""

    dim = 2
    gradients: bool = True
    monotone: bool = True
    picklable: bool = True
    remakeable: bool = True
    options: Mapping[str, Any] = {}
    time_limit: float = 10.0

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


@limit_calls
class _OfValues(_Models):
    """Units, noise, and what arrays hold."""

    def test_the_variance_has_the_square_of_the_values_unit(self) -> None:
        u, y = self._data()
        q = self._queries()
        variances = []
        for unit in (1.0, 1000.0):
            model = self.surrogate().model(self.dim, 1e-4 * unit**2)
            model.fit(u, unit * y, np.random.default_rng(1))
            variances.append(np.median(model.posterior(q)[1]))
        ratio = variances[1] / variances[0]
        assert 0.5e6 <= ratio <= 2e6, f"values times 1000 must give variances times 1e6, got times {ratio:g}"

    def test_the_variance_follows_the_noise(self) -> None:
        rng, looks, noise = np.random.default_rng(3), 40, 0.04
        u = np.vstack([rng.random((8, self.dim)), np.full((looks, self.dim), 0.4)])
        y = self._smooth(u) + np.sqrt(noise) * rng.standard_normal(len(u))
        model = self.surrogate().model(self.dim, noise)
        model.fit(u, y, np.random.default_rng(1))
        var = float(model.posterior(u[-1:])[1][0])
        assert var <= noise, f"after {looks} looks the variance of f must be below the noise, {noise}, got {var}"
        least = 0.2 * noise / (looks + 1)
        assert var >= least, f"{looks} looks allow no variance below about {noise / looks}, got {var}"

    def test_values_that_are_added_move_the_mean(self) -> None:
        model = self._fit(20)
        u = self._queries(1)
        before = float(model.posterior(u)[0][0])
        value = before + 3.0
        model.extend(u, np.array([value]))
        mean = float(model.posterior(u)[0][0])
        assert abs(mean - value) <= 0.3, f"the value {value} must be taken over, the mean went from {before} to {mean}"

    def test_a_model_that_was_never_fitted_predicts_and_takes_rows(self) -> None:
        model = self.surrogate().model(self.dim, 0.0)
        mean, var = model.posterior(self._queries(5))
        assert np.isfinite(mean).all(), f"the prior mean must be finite, got {mean}"
        assert np.isfinite(var).all(), f"the prior variance must be finite, got {var}"
        assert (var > 0.0).all(), f"the prior variance must be positive, got {var}"
        model.truncate(0)
        model.extend(*self._data(3))
        assert model.n == 3, f"n must be 3 after 3 rows were added, got {model.n}"
        assert np.isfinite(model.posterior(self._queries(5))[0]).all(), "the mean must be finite"

    def test_arrays_are_neither_kept_nor_changed(self) -> None:
        model = self.surrogate().model(self.dim, 0.0)
        q = self._queries(7)
        learn = lambda u, y: model.fit(u, y, np.random.default_rng(1))  # noqa: E731
        rows = self._data(3, seed=3)
        for step, (u, y) in ((model.extend, rows), (learn, self._data()), (model.extend, rows)):
            given = (u.copy(), y.copy(), q.copy())
            step(given[0], given[1])
            before = [one.copy() for one in model.posterior(given[2])]
            for one, expected in zip(given, (u, y, q), strict=True):
                assert np.array_equal(one, expected), "arrays that are handed in must not be changed"
            handed = model.posterior(q)
            model.posterior(1.0 - q)
            for one, expected in zip(handed, before, strict=True):
                assert np.array_equal(one, expected), "a posterior that was handed out must not change later"
            for one in (*given[:2], *handed):
                one[:] = 7.0
            for one, expected in zip(model.posterior(q), before, strict=True):
                assert np.array_equal(one, expected), "arrays that are handed in or out must not be kept, but copied"

    def test_everything_is_float64(self) -> None:
        model = self._fit()
        for one in (*model.posterior(self._queries()), *model.posterior_gradient(self._queries())):
            assert isinstance(one, np.ndarray), f"posteriors must be arrays, got {type(one)}"
            assert one.dtype == np.float64, f"posteriors must be float64, got {one.dtype}"
        u, y = self._data()
        model = self.surrogate().model(self.dim, 0.0)
        model.fit(u, 1.0 + 1e-6 * y, np.random.default_rng(1))
        error = np.abs(model.posterior(u)[0] - 1.0 - 1e-6 * y).max()
        assert error <= 1e-8, f"values 1e-6 apart must be told apart, as float32 cannot; the mean is off by {error}"


@limit_calls
class SurrogateConformance(_OfValues):
    """Models learn, condition, forget and predict as protocols.Model says.

    What a model does not offer is declared:

    gradients     False: posterior_gradient returns zeros, as that of a tree ensemble does
    monotone      False: a row may add variance elsewhere, as in models that are built anew from all rows
    picklable     False: the plugin and its models cannot be pickled, nor can an Optimizer that uses them
    remakeable    False: the plugin cannot tell its options; studies need it given again
    options       keyword arguments, other than the defaults, with which making it again from its options is tried
    time_limit    seconds that a call may take on the small data of these tests
    """

    def test_has_the_methods_of_a_surrogate(self) -> None:
        registry.resolve(registry.SURROGATES, self.surrogate())

    def test_a_fresh_model_has_no_rows(self) -> None:
        n = self.surrogate().model(self.dim, None).n
        assert n == 0, f"a fresh model must have no rows, n is {n}"

    def test_models_do_not_share_what_they_know(self) -> None:
        surrogate, u = self.surrogate(), self._queries(7)
        first = surrogate.model(self.dim, 0.0)
        first.fit(*self._data(), np.random.default_rng(1))
        before = [one.copy() for one in first.posterior(u)]
        second = surrogate.model(self.dim, 0.0)
        assert second.n == 0, f"every model must be a fresh one, the second has {second.n} rows of the first"
        second.fit(*self._data(5, seed=3), np.random.default_rng(1))
        assert np.array_equal(first.posterior(u), before), "rows of one model must not change what another predicts"

    def test_fit_conditions_on_its_rows_alone(self) -> None:
        model = self._fit(20)
        assert model.n == 20, f"n must be 20 after fitting 20 rows, got {model.n}"
        model.fit(*self._data(7), np.random.default_rng(1))
        assert model.n == 7, f"fit must replace the rows, n is {model.n} after fitting 7"

    def test_the_posterior_has_a_mean_and_a_variance_per_row(self) -> None:
        mean, var = self._fit().posterior(self._queries(11))
        assert mean.shape == var.shape == (11,), f"shapes must be (11,), got {mean.shape} and {var.shape}"
        assert np.isfinite(mean).all(), f"means must be finite, got {mean}"
        assert np.isfinite(var).all(), f"variances must be finite, got {var}"
        assert (var >= 0.0).all(), f"variances must not be negative, got {var.min()}"

    def test_noiseless_data_is_interpolated(self) -> None:
        u, y = self._data()
        mean, var = self._fit().posterior(u)
        error = np.abs(mean - y).max()
        assert error <= 1e-3 * np.ptp(y), f"the mean must pass through noiseless data, it is off by {error}"
        far = self._fit().posterior(self._queries(200))[1].max()
        assert var.max() <= max(0.5 * far, 1e-6 * np.var(y)), "the variance must be small at noiseless data"

    def test_predictions_beat_the_constant(self) -> None:
        u = self._queries(100)
        truth = self._smooth(u)
        error = np.sqrt(np.mean(np.square(self._fit(30).posterior(u)[0] - truth)))
        limit = (0.25 if self.gradients else 0.5) * np.std(truth)  # steps follow a slope less well
        assert error < limit, f"30 values of a smooth function must leave an error below {limit}, got {error}"

    def test_a_row_never_adds_variance(self) -> None:
        model = self._fit(6)
        u = self._queries()
        before = model.posterior(u)[1]
        widest = int(np.argmax(before))
        new = u[widest : widest + 1]
        model.extend(new, self._smooth(new))
        after = model.posterior(u)[1]
        limit = 1e-6 * before.max()
        grown = (after - before).max()
        assert not self.monotone or grown <= limit, f"variances must not grow when a row is added, one grew by {grown}"
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
        apart = np.abs(mean - other_mean).max(), np.abs(var - other_var).max()
        assert apart[0] <= 1e-6 * np.ptp(y), f"rows added one by one must give the same mean, it is off by {apart[0]}"
        assert apart[1] <= 1e-6 * prior, f"rows added one by one must give the same variance, it is off by {apart[1]}"

    def test_truncate_undoes_extend(self) -> None:
        model = self._fit()
        u = self._queries()
        before = model.posterior(u)
        model.extend(*self._data(5, seed=3))
        assert model.n == 25, f"n must be 25 after 5 rows were added to 20, got {model.n}"
        model.truncate(20)
        assert model.n == 20, f"n must be 20 after truncate(20), got {model.n}"
        mean, var = model.posterior(u)
        assert np.abs(mean - before[0]).max() <= 1e-10 * np.ptp(before[0]), "truncate must restore the mean"
        prior = _prior_variance(model, self.dim)
        assert np.abs(var - before[1]).max() <= 1e-10 * prior, "truncate must restore the variance"

    def test_what_fit_learnt_stays_when_rows_come_and_go(self) -> None:
        (u, y), q = self._data(), self._queries()
        shortened, filled = self._fit(), self._fit()
        shortened.truncate(12)
        filled.truncate(0)
        filled.extend(u[:12], y[:12])
        (mean, var), (other_mean, other_var) = shortened.posterior(q), filled.posterior(q)
        prior = _prior_variance(self._fit(), self.dim)
        apart = np.abs(mean - other_mean).max(), np.abs(var - other_var).max()
        text = "the first 12 rows must give the same {} whether truncate left them or extend brought them, off by {}"
        assert apart[0] <= 1e-6 * np.ptp(y), text.format("mean", apart[0])
        assert apart[1] <= 1e-6 * prior, text.format("variance", apart[1])

    def test_a_model_without_rows_still_predicts(self) -> None:
        model = self._fit()
        model.truncate(0)
        assert model.n == 0, f"n must be 0 after truncate(0), got {model.n}"
        mean, var = model.posterior(self._queries())
        assert np.isfinite(mean).all(), f"the prior mean must be finite, got {mean}"
        assert (var > 0.0).all(), f"the prior variance must be positive, got {var.min()}"
        model.extend(*self._data(3))
        assert model.n == 3, f"n must be 3 after 3 rows were added, got {model.n}"

    def test_a_copy_predicts_the_same(self) -> None:
        model = self._fit(noise=None)
        copies = [copy.deepcopy(model)]
        if self.picklable:
            pickle.dumps(self.surrogate())
            copies.append(pickle.loads(pickle.dumps(model)))
        u, rows = self._queries(), self._data(3, seed=3)
        for one in (model, *copies):
            one.extend(*rows)
            assert np.array_equal(one.posterior(u), model.posterior(u)), "a copy must predict what the original does"

    def test_gradients_agree_with_differences(self) -> None:
        model = self._fit(4)  # few rows, so that the variance has slopes worth comparing
        model.extend(*self._data(2, seed=3))
        u = self._queries(10)
        mean, var, mean_slope, var_slope = model.posterior_gradient(u)
        assert mean_slope.shape == var_slope.shape == u.shape, f"gradients must have shape {u.shape}"
        if not self.gradients:
            assert not mean_slope.any(), f"without gradients they must be zeros, got {mean_slope}"
            assert not var_slope.any(), f"without gradients they must be zeros, got {var_slope}"
            return
        prior = _prior_variance(self._fit(6), self.dim)
        other_mean, other_var = model.posterior(u)
        text = "posterior and posterior_gradient must give the same {}, they are {} apart"
        apart = np.abs(mean - other_mean).max(), np.abs(var - other_var).max()
        assert apart[0] <= 1e-8 * np.ptp(mean), text.format("mean", apart[0])
        assert apart[1] <= 1e-8 * prior, text.format("variance", apart[1])
        step = 1e-5
        for j in range(self.dim):
            shift = step * np.eye(self.dim)[j]
            above, below = model.posterior(u + shift), model.posterior(u - shift)
            for slope, high, low in zip((mean_slope, var_slope), above, below, strict=True):
                error = np.abs(slope[:, j] - (high - low) / (2.0 * step)).max()
                most = 1e-2 * np.abs(slope).max()
                assert error <= most, f"gradients must match finite differences, coordinate {j} is off by {error}"

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
            assert np.isfinite(mean).all(), f"means must be finite, got {mean}"
            assert np.isfinite(var).all(), f"variances must be finite, got {var}"
            assert (var >= 0.0).all(), f"variances must not be negative, got {var.min()}"

    def test_the_same_rng_gives_the_same_model_and_inputs_are_kept(self) -> None:
        u, y = self._data()
        u.flags.writeable = y.flags.writeable = False
        posteriors = []
        for number in (1, 2):
            set_global_state(number)  # whoever draws from it differs
            model = self.surrogate().model(self.dim, None)
            model.fit(u, y, np.random.default_rng(5))
            posteriors.append(model.posterior(self._queries()))
        assert np.array_equal(posteriors[0], posteriors[1]), "the same rng must give the same posterior"

    def _use(self, model: Model) -> None:
        """Every method once."""
        model.fit(*self._data(), np.random.default_rng(1))
        model.extend(*self._data(3, seed=3))
        model.posterior(self._queries())
        model.posterior_gradient(self._queries())
        model.describe()
        model.truncate(20)

    def test_the_global_random_state_is_not_touched(self) -> None:
        with untouched_random_state():
            self._use(self.surrogate().model(self.dim, None))

    def test_nothing_is_printed(self) -> None:
        with silent():
            self._use(self.surrogate().model(self.dim, None))

    def test_no_call_is_slow(self) -> None:
        self._use(watch(self.surrogate().model(self.dim, None), _METHODS, self.time_limit))

    def test_it_is_made_again_from_its_options(self) -> None:
        if not self.remakeable:
            return
        given = self.surrogate()
        for one in (given, *([type(given)(**self.options)] if self.options else [])):
            models = [surrogate.model(self.dim, None) for surrogate in (one, make_again(one))]
            for model in models:
                model.fit(*self._data(), np.random.default_rng(1))
            first, second = (model.posterior(self._queries()) for model in models)
            assert np.array_equal(first, second), "one that is made again from its options must give the same posterior"

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

    def test_threads_change_no_bit(self) -> None:
        """Where the surrogate can use several threads."""
        if not isinstance(surrogate := self.surrogate(), UsesThreads):
            return
        u, y, points = (np.random.default_rng(k).random(shape) for k, shape in enumerate([(400, 2), (400,), (600, 2)]))
        answers = []
        for one in (surrogate, surrogate.threaded(2), surrogate.threaded(3)):
            model = one.model(2, 1e-2)
            model.extend(u, y)
            answers.append(np.array(model.posterior(points)).tobytes())
        assert len(set(answers)) == 1, "results must not depend on the number of threads"

    def test_describe_is_plain_data(self) -> None:
        json.dumps(dict(self._fit().describe()))


def _prior_variance(model: Model, dim: int) -> float:
    """The variance without data, against which roundings are measured; `model` loses its rows."""
    model.truncate(0)
    return float(model.posterior(np.full((1, dim), 0.5))[1][0])
