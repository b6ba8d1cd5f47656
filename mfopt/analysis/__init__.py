"""What can be said of a run afterwards (report), and of its fidelities before it (preflight)."""

from mfopt.analysis.preflight import FidelityCheck, Preflight, preflight
from mfopt.analysis.report import Report, report

__all__ = ["FidelityCheck", "Preflight", "Report", "preflight", "report"]
