"""The rows of a log in memory, for what is measured there."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput, NotScoped
from faithscope.explanations.base import Explanations, several
from faithscope.measures.comparing.groupings import crossed_name
from faithscope.measures.comparing.populations import Populations
from faithscope.runtime.memory import need
from faithscope.sample import Sample
from faithscope.tables.counts import in_order
from faithscope.tables.engine.answers import (
    as_array,
    coded,
    fetch,
    fetch_line,
    in_fixed_order,
    predictions_of,
    values_of,
    with_missing,
)
from faithscope.tables.engine.engines import engine_of
from faithscope.tables.engine.expressions import Table
from faithscope.tables.engine.missing import dropped_note, refuse_missing, scan
from faithscope.tables.engine.shown_columns import Column, refuse_nested, shown
from faithscope.tables.log.kinds import SetColumn
from faithscope.tables.log.rows import CLUSTER, VALUE, AuditedLog
from faithscope.tables.log.writing import DOCUMENT
from faithscope.tables.sources.snapshot import refuse_change

_MOST = 5_000_000  # rows that are fetched
_PER_CELL = 100  # bytes of a value of a row, with what is computed of it


class LogRows(NamedTuple):
    """The rows of a log, sorted by all their values, since a log has no order of its own.

    Attributes
    ----------
    explanations : Explanations
    predictions : (n,) array, or (n, k) of several numbers
    X : Arrow table, list of documents, or None
        The columns that are neither predictions, explanations, ids, clusters nor weights; None if there are none.
    weights : (n,) array of float, optional
    clusters : (n,) array, optional
    by : dict of str to (n,) array
        The columns that were asked for as groups.
    """

    explanations: Explanations
    predictions: NDArray[Any]
    X: Any
    weights: NDArray[np.float64] | None
    clusters: NDArray[Any] | None
    by: dict[str, NDArray[Any]]


def in_groups(groups: Mapping[str, NDArray[Any]], measure: Callable[[NDArray[Any]], Populations]) -> Populations:
    """A measure by these columns of groups: of several, by each of them and by all together."""
    each = [replace(measure(values), by=name) for name, values in groups.items()]
    if len(each) == 1:
        return each[0]
    columns = [values.tolist() for values in groups.values()]
    crossed = np.empty(len(columns[0]), object)
    crossed[:] = list(zip(*columns, strict=True))
    return replace(measure(crossed), by=crossed_name(list(groups)), each=tuple(each))


def read_rows(log: AuditedLog, total: int, by: Sequence[str] = (), notes: tuple[str, ...] = ()) -> LogRows:
    """The rows of a log as they are, of so many with those in which values are missing.

    Parameters
    ----------
    by
        Columns of groups.
    notes : tuple of str
        What else a reader should know of these rows.
    """
    schema = log.source.table.schema()
    refuse_nested(schema, by, "a group is one value per row")
    refuse_missing(scan(log.source.table, by), log.options.nulls)
    used = {f"g{j}": name for j, name in enumerate(by)}
    others = [name for name in log.others if name not in (*log.ids, *log.inputs)]
    plain = [name for name in others if schema[name].is_string() or schema[name].is_temporal()]
    held = [name for name in others if name in plain or shown(name, schema[name]) is not None]
    inputs = {f"x{j}": name for j, name in enumerate(held)}
    words = isinstance(log.kind, SetColumn) and log.kind.words and DOCUMENT in log.others
    rows = log.rows(used, {**inputs, **({"words": DOCUMENT} if words else {})})
    answer = _fetched(rows.table)
    explanations = rows.read(answer)
    known = (log.source.settings or {}).get("inputs", {})
    features = {column: feature for feature, column in known.items()}
    X: Any = None
    if held:
        X = answer.select(list(inputs)).rename_columns([features.get(name, name) for name in held])
    if "words" in answer.column_names:
        X = answer.column("words").to_pylist()
    groups = [as_array(answer.column(name).to_pylist()) for name in used]
    told = (*explanations.remarks, *notes, *log.notes, *dropped_note(total - answer.num_rows))
    return LogRows(
        explanations._with(remarks=tuple(dict.fromkeys(told))),
        predictions_of(answer, _predicted(log)),
        X,
        rows.weights(answer),
        with_missing(values_of(answer, CLUSTER)) if log.clusters else None,
        dict(zip(by, groups, strict=True)),
    )


def scoped_rows(
    log: AuditedLog, n: int, inputs: Mapping[str, str], by: Sequence[str] = (), missing: int = 0
) -> tuple[Sample, dict[str, NDArray[Any]]]:
    """The n rows of a log with the columns of these inputs alone, which rules or words speak of; and their groups.

    At most so many rows are `missing` a group.
    """
    short = {f"x{j}": column for j, column in enumerate(inputs.values())}
    used = {f"g{j}": name for j, name in enumerate(by)}
    rows = log.rows(used, short)
    need(_PER_CELL * n * (len(rows.table.columns) + 1), f"{n:,} rows under rules or words", "audit a part of the log")
    answer = _in_order(rows.table)
    if not n - missing <= answer.num_rows <= n:
        refuse_change(n, answer.num_rows)
    X: Any = (
        answer.select(list(short)).rename_columns(list(inputs)) if inputs else answer.select(answer.column_names[:1])
    )
    if isinstance(log.kind, SetColumn):
        if lacking := X.column(0).null_count:
            raise NotScoped(f"the document is missing in {several(lacking, 'row', 'rows')}")
        X = X.column(0).to_pylist()
    clusters, agreement = coded(answer, [CLUSTER])[1] if rows.clustered else None, log.options.agreement
    labels = agreement.read(predictions_of(answer, _predicted(log)))
    groups = {name: as_array(answer.column(column).to_pylist()) for column, name in used.items()}
    weights = rows.weights(answer)
    return Sample(rows.read(answer), labels, X, clusters=clusters, weights=weights, agreement=agreement), groups


def _predicted(log: AuditedLog) -> list[str]:
    """What the columns of predictions are called in an answer."""
    return [f"y{j}" for j in range(len(log.predictions))] if log.options.agreement.of_numbers else ["label"]


def _fetched(table: Table) -> Any:
    """All rows of a table, if they are not too many, as an Arrow table in a fixed order."""
    many = fetch_line(table.aggregate(n=table.count()))["n"]
    if many > _MOST:
        raise BadInput(
            f"This is measured in memory, of at most {_MOST:,} rows, and the log has {many:,}: take a part of it, "
            "by where= or since=."
        )
    return _in_order(table)


def _in_order(table: Table) -> Any:
    """All rows of a table in a fixed order; moments with their zone, without which Spark's driver hands them over."""
    import pyarrow as pa

    answer = in_fixed_order(fetch(table))
    for place, (name, kind) in enumerate(table.schema().items()):
        held = answer.schema.field(name).type
        if kind.is_timestamp() and held.tz is None and engine_of(table).has_zone(table[name]):
            answer = answer.set_column(place, name, answer.column(name).cast(pa.timestamp(held.unit, "UTC")))
    return answer


def rows_of_log(log: AuditedLog) -> tuple[Sample, Any, Any]:
    """The rows of a log as a sample, in an order of their own; the columns that slices are cut from; and their ids."""
    schema, nan_decimals = log.source.table.schema(), engine_of(log.source.table).nan_decimals
    known: dict[str, Column] = {}
    for name in log.others:
        column = name if schema[name].is_temporal() else shown(name, schema[name], nan_decimals=nan_decimals)
        if column is not None and name not in (*log.clusters, *log.weights):
            known[name] = column
    if not [name for name in known if name not in log.ids]:
        raise BadInput("The log has no columns besides predictions, explanations and ids, so there are no slices.")
    short = {f"x{j}": column for j, column in enumerate(known.values())}
    rows = log.rows(shown=short)
    answer = _fetched(rows.table)
    of_numbers = log.options.agreement.of_numbers
    predicted, numbers = coded(answer, [VALUE if of_numbers else "label"])
    place = {label: number for number, label in enumerate(in_order(predicted))}
    values = np.array(predicted, np.float64) if of_numbers else np.array([place[label] for label in predicted])
    predictions = values[numbers]
    clusters = coded(answer, [CLUSTER])[1] if rows.clustered else None
    sample = Sample(
        rows.read(answer), predictions, clusters=clusters, weights=rows.weights(answer), agreement=log.options.agreement
    )
    table = answer.select(list(short)).rename_columns(list(known))
    ids, others = ([name for name in known if (name in log.ids) is named] for named in (True, False))
    return sample, table.select(others), table.select(ids) if ids else None
