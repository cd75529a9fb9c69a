"""What commands print: JSON alone on standard output, and plain letters if its encoding has no others."""

import codecs
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from functools import wraps
from typing import Any, ParamSpec, TextIO, TypeVar

Arguments = ParamSpec("Arguments")
Returned = TypeVar("Returned")

_PLAIN = {"–": "-", "−": "-", "—": "-", "…": "...", "×": "x", "·": "*", "≤": "<=", "≥": ">=", "²": "^2", "’": "'"}
_HANDLER = "faithscope.plain"
_OUTPUT = 1  # the number of standard output in every process

_answers: list[TextIO] = []  # where JSON goes while everything else is diverted


def plain_letters() -> None:
    """Let standard output and standard error take any text, whatever their encoding: no letter stops a command."""
    codecs.register_error(_HANDLER, _substitute)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=_HANDLER)


def _substitute(problem: UnicodeError) -> tuple[str, int]:
    """Replace letters that an encoding lacks: by their plain form if they have one, otherwise by their code."""
    if not isinstance(problem, UnicodeEncodeError):
        raise problem
    unknown = problem.object[problem.start : problem.end]
    return "".join(_PLAIN.get(letter) or ascii(letter)[1:-1] for letter in unknown), problem.end


def json_alone(command: Callable[Arguments, Returned]) -> Callable[Arguments, Returned]:
    """The command, except that with --json its standard output holds what `print_json` writes and nothing else."""

    @wraps(command)
    def run(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Returned:
        if not kwargs.get("as_json"):
            return command(*args, **kwargs)
        with _diverted():
            return command(*args, **kwargs)

    return run


def print_json(told: Any) -> None:
    """Write an answer to standard output, as JSON on one line."""
    print(json.dumps(told, allow_nan=False), file=_answers[-1] if _answers else sys.stdout, flush=True)


@contextmanager
def _diverted() -> Iterator[None]:
    """Send to standard error what anybody prints: a model, a C library, a child process."""
    answers: Any = sys.stdout
    if _number(answers) == _OUTPUT:
        answers = _moved()  # for the rest of the process: what is printed at its end does not follow the answer
    _answers.append(answers)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        _answers.pop()


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
