"""One Gaussian process per fidelity."""
