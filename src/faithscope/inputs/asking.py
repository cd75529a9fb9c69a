"""Asking a caller's model: with rows of its own, and errors that tell where they were raised."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np


def rows_of_its_own(X: Any) -> Any:
    """A copy of the rows, so that code that changes its input in place changes no other numbers.

    The copy has the same memory layout, so that sums round alike. Rows that cannot be changed, or whose type is not
    known here, are handed over as they are.
    """
    if isinstance(X, np.ndarray):
        return X.copy(order="K")
    if type(X) is list:
        return [row.copy() if isinstance(row, list | np.ndarray) else row for row in X]
    library = type(X).__module__.partition(".")[0]
    if library == "pandas" or hasattr(X, "iloc"):
        import pandas as pd

        return X.copy(deep=int(pd.__version__.partition(".")[0]) < 3)  # from version 3 on it copies on write
    copy = {"polars": "clone", "torch": "clone", "scipy": "copy"}.get(library)
    return getattr(X, copy)() if copy and hasattr(X, copy) else X


@contextmanager
def framed(phase: str, start: int, rows: int, total: int) -> Iterator[None]:
    """Add a note to an error of the caller's own code: in which phase and on which rows. The error stays what it is."""
    stop = start + rows - 1
    with noting(f"Raised while {phase}, on rows {start:,} to {stop:,} of {total:,} (counted from 0)."):
        yield


@contextmanager
def noting(note: str) -> Iterator[None]:
    """Add a note to an error of the caller's own code. The error stays what it is."""
    try:
        yield
    except Exception as error:
        if note not in getattr(error, "__notes__", ()):
            with suppress(Exception):  # an error may refuse to be changed
                error.add_note(note)
        raise
