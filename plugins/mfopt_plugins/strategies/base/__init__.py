"""What several strategies share.

cycle         Cycle, what every method with models goes through, and its Search for a point
initial       the initial design, in ask/tell
avoid         keeping away from points that failed or were taken
improvement   what gp-ei and gp-pi share
joint         what mf-sko and co-kriging share
"""
