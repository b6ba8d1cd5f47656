"""Run: what happens between the first ask and the last tell.

Setup        what a run is made with
events       what happens in it: Asked, Refused, Told, Added, CapitalSet
Log          where events are written: MemoryLog (session.py), EventLog in mfopt/storage
Ledger       the state kept from them: pending trials, history, best value, Capital
Strategist   the strategy, which is shown every step in order
Session      the log, the ledger and the strategist of one run, kept in step
Trial, Best, History, Reason   what the user sees
"""
