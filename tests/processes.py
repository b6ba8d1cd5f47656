"""Processes that tests start, interrupt and look for."""

import signal
import subprocess
import time
from contextlib import contextmanager


@contextmanager
def started(command, sigint=signal.default_int_handler, **options):
    """A process that Ctrl-C reaches, killed at the end of the block if it still runs.

    A shell lets what it starts in the background ignore SIGINT, and every child inherits that, so a test that
    interrupts its child would only work in the foreground. A signal that is handled here is back at its default in
    the child. With `sigint=signal.SIG_IGN` the child is one in the background.
    """
    before = signal.signal(signal.SIGINT, sigint)
    try:
        process = subprocess.Popen(command, text=True, **options)
    finally:
        signal.signal(signal.SIGINT, before)
    with process:  # closes its pipes, and waits for it
        try:
            yield process
        finally:
            _end(process)


def _end(process):
    """First politely, so that it can end its own children."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()


def wait_for(condition, process=None, seconds=300):
    """Return once `condition()` holds; fail when that takes too long, or when `process` ends before."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert process is None or process.poll() is None, process.communicate()
        assert time.monotonic() < deadline, f"waited in vain for {seconds} s"
        time.sleep(0.05)


def ends(pid, seconds=20):
    """Whether the process ends in time.

    Time is counted in looks at it, twelve a second at most: on a machine so busy that these take longer, whatever ends
    the process takes longer too.
    """
    for _ in range(12 * seconds):
        if not _alive(pid):
            return True
        time.sleep(1 / 12)
    return not _alive(pid)


def _alive(pid):
    """Whether it runs; one that has ended but was not waited for (Z, a zombie) does not."""
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True).stdout.strip()
    return bool(state) and not state.startswith("Z")
