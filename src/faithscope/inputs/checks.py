"""Checks of single arguments, and of lengths that must agree."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from inspect import signature
from typing import Any

import numpy as np

from faithscope.errors import BadInput, FaithscopeError, UnknownName, WrongType
from faithscope.inputs.arrays import INTEGERS
from faithscope.words import hint


@contextmanager
def one_sentence(said: str, *kinds: type[Exception]) -> Iterator[None]:
    """Raise one sentence, in which ``{why}`` is what went wrong, if something looks like what it turns out not to be.

    Examples
    --------
    >>> with one_sentence("This looks like a log, but cannot be read ({why}): pass a table."):
    ...     {}["rows"]
    Traceback (most recent call last):
        ...
    faithscope.errors.BadInput: This looks like a log, but cannot be read (KeyError: 'rows'): pass a table.
    """
    usual = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, AssertionError, RecursionError)
    wrong: tuple[type[Exception], ...] = (*usual, OSError, *kinds)
    try:
        yield
    except FaithscopeError:
        raise
    except wrong as why:
        raise BadInput(said.format(why=f"{type(why).__name__}: {why}")) from why


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


def check_word(value: Any, what: str, words: Iterable[str], *, optional: bool = False) -> Any:
    """One of these words; if it is optional, None too. Only texts are compared: an array is equal to nothing at all.

    Examples
    --------
    >>> check_word("gpu", "device", ("cpu", "cuda"))
    Traceback (most recent call last):
        ...
    faithscope.errors.BadInput: device must be one of 'cpu', 'cuda'; got 'gpu'.
    """
    known = tuple(words)
    if (value is None and optional) or (isinstance(value, str) and value in known):
        return value
    none = " or None" if optional else ""
    among = ("one of " if len(known) > 1 else "") + ", ".join(map(repr, known))
    raise BadInput(f"{what} must be {among}{none}; got {value!r}.")


def check_function(value: Any, what: str, *takes: str) -> Any:
    """A function that can be called with these arguments; one that does not tell what it takes is believed.

    Examples
    --------
    >>> check_function(len, "agreement", "a", "b")
    Traceback (most recent call last):
        ...
    faithscope.errors.WrongType: agreement must be a function of (a, b); got <built-in function len>.
    """
    try:
        if callable(value):
            signature(value).bind(*takes)
            return value
    except ValueError:  # some functions that are not written in Python
        return value
    except TypeError:
        pass
    raise WrongType(f"{what} must be a function of ({', '.join(takes)}); got {value!r}.")


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


def text_names(explainers: Mapping[Any, Any]) -> dict[str, Any]:
    """The same explainers with their names as texts, each of which must be its own."""
    named = {str(name): explainer for name, explainer in explainers.items()}
    if len(named) < len(explainers):
        raise BadInput(f"Two explainers are called alike once names are texts, of {[*named]}: give each its own name.")
    return named


def by_name(choice: Any, explainers: Mapping[str, Any], what: str) -> Any:
    """A choice for all explainers as it is; a mapping with its names as texts, each of which must be an explainer's."""
    if not isinstance(choice, Mapping):
        return choice
    chosen = text_names(choice)
    for name in chosen:
        if name not in explainers:
            raise UnknownName(f"{what} names {name!r}, which is no explainer here. {hint(name, explainers)}")
    return chosen
