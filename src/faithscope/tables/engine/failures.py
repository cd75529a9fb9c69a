"""Whatever an engine or a driver raises, as one clear line without secrets."""

import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from faithscope.errors import BadInput, FaithscopeError, MissingExtra, TooLarge

_EXTRAS = {"psycopg": "postgres", "pyspark": "spark"}
_INSTALLED = {"ibis", "duckdb", "pyarrow", "pandas"}  # with faithscope
_PASSWORD = re.compile(r"(?<=:)(?!//)\S*[^\s/](?=@)|(?<=password=)[^\s&]+", re.IGNORECASE)
_LONGEST = 300  # characters of an engine's own message


@contextmanager
def clear_errors(doing: str, *secrets: str) -> Iterator[None]:
    """Turn whatever an engine or a driver raises into one line; no password is ever part of it."""
    try:
        with warnings.catch_warnings():
            # Engines and drivers warn each other of changes to come; nobody here can act on it.
            warnings.filterwarnings("ignore", category=FutureWarning, module=r"pyspark\..*")
            warnings.filterwarnings("ignore", category=DeprecationWarning, module=r"ibis\..*")
            yield
    except (FaithscopeError, KeyboardInterrupt, MemoryError):
        raise
    except ImportError as problem:
        raise MissingExtra(f"{doing} needs {_needed(problem)}.") from None
    except Exception as problem:  # engines and their drivers share no base class
        chain = _chain(problem)
        if any(isinstance(error, KeyboardInterrupt) or is_interruption(error) for error in chain):
            raise KeyboardInterrupt from None
        # To close what an error of Postgres has broken fails too, and hides that error.
        first = next((error for error in reversed(chain) if type(error).__module__.startswith("psycopg")), problem)
        message = _one_line(first, secrets)
        if "out of memory" in message.lower():
            raise TooLarge(f"{doing} failed: {message.rstrip('.')}. Audit a part of the log.") from None
        raise BadInput(f"{doing} failed: {message}") from None


def is_interruption(error: BaseException) -> bool:
    """Whether this is what DuckDB makes of Ctrl-C during a query."""
    return type(error).__name__ == "InterruptException" or str(error) == "Query interrupted"


def _chain(problem: BaseException) -> list[BaseException]:
    """An error and those that it came from, the last one first."""
    chain = [problem]
    while (why := chain[-1].__cause__ or chain[-1].__context__) is not None and why not in chain:
        chain.append(why)
    return chain


def _needed(problem: ImportError) -> str:
    """The package that could not be imported, and how to get it; Ibis wraps the error that names it."""
    errors = [error for error in _chain(problem) if isinstance(error, ImportError) and error.name]
    named = [str(error.name).split(".")[0] for error in errors]
    package = next((name for name in named if name in _EXTRAS), named[0] if named else None)
    if package is None:
        return f"a package that cannot be imported ({_one_line(problem, ())})"
    extra = f"'faithscope[{_EXTRAS[package]}]'" if package in _EXTRAS else package
    extra = "faithscope" if package in _INSTALLED else extra
    return f"the package {package!r}, which is not installed: pip install {extra}"


def without_password(text: str) -> str:
    """A text in which whatever may be a password of an address is starred out.

    Examples
    --------
    >>> without_password("postgres://reader:secret@host/database")
    'postgres://reader:***@host/database'
    """
    return _PASSWORD.sub("***", text)


def _one_line(problem: BaseException, secrets: Sequence[str]) -> str:
    lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
    message = lines[0] if lines else type(problem).__name__
    for secret in filter(None, secrets):
        message = message.replace(secret, "***")
    message = without_password(message)
    return message if len(message) <= _LONGEST else message[:_LONGEST] + "…"
