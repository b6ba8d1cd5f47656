"""θ: its parts by name, its priors and limits, what is given, and the search for the most likely θ."""

import numpy as np
import pytest

from mfopt_plugins.surrogates.theta import Layout, Part


def layout(given=(None, None), difference=None):
    return Layout(
        [
            Part("ell", np.array([0.5, 0.5, 2.0]), 1.2),
            Part("noise", np.array([1e-5, 1e-5]), 4.0, difference=difference, limits=(1e-9, 2.0), given=given),
            Part(("rho", 1), np.array([1.0]), 3.0, positive=False),
        ]
    )


def gaussian(theta, centre, precision=4.0):
    """A log likelihood of one term, with its gradient."""
    away = theta - centre
    return [(-0.5 * precision * float(away @ away), -precision * away)]


def test_parts_are_found_by_their_names():
    values = {"ell": [0.1, 0.2, 0.3], "noise": [1e-3, 0.5], ("rho", 1): [-2.0]}
    theta = layout().pack(values)
    assert len(layout()) == len(theta) == 6
    assert np.array_equal(theta[layout()["ell"]], np.log([0.1, 0.2, 0.3]))
    assert np.array_equal(theta[layout()["noise"]], np.log([1e-3, 0.5]))
    assert np.array_equal(theta[layout()["rho", 1]], [-2.0])
    back = layout().unpack(theta)
    assert list(back) == list(values)
    for name, value in values.items():
        assert np.allclose(back[name], value, rtol=1e-15)


def test_a_value_without_a_logarithm_counts_as_the_lower_limit():
    theta = layout().pack({"ell": [1.0] * 3, "noise": [0.0, 0.1], ("rho", 1): [0.0]})
    assert theta[layout()["noise"]][0] == np.log(1e-9)


@pytest.mark.parametrize("difference", [None, 4.0])
def test_without_a_likelihood_the_most_likely_theta_is_the_centre(difference):
    prior = layout(difference=difference)
    start = prior.centre + np.array([0.5, -1.0, 2.0, 3.0, -1.0, 4.0])
    found = prior.maximise_posterior(lambda theta: [], [start])
    assert np.allclose(found, prior.centre, atol=1e-4)
    assert np.allclose(prior.unpack(prior.centre)["noise"], 1e-5)


def test_prior_and_likelihood_are_weighed_by_their_variances():
    prior = layout()
    target = prior.centre + 1.0
    found = prior.maximise_posterior(lambda theta: gaussian(theta, target), [prior.centre])
    variance = np.array([1.2, 1.2, 1.2, 4.0, 4.0, 3.0]) ** 2
    assert np.allclose(found, prior.centre + 4.0 / (4.0 + 1 / variance), atol=1e-4)


def test_correlated_entries_pull_each_other_along():
    """var(a − b) is the difference asked for: given b alone, E a = cov(a, b)/var(b) · b."""
    prior = layout(difference=4.0)
    noises = prior["noise"]
    shift = 3.0

    def likelihood(theta):
        slope = np.zeros(len(theta))
        away = theta[noises][1] - prior.centre[noises][1] - shift
        slope[noises][1] = -1e6 * away
        return [(-0.5e6 * away**2, slope)]

    found = prior.maximise_posterior(likelihood, [prior.centre]) - prior.centre
    assert found[noises][1] == pytest.approx(shift, abs=1e-3)
    assert found[noises][0] == pytest.approx((16 - 2) / 16 * shift, abs=1e-2)
    assert np.allclose(np.delete(found, noises), 0.0, atol=1e-3)


def test_the_terms_of_a_likelihood_are_added_up():
    prior = layout()
    both = prior.maximise_posterior(
        lambda theta: gaussian(theta, prior.centre) + gaussian(theta, prior.centre + 1.0), [prior.centre]
    )
    one = prior.maximise_posterior(lambda theta: gaussian(theta, prior.centre + 0.5, 8.0), [prior.centre])
    assert np.allclose(both, one, atol=1e-4)


def test_theta_stays_within_its_limits():
    prior = layout()
    for sign, noise in ((-1e3, 1e-9), (1e3, 2.0)):
        found = prior.maximise_posterior(lambda theta, sign=sign: gaussian(theta, sign, 1e3), [prior.centre])
        values = prior.unpack(found)
        assert values["noise"] == pytest.approx(noise)
        assert values["rho", 1] == pytest.approx(1.0 + np.sign(sign) * 4 * 3.0)
        assert values["ell"][2] == pytest.approx(2.0 * np.exp(np.sign(sign) * 4 * 1.2))


def test_what_is_given_stays_even_beyond_the_limits():
    prior = layout(given=(7.0, None))
    found = prior.maximise_posterior(lambda theta: gaussian(theta, prior.centre - 1.0), [prior.centre])
    assert prior.unpack(found)["noise"][0] == pytest.approx(7.0, rel=1e-15)
    assert found[prior["noise"]][1] < prior.centre[prior["noise"]][1]
    assert np.array_equal(prior.fix(found), found)
    fixed = prior.fix(prior.centre)
    assert fixed[prior["noise"]][0] == np.log(7.0)
    assert np.array_equal(np.delete(fixed, 3), np.delete(prior.centre, 3))


def test_nothing_is_searched_where_everything_is_given():
    prior = Layout([Part("mean", np.zeros(2), 1.0, positive=False, given=[3.0, 4.0])])

    def likelihood(theta):
        raise AssertionError("there is nothing to learn")

    assert np.array_equal(prior.maximise_posterior(likelihood, [prior.centre]), [3.0, 4.0])


def test_the_best_of_several_starts_is_taken():
    prior = Layout([Part("x", np.zeros(1), 2.0, positive=False)])

    def two_peaks(theta):
        """Peaks near −2 and near 3; the second one is higher."""
        low, high = np.exp(-8 * (theta + 2) ** 2), 3 * np.exp(-8 * (theta - 3) ** 2)
        slope = 9 * (-16 * (theta + 2) * low - 16 * (theta - 3) * high)
        return [(9 * float((low + high)[0]), slope)]

    starts = [np.array([-2.1]), np.array([2.9])]
    for order in (starts, starts[::-1]):
        assert prior.maximise_posterior(two_peaks, order)[0] == pytest.approx(3.0, abs=0.05)
    assert prior.maximise_posterior(two_peaks, starts[:1])[0] == pytest.approx(-2.0, abs=0.05)


def test_where_the_likelihood_fails_is_never_the_answer():
    prior = layout()

    def likelihood(theta):
        if theta[0] > prior.centre[0] + 1.0:
            return [(np.nan, np.full(6, np.nan))]
        return gaussian(theta, prior.centre + 0.1)

    good = prior.maximise_posterior(likelihood, [prior.centre])
    assert np.allclose(prior.maximise_posterior(likelihood, [prior.centre + 2.0, prior.centre]), good)
    assert np.allclose(prior.maximise_posterior(likelihood, [prior.centre, prior.centre + 2.0]), good)


def test_a_search_starts_where_the_last_one_ended_and_at_first_from_the_priors():
    prior, rng = layout(), np.random.default_rng(0)
    centre, drawn = prior.choose_starts(None, False, rng)
    assert np.array_equal(centre, prior.centre)
    assert not np.array_equal(drawn, centre)
    previous = prior.centre + 1.0
    assert [start is previous for start in prior.choose_starts(previous, False, rng)] == [True]
    again = prior.choose_starts(previous, True, rng)
    assert again[0] is previous
    assert np.array_equal(again[1], prior.centre)
    assert np.array_equal(prior.choose_starts(None, False, rng, width=0.0)[1], prior.centre)
