"""A log counted without a first pass over it: each row says itself whether such a pass would have had to see it."""

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from operator import and_

from faithscope.discretizers import Original, Sign
from faithscope.tables.engine.expressions import literal
from faithscope.tables.engine.protocol import Expression
from faithscope.tables.log.discretizers import total
from faithscope.tables.log.kinds import KeyColumns, Kind, NumberColumns
from faithscope.tables.log.layout import laid_out
from faithscope.tables.log.rows import AuditedLog
from faithscope.tables.options import AuditOptions
from faithscope.tables.sources.source import LogSource

_EXACT = 2.0**53  # beyond it two integers may share one float64


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
    values = [table[name] for name in dict.fromkeys((*log.used, *carried))]
    source = replace(log.source, table=table.mutate(**{flag: _are_ordinary(values)}))
    return replace(log, source=source, kind=_without_holes(log.kind)), flag


def _is_plain(log: AuditedLog) -> bool:
    """Whether keys do not depend on the size of numbers, and a DuckDB of our own makes them, which sees every NaN."""
    options = log.options
    columns = isinstance(log.kind, NumberColumns | KeyColumns) and len(log.columns) == log.kind.width
    known = type(options.discretizer) in (Original, Sign) and options.nulls == "error" and not log.sparse
    return columns and known and log.source.embedded


def _without_holes(kind: Kind) -> Kind:
    return replace(kind, holes=False) if isinstance(kind, NumberColumns) else kind


def _are_ordinary(values: Sequence[Expression]) -> Expression:
    """Whether all values are present, and numbers finite and no larger than doubles can count; never null.

    The sum of their sizes says it of all numbers at once: it is null if a number is missing, and NaN or too large if
    one of them is.
    """
    sizes = [value.cast("float64").abs() for value in values if _is_number(value)]
    present = [value.notnull() for value in values if not _is_number(value)]
    small = [(total(sizes) < literal(_EXACT)).fill_null(False)] if sizes else []
    return reduce(and_, (*small, *present))


def _is_number(value: Expression) -> bool:
    return bool(value.type().is_floating() or value.type().is_integer())
