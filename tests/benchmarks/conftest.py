"""The programs in benchmarks/ are no package of the distribution: tests import them from there."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
