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
        message = _one_line(problem, secrets)
        if "out of memory" in message.lower():
            raise TooLarge(f"{doing} failed: {message.rstrip('.')}. Audit a part of the log.") from None
        raise BadInput(f"{doing} failed: {message}") from None


def _needed(problem: ImportError) -> str:
    """The package that could not be imported, and how to get it; Ibis wraps the error that names it."""
    chain: list[BaseException] = [problem]
    while (why := chain[-1].__cause__ or chain[-1].__context__) is not None and why not in chain:
        chain.append(why)
    named = [str(error.name).split(".")[0] for error in chain if isinstance(error, ImportError) and error.name]
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


def _one_line(problem: Exception, secrets: Sequence[str]) -> str:
    lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
    message = lines[0] if lines else type(problem).__name__
    for secret in filter(None, secrets):
        message = message.replace(secret, "***")
    message = without_password(message)
    return message if len(message) <= _LONGEST else message[:_LONGEST] + "…"
