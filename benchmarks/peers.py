"""Time of one ask plus tell against the peers, one thread, as the number of observations grows.

Every contender gets the same random observations of Hartmann-6, then a few asks with tells are timed: the median is
reported. mfopt and the peers run with their defaults. A contender whose asks have become slower than LIMIT seconds is
not asked with more observations (marked "cut"). "In doubt" is the late phase of a run, where the bounds promise nothing
more and a model that is less sure is asked: a quarter of the observations crowd at the maximum.

    python peers.py                    all contenders that are installed
    python peers.py --only "BoTorch"   those of this name, or of this problem; the others' figures stay as they were
    python peers.py --quick            50 and 200 observations only; records nothing
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Callable

import numpy as np
import timing

import mfopt
from mfopt_plugins.strategies.gp_ucb import GPUCB
from mfopt_plugins.strategies.mf_gp_ucb import MFGPUCB

SIZES = (50, 200, 500, 1000, 2000)
COMPARED = 200  # observations at which means are compared
LIMIT = 20.0  # seconds
ASKS, OWN_ASKS = 15, 100  # of peers; mfopt learns again now and then, which its mean is to show
SHARES = (0.5, 0.3, 0.15, 0.05)  # of the observations, by fidelity
PROBLEM = mfopt.problems.get("hartmann6")
Step = Callable[[], None]
Figures = dict[int, dict[str, float] | None]


def observations(n: int, fidelities: tuple[int, ...]) -> list[tuple[np.ndarray, int, np.ndarray]]:
    rng = np.random.default_rng(n)
    shares = SHARES if len(fidelities) > 1 else (1.0,)
    out = []
    for m, share in zip(fidelities, shares, strict=True):
        x = rng.random((max(2, round(n * share)), 6))
        out.append((x, m, PROBLEM.functions[m](x)))
    return out


def ours(n: int, multi: bool, surrogate: str | None = None, maximiser: str = "direct") -> Step:
    strategy = MFGPUCB(initial_capital=0) if multi else GPUCB(initial_capital=0)
    opt = mfopt.Optimizer(
        PROBLEM.domain, PROBLEM.costs, strategy=strategy, surrogate=surrogate, maximiser=maximiser, rng=0
    )
    for x, m, y in observations(n, (0, 1, 2, 3) if multi else (3,)):
        opt.add(x, m, y)

    def step() -> None:
        trial = opt.ask()
        opt.tell(trial, PROBLEM.functions[trial.fidelity](trial.x))

    return step


def ours_late(n: int) -> Step:
    """Hartmann-3, three fidelities; a quarter of the values lie at the maximum."""
    problem = mfopt.problems.get("hartmann3")
    opt, rng = mfopt.Optimizer(problem.domain, problem.costs, rng=0), np.random.default_rng(n)
    for m, share in enumerate((0.6, 0.3, 0.1)):
        x = rng.random((max(4, round(n * share)), 3))
        near = len(x) // 4
        x[:near] = np.clip(problem.argmax + 0.03 * rng.standard_normal((near, 3)), 0.0, 1.0)
        x[0] = problem.argmax
        opt.add(x, m, problem.functions[m](x))

    def step() -> None:
        trial = opt.ask()
        opt.tell(trial, problem.functions[trial.fidelity](trial.x))

    return step


def skopt(n: int) -> Step:
    from skopt import Optimizer

    opt = Optimizer([(0.0, 1.0)] * 6, n_initial_points=1, random_state=0)
    ((x, _, y),) = observations(n, (3,))
    opt.tell(x.tolist(), (-y).tolist())

    def step() -> None:
        x = opt.ask()
        opt.tell(x, -float(PROBLEM.functions[3](np.array(x))))

    return step


def optuna(n: int) -> Step:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.GPSampler(seed=0))
    names = [f"x{c}" for c in range(6)]
    space = {name: optuna.distributions.FloatDistribution(0.0, 1.0) for name in names}
    ((x, _, y),) = observations(n, (3,))
    study.add_trials(
        [
            optuna.trial.create_trial(params=dict(zip(names, row, strict=True)), distributions=space, value=value)
            for row, value in zip(x.tolist(), y.tolist(), strict=True)
        ]
    )

    def step() -> None:
        trial = study.ask(space)
        point = np.array([trial.params[name] for name in names])
        study.tell(trial, float(PROBLEM.functions[3](point)))

    return step


def botorch_single(n: int) -> Step:
    import torch
    from botorch.acquisition import qLogExpectedImprovement
    from botorch.fit import fit_gpytorch_mll
    from botorch.models import SingleTaskGP
    from botorch.models.transforms import Standardize
    from botorch.optim import optimize_acqf
    from gpytorch.mlls import ExactMarginalLogLikelihood

    torch.set_num_threads(1)
    torch.manual_seed(0)
    ((x, _, y),) = observations(n, (3,))
    data = [torch.tensor(x), torch.tensor(y)[:, None]]
    bounds = torch.tensor([[0.0] * 6, [1.0] * 6], dtype=torch.float64)

    def step() -> None:
        model = SingleTaskGP(data[0], data[1], outcome_transform=Standardize(1))
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        acquisition = qLogExpectedImprovement(model, best_f=data[1].max())
        point, _ = optimize_acqf(acquisition, bounds, q=1, num_restarts=10, raw_samples=512)
        value = torch.tensor(PROBLEM.functions[3](point.numpy()))[:, None]
        data[0], data[1] = torch.cat([data[0], point]), torch.cat([data[1], value])

    return step


def botorch_multi(n: int) -> Step:
    import torch
    from botorch.acquisition.cost_aware import InverseCostWeightedUtility
    from botorch.acquisition.max_value_entropy_search import qMultiFidelityMaxValueEntropy
    from botorch.acquisition.utils import project_to_target_fidelity
    from botorch.fit import fit_gpytorch_mll
    from botorch.models.cost import AffineFidelityCostModel
    from botorch.models.gp_regression_fidelity import SingleTaskMultiFidelityGP
    from botorch.models.transforms import Standardize
    from botorch.optim import optimize_acqf_mixed
    from gpytorch.mlls import ExactMarginalLogLikelihood

    torch.set_num_threads(1)
    torch.manual_seed(0)
    levels = (0.0, 1 / 3, 2 / 3, 1.0)
    xs, ys = [], []
    for x, m, y in observations(n, (0, 1, 2, 3)):
        xs.append(np.column_stack([x, np.full(len(x), levels[m])]))
        ys.append(y)
    data = [torch.tensor(np.vstack(xs)), torch.tensor(np.concatenate(ys))[:, None]]
    bounds = torch.tensor([[0.0] * 7, [1.0] * 7], dtype=torch.float64)
    cost = InverseCostWeightedUtility(AffineFidelityCostModel({6: 1000.0}, fixed_cost=1.0))
    candidates = torch.rand(1000, 7, dtype=torch.float64)

    def step() -> None:
        model = SingleTaskMultiFidelityGP(data[0], data[1], data_fidelities=[6], outcome_transform=Standardize(1))
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        acquisition = qMultiFidelityMaxValueEntropy(
            model, candidates, cost_aware_utility=cost, project=lambda x: project_to_target_fidelity(x, {6: 1.0}, 7)
        )
        point, _ = optimize_acqf_mixed(
            acquisition, bounds, q=1, num_restarts=5, raw_samples=128, fixed_features_list=[{6: v} for v in levels]
        )
        m = int(np.argmin(np.abs(np.array(levels) - float(point[0, 6]))))
        value = torch.tensor(PROBLEM.functions[m](point[:, :6].numpy()))[:, None]
        data[0], data[1] = torch.cat([data[0], point]), torch.cat([data[1], value])

    return step


def candidates() -> np.ndarray:
    return np.random.default_rng(1).random((100_000, 6))


def ours_finite(n: int) -> Step:
    points = candidates()
    opt = mfopt.Optimizer(mfopt.FiniteSet(points), [1.0], strategy=GPUCB(initial_capital=0), rng=0)
    opt.add(points[:n], 0, PROBLEM.functions[3](points[:n]))

    def step() -> None:
        trial = opt.ask()
        opt.tell(trial, PROBLEM.functions[3](trial.x))

    return step


def scipy_finite(n: int) -> Step:
    """The upper bound of all candidates computed anew, with hyper-parameters that are given."""
    from scipy.linalg import cholesky, solve_triangular
    from scipy.spatial.distance import cdist

    points = candidates()
    scaled = points / 0.5
    known = [list(range(n)), PROBLEM.functions[3](points[:n]).tolist()]

    def step() -> None:
        x = scaled[known[0]]
        k = np.exp(-0.5 * cdist(x, x, "sqeuclidean"))
        k.flat[:: len(x) + 1] += 1e-6
        factor = cholesky(k, lower=True, check_finite=False)
        z = solve_triangular(factor, np.array(known[1]), lower=True, check_finite=False)
        bound = np.empty(len(points))
        for start in range(0, len(points), 8192):
            r = np.exp(-0.5 * cdist(scaled[start : start + 8192], x, "sqeuclidean")).T
            v = solve_triangular(factor, r, lower=True, overwrite_b=True, check_finite=False)
            var = np.maximum(1.0 - np.einsum("ij,ij->j", v, v), 0.0)
            bound[start : start + 8192] = v.T @ z + 2.0 * np.sqrt(var)
        best = int(np.argmax(bound))
        known[0].append(best)
        known[1].append(float(PROBLEM.functions[3](points[best])))

    return step


def botorch_finite(n: int) -> Step:
    import torch
    from botorch.acquisition import UpperConfidenceBound
    from botorch.fit import fit_gpytorch_mll
    from botorch.models import SingleTaskGP
    from botorch.models.transforms import Standardize
    from botorch.optim import optimize_acqf_discrete
    from gpytorch.mlls import ExactMarginalLogLikelihood

    torch.set_num_threads(1)
    points = torch.tensor(candidates())
    data = [points[:n], torch.tensor(PROBLEM.functions[3](points[:n].numpy()))[:, None]]

    def step() -> None:
        model = SingleTaskGP(data[0], data[1], outcome_transform=Standardize(1))
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        point, _ = optimize_acqf_discrete(UpperConfidenceBound(model, beta=4.0), q=1, choices=points)
        value = torch.tensor(PROBLEM.functions[3](point.numpy()))[:, None]
        data[0], data[1] = torch.cat([data[0], point]), torch.cat([data[1], value])

    return step


MULTI = "Hartmann-6, four fidelities"
FINITE = "Hartmann-6 on 100,000 candidates, target only"
SINGLE = "Hartmann-6, target only"
LATE = "Hartmann-3, three fidelities, in doubt"
CONTENDERS: dict[str, dict[str, Callable[[int], Step]]] = {
    MULTI: {
        "mfopt": lambda n: ours(n, True),
        "mfopt, pure Python surrogate, nlopt-direct": lambda n: ours(n, True, "se-python", "nlopt-direct"),
        "BoTorch qMultiFidelityMaxValueEntropy": botorch_multi,
    },
    SINGLE: {
        "mfopt": lambda n: ours(n, False),
        "mfopt, pure Python surrogate, nlopt-direct": lambda n: ours(n, False, "se-python", "nlopt-direct"),
        "scikit-optimize gp_hedge": skopt,
        "Optuna GPSampler": optuna,
        "BoTorch qLogExpectedImprovement": botorch_single,
    },
    FINITE: {
        "mfopt": ours_finite,
        "SciPy recomputing, hyper-parameters given": scipy_finite,
        "BoTorch UCB, optimize_acqf_discrete": botorch_finite,
    },
    LATE: {"mfopt": ours_late},
}


def measure(make: Callable[[int], Step], sizes: tuple[int, ...], asks: int) -> Figures:
    """Median and mean seconds of an ask plus tell by number of observations; None where it was cut."""
    out: Figures = {}
    cut = False
    for n in sizes:
        if cut:
            out[n] = None
            continue
        step = make(n)
        start = time.process_time()
        step()  # learns from the whole data, compiles, warms up: not counted
        cut = time.process_time() - start > LIMIT
        seconds = []
        while len(seconds) < asks and sum(seconds) < LIMIT:
            start = time.process_time()
            step()
            seconds.append(time.process_time() - start)
        out[n] = {"median": float(np.median(seconds)), "mean": float(np.mean(seconds)), "asks": len(seconds)}
        cut = cut or out[n]["median"] > LIMIT / 4
        print(f"    {n:5d}  {timing.readable(float(np.median(seconds)))}", file=sys.stderr)
    return out


def exponent(figures: Figures) -> float:
    """Of the power law from 200 observations on, by the mean, which carries the learning."""
    known = [(n, f["mean"]) for n, f in figures.items() if f is not None and n >= 200]
    return float(np.polyfit(*np.log(np.array(known)).T, 1)[0]) if len(known) > 1 else float("nan")


def table(results: dict[str, dict[str, Figures]], sizes: tuple[int, ...]) -> str:
    lines = []
    for problem, contenders in results.items():
        if "mfopt" not in contenders:
            continue
        lines += ["", f"**{problem}**: median of an ask plus tell; in brackets how many times longer than mfopt's.", ""]
        lines += ["| | " + " | ".join(f"{n:,}" for n in sizes) + " |", "|---" * (len(sizes) + 1) + "|"]
        own = contenders["mfopt"]
        for name, figures in contenders.items():
            cells = []
            for n in sizes:
                if n not in own:
                    cells.append("–")
                    continue
                figure, base = figures.get(n), own[n]
                if figure is None:
                    cells.append("cut")
                elif name == "mfopt" or base is None:
                    cells.append(timing.readable(figure["median"]))
                else:
                    cells.append(f"{timing.readable(figure['median'])} ({figure['median'] / base['median']:.3g} ×)")
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
        means = ", ".join(f"{timing.readable(f['mean'])} at {n:,}" for n, f in own.items() if f is not None)
        lines += ["", f"mfopt's mean, relearning included: {means}; from 200 on it grows like n^{exponent(own):.2f}."]
    return "\n".join([*lines, *compare_means(results)])


def compare_means(results: dict[str, dict[str, Figures]]) -> list[str]:
    """How many times longer than mfopt's the means of the peers are at COMPARED observations, by mfopt's problem."""
    lines = [
        "",
        f"By means with learning, at {COMPARED} observations:",
        "",
        "| | mfopt | how many times longer |",
        "|---|---|---|",
    ]
    for problem in (MULTI, SINGLE):
        own = results.get(problem, {}).get("mfopt", {}).get(COMPARED)
        if own is None:
            continue
        peers = {
            name: figures[COMPARED]["mean"] / own["mean"]
            for name, figures in (results.get(MULTI, {}) | results.get(SINGLE, {})).items()
            if not name.startswith("mfopt") and figures.get(COMPARED) is not None
        }
        times = ", ".join(f"{name} {ratio:.3g} ×" for name, ratio in peers.items())
        lines.append(f"| {problem} | {timing.readable(own['mean'])} | {times} |")
    return lines


def plot(results: dict[str, dict[str, Figures]]) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(15, 4.2), layout="constrained")
    for axes, problem in zip(figure.subplots(1, 3, sharey=True), (MULTI, SINGLE, FINITE), strict=True):
        contenders = results.get(problem, {})
        for name, figures in contenders.items():
            known = [(n, f["median"]) for n, f in figures.items() if f is not None]
            axes.loglog(*zip(*known, strict=True), marker="o", lw=2.5 if name == "mfopt" else 1.2, label=name)
        axes.set(title=problem, xlabel="observations", ylabel="seconds for an ask plus tell", ylim=(2e-3, 1e3))
        axes.grid(alpha=0.3, which="both")
        axes.legend(fontsize=7, loc="upper left")
    figure.savefig(timing.HERE / "peers.png", dpi=110)


def read() -> dict[str, dict[str, Figures]]:
    """The figures that were recorded, in the order of CONTENDERS."""
    path = timing.HERE / "peers.json"
    stored = json.loads(path.read_text())["seconds"] if path.exists() else {}
    return {
        problem: {
            name: {int(n): figure for n, figure in stored[problem][name].items()}
            for name in contenders
            if name in stored.get(problem, {})
        }
        for problem, contenders in CONTENDERS.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="50 and 200 observations only; records nothing")
    parser.add_argument("--only", default="", metavar="TEXT", help='of "problem: contender", those with this text')
    arguments = parser.parse_args()
    sizes = SIZES[:2] if arguments.quick else SIZES
    warnings.simplefilter("ignore")
    results = read() if arguments.only else {problem: {} for problem in CONTENDERS}
    for problem, contenders in CONTENDERS.items():
        for name, make in contenders.items():
            if arguments.only not in f"{problem}: {name}":
                continue
            print(f"{problem}: {name}", file=sys.stderr)
            asks = OWN_ASKS if name == "mfopt" else ASKS
            try:
                results[problem][name] = measure(make, tuple(n for n in sizes if n <= 500 or problem != FINITE), asks)
            except ImportError as error:
                print(f"    not installed: {error}", file=sys.stderr)
            except Exception as error:  # a peer's failure must not end the measurement of the others
                print(f"    failed: {error!r}", file=sys.stderr)
    text = table(results, sizes)
    if arguments.quick:
        print(text)
        return
    plot(results)
    about = timing.machine()
    head = ", ".join(f"{key} {value}" for key, value in about.items())
    head += f"; one thread, CPU time, {OWN_ASKS} asks of mfopt, {ASKS} of the others."
    timing.record("peers", head + "\n" + text + "\n\n![ask time](peers.png)", {"machine": about, "seconds": results})


if __name__ == "__main__":
    main()
