"""Missing and infinite values in the columns that an audit uses: counted first, then refused, dropped or kept."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from faithscope.errors import BadInput
from faithscope.tables.engine.calls import backend_of, fetch, literal

Nulls = Literal["error", "drop", "key"]
_CHOICES = ("error", "drop", "key")


def check_nulls(nulls: str) -> None:
    """Raise where this is no way to treat missing values."""
    if nulls not in _CHOICES:
        raise BadInput(f"nulls must be one of {', '.join(_CHOICES)}; got {nulls!r}.")


@dataclass(frozen=True)
class Scan:
    """What one pass over the used columns found.

    Attributes
    ----------
    rows : int
    missing : dict
        For each column that has any, how many values are null or NaN.
    nan : frozenset
        Columns that hold NaN.
    largest : dict
        For each column of numbers the largest absolute value.
    """

    rows: int
    missing: Mapping[str, int]
    nan: frozenset[str]
    largest: Mapping[str, float]


def scan(table: Any, columns: Sequence[str]) -> Scan:
    """Count what is missing in these columns; an infinite number is an error."""
    named = list(dict.fromkeys(columns))
    schema = table.schema()
    asked: dict[str, Any] = {"rows": table.count()}
    for j, name in enumerate(named):
        asked[f"c{j}"] = table[name].count()
        if _is_number(schema[name]):
            asked[f"m{j}"] = table[name].abs().max().cast("float64")
    found = fetch(table.aggregate(**asked)).to_pylist()[0]
    largest = {name: _known(found, j) for j, name in enumerate(named) if f"m{j}" in found}
    odd = [name for name, value in largest.items() if not math.isfinite(value)]  # NaN is the largest of all
    nan = _nans(table, odd) if odd else {}
    missing = {name: found["rows"] - found[f"c{j}"] + nan.get(name, 0) for j, name in enumerate(named)}
    return Scan(found["rows"], {name: count for name, count in missing.items() if count}, frozenset(nan), largest)


def _known(found: Mapping[str, Any], j: int) -> float:
    """The largest number of a column; a driver may hand NaN over as null."""
    value = found[f"m{j}"]
    return float(value) if value is not None else math.nan if found[f"c{j}"] else 0.0


def _is_number(one: Any) -> bool:
    return bool(one.is_numeric())


def _nans(table: Any, columns: Sequence[str]) -> dict[str, int]:
    numbers = {name: table[name].cast("float64") for name in columns}
    asked = {f"n{j}": numbers[name].isnan().sum() for j, name in enumerate(columns)}
    # By comparison, since Ibis takes it for granted that Spark has no infinite numbers.
    asked |= {f"i{j}": (numbers[name].abs() == literal(math.inf)).sum() for j, name in enumerate(columns)}
    found = fetch(table.aggregate(**asked)).to_pylist()[0]
    refuse_infinite({name: int(found[f"i{j}"]) for j, name in enumerate(columns)})
    return {name: int(found[f"n{j}"]) for j, name in enumerate(columns) if found[f"n{j}"]}


def refuse_infinite(found: Mapping[str, int]) -> None:
    """Raise where a column holds infinite numbers, by how many it has."""
    name = next((name for name, count in found.items() if count), None)
    if name is not None:
        raise BadInput(
            f"Column {name!r} holds an infinite number in {found[name]:,} rows: every value must be finite. "
            "Leave such rows out of the log."
        )


def refuse_missing(found: Scan, nulls: Nulls) -> None:
    """Raise where values are missing and nobody said what to do with them, or where no row is left."""
    if found.rows == 0:
        raise BadInput("The log has no rows: nothing can be measured.")
    for name, count in found.missing.items():
        if count == found.rows:
            raise BadInput(f"Column {name!r} is null in all {count:,} rows: name another column.")
    if nulls == "error" and found.missing:
        said = ", ".join(f"{name!r} in {count:,}" for name, count in list(found.missing.items())[:5])
        raise BadInput(
            f"Values are missing (null or NaN) in {len(found.missing)} of the used columns: {said} of "
            f'{found.rows:,} rows. Say nulls="drop" to leave such rows out, or nulls="key" to let missing be a value.'
        )


def is_missing(value: Any) -> Any:
    """Whether a value is null or NaN, as an expression."""
    return value.isnull() | is_nan(value) if may_be_nan(value) else value.isnull()


def may_be_nan(value: Any) -> bool:
    """Whether the type of an expression has a NaN; decimals have one in Postgres."""
    kind = value.type()
    return bool(kind.is_floating() or (kind.is_decimal() and backend_of(value) == "postgres"))


def is_nan(value: Any) -> Any:
    """Whether a number is NaN, as an expression."""
    return value.cast("float64").isnan()


def without_nan(value: Any) -> Any:
    """The value, null where it is NaN."""
    import ibis

    return ibis.ifelse(is_nan(value), ibis.null(value.type()), value)
