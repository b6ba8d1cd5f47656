"""What can be said of a run afterwards (report), and of its fidelities before it (preflight)."""

from mfopt.analysis.fidelities import FidelityCheck, Preflight, preflight
from mfopt.analysis.runs import Report, report

__all__ = ["FidelityCheck", "Preflight", "Report", "preflight", "report"]
