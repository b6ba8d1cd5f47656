"""An installed mfopt, used outside its source tree: imports, plugins, one short optimisation."""

from pathlib import Path

import mfopt
import mfopt_core

source = Path(__file__).resolve().parent.parent
for module in (mfopt, mfopt_core):
    if source / module.__name__ in Path(str(module.__file__)).resolve().parents:
        raise SystemExit(f"{module.__name__} was imported from the source tree")

problem = mfopt.problems.get("currin")
result = mfopt.maximize(
    problem.functions, problem.domain, problem.costs, capital=150.0, rng=0, progress=False, strategy="mf-gp-ucb"
)
if not 12.0 < result.fun <= problem.optimum:
    raise SystemExit(f"currin: {result.fun} is not near the optimum {problem.optimum}")
print(f"mfopt {mfopt.__version__} ({mfopt_core.BUILD}): currin {result.fun:.4f} for {result.spent:g}")
