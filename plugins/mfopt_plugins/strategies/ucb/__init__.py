"""The upper confidence bound methods, mf-gp-ucb and gp-ucb.

strategy      UCBStrategy: what is asked for next
options       the arguments of both
departures    where the default differs from the paper, rule by rule, and the modes
schedule      β_t, γ_m and which bounds make φ, in practice and in the theorems
zeta          ζ_m, given or learnt; zeta_checks: queries that test it
hedge         the target alone, where cheap fidelities tell nothing
muteness      cheap fidelities whose values tell nothing about each other
doubt         what is asked for where the bounds promise nothing
caution       which maximum is asked for where evaluations fail
softener      when values are softened
affine        cheap fidelities corrected towards the target
"""
