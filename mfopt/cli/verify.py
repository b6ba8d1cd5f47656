"""The command `mfopt verify`: whether the log of a study, replayed, gives the asks that were recorded."""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict

from mfopt.cli._shared import add_storage, open_study
from mfopt.cli.command import ExitCode, Subparsers
from mfopt.run.verification import Difference, Verification

_EVERY_TTY, _EVERY_LINE = 0.1, 30.0  # seconds between signs of life: redrawn, or on lines of their own
_SHOWN = 3  # differences that are printed

_EPILOG = """A study keeps what its strategy has learnt, so that it need not be replayed when it is opened. This replays
it all the same, and takes as long as all asks together took. It needs the versions, the kind of CPU and the number of
BLAS threads that the study was made with; others round differently.

exit codes: 0 every ask comes out as it was recorded, 1 some do not, or failed, 2 wrong usage"""


def add(commands: Subparsers) -> None:
    parser = commands.add_parser(
        "verify",
        help="replay a study, and check that the asks recorded come out",
        description="Replay a study with a fresh strategy, and check that it asks what was recorded, to the bit.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_storage(parser)
    parser.add_argument("--json", action="store_true", help="as JSON: study, asks, holds, state, differences")


def run(arguments: argparse.Namespace) -> ExitCode:
    study = open_study(arguments)
    found = study.verify(_Progress())
    if arguments.json:
        print(json.dumps({"study": study.name, "holds": found.holds, **asdict(found)}))
    else:
        print(f"study {study.name}: {_summarise(found)}")
        for one in found.differences[:_SHOWN]:
            print(f"  {_describe(one)}")
    return ExitCode.DONE if found.holds else ExitCode.FAILED


def _summarise(found: Verification) -> str:
    count = len(found.differences)
    if count:
        return f"{count} of {found.asks} asks come out otherwise than recorded"
    if found.state is False:
        return f"all {found.asks} asks come out as recorded, but the strategy's state is not the one that is kept"
    kept = ", and so does the state that is kept" if found.state else ""
    return f"all {found.asks} asks come out as recorded{kept}"


def _describe(one: Difference) -> str:
    what = "an ask that was refused" if one.trial is None else f"trial {one.trial}"
    recorded, replayed = (
        "nothing" if query is None else f"fidelity {query[0]} at {query[1]}" for query in (one.recorded, one.replayed)
    )
    return f"{what}: recorded {recorded}, replayed {replayed} (unit coordinates)"


class _Progress:
    """Says on stderr how far the replay is."""

    def __init__(self) -> None:
        self._redraws = sys.stderr.isatty()
        self._said = time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self._said < (_EVERY_TTY if self._redraws else _EVERY_LINE) and not (self._redraws and done == total):
            return
        self._said = now
        end = "\r" if self._redraws and done < total else "\n"
        print(f"mfopt: {done} of {total} asks replayed", end=end, file=sys.stderr, flush=True)
