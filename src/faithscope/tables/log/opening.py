"""A log made ready to be counted: streamed through NumPy if need be; missing values refused, dropped or kept."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from faithscope.discretizers import Discretizer, Floor, Truncate
from faithscope.discretizers.base import steps
from faithscope.errors import BadInput, WrongType
from faithscope.measures.named_labels import LabelWords
from faithscope.tables.engine.answers import fetch_line
from faithscope.tables.engine.missing import Scan, refuse_missing, scan
from faithscope.tables.engine.protocol import Table
from faithscope.tables.labels import in_order, read_labels
from faithscope.tables.log.discretizers import to_numbers
from faithscope.tables.log.kinds import KeyColumns, Kind, NumberColumns, PairColumns, ReasonColumn
from faithscope.tables.log.layout import laid_out
from faithscope.tables.log.number_stream import NumberStream
from faithscope.tables.log.reason_stream import ReasonStream
from faithscope.tables.log.rows import AuditedLog
from faithscope.tables.log.streaming import split
from faithscope.tables.options import AuditOptions
from faithscope.tables.sources.source import LogSource

_CODES = " If these columns hold codes, of which a row may have fewer, pass kind='codes'."
_EXACT = 2**53  # beyond it two integers may share one float64


def open_log(source: LogSource, options: AuditOptions, carried: Sequence[str] = ()) -> tuple[AuditedLog, Scan]:
    """The log ready to be counted, and what a first pass over it counted.

    Parameters
    ----------
    carried : sequence of str
        Other columns that will be asked for, such as those of populations.
    """
    log = laid_out(source, options)
    _refuse_no_numbers(log)
    log.source.refuse_wide((*log.used, *carried))
    if isinstance(log.kind, ReasonColumn):
        return _with_reasons(log, log.kind, carried)
    parts = split(options.discretizer, log.kind)
    if parts is not None:
        return _streamed(log, *parts, carried)
    seen = scan(log.source.table, log.used)
    refuse_missing(seen, options.nulls, _CODES if _may_be_codes(log) else "")
    _refuse_missing_numbers(log, seen)
    _refuse_large(log, seen)
    return replace(log, kind=_bounded(log, seen), nan=seen.nan), seen


def _may_be_codes(log: AuditedLog) -> bool:
    """Whether the explanation is in several columns, of texts if they hold anything."""
    schema = log.source.table.schema()
    keys = isinstance(log.kind, KeyColumns) and len(log.columns) > 1
    return keys and any(schema[name].is_string() for name in log.columns)


def _streamed(
    log: AuditedLog, first: Discretizer, rest: tuple[Any, ...], carried: Sequence[str]
) -> tuple[AuditedLog, Scan]:
    """The log with its explanations discretized by `first` in the engine and by the rest in NumPy."""
    numbers, nulls = isinstance(log.kind, NumberColumns), log.options.nulls
    seen = scan(log.source.table, (*log.predictions, *log.clusters) if numbers else log.used)
    log = replace(log, nan=seen.nan, kind=log.kind if numbers else _bounded(log, seen))
    kind = log.kind if isinstance(log.kind, NumberColumns) else to_numbers(rest[0], log.values(first, {})[1])
    lists = numbers and len(log.columns) < kind.width
    features = tuple(f"{log.columns[0]}[{j}]" for j in range(kind.width)) if lists else log.columns
    stream = NumberStream(
        expression=partial(_values, log, first),
        scratch=log.source.scratch,
        kind=kind,
        features=features,
        steps=rest,
        drop=nulls == "drop",
    )
    stream.table((*log.predictions, *log.clusters, *carried))
    holes = {name: stream.missing[name] for name in features if name in stream.missing} if numbers else {}
    seen = replace(seen, missing={**seen.missing, **holes})
    refuse_missing(seen, nulls)
    _refuse_missing_numbers(log, seen)
    _refuse_large(log, seen)
    return replace(log, stream=stream, notes=(*log.notes, *stream.notes)), seen


def _with_reasons(log: AuditedLog, kind: ReasonColumn, carried: Sequence[str]) -> tuple[AuditedLog, Scan]:
    """The log with its reasons folded and discretized here."""
    seen = scan(log.source.table, log.used)
    refuse_missing(seen, log.options.nulls)
    _refuse_missing_numbers(log, seen)
    log = replace(log, nan=seen.nan)
    of_numbers = log.options.agreement.of_numbers
    labels = () if of_numbers else in_order(read_labels(log.labels()).values)
    table = log.texts({})
    chosen = log.options.discretizer
    stream = ReasonStream(
        expression=log.texts,
        scratch=log.source.scratch,
        kind=kind,
        discretizer=chosen._knowing_labels(labels) if chosen.asks_labels and not of_numbers else chosen,
        words=LabelWords.of(labels, log.options.words),
        length=float(fetch_line(table.aggregate(n=table["t"].length().cast("float64").mean()))["n"] or 1),
    )
    stream.table((*log.predictions, *log.clusters, *carried))
    return replace(log, stream=stream), seen


def _values(log: AuditedLog, first: Discretizer, beside: Mapping[str, str]) -> Table:
    return log.values(first, beside)[0]


def _bounded(log: AuditedLog, seen: Scan) -> Kind:
    """The kind with the largest size that its values have, if that is known, and whether some are missing."""
    if isinstance(log.kind, PairColumns) and log.options.nulls == "key":
        pairs = zip(log.columns, log.originals, strict=True)
        return replace(log.kind, holes=tuple(new in seen.missing or old in seen.missing for new, old in pairs))
    if not isinstance(log.kind, NumberColumns):
        return log.kind
    largest = max(seen.largest.get(name, math.inf) for name in log.columns)
    holes = any(name in seen.missing for name in log.columns)
    return replace(log.kind, bound=largest if math.isfinite(largest) else None, holes=holes)


def _refuse_no_numbers(log: AuditedLog) -> None:
    """Raise if predictions are to be numbers and a column of them holds something else."""
    schema, agreement = log.source.table.schema(), log.options.agreement
    for name in log.predictions if agreement.of_numbers else ():
        if not (schema[name].is_numeric() or schema[name].is_boolean()):
            raise WrongType(
                f"Column {name!r} holds {schema[name]}, but {agreement} compares numbers: name a column of numbers, or "
                "leave the agreement away, so that predictions are labels."
            )


def _refuse_missing_numbers(log: AuditedLog, seen: Scan) -> None:
    """Raise if a predicted number is missing where missing would be a value, or is none that float64 tells apart."""
    schema, agreement = log.source.table.schema(), log.options.agreement
    for name in log.predictions if agreement.of_numbers else ():
        if name in seen.missing and log.options.nulls == "key":
            raise BadInput(
                f"Predictions in column {name!r} are missing in {seen.missing[name]:,} rows, and {agreement} compares "
                'numbers: say nulls="drop" (--nulls drop) to leave such rows out.'
            )
        if schema[name].is_integer() and seen.largest.get(name, 0.0) > _EXACT:
            raise BadInput(f"Column {name!r} holds integers beyond 2**53, which float64 cannot tell apart: scale them.")


def _refuse_large(log: AuditedLog, seen: Scan) -> None:
    """Raise if numbers are too large to be compared or cut exactly."""
    if not isinstance(log.kind, NumberColumns | PairColumns):
        return
    largest = max((seen.largest.get(name, 0.0) for name in (*log.columns, *log.originals)), default=0.0)
    schema = log.source.table.schema()
    integers = [name for name in log.columns if schema[name].is_integer() and seen.largest.get(name, 0.0) > _EXACT]
    if integers:
        raise BadInput(
            f"Column {integers[0]!r} holds integers beyond 2**53, which float64 cannot tell apart: scale them."
        )
    for step in steps(log.options.discretizer):
        if isinstance(step, Floor | Truncate) and 2 * largest * 10.0**step.decimals == float("inf"):
            raise BadInput(f"Importances as large as {largest:g} have no {step.decimals} decimals to keep: scale them.")
