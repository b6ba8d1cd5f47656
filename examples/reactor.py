"""Ask and tell: a simulation with a coarse and a fine step size.

A batch reactor turns A into the product B, which decays into C if it stays in the heat for too long. Temperature and
duration decide how much B there is at the end, and heating costs money. The simulation integrates the rate equations by
Euler's method: 25 steps are quick and wrong by a few per cent, 500 steps are accurate and twenty times the work.

Ask/tell is the form to use when your own program is in charge: mfopt says what to evaluate, you evaluate it in whatever
way you like, and tell the value.
"""

import math

import mfopt

STEPS = [25, 500]  # of the integration, per fidelity: the cheapest first, the one that counts last


def profit(temperature, minutes, steps):
    """What a batch earns that is kept at this temperature (in kelvin) for so many minutes."""
    to_product = 4e6 * math.exp(-6500 / temperature)  # per minute
    to_waste = 6e10 * math.exp(-10500 / temperature)
    a, b, step = 1.0, 0.0, minutes / steps
    for _ in range(steps):
        a, b = a - step * to_product * a, b + step * (to_product * a - to_waste * b)
    return 100 * b - 0.3 * minutes


domain = mfopt.Box([(300, 380), (1, 60)], names=["temperature", "minutes"])
optimizer = mfopt.Optimizer(domain, costs=[1.0, 20.0], capital=300.0, rng=0)
trials = []
while not optimizer.done:
    trial = optimizer.ask()
    trials.append(trial)
    temperature, minutes = trial.x
    optimizer.tell(trial, profit(temperature, minutes, STEPS[trial.fidelity]))

temperature, minutes = optimizer.best.x
coarse, fine = (int((optimizer.history.fidelity == m).sum()) for m in (0, 1))
print(f"best profit {optimizer.best.y:.3f} at {temperature:.1f} K for {minutes:.1f} minutes")
print(f"{coarse} coarse and {fine} fine simulations, for the price of {optimizer.spent / 20:.1f} fine ones")
print("\nwhy the first fine query that was not part of the initial design was made:")
print(next(trial.reason for trial in trials if trial.fidelity == 1 and trial.reason.kind != "initial design"))
