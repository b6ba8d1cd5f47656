"""The command `mfopt ask`: trials of a study."""

from __future__ import annotations

import argparse
import json
import sys

from mfopt.cli._shared import THREADS, add_storage, open_study
from mfopt.cli.command import ExitCode, Subparsers
from mfopt.errors import Exhausted
from mfopt.run.trial import Trial
from mfopt.study import Study

_EPILOG = """Each trial is one line: its id, its fidelity (0 is the cheapest) and the coordinates, separated by blanks:

  mfopt ask study.db | while read id fidelity chord rate; do
      mfopt tell study.db $id $(./simulate $fidelity $chord $rate) || mfopt fail study.db $id
  done

A parameter that does not count at a point is a "-" there. A choice with a blank in it would be read as two words: use
--json for those. With --json a trial is an object: id, fidelity, name, cost,
index (the row of a candidate), x by name without what does not count, and the reason.
Trials whose lease has run out are handed out again before new ones.

exit codes: 0 there are trials, 1 failed, 2 wrong usage, 3 nothing to evaluate: the capital or the set is used up"""


def add(commands: Subparsers) -> None:
    parser = commands.add_parser(
        "ask",
        help="print the next trials of a study",
        description="Print what to evaluate next. It is pending from then on, until it is told.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_storage(parser)
    parser.add_argument("-n", type=int, default=1, metavar="N", help="how many, at most (default: 1)")
    parser.add_argument("--lease", type=float, metavar="S", help="hand them out again unless told within S seconds")
    parser.add_argument("--worker", metavar="W", help="a name noted with the trials")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help=THREADS)
    parser.add_argument("--json", action="store_true", help="one JSON object per line")


def run(arguments: argparse.Namespace) -> ExitCode:
    study = open_study(arguments, arguments.lease, arguments.worker, arguments.threads)
    try:
        trials = study.ask(arguments.n)
    except Exhausted as exhausted:
        print(f"mfopt: nothing to evaluate: {exhausted}", file=sys.stderr)
        return ExitCode.EXHAUSTED
    for trial in trials:
        if arguments.json:
            print(_as_json(study, trial))
        else:
            print(trial.id, trial.fidelity, *(trial.params.get(name, "-") for name in study.domain.names))
    return ExitCode.DONE


def _as_json(study: Study, trial: Trial) -> str:
    return json.dumps(
        {
            "id": trial.id,
            "fidelity": trial.fidelity,
            "name": study.fidelities[trial.fidelity].name,
            "cost": trial.cost,
            "index": trial.index,
            "x": trial.params,
            "reason": str(trial.reason),
        },
        ensure_ascii=False,
    )
