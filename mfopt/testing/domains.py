"""What anyone's domain must do."""

from __future__ import annotations

import json

import numpy as np

from mfopt.errors import DomainError
from mfopt.protocols import Array, Domain


class DomainConformance:
    """A domain knows its points and maps them to the unit cube and back."""

    def domain(self) -> Domain:
        """The domain under test; override it."""
        raise NotImplementedError

    def _sample(self, n: int = 40) -> Array:
        return self.domain().sample(n, np.random.default_rng(0))

    def test_has_the_methods_of_a_domain(self) -> None:
        domain = self.domain()
        assert isinstance(domain, Domain), f"a domain must have all methods of protocols.Domain, got {domain!r}"

    def test_samples_lie_in_the_domain(self) -> None:
        domain, u = self.domain(), self._sample()
        assert u.shape == (40, domain.dim), f"40 points must have shape (40, {domain.dim}), got {u.shape}"
        assert ((u >= 0.0) & (u <= 1.0)).all(), "unit coordinates lie in [0, 1]"
        assert domain.contains(u).all(), "samples must lie in X"

    def test_the_same_rng_gives_the_same_sample(self) -> None:
        assert np.array_equal(self._sample(), self._sample()), "the same rng must give the same points, they differ"

    def test_user_units_survive_the_round_trip(self) -> None:
        domain = self.domain()
        x = domain.decode(self._sample())
        again = domain.decode(domain.encode(x))
        expected = (40, len(domain.names))
        assert x.shape == expected, f"40 points in user units must have shape {expected}, got {x.shape}"
        largest = np.nanmax(np.abs(x), initial=0.0)
        assert np.allclose(x, again, rtol=1e-12, atol=1e-12 * largest, equal_nan=True), "decode(encode(x)) must be x"

    def test_decoded_points_are_valid(self) -> None:
        domain = self.domain()
        for x in domain.decode(self._sample(10)):
            point = domain.validate(x)
            assert point.dtype == np.float64, f"validate must return float64, got {point.dtype}"
            assert np.array_equal(point, x, equal_nan=True), f"validate must leave {x} as it is, got {point}"

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
            row = domain.locate(self._sample(1)[0])
            assert row is None, f"a domain that lists no points must locate none, got {row}"
        else:
            assert points.shape[1] == domain.dim, f"points must have {domain.dim} columns, got {points.shape[1]}"
            assert domain.contains(points).all(), "the points that are listed must lie in X"
            strangers = {tuple(u) for u in self._sample(10)} - {tuple(u) for u in points}
            assert not strangers, f"samples must be listed points, got {strangers}"
            row = domain.locate(points[-1])
            assert isinstance(row, int), f"a listed point must be located by the number of a row, got {row!r}"

    def test_describe_is_plain_data(self) -> None:
        json.dumps(dict(self.domain().describe()))
