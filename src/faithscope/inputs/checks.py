"""Checks of single arguments, and of lengths that must agree."""

from typing import Any

import numpy as np

from faithscope.errors import BadInput
from faithscope.inputs.arrays import INTEGERS


def same_length(**lengths: int) -> None:
    """Raise, naming both inputs, if two have different lengths; or if there are no rows.

    Parameters
    ----------
    **lengths
        The number of rows of each input, by the name that a caller knows it by.
    """
    (first, rows), *others = lengths.items()
    for name, length in others:
        if length != rows:
            raise BadInput(
                f"{first.capitalize()} have {rows:,} rows but {name} have {length:,}: pass one of each per row."
            )
    if rows == 0:
        raise BadInput(f"{first.capitalize()} are empty: at least one row is needed, and two to compare anything.")


def is_real(value: Any) -> bool:
    """Whether this is a real number; a span of time is not, although NumPy counts it among the integers."""
    return isinstance(value, (*INTEGERS, float, np.floating)) and not isinstance(value, bool | np.timedelta64)


def check_share(value: Any, what: str) -> float:
    """A number strictly between 0 and 1."""
    if not is_real(value) or not 0 < value < 1:
        raise BadInput(f"{what} must be a number strictly between 0 and 1; got {value!r}.")
    return float(value)


def check_flag(value: Any, what: str) -> bool:
    """True or False, and nothing that merely counts as one of them."""
    if not isinstance(value, bool | np.bool_):
        raise BadInput(f"{what} must be True or False; got {value!r}.")
    return bool(value)


def check_whole(value: Any, what: str, least: int = 1, most: int | None = None) -> int:
    """A whole number from `least` to `most`."""
    if not is_whole(value) or value < least or (most is not None and value > most):
        size = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise BadInput(f"{what} must be a whole number {size}; got {value!r}.")
    return int(value)


def is_whole(value: Any) -> bool:
    """Whether this is an integer; neither a boolean nor a span of time is."""
    return is_real(value) and isinstance(value, INTEGERS)
