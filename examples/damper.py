"""Minimisation over a constrained box with log scales: tuning a vibration damper.

A small mass on a spring and a dashpot is to calm a machine that vibrates. Stiffness may vary by two orders of magnitude
and damping by three, so both get a log scale: a step from 1 to 2 is then as long as one from 100 to 200. The worst
response over all frequencies is to be as small as possible. A sweep over 100 frequencies is cheap but may step over a
narrow peak; a sweep over 2,000 does not.

Constraints say which designs may be asked for at all: here the spring must not sag by more than 20 mm under the weight
of the mass, and the dashpot must not be overdamped.
"""

import numpy as np

import mfopt

MACHINE, SPRING = 1000.0, 4.0e6  # kg and N/m
MASS = 50.0  # of the damper, kg
FREQUENCIES = [100, 2000]  # in a sweep, per fidelity


def worst_response(stiffness, damping, frequencies):
    """The largest amplitude over a sweep of frequencies, in decibels above the static deflection."""
    omega = np.linspace(30.0, 100.0, frequencies)  # rad/s
    damper = stiffness + 1j * omega * damping
    amplitude = (damper - MASS * omega**2) / (
        (SPRING - MACHINE * omega**2) * (damper - MASS * omega**2) - MASS * omega**2 * damper
    )
    return 20 * np.log10(np.abs(SPRING * amplitude).max())


def allowed(x):
    """Which rows (stiffness, damping) may be built: a vectorised predicate, True or False per row."""
    stiffness, damping = x[:, 0], x[:, 1]
    return (stiffness >= MASS * 9.81 / 0.020) & (damping**2 <= 4 * stiffness * MASS)


box = mfopt.Box([(1e4, 1e6), (1e1, 1e4)], names=["stiffness", "damping"], log=[True, True], constraints=allowed)
optimizer = mfopt.Optimizer(box, costs=[1.0, 20.0], capital=400.0, direction="minimize", rng=0)
while not optimizer.done:
    trial = optimizer.ask()
    optimizer.tell(trial, worst_response(*trial.x, FREQUENCIES[trial.fidelity]))

stiffness, damping = optimizer.best.x
rule = 20 * np.log10(np.sqrt(1 + 2 * MACHINE / MASS))  # den Hartog's, for a machine without damping of its own
print(f"stiffness {stiffness:.4g} N/m, damping {damping:.4g} N s/m: worst response {optimizer.best.y:.3f} dB")
print(f"the textbook rule promises {rule:.3f} dB")
print(f"all {len(optimizer.history)} queries were allowed: {bool(allowed(optimizer.history.x).all())}")
