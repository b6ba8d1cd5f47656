"""Ctrl-C at a chosen line of our own code, or of the built-in plugins', for the tests."""

import os
import sys
from pathlib import Path

import mfopt
import mfopt_plugins

PACKAGE = f"{Path(mfopt.__file__).parent}{os.sep}"
OURS = tuple(f"{PACKAGE}{name}" for name in (f"run{os.sep}", f"storage{os.sep}", "optimizer.py"))
PLUGINS = str(Path(mfopt_plugins.__file__).parent)


class Interrupt:
    """Raises KeyboardInterrupt before the n-th line of the code `at` that is run within."""

    def __init__(self, n, at=OURS):
        self.left = n
        self.at = at

    def __enter__(self):
        sys.settrace(self.called)

    def __exit__(self, *_):
        sys.settrace(None)

    def called(self, frame, event, argument):
        return self.line if frame.f_code.co_filename.startswith(self.at) else None

    def line(self, frame, event, argument):
        if event == "line":
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt
        return self.line
