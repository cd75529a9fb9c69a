"""A log counted without a first pass over it: each row says itself whether such a pass would have had to see it."""

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from operator import and_

from faithscope.discretizers import Original, Sign
from faithscope.tables.engine.dialects import engine_of
from faithscope.tables.engine.expressions import literal
from faithscope.tables.engine.protocol import Expression
from faithscope.tables.log.kinds import KeyColumns, NumberColumns
from faithscope.tables.log.layout import laid_out
from faithscope.tables.log.rows import AuditedLog
from faithscope.tables.options import AuditOptions
from faithscope.tables.sources.source import LogSource

_EXACT = 2**53  # beyond it two integers may share one float64


def unscanned(
    source: LogSource, options: AuditOptions, carried: Sequence[str], flag: str
) -> tuple[AuditedLog, str] | None:
    """The log as if every value were present and of ordinary size, and the column that says which rows are so.

    None if values must be known before rows can be counted. If any row is not so, `open_log` must be asked: it says
    what is wrong, or what else to do.

    Parameters
    ----------
    carried : sequence of str
        Other columns in which no value may be missing.
    flag : str
        What the column is called, with further letters if the log has a column of that name.
    """
    log = laid_out(source, options)
    if not _is_plain(log):
        return None
    log.source.refuse_wide((*log.used, *carried))
    table = log.source.table
    while flag in table.columns:
        flag += "_"
    ordinary = (_is_ordinary(table[name]) for name in dict.fromkeys((*log.used, *carried)))
    return replace(log, source=replace(log.source, table=table.mutate(**{flag: reduce(and_, ordinary)}))), flag


def _is_plain(log: AuditedLog) -> bool:
    """Whether keys do not depend on the size of numbers, and DuckDB makes keys even of numbers that are none."""
    options = log.options
    columns = isinstance(log.kind, NumberColumns | KeyColumns) and len(log.columns) == log.kind.width
    known = type(options.discretizer) in (Original, Sign) and options.nulls == "error" and not log.sparse
    return columns and known and engine_of(log.source.table).name == "duckdb"


def _is_ordinary(value: Expression) -> Expression:
    """Whether a value is present, and if it is a float or integer no larger than doubles can count; never null."""
    kind = value.type()
    if not (kind.is_floating() or kind.is_integer()):
        return value.notnull()
    largest = literal(float(_EXACT) if kind.is_floating() else _EXACT)
    return value.between(-largest, largest).fill_null(False)
