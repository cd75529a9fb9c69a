"""A limit for work that would never end if it were quadratic: seconds of CPU, which a busy machine does not use up."""

import signal
from contextlib import contextmanager


@contextmanager
def cpu_seconds(most):
    """Stop what takes longer, with an error that says so."""

    def stop(*_):
        raise AssertionError(f"took more than {most} seconds of CPU")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, most)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
