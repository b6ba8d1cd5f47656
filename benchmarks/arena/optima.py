"""The optima that nobody published: what long searches found, in optima.json.

python -c "from arena import optima; optima.write()"      search for all of them again (minutes)
"""

from __future__ import annotations

import json
from pathlib import Path

FILE = Path(__file__).with_name("optima.json")


def known(name: str) -> float:
    """The optimum of the problem of this name."""
    return float(json.loads(FILE.read_text())[name])


def write() -> None:
    """Search for every optimum and write the file."""
    from arena import simulators, yahpo

    found = {f"rpart-{task}": yahpo.find_optimum("rpart", task) for task in yahpo.RPART_TASKS}
    found |= {f"xgboost-{task}": yahpo.find_optimum("xgboost", task) for task in yahpo.XGBOOST_TASKS}
    found |= {f"lcbench-{task}": yahpo.find_optimum("lcbench", task) for task in yahpo.LCBENCH_TASKS}
    found |= {name: simulators.find_optimum(name) for name in simulators.SIMULATORS}
    FILE.write_text(json.dumps(found, indent=1) + "\n")
