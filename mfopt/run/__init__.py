"""What happens in a run: events, trials, the ledger that is kept of them, and the strategy that is shown them."""
