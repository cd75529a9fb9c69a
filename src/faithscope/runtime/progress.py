"""Progress of long work: a line every ten seconds, on standard error."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from threading import Timer

from faithscope.errors import WrongType
from faithscope.visible import visible

Step = Callable[[int, int], None]  # called with rows done and rows in total
Told = Callable[[str, int, int], None]  # called with the phase, rows done and rows in total

_PATIENCE = 1.0  # seconds before anything is shown
_BETWEEN = 10.0  # seconds between lines


class Watch:
    """Shows phases of work, one after the other.

    Parameters
    ----------
    progress : None, bool or callable
        None and True show phases that take more than a second, False shows nothing; a function is called with the
        phase, the rows done and the rows in total.
    """

    def __init__(self, progress: bool | Told | None = None) -> None:
        if not (progress is None or isinstance(progress, bool) or callable(progress)):
            raise WrongType(
                f"progress must be True, False, None or a function (phase, done, total); got {type(progress).__name__}."
            )
        self.told = progress if callable(progress) else None
        self.shown = progress is None or progress is True

    @contextmanager
    def phase(self, name: str, total: int) -> Iterator[Step]:
        """A phase over so many rows; gives a function to call with rows done and rows in total."""
        began = last = time.monotonic()

        def say(what: str) -> None:
            if self.shown:
                print(f"{visible(name)}: {what}", file=sys.stderr, flush=True)

        def step(done: int, total: int) -> None:
            nonlocal last
            now = time.monotonic()
            if now - last >= _BETWEEN:
                last = now
                left = (now - began) * (total - done) / max(1, done)
                say(f"{done:,} of {total:,} rows, about {left:.0f} s left")

        first = Timer(_PATIENCE, say, [f"{total:,} rows"])
        first.daemon = True
        first.start()
        try:
            yield partial(self.told, name) if self.told else step
        finally:
            first.cancel()
            first.join()  # a thread that still writes when Python ends would abort the process
            spent = time.monotonic() - began
            if spent >= _PATIENCE:
                say(f"done in {spent:.0f} s")
