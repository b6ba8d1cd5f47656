"""The command `mfopt best`: the best value so far."""

from __future__ import annotations

import argparse
import json
import sys

from mfopt.checks import escape
from mfopt.cli._shared import add_storage, open_study
from mfopt.cli.answers import as_dict, print_recommendation
from mfopt.cli.command import ExitCode, Subparsers
from mfopt.errors import InputError, MfoptError
from mfopt.run.trial import Recommendation
from mfopt.study import Study


def add(commands: Subparsers) -> None:
    parser = commands.add_parser(
        "best",
        help="print the best value of a study",
        description="Print the best value observed at the target fidelity and where it was; where values are noisy, "
        "also the point with the best posterior mean. The exit code is 1 while there is none.",
    )
    add_storage(parser)
    parser.add_argument("--json", action="store_true", help="as JSON: id, y, x by name, recommended, spent, capital")


def run(arguments: argparse.Namespace) -> ExitCode:
    study = open_study(arguments)
    best = study.best
    if best is None:
        raise MfoptError(f"study {study.name} has no value at the target fidelity yet")
    recommended = _try_recommend(study)
    if arguments.json:
        shown = {"id": best.trial_id, "y": best.y, "x": best.params, "recommended": as_dict(recommended)}
        print(json.dumps({**shown, "spent": study.spent, "capital": study.capital}))
        return ExitCode.DONE
    print(f"value  {best.y!r} (trial {best.trial_id})")
    for name, value in best.params.items():
        print(f"  {escape(name)} = {value!r}")
    if recommended is not None:
        print_recommendation(recommended)
    print(f"spent  {study.spent:g} of {'unlimited' if study.capital is None else f'{study.capital:g}'}")
    return ExitCode.DONE


def _try_recommend(study: Study) -> Recommendation | None:
    """What is recommended; the best value is shown all the same where the storage could not hold what that needs."""
    try:
        return study.recommend_if_noisy()
    except InputError as error:
        print(f"mfopt: warning: there is no recommendation: {escape(str(error))}", file=sys.stderr)
        return None
