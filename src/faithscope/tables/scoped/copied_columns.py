"""Columns of a log that rules test and that restate the prediction."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.explanations.rules import Rules
from faithscope.inputs.missing import is_missing
from faithscope.measures.notes import PROBED, are_enough, copy_note, one_to_one, rules_by_feature
from faithscope.tables.engine.answers import fetch
from faithscope.tables.engine.protocol import Table
from faithscope.tables.labels import Labels
from faithscope.tables.numbers import Numbers
from faithscope.tables.scoped.rows import ScopedRows

Ints = NDArray[np.int64]


def copied_columns(scoped: ScopedRows, labels: Labels | Numbers) -> tuple[str, ...]:
    """A note per column that rules test and that has one value per prediction, as `copy_notes` gives."""
    if isinstance(labels, Numbers) or not isinstance(scoped.distinct, Rules) or not are_enough(labels.rows):
        return ()
    testing, rules = rules_by_feature(scoped.distinct)
    names = {feature: scoped.inputs[feature] for feature in testing}
    table = _as_texts(scoped.table, set(names.values()))
    first = fetch(table.select("label", *dict.fromkeys(names.values())).limit(PROBED))
    likely = [feature for feature, name in names.items() if _is_copy(first, name)]
    return tuple(
        copy_note(feature, testing[feature], rules)
        for feature in likely
        if _is_copy(fetch(_pairs(table, names[feature], len(labels.values))), names[feature])
    )


def _as_texts(table: Table, names: set[str]) -> Table:
    """The table with whole numbers as texts: an engine's driver may take those with missing values for floats."""
    schema = table.schema()
    return table.mutate(**{name: table[name].cast("string") for name in names if schema[name].is_integer()})


def _pairs(table: Table, column: str, labels: int) -> Table:
    """The different pairs of a label and a value of a column, at most one more than a copy has."""
    return table.group_by(["label", column]).aggregate(rows=table.count()).limit(labels + 1)


def _is_copy(answer: Any, column: str) -> bool:
    """Whether a column has one value per label, and each value one label; missing values are one value."""
    values = [None if is_missing(value) else value for value in answer.column(column).to_pylist()]
    return one_to_one(*(_numbered(items) for items in (values, answer.column("label").to_pylist())))


def _numbered(items: Sequence[Any]) -> Ints:
    numbers: dict[Any, int] = {}
    return np.array([numbers.setdefault(item, len(numbers)) for item in items], np.int64)
