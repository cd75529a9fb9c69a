"""Rows of a log under scopes: in which scopes each row lies is asked where the rows are, as bits of a few integers."""

from collections.abc import Mapping
from dataclasses import replace
from functools import reduce
from operator import and_
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput
from faithscope.explanations.base import Explanations
from faithscope.explanations.importances import Importances
from faithscope.inputs.hints import hint
from faithscope.monitor.batch import Batch
from faithscope.monitor.scoped.batch import pattern_batch
from faithscope.monitor.scoped.patterns import RowPatterns
from faithscope.monitor.scoped.scopes import Scopes, features_of, to_rules
from faithscope.runtime.memory import need
from faithscope.tables.engine.answers import numbers_of
from faithscope.tables.engine.conditions import holds
from faithscope.tables.engine.expressions import as_number, literal
from faithscope.tables.engine.protocol import Expression, Table
from faithscope.tables.log.discretizers import packed
from faithscope.tables.log.rows import AuditedLog, KeyedRows

Ints = NDArray[np.int64]

_BITS = 62  # scopes in one integer


def scope_columns(log: AuditedLog, scopes: Scopes) -> dict[str, str]:
    """The columns that scopes read, under the names x0, x1, … in the order of the features."""
    known = (log.source.settings or {}).get("inputs", {})
    read: dict[str, str] = {}
    for place, feature in enumerate(features_of(scopes)):
        column = known.get(feature, feature)
        if column not in log.source.columns:
            raise BadInput(
                f"The log has no column {column!r}, of which scopes speak. {hint(column, list(log.source.columns))}"
            )
        read[f"x{place}"] = column
    log.source.refuse_wide(read.values())
    return read


def with_scope_words(rows: KeyedRows, scopes: Scopes, read: Mapping[str, str]) -> tuple[KeyedRows, list[str]]:
    """The rows with the scopes in which they lie, as integers w0, w1, …; their names."""
    columns = dict(zip(features_of(scopes), read, strict=True))
    bits = [as_number(_lies_in(scopes, place, rows.table, columns)) for place in range(len(scopes))]
    words = {f"w{j}": packed(bits[start : start + _BITS], 2) for j, start in enumerate(range(0, len(bits), _BITS))}
    return replace(rows, table=rows.table.mutate(**words)), list(words)


def _lies_in(scopes: Scopes, place: int, table: Table, columns: Mapping[str, str]) -> Expression:
    given: Any = scopes.rules.conjunction(place)
    tests = [holds(condition, {condition.feature: table[columns[condition.feature]]}) for condition in given]
    return reduce(and_, tests) if tests else literal(True)


def scoped_log_batch(
    scopes: Scopes, explanations: Explanations, answer: Any, cells: tuple[Ints, Ints, Ints, Ints], names: Any
) -> Batch:
    """The batch of a fetched answer with a line per cell: its explanation, words, and day, group, label and rows."""
    lines = answer.num_rows
    need(2 * lines * len(scopes), f"{lines:,} kinds of rows by {len(scopes):,} scopes", "add a part of the log")
    inside = np.empty((lines, len(scopes)), bool)
    for place in range(len(scopes)):
        inside[:, place] = numbers_of(answer, f"w{place // _BITS}") >> (place % _BITS) & 1
    if isinstance(explanations, Importances):
        raise BadInput(
            "A monitor with scopes reads rules from a log, a text per row: add importances from memory, with their "
            "inputs, monitor.add(importances, predictions, X=inputs)."
        )
    rules = to_rules(explanations)
    patterns, codes, first = RowPatterns.of(scopes.number(rules), inside)
    return pattern_batch(rules.take(first), patterns, scopes, (codes, *cells), names, tuple(rules.notes))
