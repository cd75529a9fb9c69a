"""The (explanation, label) cells of a log, in an engine and fetched."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.counting.counts import Counts
from faithscope.explanations.base import Explanations
from faithscope.tables.engine.answers import fetch, in_fixed_order, numbers_of
from faithscope.tables.engine.protocol import Table
from faithscope.tables.labels import in_order
from faithscope.tables.log.rows import KeyedRows

Ints = NDArray[np.int64]


def cells(rows: KeyedRows, by: Sequence[str] = ()) -> Table:
    """The (explanation, label) cells as an expression: key columns, `label` and `given`."""
    table = rows.table
    return table.group_by([*by, *rows.keys, "label"]).aggregate(given=table.count())


@dataclass(frozen=True, eq=False)
class CountedCells:
    """Fetched cells, of which several may be of one explanation and label.

    Attributes
    ----------
    answer : pyarrow.Table
        As the engine gave them, in a fixed order.
    explanations : Explanations, one per cell
    labels : list, one per cell; None for missing
    given : (m,) array
        The number of rows of each cell.
    """

    answer: Any
    explanations: Explanations
    labels: list[Any]
    given: Ints

    @classmethod
    def of(cls, rows: KeyedRows, table: Table) -> "CountedCells":
        """The cells of an expression."""
        answer = in_fixed_order(fetch(table))
        return cls(answer, rows.read(answer), answer.column("label").to_pylist(), numbers_of(answer, "given"))

    def take(self, chosen: Ints) -> "CountedCells":
        """Some of the cells."""
        labels = [self.labels[i] for i in chosen]
        return CountedCells(self.answer.take(chosen), self.explanations.take(chosen), labels, self.given[chosen])

    def counts(self) -> Counts:
        """Cells of one explanation and label added up."""
        codes, first = self.explanations.group()
        names = tuple(in_order(self.labels))
        place = {name: number for number, name in enumerate(names)}
        numbers = np.array([place[label] for label in self.labels], np.int64)
        keys, inverse = np.unique(codes * len(names) + numbers, return_inverse=True)
        rows = np.zeros(len(keys), np.int64)
        np.add.at(rows, inverse, self.given)
        explanation, label = np.divmod(keys, len(names))
        none = np.zeros(len(keys), np.int64)
        return Counts(self.explanations.take(first), names, explanation, label, rows, rows, none)
