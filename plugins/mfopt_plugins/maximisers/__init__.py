"""The built-in maximisers; all of them end with polish.py, the ascent from the best points found.

direct         batched DIRECT, compiled: the default
nlopt_direct   NLopt's DIRECT
multistart     the best of many random points
"""
