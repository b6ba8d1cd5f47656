"""What anyone's maximiser must do."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Mapping
from typing import Any

import numpy as np

from mfopt import registry
from mfopt.domains.box import Box
from mfopt.domains.dimensions import Real
from mfopt.domains.discrete import Categorical, Integer, Ordinal
from mfopt.domains.space import Space
from mfopt.protocols import Acquisition, Array, Domain, Maximiser
from mfopt.testing._limit import limit_calls
from mfopt.testing._watch import make_again, set_global_state, silent, untouched_random_state, watch


class _Bumps:
    """A smooth acquisition: a high bump at `top`, a lower one elsewhere, on a floor."""

    def __init__(self, top: Array, floor: float = 0.0) -> None:
        self._centres = np.stack([top, 1.0 - 0.7 * top])
        self._heights = np.array([1.0, 0.6])
        self._floor = floor

    def __call__(self, u: Array) -> Array:
        return self.gradient(u)[0]

    def gradient(self, u: Array) -> tuple[Array, Array]:
        difference = u[:, None, :] - self._centres
        bumps = self._heights * np.exp(-4.0 * np.square(difference).sum(axis=2))
        return self._floor + bumps.sum(axis=1), -8.0 * (bumps[:, :, None] * difference).sum(axis=1)


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


class _Broken:
    """Raises an error."""

    def __call__(self, u: Array) -> Array:
        raise ArithmeticError("an acquisition that cannot be evaluated")

    def gradient(self, u: Array) -> tuple[Array, Array]:
        return self(u), u


@limit_calls
class MaximiserConformance:
    """maximise finds a good point of X, the same one for the same rng.

    picklable     False: the plugin cannot be pickled, nor can an Optimizer that uses it
    remakeable    False: the plugin cannot tell its options; studies need it given again
    options       keyword arguments, other than the defaults, with which making it again from its options is tried
    time_limit    seconds that a call may take
    """

    picklable: bool = True
    remakeable: bool = True
    options: Mapping[str, Any] = {}
    time_limit: float = 10.0

    def maximiser(self) -> Maximiser:
        """The plugin under test; override it."""
        raise NotImplementedError

    def _find(self, acquisition: Acquisition, domain: Domain, seed: int = 0, t: int = 20) -> Array:
        return self._ask(self.maximiser(), acquisition, domain, seed, t)

    def _ask(self, maximiser: Maximiser, acquisition: Acquisition, domain: Domain, seed: int = 0, t: int = 20) -> Array:
        u = maximiser.maximise(acquisition, domain, np.random.default_rng(seed), t)
        assert isinstance(u, np.ndarray), f"a point must be an array, got {u!r}"
        assert u.dtype == np.float64, f"a point must be float64, got {u.dtype}"
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
            value = acquisition(self._find(acquisition, domain)[None])[0]
            assert value >= random, f"{value} in {dim} dimensions is below the best of 1000 random points, {random}"

    def test_reaches_a_corner(self) -> None:
        u = self._find(_Slope(), Box([(0.0, 1.0)] * 3))
        assert u.sum() >= 3.0 - 1e-2, f"the maximum of a linear function lies in the corner, got {u.tolist()}"

    def test_stays_in_a_constrained_box(self) -> None:
        def in_disc(x: Array) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
            return np.asarray(np.square(x - 0.5).sum(axis=1) <= 0.04)

        domain = Box([(0.0, 1.0)] * 2, constraints=in_disc)
        u = self._find(_Slope(), domain)
        best = 1.0 + 0.2 * np.sqrt(2.0)  # the point of the disc farthest along (1, 1)
        assert u.sum() >= best - 0.02, f"{u.sum()} is well below the maximum {best} on the constraint's boundary"

    def test_stays_in_a_small_corner_of_the_box(self) -> None:
        from scipy.optimize import LinearConstraint

        domain = Box([(0.0, 1.0)] * 4, constraints=LinearConstraint(np.ones(4), -np.inf, 0.1))
        value = self._find(_Slope(), domain).sum()
        assert value >= 0.08, f"{value} is well below the maximum 0.1 on the constraint's boundary"

    def _spaces(self) -> list[Space]:
        """Discrete parameters alone; with numbers, conditions and many values; with a constraint on top."""
        choices = Categorical(["a", "b", "c"])
        mixed = {
            "kind": choices,
            "rate": Real(0.0, 1.0),
            "units": Integer(1, 2000, log=True),
            "depth": Integer(1, 30),
            "drop": Real(0.0, 1.0, when={"kind": "b"}),
            "steps": Ordinal([1, 2, 4], when={"kind": ["a", "c"]}),
        }
        return [
            Space({"kind": choices, "depth": Integer(1, 9), "on": [False, True]}),
            Space(mixed),
            Space(mixed, constraints=lambda p: p["depth"] * p["rate"] <= 10.0),
        ]

    def test_beats_a_thousand_random_points_of_a_mixed_space(self) -> None:
        for space in self._spaces():
            for top in space.sample(3, np.random.default_rng(1)):
                acquisition = _Bumps(top)
                random = acquisition(space.sample(1000, np.random.default_rng(7))).max()
                value = acquisition(self._find(acquisition, space)[None])[0]
                assert value >= random, f"{value} on {space} is below the best of 1000 random points, {random}"

    def test_a_flat_acquisition_on_a_mixed_space_is_harmless(self) -> None:
        for space in self._spaces():
            self._find(_Flat(), space)

    def test_a_flat_acquisition_is_harmless(self) -> None:
        self._find(_Flat(), Box([(0.0, 1.0)] * 2))

    def test_works_from_the_first_query_to_late_ones(self) -> None:
        for t in (1, 1000):
            self._find(_Slope(), Box([(0.0, 1.0)] * 2), t=t)

    def test_the_same_rng_gives_the_same_point(self) -> None:
        domain, acquisition = Box([(0.0, 1.0)] * 3), _Bumps(np.array([0.3, 0.8, 0.1]))
        points = []
        for number in (1, 2):
            set_global_state(number)  # whoever draws from it differs
            points.append(self._find(acquisition, domain, 3).tolist())
        assert points[0] == points[1], f"the same rng must give the same point, got {points[0]} and {points[1]}"

    def test_one_instance_serves_a_run(self) -> None:
        maximiser, answers = self.maximiser(), []
        for k, dim in enumerate((2, 2, 3)):
            domain = Box([(0.0, 1.0)] * dim)
            acquisition = _Bumps(np.full(dim, 0.15 + 0.3 * k), floor=-3.0 * k)  # values that fall, below 0 too
            random = acquisition(domain.sample(1000, np.random.default_rng(7))).max()
            u = self._ask(maximiser, acquisition, domain, k, 20 + k)
            value = acquisition(u[None])[0]
            assert value >= random, f"call {k} found {value}, below the best of 1000 random points, {random}"
            answers.append((u, u.tolist()))
        for u, before in answers:
            assert u.tolist() == before, f"a point that was handed out must not change, was {before}, is {u.tolist()}"

    def test_an_error_of_the_acquisition_is_not_hidden(self) -> None:
        try:
            u = self.maximiser().maximise(_Broken(), Box([(0.0, 1.0)] * 2), np.random.default_rng(0), 20)
        except Exception:
            return
        raise AssertionError(f"an acquisition that raises must make maximise raise, got the point {u}")

    def test_a_copy_finds_the_same_point(self) -> None:
        maximiser, domain, acquisition = self.maximiser(), Box([(0.0, 1.0)] * 2), _Bumps(np.array([0.3, 0.8]))
        self._ask(maximiser, acquisition, domain)
        copies = [copy.deepcopy(maximiser), *([pickle.loads(pickle.dumps(maximiser))] if self.picklable else [])]
        expected = self._ask(maximiser, acquisition, domain, 1).tolist()
        for one in copies:
            found = self._ask(one, acquisition, domain, 1).tolist()
            assert found == expected, f"a copy must find the same point, got {found} and {expected}"

    def test_the_global_random_state_is_not_touched(self) -> None:
        with untouched_random_state():
            self._find(_Bumps(np.array([0.3, 0.8])), Box([(0.0, 1.0)] * 2))

    def test_nothing_is_printed(self) -> None:
        with silent():
            self._find(_Bumps(np.array([0.3, 0.8])), Box([(0.0, 1.0)] * 2))

    def test_no_call_is_slow(self) -> None:
        watched = watch(self.maximiser(), ["maximise"], self.time_limit)
        self._ask(watched, _Bumps(np.array([0.3, 0.8])), Box([(0.0, 1.0)] * 2))

    def test_it_is_made_again_from_its_options(self) -> None:
        if not self.remakeable:
            return
        given, domain, acquisition = self.maximiser(), Box([(0.0, 1.0)] * 2), _Bumps(np.array([0.3, 0.8]))
        for one in (given, *([type(given)(**self.options)] if self.options else [])):
            first, second = (self._ask(each, acquisition, domain).tolist() for each in (one, make_again(one)))
            assert first == second, f"one made again from its options must find the same point, got {first}, {second}"
