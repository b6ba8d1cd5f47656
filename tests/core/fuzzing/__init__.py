"""Random calls on everything that mfopt_core offers, with good, odd and hostile arguments, from one thread and several.

A run is made of rounds. Each has a seed of its own and a fresh World: a few Gaussian processes, trackers, kernels and
searches. CALLS calls follow, one after the other; in every THREADED-th round they come from several threads at once,
while another one overwrites the arrays that are given. What is required:

    only errors of DECLARED kinds come out;
    after an error all objects are as they were, to the bit (one thread; arguments that call back are let off);
    at the end of a round trackers agree with their GP, and a GP with one that is built anew from its rows.

    arguments.py   what the calls are given
    world.py       the objects that they are made on, and what must hold of those
    calls.py       one random call at a time; level_calls.py has those on several levels, looks.py what is looked at
    rounds.py      many of them, alone and from several threads

`python -m tests.core.fuzzing.rounds CALLS SEED` runs it by itself. A round that went wrong is named in the error and
can be repeated by `run_round(seed, number)`.
"""
