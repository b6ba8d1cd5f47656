"""Hyper-parameters of one process per fidelity, by maximising their log marginal likelihood under weak priors.

Learnt from one fidelity, or from several at once, whose processes then have the same kernel: the paper's assumption,
f⁽ᵐ⁾ ~ GP(0, κ) for every m (section "Problem Set Up"). The likelihood of several is the product of theirs. So a
fidelity with few rows, or with rows near the maximum only, as the target's are, has a kernel that was learnt from the
many and widespread rows of the others.

θ = (log ℓ_1..d, log scale, log noise_1..K, mean_1..K) with the priors of priors.py. Any two means have the correlation
1 − MEANS_APART²: fidelities have about the same level.

With learning="likelihood" (given.py) it is as the paper's section "Some Implementation Details" has it: the marginal
likelihood of all rows, no priors, and the mean of the values for the prior mean.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from mfopt.hooks import Rows
from mfopt.protocols import Array
from mfopt_plugins.surrogates.given import Given
from mfopt_plugins.surrogates.gp.process import GaussianProcess, Hyper, MakeGP
from mfopt_plugins.surrogates.priors import (
    NOISY,
    QUIET,
    Expectation,
    lengthscale_part,
    mean_part,
    noise_part,
    scale_part,
)
from mfopt_plugins.surrogates.rows import show_noise, thin
from mfopt_plugins.surrogates.theta import Layout, Optimum

MEANS_APART = 0.3  # deviation of a fidelity's mean from that of another, over √2


def learn(
    make: MakeGP[GaussianProcess],
    rows: Sequence[Rows],
    given: Given,
    noises: Sequence[float | None],
    previous: Sequence[Hyper] | None,
    inverse: Array | None,
    afresh: bool,
    rng: np.random.Generator,
) -> tuple[list[Hyper], Optimum]:
    """The maximum a posteriori hyper-parameters for `rows`, one set and one known noise (or None) per fidelity.

    Everything is in standard units. The search starts from the `previous` optimum, with the H that was found there; if
    `afresh`, or where noise shows that the previous optimum knows nothing of, from the centre of the priors too.
    """
    expected = NOISY if not given.flat and show_noise(rows) else QUIET
    layout = _lay_out(given, noises, expected)
    afresh = afresh or (previous is not None and expected is NOISY and NOISY.doubts([one.noise for one in previous]))
    rows = rows if given.flat else thin(rows)

    def likelihood(theta: Array) -> Iterator[tuple[float, Array]]:
        for k, (hyper, (u, y)) in enumerate(zip(_unpack(layout, theta, noises), rows, strict=True)):
            if len(y) == 0:
                continue
            gp = make(hyper)
            gp.extend(u, y)
            value, own = gp.log_marginal_likelihood(grad=True)  # in (log ℓ_1..d, log scale, log noise, mean)
            slope = np.zeros(len(layout))
            slope[layout["lengthscale"]] = layout.add_up("lengthscale", own[:-3])
            slope[layout["scale"]] = own[-3]
            slope[layout["noise"]][k], slope[layout["mean"]][k] = own[-2], own[-1]
            yield value, slope

    before = None if previous is None else _pack(layout, previous)
    if given.flat:
        starts = layout.screen_starts(likelihood, layout.choose_starts(before, afresh, rng), rng)
        found = layout.find_maximum(likelihood, starts)
    else:
        found = layout.search(likelihood, before, inverse, afresh, rng)
    return _unpack(layout, found.theta, noises), found


def _lay_out(given: Given, noises: Sequence[float | None], expected: Expectation) -> Layout:
    """θ; what is given is that of a model, with all groups."""
    return Layout(
        [
            lengthscale_part("lengthscale", given.groups, given.lengthscale, given.isotropic, expected),
            scale_part("scale", given.scale, expected=expected),
            noise_part("noise", noises, expected=expected),
            mean_part("mean", [given.mean] * len(noises), difference=2 * MEANS_APART**2),
        ],
        flat=given.flat,
    )


def _pack(layout: Layout, hypers: Sequence[Hyper]) -> Array:
    """θ for these hyper-parameters, which have one kernel."""
    return layout.pack(
        {
            "lengthscale": hypers[0].lengthscale,
            "scale": [hypers[0].scale],
            "noise": [hyper.noise for hyper in hypers],
            "mean": [hyper.mean for hyper in hypers],
        }
    )


def _unpack(layout: Layout, theta: Array, noises: Sequence[float | None]) -> list[Hyper]:
    """The hyper-parameters of each fidelity; a noise that is known to be 0 has no logarithm, so it is taken as is."""
    values = layout.unpack(theta)
    lengthscale, scale = values["lengthscale"], float(values["scale"][0])
    learnt = zip(values["noise"].tolist(), noises, values["mean"].tolist(), strict=True)
    return [Hyper(lengthscale, scale, noise if known is None else known, mean) for noise, known, mean in learnt]
