"""The cost of the guard: CPU time of an ask plus tell with a guarded plugin, relative to the same plugin without guard.

    python guard.py     # into guard.json and RESULTS.md

Plugins of mfopt's own are called directly, those of others through a guard that copies and checks what goes in and
comes out. So a subclass that changes nothing, but is not mfopt's own, differs by the guard alone; its trials must be
the same.
"""

import time
from statistics import median

from timing import machine, record

import mfopt
from mfopt_plugins.maximisers.direct import Direct
from mfopt_plugins.strategies.gp_ei import GPEI
from mfopt_plugins.strategies.mf_gp_ucb import MFGPUCB
from mfopt_plugins.surrogates.matern import Matern
from mfopt_plugins.surrogates.se import SE

TRIALS, SKIPPED, ROUNDS = 80, 20, 5


class GuardedSE(SE): ...


class GuardedMatern(Matern): ...


class GuardedDirect(Direct): ...


class GuardedUCB(MFGPUCB): ...


class GuardedEI(GPEI): ...


CASES = {
    "mf-gp-ucb, surrogate se": ({"surrogate": SE}, {"surrogate": GuardedSE}),
    "mf-gp-ucb, maximiser direct": ({"maximiser": Direct}, {"maximiser": GuardedDirect}),
    "mf-gp-ucb itself": ({"strategy": MFGPUCB}, {"strategy": GuardedUCB}),
    "mf-gp-ucb, all three": (
        {"strategy": MFGPUCB, "surrogate": SE, "maximiser": Direct},
        {"strategy": GuardedUCB, "surrogate": GuardedSE, "maximiser": GuardedDirect},
    ),
    "gp-ei, surrogate matern": (
        {"strategy": GPEI, "surrogate": Matern},
        {"strategy": GPEI, "surrogate": GuardedMatern},
    ),
    "gp-ei, all three": (
        {"strategy": GPEI, "surrogate": Matern, "maximiser": Direct},
        {"strategy": GuardedEI, "surrogate": GuardedMatern, "maximiser": GuardedDirect},
    ),
}


def run(plugins: dict[str, type], seed: int) -> tuple[float, list[list[float]]]:
    """Mean CPU seconds of an ask plus tell after the first, and the points asked for."""
    problem = mfopt.problems.get("hartmann3")
    made = {what: kind() for what, kind in plugins.items()}
    opt = mfopt.Optimizer(problem.domain, problem.costs, rng=seed, **made)
    points = []
    for k in range(TRIALS):
        if k == SKIPPED:
            start = time.process_time()
        trial = opt.ask()
        points.append(trial.x.tolist())
        opt.tell(trial, float(problem.functions[trial.fidelity](trial.x[None])[0]))
    return (time.process_time() - start) / (TRIALS - SKIPPED), points


def measure(direct: dict[str, type], guarded: dict[str, type]) -> dict[str, float]:
    """Milliseconds of an ask plus tell, the best of all rounds, and the median of the rounds' ratios."""
    times, ratios = [], []
    for seed in range(ROUNDS):
        pair = [run(plugins, seed) for plugins in (direct, guarded)]
        if pair[0][1] != pair[1][1]:
            raise SystemExit("a guarded plugin must take the same trials as a direct one, they differ")
        times.append([seconds for seconds, _ in pair])
        ratios.append(times[-1][1] / times[-1][0])
    direct_best, guarded_best = (1e3 * min(column) for column in zip(*times, strict=True))
    spread = {"ratio": median(ratios), "lowest": min(ratios), "highest": max(ratios)}
    return {"direct": direct_best, "guarded": guarded_best, **spread}


def main() -> None:
    found = {name: measure(*pair) for name, pair in CASES.items()}
    versions = ", ".join(f"{key} {value}" for key, value in machine().items())
    rows = [
        f"| {name} | {one['direct']:.2f} ms | {one['guarded']:.2f} ms | "
        f"{one['ratio']:.2f} ({one['lowest']:.2f} to {one['highest']:.2f}) |"
        for name, one in found.items()
    ]
    table = "\n".join(
        [
            f"`python benchmarks/guard.py`, {versions}. Hartmann-3, asks {SKIPPED + 1} to "
            f"{TRIALS}, CPU time of an ask plus tell, {ROUNDS} seeds in turns: the best of each, and the median ratio.",
            "",
            "| what is guarded | direct | guarded | ratio (lowest to highest) |",
            "|---|---|---|---|",
            *rows,
        ]
    )
    record("guard", table, found)


if __name__ == "__main__":
    main()
