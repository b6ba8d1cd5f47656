"""What can be said of a run afterwards (report), and of its fidelities before it (preflight)."""

from mfopt.analysis.preflight import preflight
from mfopt.analysis.report import Report, report

__all__ = ["Report", "preflight", "report"]
