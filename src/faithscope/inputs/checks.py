"""Checks of single arguments, and of lengths that must agree."""

from typing import Any

import numpy as np

from faithscope.errors import BadInput
from faithscope.inputs.arrays import _INTEGERS


def same_length(**lengths: int) -> None:
    """Raise, naming both, where two inputs are of different length, or where there are no rows."""
    (first, rows), *others = lengths.items()
    for name, length in others:
        if length != rows:
            raise BadInput(f"{first.capitalize()} have {rows:,} rows but {name} have {length:,}: pass one a row.")
    if rows == 0:
        raise BadInput(f"{first.capitalize()} are empty: at least one row is needed, and two to compare anything.")


def _is_real(value: Any) -> bool:
    """Whether this is a real number; a span of time is none, although NumPy counts it among the integers."""
    return isinstance(value, (*_INTEGERS, float, np.floating)) and not isinstance(value, bool | np.timedelta64)


def check_share(value: Any, what: str) -> float:
    """A number strictly between 0 and 1."""
    if not _is_real(value) or not 0 < value < 1:
        raise BadInput(f"{what} must be a number strictly between 0 and 1; got {value!r}.")
    return float(value)


def check_whole(value: Any, what: str, least: int = 1) -> int:
    """A whole number that is large enough."""
    if not _is_real(value) or not isinstance(value, int | np.integer) or value < least:
        raise BadInput(f"{what} must be a whole number of at least {least}; got {value!r}.")
    return int(value)
