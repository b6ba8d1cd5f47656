"""The commands of `mfopt`, one module each.

A module has `add(commands)`, which declares the command on argparse's subparsers, and `run(arguments)`, which carries
it out and returns the exit code (None for 0). Heavy imports belong into `run`: `mfopt --help` imports every module.
"""
