"""Conditions as callers write them, (feature, operator, value), read into their canonical form."""

from collections.abc import Callable
from dataclasses import replace
from math import inf
from typing import Any

import numpy as np

from faithscope.errors import BadInput, WrongType
from faithscope.explanations.conditions.condition import (
    BOUNDS,
    OR_MISSING,
    Bound,
    Condition,
    Value,
    canonical,
    family_of,
    in_order,
    with_article,
)
from faithscope.inputs.arrays import EXACT
from faithscope.inputs.dates import Moment
from faithscope.inputs.missing import is_missing

_TEXT = (str, bytes)


_FLOATS = (float, np.floating)


_INTEGERS = (int, np.integer, np.bool_)


_PLAIN = {str, int, float, bool, type(None)}


def to_condition(position: int, feature: str, operator: str, value: Any) -> Condition:
    """The canonical form of a condition that a caller wrote.

    Parameters
    ----------
    position, feature : int, str
    operator : str
        One of ``<= < >= > == != in``, ``not in`` and ``between``, whose value is (low, high), both included; with
        " or missing" after it if a missing value satisfies the condition too.
    value : number, bool, text, date, None or NaN, or a collection of them
        Missing with ``==`` asks for missing, with ``!=`` for present.

    Examples
    --------
    >>> str(to_condition(0, "age", ">", 3) & to_condition(0, "age", "<=", 7.0))
    '3 < age <= 7'
    """
    if isinstance(operator, str) and operator.endswith(OR_MISSING):
        present = to_condition(position, feature, operator.removesuffix(OR_MISSING), value)
        return replace(present, missing=True)
    read = _OPERATORS.get(operator) if isinstance(operator, str) else None
    if read is None:
        raise BadInput(f"Operator {operator!r} on feature {feature!r} is unknown. Known are: {', '.join(_OPERATORS)}.")
    return read(position, feature, operator, value)


def _read_bound(position: int, feature: str, operator: str, value: Any) -> Condition:
    bound, is_open = _bound(feature, operator, value), "=" not in operator
    if "<" in operator:
        bounded = Condition(position, feature, high=bound, high_open=is_open)
    else:
        bounded = Condition(position, feature, low=bound, low_open=is_open)
    return bounded if -inf < bound < inf else canonical(bounded)


def _read_between(position: int, feature: str, operator: str, value: Any) -> Condition:
    if isinstance(value, str) or not hasattr(value, "__len__") or len(value) != 2:
        raise BadInput(f"between on feature {feature!r} needs (low, high); got {value!r}.")
    low, high = (_bound(feature, operator, end) for end in value)
    return canonical(Condition(position, feature, low, high))


def _bound(feature: str, operator: str, value: Any) -> Bound:
    if is_missing(value):
        raise BadInput(f"{feature} {operator} {value}: a missing value has no order. Ask for it with == or !=.")
    number = _value(feature, operator, value)
    if isinstance(number, str):
        raise WrongType(
            f"{feature} {operator} {value!r}: text has no order here. Use ==, !=, in or not in; a date must be a "
            "datetime, not its text."
        )
    return number


def _read_equal(position: int, feature: str, operator: str, value: Any) -> Condition:
    return _read_set(position, feature, "in" if operator == "==" else "not in", (value,))


def _read_set(position: int, feature: str, operator: str, value: Any) -> Condition:
    if isinstance(value, _TEXT) or not hasattr(value, "__iter__"):
        raise WrongType(f"{feature} {operator} {value!r}: pass a list of values.")
    given = list(value)
    present = {_value(feature, operator, item) for item in given if not is_missing(item)}
    families = sorted({family_of(item) for item in present})
    if len(families) > 1:
        both = "numbers and text" if families == ["number", "text"] else " and ".join(map(with_article, families))
        raise WrongType(f"{feature} {operator} {value!r} mixes {both}: a feature holds one or the other.")
    values = in_order(present)
    if operator == "in":
        return Condition(position, feature, among=values, missing=any(map(is_missing, given)))
    return canonical(Condition(position, feature, without=values))


def _value(feature: str, operator: str, given: Any) -> Value:
    if isinstance(given, str):
        return str.__str__(given)
    if isinstance(given, _FLOATS):
        return float(given) + 0.0  # -0.0 is 0.0
    if isinstance(given, _INTEGERS):
        whole = int(given)
        return float(whole) if -EXACT <= whole <= EXACT else whole
    moment = given if isinstance(given, Moment) else Moment.of(given)
    if moment is not None:
        return moment
    raise WrongType(
        f"{feature} {operator} {given!r}: a {type(given).__name__} is neither number, boolean, text, date nor missing. "
        "Convert it, and the column, e.g. with float() or str()."
    )


def written_row(given: Any) -> tuple[Any, ...]:
    """The conditions of one row as a caller wrote them, as a hashable tuple."""
    if isinstance(given, str) or not hasattr(given, "__iter__") or getattr(given, "shape", None) == ():
        raise WrongType(
            f"Rules must be one list of conditions per row; got {given!r}. Pass [] for a rule that covers all."
        )
    row = tuple(given)
    try:
        hash(row)
    except TypeError:
        row = tuple(map(_frozen, row))
    return _hashable(row)


def _hashable(row: tuple[Any, ...]) -> tuple[Any, ...]:
    try:
        hash(row)
    except TypeError as problem:
        raise WrongType(
            f"A rule holds a value that cannot be compared ({problem}): use numbers, texts and lists."
        ) from None
    return row


def _frozen(item: Any) -> Any:
    """The item made hashable: lists, sets and arrays become tuples."""
    if isinstance(item, np.ndarray) and item.shape == ():
        return None if np.ma.is_masked(item) else item.item()
    if isinstance(item, _TEXT) or not hasattr(item, "__iter__"):
        return item
    return tuple([part if type(part) in _PLAIN else _frozen(part) for part in item])


def is_triple(item: object) -> bool:
    """Whether this may be (feature, operator, value)."""
    return isinstance(item, tuple) and len(item) == 3


_OPERATORS: dict[str, Callable[[int, str, str, Any], Condition]] = {
    **dict.fromkeys(BOUNDS, _read_bound),
    **dict.fromkeys(("==", "!="), _read_equal),
    **dict.fromkeys(("in", "not in"), _read_set),
    "between": _read_between,
}
