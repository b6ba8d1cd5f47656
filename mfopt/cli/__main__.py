"""`python -m mfopt.cli`: the command without its script."""

import sys

from mfopt.cli import main

sys.exit(main())
