"""Progress of long work: a bar on terminals and in notebooks, a line every ten seconds in plain logs."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from typing import Any

from faithscope.errors import WrongType
from faithscope.visible import visible

Step = Callable[[int, int], None]  # called with rows done and rows in total
Told = Callable[[str, int, int], None]  # called with the phase, rows done and rows in total

_PATIENCE = 1.0  # seconds before anything is shown
_BETWEEN = 10.0  # seconds between lines of a log


class Clock:
    """The time, and calls after some time; tests replace it."""

    def now(self) -> float:
        """Seconds since a fixed moment."""
        return time.monotonic()

    def after(self, seconds: float, call: Callable[[], None]) -> Callable[[], None]:
        """Call a function after some seconds; returns a function that cancels the call, or waits until it has ended."""
        timer = threading.Timer(seconds, call)
        timer.daemon = True
        timer.start()

        def cancel() -> None:
            timer.cancel()
            timer.join()  # a thread that still writes when Python ends would abort the process

        return cancel


def bar(phase: str, total: int, clock: Clock) -> tuple[Step, Callable[[float], object]]:
    """A bar of rich's, on a terminal or in a notebook: what moves it, and what ends it after some seconds."""
    from rich import progress
    from rich.console import Console
    from rich.markup import escape

    columns = [
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TimeRemainingColumn(),
    ]
    shown = progress.Progress(*columns, console=Console(stderr=True), transient=True)
    shown.start()
    task = shown.add_task(escape(visible(phase)), total=None)  # moves to and fro until rows are known
    return lambda done, total: shown.update(task, completed=done, total=total), lambda seconds: shown.stop()


def lines(phase: str, total: int, clock: Clock) -> tuple[Step, Callable[[float], object]]:
    """Lines on standard error, at most one every ten seconds; as `bar`."""
    last = clock.now()

    def say(what: str) -> None:
        print(f"{visible(phase)}: {what}", file=sys.stderr, flush=True)

    def update(done: int, total: int) -> None:
        nonlocal last
        if clock.now() - last >= _BETWEEN:
            last = clock.now()
            say(f"{done:,} of {total:,} rows")

    say(f"{total:,} rows")
    return update, lambda seconds: say(f"done in {seconds:.0f} s")


class Watch:
    """Shows phases of work, one after the other.

    Parameters
    ----------
    progress : None, bool or callable
        None and True show phases that take more than a second, False shows nothing; a function is called with the
        phase, the rows done and the rows in total.
    clock : Clock, optional
        The clock to use; by default the system's.
    """

    def __init__(self, progress: bool | Told | None = None, clock: Clock | None = None) -> None:
        if not (progress is None or isinstance(progress, bool) or callable(progress)):
            raise WrongType(
                f"progress must be True, False, None or a function (phase, done, total); got {type(progress).__name__}."
            )
        self.told = progress if callable(progress) else None
        self.shown = progress is None or progress is True
        self.seconds: dict[str, float] = {}
        self.clock = Clock() if clock is None else clock

    @contextmanager
    def phase(self, name: str, total: int) -> Iterator[Step]:
        """A phase over so many rows; gives a function to call with rows done and rows in total."""
        began, latest = self.clock.now(), [0, total]
        shown: list[tuple[Step, Callable[[float], object]]] = []  # once it has lasted a second
        lock = threading.Lock()

        def show() -> None:
            with lock:
                shown.append(_display()(name, total, self.clock))
                if latest[0]:
                    shown[0][0](*latest)

        def step(done: int, total: int) -> None:
            with lock:
                latest[:] = done, total
                for update, _ in shown:
                    update(done, total)

        cancel = self.clock.after(_PATIENCE, show) if self.shown else lambda: None
        try:
            yield partial(self.told, name) if self.told else step
        finally:
            cancel()
            spent = self.clock.now() - began
            for _, end in shown:
                end(spent)
            self.seconds[name] = self.seconds.get(name, 0.0) + spent


def _display() -> Any:
    """A bar on a terminal, or in a notebook that can show one that moves; else lines."""
    shell = sys.modules.get("IPython")
    notebook = type(shell.get_ipython() if shell else None).__name__ == "ZMQInteractiveShell"
    return bar if sys.stderr.isatty() or (notebook and find_spec("ipywidgets")) else lines
