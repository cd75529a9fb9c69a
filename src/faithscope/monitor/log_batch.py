"""Rows from a log, counted where they are, in one group-by of the new ones; and what a state remembers of its log."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from faithscope.errors import BadInput, NotProven
from faithscope.inputs.arrays import to_objects
from faithscope.monitor.adding import LOOKED, Batch, are_ids, fixed_discretizer
from faithscope.monitor.moments import column_named, times_unsaid, to_days
from faithscope.tables.columns import CLUSTER, keys_of
from faithscope.tables.engines import (
    DAY,
    NO_ROW,
    dropped_note,
    fetch,
    floor_to,
    numbers_of,
    refuse_nested,
    refuse_no_moments,
    seconds,
)
from faithscope.tables.layout import open_log
from faithscope.tables.logs import Log

_REMEMBERED = ("prediction", "explanation", "kind", "inputs", "clusters", "time", "nulls")


def remembered(
    log: Log, held: Mapping[str, Any], where: str, *, when: Any, by: Any, discretizer: Any
) -> tuple[Log, dict[str, Any], dict[str, Any]]:
    """A log with what a store remembers of its first one, how it is added, and what may be remembered of this one.

    Raises if what is said differs. Which rows of the log are meant, and where it is, is never remembered.
    """
    time = log.time if when is None else column_named(when)
    said = {name: getattr(log, name) for name in _REMEMBERED} | {"time": time, "by": by, "discretizer": discretizer}
    said = {name: told for name, value in said.items() if isinstance(told := _plain(value), str | list) and told}
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
    return log, how, said and said | ({} if log.where is None else {"where": log.where})


def _plain(value: Any) -> Any:
    """Names of columns as they are kept: one alone as a text."""
    names = list(value) if isinstance(value, list | tuple) else [value]
    return names[0] if len(names) == 1 else names


def log_batch(declared: Log, *, discretizer: Any, when: Any, by: Any, names: Sequence[str]) -> Batch:
    """The rows of a log as a batch; `when` is a column of moments, or a moment for all rows.

    `by` is the column of groups, by default that of the name of the monitor's groups.
    """
    fixed_discretizer(discretizer)
    if declared.weights is not None:
        raise NotProven("A monitor counts every row once: leave weights out of the log.")
    source = declared._source()
    groups = source.named(list(names) if by is None else by, "by") if names or by else ()
    if len(groups) != len(names):
        begun = f"by {names[0]}" if names else "without groups"
        raise BadInput(f"This monitor was begun {begun}; got by={by!r}: name one column.")
    timed = column_named(when)
    column = None if timed is None else source.named(timed, "when")[0]
    options = replace(declared, time=column, id=None)._options(discretizer=discretizer)
    further = groups if column is None else (*groups, column)
    with declared._opened(source, options, further, shows=True) as rows:
        log = open_log(rows, options)
        whole, schema = log.source.table, log.source.table.schema()
        refuse_nested(schema, groups, "a group is one value")
        if column is not None:
            refuse_no_moments(whole, column)
        ids = dict[str, list[Any]]()
        for name in (each for each in whole.columns if each not in {*log.used, *log.explained, *groups, column}):
            kind = schema[name]
            if when is None and (kind.is_timestamp() or kind.is_date()):  # which may tell when rows happened
                raise times_unsaid(f"Column {name!r}", f"{name!r}, on the command line --by-time {name}")
            if not log.clusters and are_ids(name) and (kind.is_integer() or kind.is_string()):
                known = whole.filter(whole[name].notnull()).select(v=whole[name]).distinct().order_by("v")
                ids[name] = fetch(known.limit(LOOKED)).column("v").to_pylist()
        used = {"g0": groups[0]} if groups else {}
        table = log.rows(used if column is None else {**used, "moment": column})
        keys = keys_of(table.columns)
        lines = [*used, *([CLUSTER] if log.clusters else []), *keys, "label"]
        if column is not None:
            table, lines = table.mutate(day=floor_to(seconds(table["moment"]), DAY)), ["day", *lines]
        answer = fetch(table.group_by(lines).aggregate(given=table.count()))
    if not answer.num_rows:
        raise BadInput(NO_ROW)
    given = numbers_of(answer, "given")
    listed = {name: answer.column(name).to_pylist() for name in lines if name not in keys}
    # NaN is missing too.
    held = {name: to_objects([None if each != each else each for each in values]) for name, values in listed.items()}
    # With nulls="key" a missing group is a group, but nobody knows when a row happened, or whose it is.
    must = ("day", CLUSTER, *(used if options.nulls == "error" else ()))
    counted = zip(given.tolist(), *(held[name] for name in must if name in held), strict=True)
    if missing := sum(many for many, *values in counted if None in values):
        raise BadInput(
            f"Values of {' or '.join(map(repr, filter(None, (*groups, column, *log.clusters))))} are missing in "
            f'{missing:,} rows: say nulls="drop" to leave such rows out, on the command line --nulls drop.'
        )
    return Batch.of(
        log.read(answer),
        held["label"],
        held["day"].astype(np.int64) if "day" in held else to_days(when, len(given)),
        held.get("g0"),
        given,
        discretizer=log.options.discretizer,
        clusters=held.get(CLUSTER),
        ids=ids,
        notes=(*log.source.notes, *dropped_note(log.total - int(given.sum()))),
    )
