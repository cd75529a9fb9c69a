"""One column of values as an Arrow array, and back: numbers and texts as they are, anything else as JSON text.

Equal values have equal JSON texts, so that an engine that compares texts compares explanations.
"""

import base64
import datetime
import json
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import WrongType
from faithscope.inputs.arrays import to_objects as to_objects
from faithscope.inputs.dates import Moment

_SAME_TEXT = 1e15  # whole floats below it read like integers, so they may become them
_WHOLE = 2**63
_DIGITS = 38
_DATES: dict[str, Any] = {"datetime": datetime.datetime, "date": datetime.date, "time": datetime.time}


def write_column(values: Iterable[Any]) -> tuple[Any, bool]:
    """The values as an Arrow array, and whether they are JSON text there."""
    import pyarrow as pa

    if isinstance(values, pa.Array):
        return values, False
    if isinstance(values, np.ndarray) and values.dtype != object:
        half = values.dtype == np.float16  # few readers know it
        return pa.array(values.astype(np.float32) if half else values), False
    items = [str(item) if type(item) is np.str_ else item for item in values]
    plain = _arrow_type(items)
    if plain is not None:
        return pa.array(items, plain), False
    return pa.array([json.dumps(_to_json(item), separators=(",", ":")) for item in items], pa.string()), True


def _arrow_type(items: Sequence[Any]) -> Any:
    """The Arrow type that holds these values as they are; None if there is none."""
    import pyarrow as pa

    types = set(map(type, items)) - {type(None)}
    if types <= {str} and all(_encodable(item) for item in items if item is not None):
        return pa.string()
    if types == {bool}:
        return pa.bool_()
    if types == {int}:
        return _integer_type([item for item in items if item is not None])
    if types == {Decimal}:
        return _decimal_type([item for item in items if item is not None])
    return pa.float64() if types == {float} else None


def _integer_type(items: Sequence[int]) -> Any:
    import pyarrow as pa

    low, high = min(items), max(items)
    if low >= -_WHOLE and high < _WHOLE:
        return pa.int64()
    return pa.uint64() if low >= 0 and high < 2 * _WHOLE else None


def _decimal_type(items: Sequence[Decimal]) -> Any:
    """Decimals of as many digits as engines have: at most 38, before and after the point together."""
    import pyarrow as pa

    if not all(item.is_finite() for item in items):
        return None
    scale = max(0, *(-int(item.as_tuple().exponent) for item in items), 0)
    whole = max(item.adjusted() + 1 for item in items)
    return pa.decimal128(max(1, whole + scale), scale) if max(whole, 0) + scale <= _DIGITS else None


def _encodable(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def read_column(column: Any, as_json: bool) -> list[Any]:
    """The values of an Arrow column as Python objects."""
    values = column.to_pylist()
    return [_from_json(json.loads(text)) for text in values] if as_json else values


def _to_json(item: Any) -> Any:
    """A value as JSON; a type that JSON lacks becomes an object with one entry, named after the type."""
    item = item.item() if isinstance(item, np.generic) else item
    if item is None or type(item) in (str, bool, int):
        return item
    if isinstance(item, float):
        return int(item) if item.is_integer() and abs(item) < _SAME_TEXT else {"float": item.hex()}
    if isinstance(item, tuple):
        return list(map(_to_json, item))
    if isinstance(item, frozenset):
        return {"set": sorted(map(_to_json, item), key=lambda part: json.dumps(part, sort_keys=True))}
    if isinstance(item, bytes):
        return {"bytes": base64.b64encode(item).decode()}
    if isinstance(item, Decimal):
        return {"decimal": _canonical(item)}
    if isinstance(item, datetime.date | datetime.time):  # a datetime is a date too
        return {_date_kind(item): item.isoformat()}
    if isinstance(item, Moment):
        return {"moment": str(item)}
    if isinstance(item, datetime.timedelta):
        return {"timedelta": [item.days, item.seconds, item.microseconds]}
    raise WrongType(
        f"An explanation of type {type(item).__name__} ({item!r}) cannot be written to a table: "
        "use numbers, texts, dates, or tuples and frozensets of them."
    )


def _canonical(number: Decimal) -> str:
    """A text that equal decimals share, such as 0.3 and 0.30."""
    sign, digits, exponent = number.as_tuple()
    if not isinstance(exponent, int):
        return str(number)
    text = "".join(map(str, digits)).lstrip("0")
    kept = text.rstrip("0")
    return str(Decimal((sign, tuple(map(int, kept)), exponent + len(text) - len(kept)))) if kept else "0"


def _date_kind(item: Any) -> str:
    if getattr(item, "nanosecond", 0):
        raise WrongType(f"{item!r} has nanoseconds, which a table of dates cannot keep: round it or use its text.")
    return next(name for name, kind in _DATES.items() if isinstance(item, kind))


def _from_json(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_from_json, value))
    if not isinstance(value, dict):
        return value
    ((kind, inner),) = value.items()
    if kind == "float":
        return float.fromhex(inner)
    if kind == "set":
        return frozenset(map(_from_json, inner))
    if kind == "bytes":
        return base64.b64decode(inner)
    if kind == "decimal":
        return Decimal(inner)
    if kind == "moment":
        return Moment.parse(inner)
    if kind == "timedelta":
        return datetime.timedelta(*inner)
    return _DATES[kind].fromisoformat(inner)


def read_array(column: Any, as_json: bool, dtype: str) -> NDArray[Any]:
    """The values of an Arrow column as an array of a known type."""
    return to_objects(read_column(column, as_json)) if dtype == "object" else column.to_numpy().astype(dtype)


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
