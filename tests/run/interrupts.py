"""Ctrl-C at a chosen line of our own code, for the tests."""

import os
import sys
from pathlib import Path

import mfopt

PACKAGE = f"{Path(mfopt.__file__).parent}{os.sep}"
OURS = tuple(f"{PACKAGE}{name}" for name in (f"run{os.sep}", f"storage{os.sep}", "optimizer.py"))


class Interrupt:
    """Raises KeyboardInterrupt before the n-th line of our own code that is run within."""

    def __init__(self, n):
        self.left = n

    def __enter__(self):
        sys.settrace(self.called)

    def __exit__(self, *_):
        sys.settrace(None)

    def called(self, frame, event, argument):
        return self.line if frame.f_code.co_filename.startswith(OURS) else None

    def line(self, frame, event, argument):
        if event == "line":
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt
        return self.line
