"""Small simulators whose fidelity is the accuracy of the solver. Each runs in milliseconds and needs nothing but SciPy.

hares       rates of an ODE (Lotka and Volterra) fitted to noisy data; its cheap solvers take Euler's coarse steps,
            which blow up for fast rates
reactor     temperatures of a reactor, A → B → C, for the largest yield of B; Runge-Kutta steps of three sizes
plate       two heaters on a plate, as even a temperature as possible; a PDE on two grids
stock       when to order how much, and how fast to deliver; Monte Carlo with three sample sizes
forecast    rates of exponential smoothing (Holt and Winters), fitted to parts of a series

The costs are steps, grid points, samples and values. Optima are found by a long search (optima.py).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import factorized

import mfopt
from arena import optima
from arena.problem import Params, Problem

Array = np.ndarray
Simulator = Callable[[Array, int], float]
State = tuple[float, float]
Slope = Callable[[float, float, float], State]
_BLOWN_UP = 1e6  # no state of these simulators is as large

# ------------------------------------------------------------------------------------------------------- two ODEs

HARES = {"birth": (0.2, 2.0), "hunted": (0.005, 0.1), "fed": (0.002, 0.05), "death": (0.2, 2.0)}
_TRUTH = np.array([0.55, 0.028, 0.024, 0.8])
_YEARS = 20
_PER_YEAR = (4, 12, 30)  # steps of the three solvers, the last one of Runge and Kutta


def _runge_kutta(slope: Slope, t: float, y: State, h: float) -> State:
    """One step of the classical method for two quantities; plain numbers are much faster than small arrays."""
    a, b = y
    a1, b1 = slope(t, a, b)
    a2, b2 = slope(t + h / 2, a + h / 2 * a1, b + h / 2 * b1)
    a3, b3 = slope(t + h / 2, a + h / 2 * a2, b + h / 2 * b2)
    a4, b4 = slope(t + h, a + h * a3, b + h * b3)
    return a + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4), b + h / 6 * (b1 + 2 * b2 + 2 * b3 + b4)


def _blown_up(y: State) -> bool:
    return not (abs(y[0]) < _BLOWN_UP and abs(y[1]) < _BLOWN_UP)


def _populations(rates: Array, m: int) -> Array | None:
    """Hares and lynxes at the end of every year; None if the solution blows up."""
    birth, hunted, fed, death = rates.tolist()

    def slope(t: float, hares: float, lynxes: float) -> State:
        return (birth - hunted * lynxes) * hares, (fed * hares - death) * lynxes

    y, h, years = (30.0, 4.0), 1.0 / _PER_YEAR[m], []
    for _ in range(_YEARS):
        for _ in range(_PER_YEAR[m]):
            if m == 2:
                y = _runge_kutta(slope, 0.0, y, h)
            else:
                a, b = slope(0.0, *y)
                y = y[0] + h * a, y[1] + h * b
            if _blown_up(y):
                return None
        years.append(y)
    return np.array(years)


@functools.cache
def _counted() -> Array:
    """The data: the true populations, each counted with an error of a tenth."""
    exact = _populations(_TRUTH, 2)
    assert exact is not None
    return exact * np.exp(0.1 * np.random.default_rng(1).standard_normal(exact.shape))


def hares(x: Array, m: int) -> float:
    """Minus the root mean square of the errors of log(1 + population)."""
    found = _populations(x, m)
    if found is None or (found < 0).any():
        return float("nan")
    return -float(np.sqrt(np.mean((np.log1p(found) - np.log1p(_counted())) ** 2)))


REACTOR = {"start": (300.0, 400.0), "middle": (300.0, 400.0), "end": (300.0, 400.0), "hours": (0.5, 8.0)}
_STEPS = (6, 24, 200)


def reactor(x: Array, m: int) -> float:
    """The yield of B in per cent; the temperature goes through three values along a parabola."""
    start, middle, end, hours = x.tolist()
    bend, rise = 2 * (start - 2 * middle + end), -3 * start + 4 * middle - end

    def slope(t: float, a: float, b: float) -> State:
        s = t / hours
        kelvin = min(max(start + rise * s + bend * s * s, 250.0), 450.0)
        first = math.exp(14.0 - 5000.0 / kelvin) * max(a, 0.0) ** 1.5
        return -first, first - math.exp(22.5 - 8500.0 / kelvin) * b

    y, h = (1.0, 0.0), hours / _STEPS[m]
    for step in range(_STEPS[m]):
        y = _runge_kutta(slope, step * h, y, h)
        if _blown_up(y):
            return float("nan")
    return 100.0 * y[1]


# ---------------------------------------------------------------------------------------------------------- a PDE

PLATE = {"x1": (0.1, 0.9), "y1": (0.1, 0.9), "x2": (0.1, 0.9), "y2": (0.1, 0.9), "power": (0.1, 0.9)}
_GRIDS = (9, 41)


@functools.cache
def _conduction(n: int) -> tuple[Callable[[Array], Array], Array, Array]:
    """A solver of −∇²T + T = q on n × n cells of the unit square, whose left side is at 0 and whose others insulate."""
    line = sparse.diags([np.full(n - 1, -1.0), np.full(n, 2.0), np.full(n - 1, -1.0)], [-1, 0, 1]).tolil()
    across = line.copy()
    line[0, 0] = line[-1, -1] = across[-1, -1] = 1.0  # insulated ends
    across[0, 0] = 3.0  # the value 0 lies half a cell away
    one = sparse.identity(n)
    matrix = n * n * (sparse.kron(across, one) + sparse.kron(one, line)) + sparse.identity(n * n)
    middle = (np.arange(n) + 0.5) / n
    x, y = np.meshgrid(middle, middle, indexing="ij")
    return factorized(matrix.tocsc()), x.ravel(), y.ravel()


def plate(x: Array, m: int) -> float:
    """Minus the deviation of the temperature, in per cent of its mean; the second heater has the rest of the power."""
    solve, across, up = _conduction(_GRIDS[m])
    heat = np.zeros(len(across))
    for (a, b), power in (((x[0], x[1]), x[4]), ((x[2], x[3]), 1.0 - x[4])):
        heat += power * np.exp(-((across - a) ** 2 + (up - b) ** 2) / (2 * 0.05**2))
    temperature = solve(heat)
    return -100.0 * float(temperature.std() / temperature.mean())


# ---------------------------------------------------------------------------------------------------- Monte Carlo

STOCK = {"reorder": (0.0, 120.0), "lot": (10.0, 200.0), "haste": (0.0, 1.0)}
_SAMPLES = (20, 200, 4000)
_DAYS = 60


@functools.cache
def _demands(m: int) -> tuple[Array, Array]:
    """Demands of every day and delays of every order, (days, samples): the same ones at every call."""
    rng = np.random.default_rng([2, m])
    shape = (_DAYS, _SAMPLES[m])
    return rng.gamma(2.0, 5.0, shape), rng.exponential(4.0, shape)


def stock(x: Array, m: int) -> float:
    """The mean profit per day: sales less holding, ordering and delivery; faster deliveries cost more."""
    reorder, lot, haste = x
    demands, delays = _demands(m)
    held, arriving = np.full(_SAMPLES[m], lot), np.full(_SAMPLES[m], np.inf)  # days until the order arrives
    profit = np.zeros(_SAMPLES[m])
    for demand, delay in zip(demands, delays, strict=True):
        arriving -= 1.0
        held = held + np.where(arriving <= 0, lot, 0.0)
        arriving = np.where(arriving <= 0, np.inf, arriving)
        sold = np.minimum(held, demand)
        held = held - sold
        order = (held <= reorder) & np.isinf(arriving)
        arriving = np.where(order, 1.0 + delay * (1.0 - 0.9 * haste), arriving)
        profit += 3.0 * sold - 0.08 * held - 2.0 * (demand - sold) - order * (25.0 + 20.0 * haste**2)
    return float(profit.mean()) / _DAYS


# -------------------------------------------------------------------------------------------------- a time series

FORECAST = {"level": (0.01, 0.99), "trend": (0.001, 0.5), "season": (0.01, 0.99), "damping": (0.8, 1.0)}
_LENGTHS = (48, 120, 480)


@functools.cache
def _series() -> Array:
    """Forty years of monthly values: a trend that turns, a season that changes slowly, errors that persist."""
    rng = np.random.default_rng(3)
    n = _LENGTHS[-1]
    months = np.arange(n)
    trend = 0.05 * np.cumsum(np.cumsum(0.05 * rng.standard_normal(n)))
    season = (4 + months / 200) * np.sin(2 * np.pi * months / 12 + 0.002 * months) + 1.5 * np.cos(np.pi * months / 3)
    errors = np.zeros(n)
    for t in range(1, n):
        errors[t] = 0.5 * errors[t - 1] + rng.standard_normal()
    return 50 + trend + season + errors


def forecast(x: Array, m: int) -> float:
    """Minus the root mean square of the errors one month ahead, over the last months of the series."""
    smooth, slope, cycle, damping = x
    series = _series()[-_LENGTHS[m] :]
    level, trend, season = float(series[:12].mean()), 0.0, list(series[:12] - series[:12].mean())
    total = 0.0
    for t in range(12, len(series)):
        expected = level + damping * trend + season[t % 12]
        error = float(series[t]) - expected
        total += error * error
        before = level
        level = level + damping * trend + smooth * error
        trend = damping * trend + slope * (level - before - damping * trend)
        season[t % 12] += cycle * (1.0 - smooth) * error
    return -float(np.sqrt(total / (len(series) - 12))) if total < _BLOWN_UP**2 else float("nan")


# ------------------------------------------------------------------------------------------------------- problems

_LOG = {"hares"}  # whose parameters have log scales
SIMULATORS: Mapping[str, tuple[Simulator, Mapping[str, tuple[float, float]], tuple[int, ...]]] = {
    "hares": (hares, HARES, (_PER_YEAR[0], _PER_YEAR[1], 4 * _PER_YEAR[2])),  # Runge and Kutta take four slopes
    "reactor": (reactor, REACTOR, _STEPS),
    "plate": (plate, PLATE, tuple(n * n for n in _GRIDS)),
    "stock": (stock, STOCK, _SAMPLES),
    "forecast": (forecast, FORECAST, _LENGTHS),
}


def box_of(name: str) -> mfopt.Box:
    bounds = SIMULATORS[name][1]
    return mfopt.Box(list(bounds.values()), names=list(bounds), log=name in _LOG)


def simulator(name: str) -> Problem:
    """The problem of this name."""
    function, bounds, costs = SIMULATORS[name]

    def evaluate(params: Params, m: int) -> float:
        return function(np.array([params[key] for key in bounds]), m)

    return Problem(name, box_of(name), evaluate, tuple(float(cost) for cost in costs), optima.known(name))


def find_optimum(name: str) -> float:
    """The best that differential evolution finds with six seeds, each polished."""
    from scipy.optimize import differential_evolution, minimize

    function, box = SIMULATORS[name][0], box_of(name)
    top = len(SIMULATORS[name][2]) - 1

    def loss(u: Array) -> float:
        value = function(box.decode(np.clip(u, 0.0, 1.0)[None])[0], top)
        return 1e6 if np.isnan(value) else -value

    best = np.inf
    for seed in range(6):
        found = differential_evolution(loss, [(0.0, 1.0)] * box.dim, maxiter=60, popsize=8, rng=seed, polish=False)
        polished = minimize(loss, found.x, method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-10})
        best = min(best, float(found.fun), float(polished.fun))
    return -best
