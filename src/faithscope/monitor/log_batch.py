"""Rows from a log, counted where they are, in one group-by of the new ones; and what a state remembers of its log."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from faithscope.errors import BadInput, NotProven, WrongType
from faithscope.explanations.base import several
from faithscope.explanations.rules import Rules
from faithscope.inputs.array_types import Array
from faithscope.inputs.arrays import to_objects
from faithscope.inputs.hints import hint
from faithscope.monitor.adding import LOOKED, Arrived, Batch, are_ids, fixed_discretizer
from faithscope.monitor.moments import is_moment, times_unsaid, to_days
from faithscope.monitor.scopes import Scopes, features_of
from faithscope.tables.engine.answers import fetch, numbers_of, refuse_nested
from faithscope.tables.engine.engines import DAY, floor_to, seconds
from faithscope.tables.log.layout import open_log
from faithscope.tables.log.rows import CLUSTER, PairColumns
from faithscope.tables.logs import Log
from faithscope.tables.sources.source import LogSource

_REMEMBERED = ("prediction", "explanation", "kind", "inputs", "clusters", "time", "nulls")


def remembered(
    log: Log, held: Mapping[str, Any], where: str, *, when: Any, by: Any, discretizer: Any
) -> tuple[Log, dict[str, Any], dict[str, Any]]:
    """A log with what a store remembers of its first one, how it is added, and what may be remembered of this one.

    Raises if what is said differs. Which rows of the log are meant, and where it is, is never remembered.
    """
    time = log.time if when is None else when if isinstance(when, str) and not is_moment(when) else None
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
    groups = source.named(list(names) if by is None else by, "by") if names or by else ()
    if len(groups) != len(names):
        begun = f"by {', '.join(names)}" if names else "without groups"
        raise BadInput(f"This monitor was begun {begun}; got by={by!r}: name one column for each.")
    column = source.named(when, "when")[0] if isinstance(when, str) and not is_moment(when) else None
    kind = "rules" if scopes is not None and declared.kind is None else declared.kind
    options = replace(declared, kind=kind, time=column, id=None)._options(discretizer=discretizer)
    carried = (*groups, *(() if column is None else (column,)))
    with declared._opened(source) as rows:
        log, seen = open_log(rows, options)
        read = {} if scopes is None else _scope_columns(log.source, scopes)
        schema = log.source.table.schema()
        refuse_nested(schema, groups, "a group is one value")
        if column is not None and not (schema[column].is_timestamp() or schema[column].is_date()):
            raise BadInput(
                f"Column {column!r} holds {schema[column]}, not dates or moments: convert it to a timestamp."
            )
        others = set(log.source.columns) - {*log.used, *log.explained, *carried, *read.values()}
        ids = dict[str, list[Any]]()
        for name in (name for name in log.source.columns if name in others):
            kind_of = schema[name]
            if when is None and (kind_of.is_timestamp() or kind_of.is_date()):  # which may tell when rows happened
                raise times_unsaid(f"Column {name!r}", f"{name!r}, on the command line --by-time {name}")
            if not log.clusters and are_ids(name) and (kind_of.is_integer() or kind_of.is_string()):
                known = log.source.table.filter(log.source.table[name].notnull()).select(v=log.source.table[name])
                ids[name] = fetch(known.distinct().order_by("v").limit(LOOKED)).column("v").to_pylist()
        used, shown = (
            {f"{letter}{j}": name for j, name in enumerate(each)}
            for letter, each in (("p", groups), ("x", read.values()))
        )
        keyed = log.rows(used if column is None else {**used, "moment": column}, shown)
        table, lines = keyed.table, [*used, *([CLUSTER] if keyed.clustered else []), *shown, *keyed.keys, "label"]
        if column is not None:
            moment = table["moment"]
            fetch(table.aggregate(low=moment.min(), high=moment.max()))  # which refuses what no date is
            table, lines = table.mutate(day=floor_to(seconds(moment), DAY)), ["day", *lines]
        answer = fetch(table.group_by(lines).aggregate(given=table.count()))
    given, columns = numbers_of(answer, "given"), [_values(answer, name) for name in used]
    clusters = _values(answer, CLUSTER) if keyed.clustered else None
    days = None if column is None else _values(answer, "day")
    # With nulls="key" a missing group is a group, but nobody knows when a row happened, or whose it is.
    must = [each for each in (days, clusters, *(columns if options.nulls == "error" else ())) if each is not None]
    holes = np.array([[value is None for value in each] for each in must], bool).reshape(-1, len(given)).any(axis=0)
    if missing := int(given[holes].sum()):
        raise BadInput(
            f"Values of {' or '.join(map(repr, (*carried, *log.clusters)))} are missing in {missing:,} rows: say "
            'nulls="drop" to leave such rows out, on the command line --nulls drop.'
        )
    explanations, X = keyed.read(answer), None
    if scopes is not None:
        if not isinstance(explanations, Rules):
            raise WrongType(
                f"A monitor with scopes reads rules from a log, a text per row, and these are {explanations.kind}: add "
                "rules, of importances importances.to_rules(X, k, bins, X_train), from memory."
            )
        X = answer.select(list(shown)).rename_columns(list(read))
    dropped = seen.rows - int(given.sum())
    left_out = (f"{several(dropped, 'row was', 'rows were')} dropped: values missing",) if dropped else ()
    when_each = to_days(when, len(given)) if days is None else days.astype(np.int64)
    notes = (*log.source.notes, *log.notes, *explanations.notes, *left_out)
    arrived = Arrived(explanations, _values(answer, "label"), when_each, columns, given, clusters, X, notes, ids)
    batch = Batch.of(arrived, log.options.discretizer, scopes)
    if isinstance(log.kind, PairColumns) and batch.settled["kind"].startswith("records of "):
        # counterfactuals by their own name, since a log hands their points over as records
        batch.settled["kind"] = f"counterfactuals over {len(log.kind.names)} features"
    return batch


def _scope_columns(source: LogSource, scopes: Scopes) -> dict[str, str]:
    """The columns that scopes read, by the features that they speak of."""
    known = (source.settings or {}).get("inputs", {})
    read = {feature: known.get(feature, feature) for feature in features_of(scopes)}
    for column in (column for column in read.values() if column not in source.columns):
        raise BadInput(f"The log has no column {column!r}, of which scopes speak. {hint(column, list(source.columns))}")
    return read


def _values(answer: Any, name: str) -> Array:
    """A column of an answer as objects; NaN is missing too."""
    return to_objects([None if value != value else value for value in answer.column(name).to_pylist()])
