"""Surrogates with one mistake each."""

import os
import time
from types import MappingProxyType

import numpy as np

from mfopt.testing import SurrogateConformance
from tests.optimizer.toys import FixedGP, FixedGPModel


class Suite(SurrogateConformance):
    def __init__(self, kind=FixedGP):
        self.kind = kind

    def surrogate(self):
        return self.kind()


def changed(**methods):
    """A surrogate whose models have these methods instead."""
    kind = type("Mutant", (FixedGPModel,), methods)

    class Surrogate(FixedGP):
        def model(self, dim, noise=None):
            return kind(dim, noise or 0.0, self.lengthscale)

    return Surrogate


def posterior(change):
    """One whose posterior, with or without gradients, is changed."""

    def both(self, u):
        return (
            *change(self, *FixedGPModel.posterior_gradient(self, u)[:2]),
            *FixedGPModel.posterior_gradient(self, u)[2:],
        )

    return changed(posterior_gradient=both)


def first(act):
    """One that does something before it learns."""

    def fit(self, u, y, rng):
        act(self, u, y, rng)
        FixedGPModel.fit(self, u, y, rng)

    return changed(fit=fit)


def forget_the_first(self, n):
    self.u, self.y = self.u[len(self.y) - n :], self.y[len(self.y) - n :]


def wrong_slope(self, u):
    mean, var, dmean, dvar = FixedGPModel.posterior_gradient(self, u)
    return mean, var, dmean, 2.0 * dvar


def deaf_extend(self, u, y):
    FixedGPModel.extend(self, u, self.posterior(u)[0])


def keep(self, u, y, rng):
    FixedGPModel.fit(self, u, y, rng)
    self.u, self.y = u, y


def scribble(self, u, y, rng):
    FixedGPModel.fit(self, u, y, rng)
    y -= y.mean()


def needs_rows(self, u):
    if self.n == 0 and self.scale == 1.0 and self.offset == 0.0:
        raise RuntimeError("not fitted")
    return FixedGPModel.posterior_gradient(self, u)


def half_precision(self, u, y, rng):
    FixedGPModel.fit(self, u.astype(np.float32).astype(np.float64), y.astype(np.float32).astype(np.float64), rng)


def moody(self, u, y, rng):
    FixedGPModel.fit(self, u, y, rng)
    self.lengthscale = float(np.random.default_rng().uniform(0.2, 1.0))


def draws_globally(self, u, y, rng):
    FixedGPModel.fit(self, u, y, rng)
    self.lengthscale = float(np.random.uniform(0.2, 1.0))  # noqa: NPY002


def unit_scale(self, u, y, rng):
    FixedGPModel.fit(self, u, y, rng)
    self.noise += 1e-2


def replace_rows(self, u, y):
    self.u, self.y = u.copy(), y.copy()


def keep_first_rows(self, u, y):
    if self.n == 0:
        self.u, self.y = u, y
    else:
        FixedGPModel.extend(self, u, y)


def unlearn(self, n):
    FixedGPModel.truncate(self, n)
    if n == 0:
        self.offset, self.scale = 0.0, 1.0


def sort_rows(self, u, y, rng):
    order = np.argsort(y)
    FixedGPModel.fit(self, u[order], y[order], rng)


def remember(self, u):
    answers = self.__dict__.setdefault("answers", {})
    return answers.setdefault(u.tobytes(), FixedGPModel.posterior_gradient(self, u))


def answer_in_place(self, u):
    mean, var, *slopes = FixedGPModel.posterior_gradient(self, u)
    out = self.__dict__.setdefault("buffers", {}).setdefault(len(u), np.empty((2, len(u))))
    out[:] = mean, var
    return (*out, *slopes)


def count_fitted(self, u, y, rng):
    FixedGPModel.fit(self, u, y, rng)
    self.fitted = len(y)


def old_slope(self, u):
    """The slopes of the posterior that fit left."""
    rows, values = self.u, self.y
    mean, var = FixedGPModel.posterior_gradient(self, u)[:2]
    self.u, self.y = rows[: self.fitted], values[: self.fitted]
    slopes = FixedGPModel.posterior_gradient(self, u)[2:]
    self.u, self.y = rows, values
    return (mean, var, *slopes)


class OneModel(FixedGP):
    """Gives every fidelity the same model."""

    def model(self, dim, noise=None):
        if not hasattr(self, "_model"):
            self._model = super().model(dim, noise)
        return self._model


class SquaresNoise(FixedGP):
    def model(self, dim, noise=None):
        return super().model(dim, (noise or 0.0) ** 2)


class CannotBePickled(FixedGP):
    def __init__(self, lengthscale=0.5):
        super().__init__(lengthscale)
        self._key = lambda u: u


class Forgets(FixedGP):
    def __init__(self, lengthscale=0.5, other=1.0):
        super().__init__(lengthscale)

    def options(self):
        return {"lengthscale": self.lengthscale}


class Misleads(FixedGP):
    def options(self):
        return {"lengthscale": 0.5}


class MisleadsSuite(Suite):
    options = MappingProxyType({"lengthscale": 0.2})


MUTANTS = {
    "negative variance": (posterior(lambda s, m, v: (m, v - 1e-3)), "test_the_posterior_has_a_mean_and_a_variance"),
    "NaN": (posterior(lambda s, m, v: (m * np.nan, v)), "test_the_posterior_has_a_mean_and_a_variance"),
    "one column": (posterior(lambda s, m, v: (m[:, None], v)), "test_the_posterior_has_a_mean_and_a_variance"),
    "variance of the wrong unit": (posterior(lambda s, m, v: (m, np.sqrt(v))), "test_the_variance_has_the_square"),
    "variance in standard units": (posterior(lambda s, m, v: (m, v / s.scale)), "test_the_variance_has_the_square"),
    "variance too small": (posterior(lambda s, m, v: (m, v / 100)), "test_the_variance_follows_the_noise"),
    "variance too large": (posterior(lambda s, m, v: (m, 100 * v)), "test_the_variance_follows_the_noise"),
    "variance of an observation": (posterior(lambda s, m, v: (m, v + s.noise)), "test_the_variance_follows_the_noise"),
    "noise not used": (first(lambda s, *a: setattr(s, "noise", 0.0)), "test_the_variance_follows_the_noise"),
    "deaf": (posterior(lambda s, m, v: (0 * m + s.offset, 0 * v + s.scale)), "test_noiseless_data_is_interpolated"),
    "minus the mean": (posterior(lambda s, m, v: (-m, v)), "test_predictions_beat_the_constant"),
    "float32 out": (posterior(lambda s, m, v: (m.astype("f4"), v.astype("f4"))), "test_everything_is_float64"),
    "float32 inside": (changed(fit=half_precision), "test_everything_is_float64"),
    "lists out": (posterior(lambda s, m, v: (m.tolist(), v.tolist())), "test_everything_is_float64"),
    "forgets nothing": (changed(truncate=lambda self, n: None), "test_truncate_undoes_extend"),
    "forgets the first": (changed(truncate=forget_the_first), "test_truncate_undoes_extend"),
    "wrong gradient": (changed(posterior_gradient=wrong_slope), "test_gradients_agree_with_differences"),
    "keeps old rows": (changed(fit=lambda self, u, y, rng: self.extend(u, y)), "test_fit_conditions_on_its_rows_alone"),
    "takes its own means for values": (changed(extend=deaf_extend), "test_values_that_are_added_move_the_mean"),
    "takes values for about 1": (changed(fit=unit_scale), "test_scale_and_offset_of_the_values_do_not_matter"),
    "never fitted raises": (changed(posterior_gradient=needs_rows), "test_a_model_that_was_never_fitted"),
    "keeps arrays": (changed(fit=keep), "test_arrays_are_neither_kept_nor_changed"),
    "changes arrays": (changed(fit=scribble), "test_arrays_are_neither_kept_nor_changed"),
    "moody": (changed(fit=moody), "test_the_same_rng_gives_the_same_model"),
    "draws from the global state": (changed(fit=draws_globally), "test_the_same_rng_gives_the_same_model"),
    "seeds the global state": (first(lambda s, *a: np.random.seed(0)), "test_the_global_random_state"),  # noqa: NPY002
    "prints": (first(lambda s, *a: print("fitting")), "test_nothing_is_printed"),
    "slow": (first(lambda s, *a: time.sleep(0.3)), "test_no_call_is_slow"),
    "describes arrays": (changed(describe=lambda self: {"x": np.ones(2)}), "test_describe_is_plain_data"),
    "extend replaces": (changed(extend=replace_rows), "test_rows_one_by_one_equal_rows_at_once"),
    "extend keeps arrays": (changed(extend=keep_first_rows), "test_arrays_are_neither_kept_nor_changed"),
    "truncate unlearns": (changed(truncate=unlearn), "test_what_fit_learnt_stays"),
    "sorts its rows": (changed(fit=sort_rows), "test_what_fit_learnt_stays"),
    "remembers answers": (changed(posterior_gradient=remember), "test_values_that_are_added_move_the_mean"),
    "answers in place": (changed(posterior_gradient=answer_in_place), "test_arrays_are_neither_kept_nor_changed"),
    "old slopes": (changed(fit=count_fitted, posterior_gradient=old_slope), "test_gradients_agree_with_differences"),
    "one model for all": (OneModel, "test_models_do_not_share_what_they_know"),
    "noise squared": (SquaresNoise, "test_the_variance_follows_the_noise"),
    "cannot be pickled": (CannotBePickled, "test_a_copy_predicts_the_same"),
    "a library prints": (first(lambda s, *a: os.write(1, b"fitting\n")), "test_nothing_is_printed"),
    "incomplete options": (Forgets, "test_it_is_made_again_from_its_options"),
    "wrong options": (Misleads, "test_it_is_made_again_from_its_options"),
}


def make_suite(name):
    suite = (MisleadsSuite if name == "wrong options" else Suite)(MUTANTS[name][0])
    if name == "slow":
        suite.time_limit = 0.02
    return suite
