"""The upper confidence bound methods, mf-gp-ucb and gp-ucb."""
