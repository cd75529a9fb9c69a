"""One column of values as an Arrow array, and back: numbers and texts as they are, anything else as JSON text.

Equal values have equal JSON texts, so that an engine that compares texts compares explanations.
"""

import base64
import datetime
import json
from collections.abc import Callable, Iterable
from contextlib import suppress
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from typing import Any

import numpy as np

from faithscope.errors import WrongType
from faithscope.inputs.arrays import to_objects as to_objects
from faithscope.inputs.dates import Moment

_SAME_TEXT = 1e15  # whole floats below it read like integers, so they may become them
_ALL_DIGITS = Context(prec=MAX_PREC, Emin=MIN_EMIN, Emax=MAX_EMAX)


def write_column(values: Iterable[Any]) -> tuple[Any, bool]:
    """The values as an Arrow array, and whether they are JSON text there."""
    import pyarrow as pa

    if isinstance(values, pa.Array):
        return values, False
    if isinstance(values, np.ndarray) and values.dtype != object:
        half = values.dtype == np.float16  # few readers know it
        return pa.array(values.astype(np.float32) if half else values), False
    items = [str(item) if type(item) is np.str_ else item for item in values]
    types = {type(item) for item in items if item is not None}
    if len(types) < 2 and types <= {str, int, float, bool, Decimal}:
        with suppress(pa.ArrowException, OverflowError, UnicodeEncodeError):  # too many digits, or a lone surrogate
            array = pa.array(items, None if types else pa.string())
            if not pa.types.is_decimal256(array.type):  # which engines do not have
                return array, False
    return pa.array([json.dumps(_to_json(item), separators=(",", ":")) for item in items], pa.string()), True


def read_column(column: Any, as_json: bool) -> list[Any]:
    """The values of an Arrow column as Python objects."""
    values = column.to_pylist()
    return [_from_json(json.loads(text)) for text in values] if as_json else values


def _to_json(item: Any) -> Any:
    """A value as JSON; a type that JSON lacks becomes an object with one entry, named after the type."""
    item = item.item() if isinstance(item, np.generic) else item
    if item is None or type(item) in (str, bool, int):
        return item
    if isinstance(item, float) and item.is_integer() and abs(item) < _SAME_TEXT:
        return int(item)
    if isinstance(item, tuple):
        return list(map(_to_json, item))
    for name, (kind, write, _) in _TYPES.items():
        if isinstance(item, kind):
            return {name: write(item)}
    raise WrongType(
        f"An explanation of type {type(item).__name__} ({item!r}) cannot be written to a table: "
        "use numbers, texts, dates, or tuples and frozensets of them."
    )


def _from_json(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_from_json, value))
    if not isinstance(value, dict):
        return value
    ((name, inner),) = value.items()
    return _TYPES[name][2](inner)


def _canonical(number: Decimal) -> str:
    """A text that equal decimals share, such as 0.3 and 0.30."""
    if not number.is_finite():
        return str(number)
    return str(_ALL_DIGITS.normalize(number)) if number else "0"


def _iso(item: Any) -> str:
    if getattr(item, "nanosecond", 0):
        raise WrongType(f"{item!r} has nanoseconds, which a table of dates cannot keep: round it or use its text.")
    return str(item.isoformat())


# By name: a type that JSON lacks, what is written of it, and how it is read; the first that a value is of counts.
_TYPES: dict[str, tuple[Any, Callable[[Any], Any], Callable[[Any], Any]]] = {
    "float": (float, float.hex, float.fromhex),
    "set": (
        frozenset,
        lambda item: sorted(map(_to_json, item), key=lambda part: json.dumps(part, sort_keys=True)),
        lambda inner: frozenset(map(_from_json, inner)),
    ),
    "bytes": (bytes, lambda item: base64.b64encode(item).decode(), base64.b64decode),
    "decimal": (Decimal, _canonical, Decimal),
    "datetime": (datetime.datetime, _iso, datetime.datetime.fromisoformat),
    "date": (datetime.date, _iso, datetime.date.fromisoformat),
    "time": (datetime.time, _iso, datetime.time.fromisoformat),
    "moment": (Moment, str, Moment.parse),
    "timedelta": (
        datetime.timedelta,
        lambda item: [item.days, item.seconds, item.microseconds],
        lambda inner: datetime.timedelta(*inner),
    ),
}


def distinct_columns(names: Iterable[str]) -> list[str]:
    """Names of columns that no engine confuses: a number is added if two differ in nothing but case."""
    taken: set[str] = set()
    chosen = []
    for name in names:
        candidate, number = name, 1
        while candidate.casefold() in taken:
            number += 1
            candidate = f"{name}_{number}"
        taken.add(candidate.casefold())
        chosen.append(candidate)
    return chosen
