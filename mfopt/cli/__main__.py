"""`python -m mfopt.cli`: the same as `python -m mfopt`."""

import sys

from mfopt.cli import main

sys.exit(main())
