"""Evaluations: here, in threads, in processes, in programs, on a cluster.

    engine       asks an optimiser, evaluates in a pool, tells
    rules        what holds for the evaluations: limits, timeouts, retries
    status       how a run of the engine ended
    leases       trials of a study that are held here
    progress     two lines about a run
    pools        where evaluations run, with process_pool, dask_pool and dask_workers
    evaluation   one value, or why there is none
    simulator    an external program as a function
    orphans      what is started here ends with us

mfopt.loop puts them together.
"""
