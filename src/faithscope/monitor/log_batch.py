"""A batch from a log: its rows counted where they are, in one group-by of the new rows."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from faithscope.errors import BadInput, NotProven
from faithscope.explanations.base import several
from faithscope.explanations.importances import Importances
from faithscope.inputs.array_types import Ints
from faithscope.inputs.hints import hint
from faithscope.monitor.batch import (
    LOOKED,
    Batch,
    are_ids,
    counted_batch,
    first_ids,
    fixed_discretizer,
    group_names,
    labels_alone,
)
from faithscope.monitor.moments import times_unsaid, to_days
from faithscope.monitor.scopes import Scopes, features_of, to_rules
from faithscope.tables.counts import cells, refuse_alike, refuse_number_labels
from faithscope.tables.engine.answers import coded, fetch, numbers_of, refuse_nested
from faithscope.tables.engine.engines import DAY, engine_of, floor_to
from faithscope.tables.log.layout import open_log
from faithscope.tables.log.rows import CLUSTER, AuditedLog, KeyedRows, PairColumns
from faithscope.tables.logs import Log
from faithscope.tables.sources.source import LogSource

_ADVICE = 'say nulls="drop" to leave such rows out, on the command line --nulls drop.'
_REMEMBERED = ("prediction", "explanation", "kind", "inputs", "clusters", "time", "nulls")


def remembered(
    log: Log, held: Mapping[str, Any], where: str, *, when: Any, by: Any, discretizer: Any
) -> tuple[Log, dict[str, Any], dict[str, Any]]:
    """A log with what a store remembers of its first one, how it is added, and what may be remembered of this one.

    Raises if what is said differs. Which rows of the log are meant, and where it is, is never remembered.
    """
    time = log.time if when is None else when if isinstance(when, str) and not _is_moment(when) else None
    said = {name: getattr(log, name) for name in _REMEMBERED} | {"time": time, "by": by, "discretizer": discretizer}
    said = {name: list(value) if isinstance(value, tuple) else value for name, value in said.items()}
    said = {name: value[0] if isinstance(value, list) and len(value) == 1 else value for name, value in said.items()}
    said = {name: value for name, value in said.items() if isinstance(value, str | list) and value}
    for name, value in said.items():
        if name not in ("nulls", "discretizer") and held.get(name, value) != value:
            raise BadInput(
                f"{where!r} remembers {name}={held[name]!r} of its first log, and this one has {name}={value!r}: leave "
                f"{name} away if it is the same, or begin another state."
            )
    if "where" in held and log.where is None and not {"prediction", "explanation"} & said.keys():
        raise BadInput(
            f"The first rows of {where!r} were chosen from their log by where={held['where']!r}: say where= for these "
            "too."
        )
    known = {**held, **said}
    log = replace(log, **{name: known[name] for name in _REMEMBERED if name in known})
    how = {
        "discretizer": known.get("discretizer") if discretizer is None else discretizer,
        "when": log.time if when is None else when,
        "by": known.get("by"),
    }
    return log, how, said and {**said, **({} if log.where is None else {"where": log.where})}


def log_batch(
    declared: Log, *, discretizer: Any, when: Any, by: Any, names: Sequence[str], scopes: Scopes | None
) -> Batch:
    """The rows of a log as a batch; `when` is a column of moments, or a moment for all rows.

    `by` are the columns of groups, by default those of the names of the monitor's groups.
    """
    fixed_discretizer(discretizer, scopes)
    if declared.weights is not None:
        raise NotProven("A monitor counts every row once: leave weights out of the log.")
    source = declared._source()
    columns = list(names) if by is None else list(group_names(by))
    if len(columns) != len(names):
        begun = f"by {', '.join(names)}" if names else "without groups"
        raise BadInput(f"This monitor was begun {begun}; got by={by!r}: name one column for each.")
    groups = source.named(columns, "by")
    column = when if isinstance(when, str) and when in source.columns else None
    if column is None and isinstance(when, str) and not _is_moment(when):
        source.named(when, "when")  # which the log does not have
    kind = "rules" if scopes is not None and declared.kind is None else declared.kind
    declared = replace(declared, kind=kind, time=column, id=None)
    options = declared._options(discretizer=discretizer)
    with declared._opened(source) as rows:
        carried = (*groups, *(() if column is None else (column,)))
        log, seen = open_log(rows, options)
        read = {} if scopes is None else _scope_columns(log.source, scopes)
        table = log.source.table
        others = {
            name: table[name].type() for name in log.source.columns if name not in (*log.used, *log.explained, *carried)
        }
        keyed, answer = _counted(log, column, groups, list(read.values()))
        for name, held in others.items():  # what nothing else reads may tell when rows happened
            if when is None and name not in read.values() and (held.is_timestamp() or held.is_date()):
                raise times_unsaid(f"Column {name!r}", f"{name!r}, on the command line --by-time {name}")
        batch = _batch(log, keyed, answer, None if column else to_days(when, answer.num_rows), groups, scopes, read)
        for name, held in others.items():
            if not log.clusters and are_ids(name) and (held.is_integer() or held.is_string()):
                values = table.filter(table[name].notnull()).select(v=table[name]).distinct()
                first = fetch(values.order_by("v").limit(LOOKED)).column("v").to_pylist()
                batch.ids[name] = first_ids(first, batch.rows)
    dropped = seen.rows - batch.rows
    if dropped and declared.nulls != "drop":
        raise BadInput(f"Values of {' or '.join(map(repr, carried))} are missing in {dropped:,} rows: {_ADVICE}")
    left_out = (f"{several(dropped, 'row was', 'rows were')} dropped: values missing",) if dropped else ()
    return replace(batch, notes=tuple(dict.fromkeys((*log.source.notes, *log.notes, *batch.notes, *left_out))))


def _scope_columns(source: LogSource, scopes: Scopes) -> dict[str, str]:
    """The columns that scopes read, by the features that they speak of."""
    known = (source.settings or {}).get("inputs", {})
    read = {feature: known.get(feature, feature) for feature in features_of(scopes)}
    for column in (column for column in read.values() if column not in source.columns):
        raise BadInput(f"The log has no column {column!r}, of which scopes speak. {hint(column, list(source.columns))}")
    return read


def _counted(log: AuditedLog, column: str | None, groups: Sequence[str], read: Sequence[str]) -> tuple[KeyedRows, Any]:
    """The rows, and their cells by day, groups p0 …, cluster, explanation, label, and what scopes read, x0 …

    Rows without a moment are left out.
    """
    refuse_nested(log.source.table.schema(), groups, "a group is one value")
    names = {f"p{j}": name for j, name in enumerate(groups)}
    shown = {f"x{j}": name for j, name in enumerate(read)}
    keyed = log.rows({**names, **({} if column is None else {"moment": column})}, shown)
    by = [*names, *((CLUSTER,) if keyed.clustered else ()), *shown]
    if column is not None:
        kind = log.source.table.schema()[column]
        if not (kind.is_timestamp() or kind.is_date()):
            raise BadInput(f"Column {column!r} holds {kind}, not dates or moments: convert it to a timestamp.")
        moment = keyed.table["moment"]
        day = floor_to(engine_of(moment).seconds(moment), DAY)
        fetch(keyed.table.aggregate(low=moment.min(), high=moment.max()))  # which refuses what no date is
        table = keyed.table.mutate(day=day).drop("moment")
        keyed, by = replace(keyed, table=table.filter(table["day"].notnull())), ["day", *by]
    return keyed, fetch(cells(keyed, by))


def _batch(
    log: AuditedLog,
    keyed: KeyedRows,
    answer: Any,
    day: Ints | None,
    groups: Sequence[str],
    scopes: Scopes | None,
    read: Mapping[str, str],
) -> Batch:
    explanations, X = keyed.read(answer), None
    given = numbers_of(answer, "given")
    labels, label = _coded(answer, ["label"])
    with labels_alone():
        refuse_number_labels(labels, np.bincount(label, given, len(labels)).astype(np.int64))
    members, group = _coded(answer, [f"p{j}" for j in range(len(groups))])
    holes = np.array([None in name if isinstance(name, tuple) else name is None for name in members], bool)[group]
    if groups and log.options.nulls == "error":
        _refuse_holes(given[holes], " or ".join(map(repr, groups)))
    if scopes is not None:
        if isinstance(explanations, Importances):
            raise BadInput(
                "A monitor with scopes reads rules from a log, a text per row: add importances from memory, with their "
                "inputs, monitor.add(importances, predictions, X=inputs)."
            )
        explanations = to_rules(explanations)
        X = answer.select([f"x{j}" for j in range(len(read))]).rename_columns(list(read))
    cells = {"day": numbers_of(answer, "day") if day is None else day, "grp": group, "label": label, "given": given}
    batch = counted_batch(explanations, X, cells, (labels, members), log.options.discretizer, scopes)
    if isinstance(log.kind, PairColumns) and batch.kind.startswith("records of "):
        # counterfactuals by their own name, since a log hands their points over as records
        batch = replace(batch, kind=f"counterfactuals over {len(log.kind.names)} features")
    if not keyed.clustered:
        return batch
    names, place = _coded(answer, [CLUSTER])
    nobodys = np.array([name is None for name in names], bool)[place]  # with nulls="key": nobody knows whose these are
    _refuse_holes(given[nobodys], f"{log.clusters[0]!r}, which names clusters,")
    return batch.clustered(names, place)


def _refuse_holes(rows: Ints, what: str) -> None:
    if len(rows):
        raise BadInput(f"Values of {what} are missing in {rows.sum():,} rows: {_ADVICE}")


def _is_moment(when: Any) -> bool:
    try:
        to_days(when, 0)
    except BadInput:
        return False
    return True


def _coded(answer: Any, names: Sequence[str]) -> tuple[list[Any], Ints]:
    """The different values of a column, or tuples of several, and the number of each line's; NaN is missing too."""
    import pyarrow as pa
    import pyarrow.compute as pc

    columns = {name: answer.column(name) for name in names}
    for name, column in columns.items():
        if pa.types.is_floating(column.type):
            columns[name] = pc.if_else(pc.is_nan(column), None, column)
    values, numbers = coded(pa.table(columns) if columns else answer, names)
    refuse_alike(values)
    return values, numbers
