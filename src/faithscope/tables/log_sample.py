"""The rows of a log as a sample, for what is looked for in memory."""

from typing import Any

import numpy as np

from faithscope.errors import BadInput
from faithscope.sample import Sample
from faithscope.tables.beside import coded
from faithscope.tables.engine.answers import fetch, fetch_line, in_fixed_order
from faithscope.tables.engine.dialects import engine_of
from faithscope.tables.engine.shown_columns import Column, shown
from faithscope.tables.labels import in_order
from faithscope.tables.log.rows import CLUSTER, AuditedLog
from faithscope.tables.numbers.agreement_sums import VALUE

_MOST = 5_000_000  # rows that are fetched


def rows_of_log(log: AuditedLog) -> tuple[Sample, Any, Any]:
    """The rows of a log as a sample, in an order of their own; the columns that slices are cut from; and their ids."""
    schema, nan_decimals = log.source.table.schema(), engine_of(log.source.table).nan_decimals
    known: dict[str, Column] = {}
    for name in log.others:
        column = name if schema[name].is_temporal() else shown(name, schema[name], nan_decimals=nan_decimals)
        if column is not None and name not in log.clusters:
            known[name] = column
    if not [name for name in known if name not in log.ids]:
        raise BadInput("The log has no columns besides predictions, explanations and ids, so there are no slices.")
    short = {f"x{j}": column for j, column in enumerate(known.values())}
    rows = log.rows(shown=short)
    many = fetch_line(rows.table.aggregate(n=rows.table.count()))["n"]
    if many > _MOST:
        raise BadInput(
            f"Slices are looked for in at most {_MOST:,} rows; this log has {many:,}: pass where= or since=."
        )
    answer = in_fixed_order(fetch(rows.table))
    of_numbers = log.options.agreement.of_numbers
    predicted, numbers = coded(answer, [VALUE if of_numbers else "label"])
    place = {label: number for number, label in enumerate(in_order(predicted))}
    values = np.array(predicted, np.float64) if of_numbers else np.array([place[label] for label in predicted])
    predictions = values[numbers]
    clusters = coded(answer, [CLUSTER])[1] if rows.clustered else None
    sample = Sample(rows.read(answer), predictions, clusters=clusters, agreement=log.options.agreement)
    table = answer.select(list(short)).rename_columns(list(known))
    ids, others = ([name for name in known if (name in log.ids) is named] for named in (True, False))
    return sample, table.select(others), table.select(ids) if ids else None
