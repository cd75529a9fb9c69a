"""What is printed while work goes on: progress and warnings; and what commands print: JSON alone, in any encoding."""

import codecs
import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from functools import partial, wraps
from threading import Timer
from typing import Any, ParamSpec, TextIO, TypeVar

from faithscope.errors import WrongType
from faithscope.visible import visible

Step = Callable[[int, int], None]  # called with rows done and rows in total
Told = Callable[[str, int, int], None]  # called with the phase, rows done and rows in total
Arguments = ParamSpec("Arguments")
Returned = TypeVar("Returned")

_PATIENCE = 1.0  # seconds before anything is shown
_BETWEEN = 10.0  # seconds between lines
_PLAIN = {"–": "-", "−": "-", "—": "-", "…": "...", "×": "x", "·": "*", "≤": "<=", "≥": ">=", "²": "^2", "’": "'"}
_OUTPUT = 1  # the number of standard output in every process

_answers: list[TextIO] = []  # where JSON goes while everything else is diverted


class Watch:
    """Shows phases of work, one after the other, as lines on standard error: one every ten seconds.

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
        self.progress = progress

    @contextmanager
    def phase(self, name: str, total: int) -> Iterator[Step]:
        """A phase over so many rows; gives a function to call with rows done and rows in total."""
        began = last = time.monotonic()

        def say(what: str) -> None:
            if self.progress in (None, True):
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
            yield partial(self.progress, name) if callable(self.progress) else step
        finally:
            first.cancel()
            first.join()  # a thread that still writes when Python ends would abort the process
            spent = time.monotonic() - began
            if spent >= _PATIENCE:
                say(f"done in {spent:.0f} s")


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line that called this package, or what `contextlib` has wrapped of it, however deep it arises."""
    level, frame, ours = 1, sys._getframe(0), ("faithscope", "contextlib")
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).partition(".")[0] in ours:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def plain_letters() -> None:
    """Let standard output and standard error take any text, whatever their encoding: no letter stops a command.

    Letters that an encoding lacks are replaced by their plain form if they have one, otherwise by their code.
    """

    def substitute(problem: Any) -> tuple[str, int]:
        unknown = problem.object[problem.start : problem.end]
        return "".join(_PLAIN.get(letter) or ascii(letter)[1:-1] for letter in unknown), problem.end

    codecs.register_error("faithscope.plain", substitute)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="faithscope.plain")


def json_alone(command: Callable[Arguments, Returned]) -> Callable[Arguments, Returned]:
    """The command, except that with --json its standard output holds what `print_json` writes and nothing else.

    Whatever anybody else prints goes to standard error: a model, a C library, a child process.
    """

    @wraps(command)
    def run(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Returned:
        if not kwargs.get("as_json"):
            return command(*args, **kwargs)
        # Moved for the rest of the process: what is printed at its end does not follow the answer.
        _answers.append(_moved() if _number(sys.stdout) == _OUTPUT else sys.stdout)
        try:
            with redirect_stdout(sys.stderr):
                return command(*args, **kwargs)
        finally:
            _answers.pop()

    return run


def print_json(told: Any) -> None:
    """Write an answer to standard output, as JSON on one line."""
    print(json.dumps(told, allow_nan=False), file=_answers[-1] if _answers else sys.stdout, flush=True)


def _moved() -> TextIO:
    """Standard output under another number; its own number becomes that of standard error."""
    sys.stdout.flush()
    original = os.dup(_OUTPUT)
    errors = _number(sys.stderr)
    os.dup2(os.open(os.devnull, os.O_WRONLY) if errors is None else errors, _OUTPUT)
    return os.fdopen(original, "w", encoding="utf-8")


def _number(stream: Any) -> int | None:
    """The number of the file that a stream writes to; None for a stream in memory, or none at all."""
    try:
        return int(stream.fileno())
    except (AttributeError, OSError, ValueError):
        return None
