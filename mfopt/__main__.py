"""`python -m mfopt`: the command without its script."""

import sys

from mfopt.cli import main

if __name__ == "__main__":
    sys.exit(main())
