"""A batch from a log: its rows counted where they are, in one group-by of the new rows."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.discretizers import to_discretizer
from faithscope.errors import BadInput, NotProven
from faithscope.explanations.base import several
from faithscope.monitor.batch import Batch, Clusters, counted_batch, labels_alone, refuse_many_groups
from faithscope.monitor.canonical import Words
from faithscope.monitor.clusters import LOOKED, are_ids, first_ids
from faithscope.monitor.moments import times_unsaid, to_days
from faithscope.monitor.scoped.batch import refuse_discretizer
from faithscope.monitor.scoped.log import scope_columns, scoped_log_batch, with_scope_words
from faithscope.monitor.scoped.scopes import Scopes
from faithscope.tables.cells import cells
from faithscope.tables.engine.answers import fetch, numbers_of
from faithscope.tables.engine.dialects import engine_of
from faithscope.tables.engine.expressions import DAY, floor_to
from faithscope.tables.engine.moments import seconds
from faithscope.tables.engine.protocol import Expression, Table
from faithscope.tables.engine.shown_columns import refuse_nested
from faithscope.tables.labels import refuse_alike, refuse_number_labels
from faithscope.tables.log.columns import named_columns
from faithscope.tables.log.kinds import PairColumns
from faithscope.tables.log.opening import open_log
from faithscope.tables.log.rows import CLUSTER, AuditedLog, KeyedRows
from faithscope.tables.log.unscanned import unscanned
from faithscope.tables.logs import Log
from faithscope.tables.options import AuditOptions
from faithscope.tables.sources.source import LogSource

Ints = NDArray[np.int64]


def log_batch(declared: Log, *, discretizer: Any, when: Any, by: Sequence[str], scopes: Scopes | None = None) -> Batch:
    """The rows of a log as a batch; `when` is a column of moments, or a moment for all rows."""
    refuse_discretizer(scopes, discretizer)
    refuse_learning(to_discretizer(discretizer))
    if declared.weights is not None:
        raise NotProven("A monitor counts every row once: leave weights out of the log.")
    source = declared._source(at_once=True)
    groups = named_columns(source.columns, list(by), "by")
    column = when if isinstance(when, str) and when in source.columns else None
    kind = "rules" if scopes is not None and declared.kind is None else declared.kind
    declared = replace(declared, kind=kind, time=column, id=None)
    options, nulls = declared._options(discretizer=discretizer), declared.nulls
    options.check_counted()
    with declared._opened(source) as rows:
        carried = (*groups, *(() if column is None else (column,)))
        asked = (column, groups, carried)
        at_once = None if scopes is not None else _at_once(rows.source, options, *asked)
        log, keyed, answer, total = at_once or _in_two(rows.source, options, *asked, scopes)
        if when is None:
            _refuse_times(log, (*groups, *(() if scopes is None else scope_columns(log, scopes).values())))
        batch = _counted(log, keyed, answer, column, groups, when, scopes)
        if not log.clusters:
            batch = replace(batch, ids=_ids(log, (*log.used, *carried), batch.rows))
    dropped = total - batch.rows
    if dropped and nulls != "drop":
        raise BadInput(f"Values of {' or '.join(map(repr, carried))} are missing in {dropped:,} rows: {_ADVICE}")
    left_out = (f"{several(dropped, 'row was', 'rows were')} dropped: values missing",) if dropped else ()
    return _noted(batch, (*rows.notes, *log.notes, *batch.notes, *left_out))


def _ids(log: AuditedLog, read: Sequence[str], rows: int) -> dict[str, Words]:
    """Some of the ids that the rows of a log have, by the name of their column; of columns that nothing else reads."""
    table = log.source.table
    schema, told = table.schema(), {}
    for name in log.source.columns:
        if are_ids(name) and name not in read and (schema[name].is_integer() or schema[name].is_string()):
            values = table.filter(table[name].notnull()).select(v=table[name]).distinct()
            told[name] = first_ids(fetch(values.order_by("v").limit(LOOKED)).column("v").to_pylist(), rows)
    return told


_ADVICE = 'say nulls="drop" to leave such rows out, on the command line --nulls drop.'


def refuse_learning(discretizer: Any) -> None:
    """Raise if what a discretizer does depends on the rows of a batch: other days would be discretized otherwise."""
    if getattr(discretizer, "asks_labels", False) and discretizer._knowing_labels(()) != discretizer:
        raise BadInput(
            f"{discretizer!r} reads the labels of each batch, and a label may be missing on another day: name them, "
            "such as fs.Template(labels=['yes', 'no'])."
        )
    if getattr(discretizer, "learns", False):
        raise BadInput(
            f"{discretizer!r} learns from the rows at hand, so explanations of two days could not be compared: "
            "discretize by something that was fixed beforehand, such as fs.Codebook({...})."
        )


_Answer = tuple[AuditedLog, KeyedRows, Any, int]  # the last is the number of rows before any were dropped


def _at_once(
    source: LogSource, options: AuditOptions, column: str | None, groups: Sequence[str], carried: Sequence[str]
) -> _Answer | None:
    """The cells of a log in one pass; None if a value is missing or odd, so that it takes two."""
    opened = unscanned(source, options, carried, "ordinary")
    if opened is None:
        return None
    log, flag = opened
    keyed = _keyed(log, column, groups, {"ordinary": flag})
    answer = fetch(cells(keyed, _by(keyed, column, groups), ordinary="ordinary"))
    total = int(numbers_of(answer, "given").sum())
    return (log, keyed, answer, total) if 0 < total == int(numbers_of(answer, "ordinary").sum()) else None


def _in_two(
    source: LogSource,
    options: AuditOptions,
    column: str | None,
    groups: Sequence[str],
    carried: Sequence[str],
    scopes: Scopes | None,
) -> _Answer:
    """The cells of a log after a pass that counts what is missing, without rows that have no moment."""
    log, seen = open_log(source, options, carried)
    read = {} if scopes is None else scope_columns(log, scopes)
    keyed = _keyed(log, column, groups, {}, read)
    if column is not None:
        keyed = replace(keyed, table=keyed.table.filter(keyed.table["day"].notnull()))
    words: list[str] = []
    if scopes is not None:
        keyed, words = with_scope_words(keyed, scopes, read)
    return log, keyed, fetch(cells(keyed, [*_by(keyed, column, groups), *words])), seen.rows


def _keyed(
    log: AuditedLog,
    column: str | None,
    groups: Sequence[str],
    others: dict[str, str],
    shown: Mapping[str, str] = MappingProxyType({}),
) -> KeyedRows:
    """The rows with day, groups p0 … and other columns, of which those that are only shown may be missing."""
    refuse_nested(log.source.table.schema(), groups, "a group is one value")
    moment = {} if column is None else {"moment": column}
    names = {f"p{j}": name for j, name in enumerate(groups)}
    return _with_days(log.rows({**moment, **names, **others}, dict(shown)), log.source, column)


def _by(keyed: KeyedRows, column: str | None, groups: Sequence[str]) -> list[str]:
    day, cluster = () if column is None else ("day",), (CLUSTER,) if keyed.clustered else ()
    return [*day, *(f"p{j}" for j in range(len(groups))), *cluster]


def _counted(
    log: AuditedLog,
    keyed: KeyedRows,
    answer: Any,
    column: str | None,
    groups: Sequence[str],
    when: Any,
    scopes: Scopes | None,
) -> Batch:
    explanations = keyed.read(answer)
    code, first = explanations.group()
    given = numbers_of(answer, "given")
    labels, label = _coded(answer, "label")
    _refuse_numbers(labels, label, given)
    day = to_days(_moment(when, log.source), len(given)) if column is None else _days(answer)
    members, group = _groups(answer, [f"p{j}" for j in range(len(groups))])
    _refuse_missing_groups(members, groups, given[_holds_none(members)[group]], log)
    if scopes is not None:
        batch = scoped_log_batch(scopes, explanations, answer, (day, group, label, given), (labels, members))
    else:
        kept, counted = explanations.take(first), (code, day, group, label, given)
        batch = counted_batch(kept, counted, (labels, members), tuple(kept.notes), log.options.discretizer)
        batch = _with_kind(batch, log)
    if not keyed.clustered:
        return batch
    names, place = _coded(answer, CLUSTER)
    if None in names:  # with nulls="key": nobody knows whose these are
        missing = int(given[np.array([name is None for name in names])[place]].sum())
        raise BadInput(
            f"Values of {log.clusters[0]!r}, which names clusters, are missing in {missing:,} rows: {_ADVICE}"
        )
    return replace(batch, clusters=Clusters.of(names, place))


def _refuse_times(log: AuditedLog, read: Sequence[str]) -> None:
    """Raise if a column that nothing else reads tells when rows happened."""
    schema, used = log.source.table.schema(), {*log.used, *read}
    for name in log.source.columns:
        if name not in used and (schema[name].is_timestamp() or schema[name].is_date()):
            raise times_unsaid(f"Column {name!r}", f"{name!r}, on the command line --by-time {name}")


def _moment(when: Any, source: LogSource) -> Any:
    """A moment for all rows; a text that is none is the name of a column that the log does not have."""
    if isinstance(when, str):
        try:
            to_days(when, 0)
        except BadInput:
            named_columns(source.columns, when, "when")
    return when


def _with_days(rows: KeyedRows, source: LogSource, column: str | None) -> KeyedRows:
    """The rows with their days in place of moments."""
    if column is None:
        return rows
    kind = source.table.schema()[column]
    if not (kind.is_timestamp() or kind.is_date()):
        raise BadInput(f"Column {column!r} holds {kind}, not dates or moments: convert it to a timestamp.")
    table: Table = rows.table.mutate(day=_day(rows.table["moment"])).drop("moment")
    return replace(rows, table=table)


def _day(moment: Expression) -> Expression:
    """The date of a moment: as it stands if it has no zone, which engines do fast, otherwise in UTC by its seconds."""
    if moment.type().is_date():
        return moment
    if not engine_of(moment).has_zone(moment):
        return moment.date()
    return floor_to(seconds(moment), DAY)


def _days(answer: Any) -> Ints:
    """Days since 1970, from dates or whole numbers."""
    import pyarrow as pa

    column = answer.column("day").combine_chunks()
    if pa.types.is_date64(column.type) or pa.types.is_timestamp(column.type):
        column = column.cast(pa.date32())
    days = column.cast(pa.int32()) if pa.types.is_date(column.type) else column
    return np.asarray(days.to_numpy(zero_copy_only=False)).astype(np.int64)


def _coded(answer: Any, name: str) -> tuple[list[Any], Ints]:
    """The different values of a column, and the number of each line's value."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = answer.column(name).combine_chunks()
    if pa.types.is_floating(column.type):  # a group that is NaN is missing, as one that is null
        column = pc.if_else(pc.is_nan(column), None, column)
    coded = column.dictionary_encode("encode")
    values = coded.dictionary.to_pylist()
    refuse_alike(values)
    return values, coded.indices.to_numpy().astype(np.int64)


def _groups(answer: Any, names: list[str]) -> tuple[list[Any], Ints]:
    if not names:
        return [None], np.zeros(answer.num_rows, np.int64)
    columns = [_coded(answer, name) for name in names]
    if len(names) == 1:
        refuse_many_groups(len(columns[0][0]))
        return columns[0]
    kinds, place = np.unique(np.column_stack([numbers for _, numbers in columns]), axis=0, return_inverse=True)
    refuse_many_groups(len(kinds))
    return [tuple(columns[j][0][code] for j, code in enumerate(line)) for line in kinds], place.reshape(-1)


def _holds_none(members: list[Any]) -> NDArray[np.bool_]:
    return np.array([None in name if isinstance(name, tuple) else name is None for name in members], bool)


def _refuse_missing_groups(members: list[Any], names: Sequence[str], given: Ints, log: AuditedLog) -> None:
    """Raise if groups are missing and nobody said what to do with such rows."""
    if names and len(given) and log.options.nulls == "error":
        raise BadInput(f"Values of {' or '.join(map(repr, names))} are missing in {int(given.sum()):,} rows: {_ADVICE}")


def _refuse_numbers(labels: list[Any], label: Ints, given: Ints) -> None:
    """Raise if predictions are numbers that nearly all differ."""
    rows = np.bincount(label, given, len(labels)).astype(np.int64)
    with labels_alone():
        refuse_number_labels(labels, rows)


def _with_kind(batch: Batch, log: AuditedLog) -> Batch:
    """Counterfactuals by their own name, since a log hands their points over as records."""
    if not isinstance(log.kind, PairColumns) or not batch.kind.startswith("records of "):
        return batch
    return replace(batch, kind=f"counterfactuals over {log.kind.width} features")


def _noted(batch: Batch, notes: tuple[str, ...]) -> Batch:
    return replace(batch, notes=tuple(dict.fromkeys(notes)))
