"""Counts of the cells that rows were given, with their agreement; those of all rows covered are too many."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from faithscope.agreements import Agreement
from faithscope.counting.counts import Counts, sums, tabulate
from faithscope.counting.numbered import NumberedRows
from faithscope.relations import Relation

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def given_counts(
    rows: NumberedRows,
    own: NDArray[np.bool_],
    agreeing: Floats,
    reached: Ints,
    relation: Relation,
    agreement: Agreement,
) -> Counts:
    """Counts from what is known of each row, and of each explanation.

    Parameters
    ----------
    own : (n,) array of bool
        Whether each row is covered by its own explanation.
    agreeing : (n,) array
        The weight of the rows that its explanation covers, each by its agreement with the row.
    reached : (explanations,) array
        How many rows each explanation covers.
    """
    labels = len(rows.names)
    cells, given = tabulate(rows.codes, rows.labels, len(rows.distinct), labels)
    cell = np.searchsorted(cells, rows.codes * labels + rows.labels)
    missed, by_cell = np.bincount(cell[~own], minlength=len(cells)), np.zeros(len(cells))
    by_cell[cell] = agreeing
    counts = Counts(
        *(rows.kept, rows.names, *np.divmod(cells, labels), given, given - missed, missed),
        relation=relation,
        agreement=agreement,
        reached=reached,
        agreeing=by_cell,
    )
    if rows.weights is None:
        return counts
    weight, square = (sums(cell, rows.weights**power, len(cells)) for power in (1, 2))
    return replace(counts, weight=weight, square=square)
