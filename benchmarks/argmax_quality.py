"""How good is the argmax that `direct` finds? Against nlopt-direct with ten times the evaluations, and BoTorch.

Over random posteriors: d = 1..8, M = 1..4, 10 to 400 observations of random smooth functions, random length-scales and
ζ. The gap is (theirs − ours) relative to the range of φ; a miss is a gap above 1e-6. Where BoTorch is installed its
optimize_acqf (10 restarts, 512 raw samples) maximises the same function, with gradients.

    python argmax_quality.py [number of posteriors, 200] [first seed, 1000: those below 200 served development]
"""

from __future__ import annotations

import contextlib
import sys
import time

import numpy as np
import timing

import mfopt
from mfopt_plugins.maximisers.direct import Direct
from mfopt_plugins.maximisers.nlopt_direct import NloptDirect
from mfopt_plugins.surrogates.se import SE

MISS = 1e-6
FEATURES = 60


def random_function(rng, ell, size):
    frequencies, phases = rng.normal(size=(FEATURES, len(ell))) / ell, rng.uniform(0, 2 * np.pi, FEATURES)
    weights = size * rng.normal(size=FEATURES) * np.sqrt(2 / FEATURES)
    return lambda x: np.cos(x @ frequencies.T + phases) @ weights


def posterior(seed):
    """(d, observations, φ)."""
    rng = np.random.default_rng([seed, 7])
    d, fidelities = int(rng.integers(1, 9)), int(rng.integers(1, 5))
    total = int(np.exp(rng.uniform(np.log(10), np.log(400))))
    ell = np.exp(rng.normal(np.log(0.4 * np.sqrt(d)), 0.5, d))
    noise = 1e-6 if seed % 2 else 1e-3
    return d, total, random_bound(rng, ell, d, fidelities, total, noise, lambda n: rng.random((n, d)))


def random_bound(rng, ell, d, fidelities, total, noise, sample):
    """φ of random functions, `total` values of them at points that `sample` draws, with β_t of d parameters."""
    target = random_function(rng, ell, 1.0)
    sizes = np.sort(np.maximum(2, (rng.dirichlet(np.full(fidelities, 2.0)) * total).astype(int)))[::-1]
    surrogate, models, zetas = SE(lengthscale=ell, scale=1.0, mean=0.0), [], []
    for m, n in enumerate(sizes):
        above = fidelities - 1 - m
        error = random_function(rng, ell, 0.2 * above)
        u = sample(n)
        model = surrogate.model(len(ell), noise)
        model.fit(u, target(u) + error(u), rng)
        models.append(model)
        zetas.append(0.2 * above * float(rng.uniform(0.2, 1.5)))
    return surrogate.bound(models, 0.2 * d * np.log(2 * total), zetas)


def botorch_value(phi, d):
    import torch
    from botorch.optim import optimize_acqf

    torch.set_num_threads(1)

    class Function(torch.autograd.Function):
        @staticmethod
        def forward(context, u):
            value, slope = phi.gradient(u.detach().numpy())
            context.save_for_backward(torch.tensor(slope))
            return torch.tensor(value)

        @staticmethod
        def backward(context, upstream):
            return upstream[:, None] * context.saved_tensors[0]

    class Acquisition(torch.nn.Module):
        def forward(self, x):
            return Function.apply(x[:, 0, :])

    bounds = torch.tensor([[0.0] * d, [1.0] * d], dtype=torch.float64)
    point, _ = optimize_acqf(Acquisition(), bounds, q=1, num_restarts=10, raw_samples=512)
    return float(phi(point.numpy())[0])


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    gaps, peers, seconds, theirs = [], [], [], []
    for seed in range(first, first + count):
        d, total, phi = posterior(seed)
        domain, rng = mfopt.Box([(0, 1)] * d), np.random.default_rng(seed)
        start = time.process_time()
        ours = float(phi(Direct().maximise(phi, domain, rng, total)[None])[0])
        seconds.append(time.process_time() - start)
        budget = 10 * min(100 * d + 2 * total, 2000)
        start = time.process_time()
        reference = float(phi(NloptDirect(budget).maximise(phi, domain, rng, total)[None])[0])
        theirs.append(time.process_time() - start)
        values = phi(domain.sample(4000, rng))
        spread = max(values.max(), ours, reference) - values.min()
        gaps.append((reference - ours) / spread)
        with contextlib.suppress(ImportError):
            peers.append((botorch_value(phi, d) - ours) / spread)
    gap = np.array(gaps)
    lines = [
        timing.head(),
        f"{count} random posteriors from seed {first}, d = 1..8, M = 1..4, 10 to 400 observations; one thread.",
        "",
        "| | |",
        "|---|---|",
        f"| more than 1e-6 of the range below nlopt-direct with 10 × the evaluations | {np.mean(gap > MISS):.1%} |",
        f"| more than 1e-6 of the range above it | {np.mean(gap < -MISS):.1%} |",
        f"| worst gap, best gain | {gap.max():.1e}, {-gap.min():.1e} |",
        f"| median time: direct, the reference | {timing.readable(float(np.median(seconds)))}, "
        f"{timing.readable(float(np.median(theirs)))} |",
    ]
    if peers:
        peer = np.array(peers)
        lines += [
            f"| mean gap to BoTorch's optimize_acqf on the same φ (negative: direct is better) | {peer.mean():.1e} |",
            f"| below it, above it by more than 1e-6 | {np.mean(peer > MISS):.1%}, {np.mean(peer < -MISS):.1%} |",
        ]
    timing.record("argmax", "\n".join(lines), {"machine": timing.machine(), "gaps": gaps, "botorch": peers})


if __name__ == "__main__":
    main()
