"""Clusters in an engine: rows are counted by explanation, prediction and cluster, and measured in memory.

Rows of one cluster are never compared with each other, so those that have the same explanation and prediction are one
row of so much weight.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from faithscope.agreements import Agreement
from faithscope.counting.clusters import Strangers
from faithscope.counting.counts import Counts
from faithscope.counting.profile import Profile
from faithscope.explanations.keys import Plain
from faithscope.measures.consistency import weighed_estimate
from faithscope.measures.estimate import Estimate
from faithscope.runtime.memory import need
from faithscope.sample import Sample
from faithscope.tables.engine.answers import fetch, in_fixed_order, numbers_of
from faithscope.tables.engine.protocol import Table
from faithscope.tables.log.rows import CLUSTER, KeyedRows
from faithscope.tables.numbers.agreement_sums import VALUE
from faithscope.tables.numbers.counted import CountedNumbers
from faithscope.tables.numbers.counts import one_text_per_rule
from faithscope.tables.numbers.populations import parts_of
from faithscope.tables.sources.snapshot import refuse_change

_PER_CELL = 400  # bytes of a cell, with what is computed of it


@dataclass(frozen=True, eq=False)
class CountedClusters:
    """Clustered rows of one population.

    Attributes
    ----------
    counts : Counts or Profile
        The rows as they are, and what is known of their clusters.
    sample : Sample
        One row per explanation, prediction and cluster, whose weight is the number of such rows.
    """

    counts: Counts | Profile
    sample: Sample

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.counts.n

    def estimate(self, confidence: float) -> Estimate:
        """The estimate of consistency."""
        return weighed_estimate(self.counts, self.sample, confidence)


def count_clusters(
    rows: KeyedRows, counted: Mapping[Any, Any], agreement: Agreement, by: Sequence[str] = ()
) -> dict[Any, CountedClusters]:
    """The clusters of each population, whose rows were counted as they are: `Counts`, `Profile` or `CountedNumbers`."""
    cells = parts_of(in_fixed_order(fetch(_cells(rows, agreement, by))), by)
    plain = {name: part.profile if isinstance(part, CountedNumbers) else part for name, part in counted.items()}
    return {name: _clusters(counts, cells.get(name), agreement) for name, counts in plain.items()}


def _cells(rows: KeyedRows, agreement: Agreement, by: Sequence[str]) -> Table:
    """How many rows have which explanation, prediction and cluster, all by number; predicted numbers as they are."""
    import ibis

    table, predicted = one_text_per_rule(rows), VALUE if agreement.of_numbers else "label"
    table = table.group_by([*by, *rows.keys, predicted, CLUSTER]).aggregate(given=table.count())
    named = {"key": rows.keys, CLUSTER: [CLUSTER]} | ({} if agreement.of_numbers else {"label": ["label"]})
    coded = {
        name: ibis.dense_rank().over(ibis.window(order_by=[table[column] for column in columns]))
        for name, columns in named.items()
    }
    shown = {name: table[name] for name in (*by, *([VALUE] if agreement.of_numbers else []), "given")}
    return table.select(**coded, **shown)


def _clusters(counts: Counts | Profile, cells: Any, agreement: Agreement) -> CountedClusters:
    refuse_change(counts.n, 0 if cells is None else int(numbers_of(cells, "given").sum()))
    need(_PER_CELL * cells.num_rows, f"Clusters of {counts.n:,} rows", "audit a part of the log")
    key, cluster = (np.unique(numbers_of(cells, name), return_inverse=True)[1] for name in ("key", CLUSTER))
    labels = np.asarray(cells.column(VALUE if agreement.of_numbers else "label").to_numpy(zero_copy_only=False))
    labels = labels.astype(np.float64 if agreement.of_numbers else np.int64)
    weights = numbers_of(cells, "given").astype(np.float64)
    sample = Sample(Plain(key), labels, weights=weights, clusters=cluster, agreement=agreement)
    return CountedClusters(replace(counts, clusters=Strangers(sample).totals()), sample)
