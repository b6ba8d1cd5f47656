"""Evaluations: here, in threads, in processes, in programs, on a cluster."""
