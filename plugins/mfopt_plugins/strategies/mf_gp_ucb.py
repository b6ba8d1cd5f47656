"""MF-GP-UCB, the paper's method."""

from __future__ import annotations

from mfopt_plugins.strategies.ucb.strategy import UCBStrategy


class MFGPUCB(UCBStrategy):
    """Multi-fidelity GP-UCB, Algorithm (mfgpucb), on all fidelities of the problem; with one it is GP-UCB.

    mode             "practical": β_t = beta_factor · d log(2t), ζ and γ grown from data (section "Some Implementation
                     Details"). "theory": fixed ζ and γ and the β_t of Theorems (discreteThm) or (compactThm).
    zetas            bounds ζ_m for the fidelities below the target, None for those to be learnt; by default the
                     problem's. Theory mode needs all of them.
    gammas           fixed thresholds γ_m for the fidelities below the target. By default practical mode grows them and
                     theory mode takes γ_m = ζ_m √(λ_m/λ_{m+1}).
    initial_capital  Λ₀ of the initial design; by default see method/design.py. 0 for none.
    beta_factor      of practical mode; the paper has 0.2.
    gamma_shrink     practical mode: γ_m is divided by it after a query above m; the paper has 1 (never).
    delta, xi, a, b  theory mode: δ, ξ and the constants of the kernel (see mfopt.theory); X is [0, 1]^d there.
    affine           practical mode, not in the paper: fidelities whose ζ_m is not given are corrected towards the
                     target by a scale and an offset learnt from pairs (ucb/affine.py). For cheap fidelities that are
                     correlated with the target but scaled or shifted. Means in trial.reason are corrected ones.
    doubt            practical mode, not in the paper: where the models say that nothing is left to be found, every
                     second query looks elsewhere (ucb/doubt.py).
    coupled          practical mode, not in the paper: the surrogates se and matern model all fidelities as one process,
                     whose length-scales say how much a cheap value tells about the target (surrogates/coupled).
                     With False, with affine=True and in theory mode each fidelity has a process of its own.
    softened         practical mode, not in the paper: where the values say that the function is flat but for peaks,
                     they are softened (method/softening.py, surrogates/gp/evidence.py). Never where ζ, γ or noise is
                     given, nor with affine=True or surrogates that cannot judge it.
    rule             practical mode: how the fidelity is chosen. "worth", not in the paper: the one whose value at x_t
                     removes most of the target's variance there per cost; φ is then the target's own bound, and the
                     initial design is made of the cheapest fidelity and one target query. "gamma", the paper's: the
                     smallest m with β_t^½ σ_m ≥ γ_m, and φ = min φ_m. Where ζ or γ is given, with affine=True, without
                     a joint model of the fidelities and in theory mode the rule is always "gamma".
    share            with rule "worth": the target gets at least this part of what is spent. While it has less, it is
                     asked where its own bound with a tenth of β is largest (ucb/schedule.py). 0 for no such part.
    calibrated       with rule "worth": the one process learns the unit, the zero and the sign of each cheap fidelity
                     (surrogates/coupled/calibration.py).

    With surrogate="ar1" (one for all fidelities) the bounds φ_m are those of one joint posterior, in which cheap values
    also narrow the target's bound; not in the paper either.
    """
