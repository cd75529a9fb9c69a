"""Codes of a log, in several columns, in lists or joined in one text, as one column of lists without empty ones."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count

from faithscope.errors import BadInput, WrongType
from faithscope.explanations.base import several
from faithscope.explanations.codes import LOOK_LIKE_MARKS, SEPARATORS
from faithscope.tables.engine.answers import fetch_line
from faithscope.tables.engine.expressions import Expression, as_number, literal
from faithscope.tables.engine.missing import nan_as_null
from faithscope.tables.sources.source import LogSource

_EXACT = 2**53  # beyond it two integers may share one float64
_WHOLE = "^[0-9]+[.]0$"  # a whole number, as tables write it in a column with empty cells


def code_lists(source: LogSource, columns: Sequence[str]) -> tuple[LogSource, str, tuple[str, ...]]:
    """The log with all codes of a row as one list in place of these columns, the name of that, and how it was read."""
    import ibis

    held = [name for name in columns if not _is_empty(source, name)]
    if not held:
        raise BadInput(f"No row has a code in {', '.join(columns[:8])}: name columns that hold codes.")
    for name in held:
        _refuse_type(source, name, alone=len(columns) == 1)
        _refuse_fractions(source, name)
    notes: tuple[str, ...] = ()
    if len(columns) > 1:
        _refuse_marks(source, held)
        lists = ibis.array([_code(source.table[name]) for name in held])
        name = next(name for name in _names() if name not in source.columns)
    else:
        lists, notes = _of_one_column(source, columns[0])
        name = columns[0]
    lists = lists.filter(lambda code: code.notnull() & (code != ""))
    table = source.table.mutate(**{name: lists})
    return replace(source, table=table.drop(*(each for each in columns if each != name)), cells=None), name, notes


def _is_empty(source: LogSource, column: str) -> bool:
    """Whether a column has the type of nothing but nulls, which DuckDB gives to such a column of a frame."""
    kind = source.table.schema()[column]
    return bool(kind.is_null() or (kind.is_unknown() and 'kind="NULL"' in str(kind)))


def _names() -> Iterator[str]:
    """Names for the column of lists, of which one is not taken."""
    yield "codes"
    yield from (f"codes_{number}" for number in count(2))


def _of_one_column(source: LogSource, column: str) -> tuple[Expression, tuple[str, ...]]:
    import ibis

    value = source.table[column]
    if value.type().is_array():
        codes = value.map(_code)
        return ibis.ifelse(value.isnull(), ibis.literal([], "array<string>"), codes), ()
    if not value.type().is_string():
        return ibis.array([_code(value)]), ()
    separator = _separator(source, column)
    if separator is None:
        return ibis.array([_code(value)]), ()
    # Spark would read a bar as a pattern; no text holds a mark that comes before its separator.
    plain = value.coalesce("").replace(separator, SEPARATORS[0])
    note = f"codes were read from texts in column {column!r}, split at {separator!r}"
    return plain.split(SEPARATORS[0]).map(_code), (note,)


def _separator(source: LogSource, column: str) -> str | None:
    """The first separator that occurs in any text of a column."""
    text = source.table[column]
    line = fetch_line(source.table.aggregate(**{f"s{j}": text.contains(s).sum() for j, s in enumerate(SEPARATORS)}))
    return next((separator for j, separator in enumerate(SEPARATORS) if line[f"s{j}"]), None)


def _code(value: Expression) -> Expression:
    """One code as a text without blanks around it; null or empty if there is none."""
    import ibis

    if value.type().is_string():
        text = value.strip()
        return ibis.ifelse(text.re_search(_WHOLE), text.substr(0, text.length() - 2), text)
    whole = value if value.type().is_integer() else nan_as_null(value).cast("int64")
    return whole.cast("string")


def _refuse_type(source: LogSource, column: str, *, alone: bool) -> None:
    kind = source.table.schema()[column]
    held = kind.value_type if kind.is_array() and alone else kind
    if not (held.is_string() or held.is_integer() or held.is_floating() or held.is_decimal()):
        lists = "" if alone or not kind.is_array() else ", and lists of codes sit in one column"
        raise WrongType(
            f"A code is a text or a whole number{lists}; column {column!r} holds {kind}: name other columns, or write "
            "the codes as texts."
        )


def _refuse_fractions(source: LogSource, column: str) -> None:
    """Raise if a code is a number that is no whole one, or too large to be told from others."""
    kind = source.table.schema()[column]
    held = kind.value_type if kind.is_array() else kind
    if not (held.is_floating() or held.is_decimal()):
        return
    table = source.table.select(code=source.table[column].unnest() if kind.is_array() else source.table[column])
    size = nan_as_null(table["code"]).cast("float64").abs()
    odd = (size > literal(float(_EXACT))) | (size != _floor(size))
    line = fetch_line(table.aggregate(n=as_number(odd.coalesce(False)).sum(), example=table["code"].min(where=odd)))
    if line["n"]:
        raise BadInput(
            f"A code that is a number is a whole one; column {column!r} holds "
            f"{several(line['n'], 'other', 'others')}, such as {line['example']:g}: write the codes as texts."
        )


def _refuse_marks(source: LogSource, columns: Sequence[str]) -> None:
    """Raise if columns of whole numbers hold only 0 and 1: these mark who has a code, and are none."""
    table = source.table
    if any(table[name].type().is_string() for name in columns):
        return
    numbers = [nan_as_null(table[name]).cast("float64") for name in columns]
    ends = {f"low{j}": value.min() for j, value in enumerate(numbers)}
    ends |= {f"high{j}": value.max() for j, value in enumerate(numbers)}
    line = {name: end for name, end in fetch_line(table.aggregate(**ends)).items() if end is not None}
    if line and (min(line.values()), max(line.values())) == (0, 1):
        raise BadInput(LOOK_LIKE_MARKS)


def _floor(size: Expression) -> Expression:
    """The floor of a number; as it is if beyond what an integer holds."""
    import ibis

    small = size <= literal(float(_EXACT))
    return ibis.ifelse(small, ibis.ifelse(small, size, literal(0.0)).floor().cast("float64"), size)
