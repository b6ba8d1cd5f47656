"""MF-GP-UCB, the paper's method."""

from __future__ import annotations

from mfopt_plugins.strategies.ucb.strategy import UCBStrategy


class MFGPUCB(UCBStrategy):
    """Multi-fidelity GP-UCB, Algorithm (mfgpucb), on all fidelities of the problem; with one it is GP-UCB.

    mode             "practical": the default, with departures from the paper that helped.
                     "paper": the section "Some Implementation Details" and nothing else.
                     "theory": Algorithm (mfgpucb) with the β_t of Theorem (discreteThm) or (compactThm): no initial
                     design, ζ, γ and the constants given. The kernel must be given to the surrogate.
    zetas            bounds ζ_m for the fidelities below the target, None for those to be learnt; by default the
                     problem's. Theory mode needs all of them, above 0 unless γ is given.
    gammas           fixed thresholds γ_m for the fidelities below the target. By default they grow from data; theory
                     mode takes γ_m = ζ_m √(λ_m/λ_{m+1}).
    initial_capital  Λ₀ of the initial design. By default 10 λ_M in paper mode, half at the first and half at the second
                     fidelity, none in theory mode, otherwise see method/design.py. 0 for none.
    beta_factor      β_t = beta_factor · d log(2t); the paper has 0.2.
    delta, xi, a, b  theory mode: δ; ξ, to be given where there are several fidelities; the constants a and b of the
                     kernel, to be given where X is not finite (theory.smoothness_se, smoothness_matern with r = 1: X
                     is [0, 1]^d here).
    gamma_shrink     not in the paper: γ_m is divided by it after a query above m; 1 for never.
    affine           not in the paper: fidelities whose ζ_m is not given are corrected towards the target by a scale and
                     an offset learnt from pairs (ucb/affine.py). Means in trial.reason are corrected ones.

    The other options are the departures from the paper. Each is None for what the mode has: practical mode departs in
    all of them, the others in none; theory mode has none whatever is given, but for those of the surrogate and of the
    maximiser. docs/defaults.md says why they are there, and what each is worth.

    option          paper         practical
    rule            "gamma"       "worth": the fidelity is the one whose value at x_t removes most of the target's
                                  variance there per cost; φ is the target's own bound, and the initial design is made
                                  of the cheapest fidelity and one target query. In the paper it is the smallest m with
                                  β_t^½ σ_m ≥ γ_m, and φ = min φ_m; so it is, too, where ζ or γ is given, with
                                  affine=True and without a joint model of the fidelities
    share           0             1/3: the target gets at least this part of what is spent (with rule "worth")
    promoted        False         True: the first target query goes to the best point of the cheapest fidelity, not to
                                  a random one (with rule "worth")
    hedged          False         True: where the target's own values predict it better than all fidelities together,
                                  nine tenths of the capital are spent by GP-UCB (ucb/hedge.py; with rule "worth")
    muted           False         True: the same where cheap values cannot be predicted from each other (with `hedged`)
    coupled         False         True: one process models all fidelities (surrogates/coupled; se and matern)
    calibrated      False         True: it learns the unit, the zero and the sign of each fidelity (with rule "worth")
    one_kernel      False         True: fidelities with a process each have one kernel, learnt from all values
    isotropic       True          None: as the surrogate was made, by default one length-scale per coordinate
    learning        "likelihood"  None: as the surrogate was made, by default under weak priors, with a learnt mean,
                                  from about 300 rows at most
    learn_every     25            0: again when the rows of a fidelity have grown by a tenth, not after 25 iterations
    softened        False         True: values of functions that are flat but for peaks are softened
                                  (method/softening.py); never where ζ, γ or noise is given
    outliers        False         True: values far off the rest are not taken at their word (method/outliers.py)
    noise_tests     False         True: where values may be noisy a point is asked twice; where they are, with
                                  rule "worth" or one fidelity, β_t is at least 4 log 2t
    doubt           False         True: where the bounds promise nothing, every second query looks elsewhere; with one
                                  fidelity also where values bring no gain (base/stall.py)
    contradictions  False         True: values that contradict the bounds are checked (ucb/zeta_checks.py)
    informed        False         True: fidelities without values are left out of φ
    by_capital      False         True: γ counts capital, not iterations
    all_queries     False         True: t counts initial queries and checks of ζ too, not iterations alone
    distinct        False         True: a noiseless fidelity is never asked for a point twice
    last_query      False         True: λ_M is kept for a last target query, which goes where the means are best
    polished        False         True: the problem's maximiser finds x_t; in the paper DIRECT, without corners or
                                  ascents (maximisers/nlopt_direct.py, 200 d + 2t evaluations, at most 3000)

    In practical mode with rule "worth" and several fidelities the surrogate is "matern" unless another is named; the
    paper's is "se".

    What the paper leaves open is the same in both modes: a fidelity with fewer than 2 d values (at least 3) has the
    kernel of the nearest one that has more, and "the range of initial queries" is the largest range within one
    fidelity. In paper mode a check of ζ is no iteration.

    With surrogate="ar1" (one for all fidelities) the bounds φ_m are those of one joint posterior, in which cheap values
    also narrow the target's bound; not in the paper either.
    """

    def prefer_surrogate(self, fidelities: int) -> str:
        """Matérn-5/2 where practical mode weighs fidelities, the paper's squared exponential otherwise."""
        weighs = fidelities > 1 and self.mode == "practical" and self.departures.rule == "worth"
        return "matern" if weighs else "se"
