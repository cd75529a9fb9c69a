"""A log made ready to be counted: streamed through NumPy if need be; missing values refused, dropped or kept."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from faithscope.discretizers import Floor
from faithscope.errors import BadInput, WrongType
from faithscope.explanations.importances import Importances
from faithscope.tables.engine.missing import Scan, refuse_missing, scan
from faithscope.tables.log.discretizers import refuse_unlike
from faithscope.tables.log.kinds import KeyColumns, NumberColumns, PairColumns, ReasonColumn
from faithscope.tables.log.layout import laid_out
from faithscope.tables.log.rows import AuditedLog
from faithscope.tables.log.streams import FetchedStream, NumberStream, Stream
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
    refuse_unlike(options.discretizer, log.kind)
    numbers = log.in_batches
    seen = scan(log.source.table, (*log.predictions, *log.clusters, *log.weights) if numbers else log.used)
    log = replace(log, nan=seen.nan)
    stream: Stream | None = None
    if numbers:
        stream = importances = NumberStream(log)
        stream.table(carried)
        holes = {name: importances.missing[name] for name in importances.features if name in importances.missing}
        seen = replace(seen, missing={**seen.missing, **holes})
    elif isinstance(options.discretizer, Floor):
        largest = max(seen.largest.get(name, 0.0) for name in log.columns)
        options.discretizer(Importances.made(np.array([[largest]]), None, ""))  # which refuses what is too large
    numeric = (*log.weights, *(log.predictions if options.agreement.of_numbers else ()))
    refuse_missing(seen, options.nulls, _CODES if _may_be_codes(log) else "", numeric)
    _refuse_missing_numbers(log, seen)
    if log.at_once:
        stream = FetchedStream(log)
        stream.table(carried)
    if stream is None or isinstance(log.kind, ReasonColumn):
        return replace(log, stream=stream), seen
    return replace(log, stream=stream, notes=(*log.notes, *stream.notes)), seen


def _may_be_codes(log: AuditedLog) -> bool:
    """Whether the explanation is in several columns, of texts if they hold anything."""
    schema = log.source.table.schema()
    keys = isinstance(log.kind, KeyColumns) and len(log.columns) > 1
    return keys and any(schema[name].is_string() for name in log.columns)


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
    """Raise if a predicted number is missing where missing would be a value, or float64 merges numbers."""
    schema, agreement = log.source.table.schema(), log.options.agreement
    predicted = log.predictions if agreement.of_numbers else ()
    for name in (*predicted, *log.weights):
        if name in seen.missing and log.options.nulls == "key":
            what, why = ("Predictions", f"{agreement} compares") if name in predicted else ("Weights", "weights are")
            raise BadInput(
                f"{what} in column {name!r} are missing in {seen.missing[name]:,} rows, and {why} numbers: say "
                'nulls="drop" (--nulls drop) to leave such rows out.'
            )
    for name in (*predicted, *(log.columns if isinstance(log.kind, NumberColumns | PairColumns) else ())):
        if schema[name].is_integer() and seen.largest.get(name, 0.0) > _EXACT:
            raise BadInput(f"Column {name!r} holds integers beyond 2**53, which float64 cannot tell apart: scale them.")
