"""Answers of an engine as Arrow tables, whole or in batches."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput
from faithscope.explanations.arrow.columns import to_objects
from faithscope.inputs.array_types import Ints
from faithscope.tables.engine.engines import engine_of
from faithscope.tables.engine.expressions import Expression
from faithscope.tables.engine.failures import clear_errors

_PER_DAY = {"date32[day]": 1, "date64[ms]": 86_400_000, "s": 86_400} | {
    unit: 86_400 * 10**digits for unit, digits in (("ms", 3), ("us", 6), ("ns", 9))
}
_FIRST, _LAST = -719_162, 2_932_897  # days since 1970 of the years 1 to 9999


def fetch(expression: Expression) -> Any:
    """The rows of an Ibis expression, as a pyarrow.Table."""
    with clear_errors(_doing(expression)):
        table = engine_of(expression).fetch(expression)
    _refuse_far(table)
    return table


def fetch_line(expression: Expression) -> dict[str, Any]:
    """The only row of an Ibis expression, such as an aggregate of a whole table, by column."""
    line: dict[str, Any] = fetch(expression).to_pylist()[0]
    return line


def batches(expression: Expression, rows: int) -> Iterator[Any]:
    """The rows of an Ibis expression as pyarrow record batches of about so many rows, never all at once."""
    with clear_errors(_doing(expression)):
        reader = engine_of(expression).batches(expression, rows)
    while True:
        with clear_errors(_doing(expression)):
            batch = next(reader, None)
        if batch is None:
            return
        yield batch


def _doing(expression: Expression) -> str:
    return f"Reading the log with {expression.get_backend().name}"


def in_fixed_order(table: Any) -> Any:
    """An Arrow table sorted by all its columns: an engine's own order differs from run to run, and sums with it."""
    import pyarrow as pa
    import pyarrow.compute as pc

    keys = {
        f"s{j}": list(map(repr, column.to_pylist())) if pa.types.is_nested(column.type) else column
        for j, column in enumerate(table.columns)
    }
    return table.take(pc.sort_indices(pa.table(keys), [(name, "ascending") for name in keys]))


def _refuse_far(table: Any) -> None:
    """Raise if an Arrow table holds a moment that Python has no value for."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for column in table.columns:
        if pa.types.is_date(column.type) or pa.types.is_timestamp(column.type):
            size = _PER_DAY[column.type.unit if pa.types.is_timestamp(column.type) else str(column.type)]
            numbers = column.cast(pa.int32()) if pa.types.is_date32(column.type) else column.cast(pa.int64())
            ends = pc.min_max(numbers)
            low, high = ends["min"].as_py(), ends["max"].as_py()
            if low is not None and not _FIRST * size <= low <= high < _LAST * size:
                raise BadInput(
                    "The log holds a date or moment that is infinite or outside the years 1 to 9999: leave such rows "
                    "out, or write the column as text."
                )


def numbers_of(answer: Any, name: str) -> NDArray[np.int64]:
    """A column of integers of an Arrow table."""
    return np.asarray(answer.column(name).to_numpy().astype(np.int64))


def coded(answer: Any, names: Sequence[str]) -> tuple[list[Any], Ints]:
    """The different values of a column of an Arrow table, or tuples of several, and which of them each line has."""
    columns = [answer.column(name).combine_chunks().dictionary_encode("encode") for name in names]
    values = [column.dictionary.to_pylist() for column in columns]
    numbers = [column.indices.to_numpy(zero_copy_only=False).astype(np.int64) for column in columns]
    if len(names) == 1:
        return values[0], numbers[0]
    if not names:
        return [None], np.zeros(answer.num_rows, np.int64)
    lines, place = np.unique(np.column_stack(numbers), axis=0, return_inverse=True)
    combined = [tuple(each[number] for each, number in zip(values, line, strict=True)) for line in lines.tolist()]
    return combined, place.reshape(-1)


def as_array(values: Sequence[Any]) -> NDArray[Any]:
    """Values of a column as an array: as objects if they are not all of one type."""
    return np.array(values) if len({type(value) for value in values}) == 1 else to_objects(list(values))


def with_missing(values: NDArray[Any]) -> NDArray[Any]:
    """Values as they are; if some are missing, which is a value then, all of them as texts."""
    missing = np.array([value is None for value in values], bool) if values.dtype == object else np.zeros(1, bool)
    if not missing.any():
        return values
    texts, word = values.astype(str).astype(object), "missing"
    while word in texts:
        word = f"{word} "
    texts[missing] = word
    return texts


def predictions_of(answer: Any, names: Sequence[str]) -> NDArray[Any]:
    """The predictions of an answer in these columns, (n,) or (n, k)."""
    columns = [with_missing(values_of(answer, name)) for name in names]
    return columns[0] if len(columns) == 1 else np.column_stack(columns)


def values_of(answer: Any, name: str) -> NDArray[Any]:
    """A column of an Arrow table; as objects if some values are missing."""
    column = answer.column(name)
    values: NDArray[Any] = to_objects(column.to_pylist()) if column.null_count else column.to_numpy()
    return values
