"""Parser: argparse's, in which each command answers for its own options."""

from __future__ import annotations

import argparse
from typing import Any

from mfopt.checks import find_closest


class Parser(argparse.ArgumentParser):
    """An unknown option is refused by the command it was given to, with its usage and the option probably meant.

    argparse itself leaves it to the parser at the top, whose usage says nothing about the command.
    """

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """The arguments, and an empty list: what is not known is an error."""
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            options = [word.partition("=")[0] for word in unknown if word.startswith("--")]
            close = find_closest(options[0], self._option_string_actions) if options else None
            hint = "" if close is None else f"; did you mean {close}?"
            self.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
        return found, unknown
