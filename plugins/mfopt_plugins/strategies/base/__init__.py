"""What several strategies share.

cycle         Cycle, what every method with models goes through, and its Search for a point
parts         the state of a strategy, which is that of its parts
manner        how a method goes about the rest: as we do, or as the paper does
initial       the initial design, in ask/tell
avoid         keeping away from where evaluations fail, and from points that were taken
risk          what is asked first where evaluations fail, over several fidelities
stall         what one fidelity is asked while its values bring no gain
improvement   what gp-ei and gp-pi share
joint         what mf-sko and co-kriging share
"""
