"""The arena: methods, ours and other people's, compared on groups of problems at equal capital.

problem    a problem, and the meter that every method evaluates it through
groups     the problems by group: mixed (integers, categories), ... each made in a module of its own
ours       the strategies of mfopt as methods; peers: Optuna, SMAC3, scikit-optimize
results    what was measured, one line of JSON per run, and the tables made of it
__main__   the command
"""
