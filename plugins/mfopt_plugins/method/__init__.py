"""The toolkit that strategies are made of.

design         how many random points a run begins with, and which
observations   every outcome, and what counts as the same point
models         the models of the fidelities, and when they learn; fitting: how
upper_bound    φ = min_m φ_m over models of any kind
failures       the chance that an evaluation fails; crashes: the process behind it, crash_learning: how it learns
improvement    expected improvement and its probability
softening      values far above the rest brought closer
"""
