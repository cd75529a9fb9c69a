"""Clusters of labels in an engine: rows are counted by explanation, label and cluster, and measured in memory.

Rows of one cluster are never compared with each other, so those that have the same explanation and prediction are one
row of so much weight.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from faithscope.counting.clusters import Strangers
from faithscope.counting.counts import Counts
from faithscope.counting.profile import Profile
from faithscope.errors import BadInput
from faithscope.explanations.keys import Plain
from faithscope.measures.consistency import weighed_estimate
from faithscope.measures.estimate import Estimate
from faithscope.runtime.memory import need
from faithscope.sample import Sample
from faithscope.tables.engine.answers import fetch, in_fixed_order, numbers_of
from faithscope.tables.engine.protocol import Table
from faithscope.tables.labels import names_of
from faithscope.tables.log.kinds import RuleColumn
from faithscope.tables.log.rows import CLUSTER, KeyedRows
from faithscope.tables.sources.snapshot import refuse_change

_MOST_TEXTS = 2_000_000  # different texts of rules that are fetched
_MOST_SPELLINGS = 1_000  # texts of rules that are written in another way, too
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
    rows: KeyedRows, counted: Mapping[Any, Counts | Profile], by: Sequence[str] = ()
) -> dict[Any, CountedClusters]:
    """The clusters of each population, whose rows were counted as they are."""
    answer = in_fixed_order(fetch(_cells(rows, by)))
    places: dict[Any, list[int]] = {}
    for place, name in enumerate(names_of(answer, by) or [None] * answer.num_rows):
        places.setdefault(name, []).append(place)
    lines = {name: answer.take(np.array(places.get(name, []), np.int64)) for name in counted}
    return {name: _clusters(counts, lines[name]) for name, counts in counted.items()}


def _cells(rows: KeyedRows, by: Sequence[str]) -> Table:
    """How many rows have which explanation, label and cluster, all by number."""
    import ibis

    table = one_text_per_rule(rows)
    table = table.group_by([*by, *rows.keys, "label", CLUSTER]).aggregate(given=table.count())
    named = {"key": rows.keys, CLUSTER: [CLUSTER], "label": ["label"]}
    coded = {
        name: ibis.dense_rank().over(ibis.window(order_by=[table[column] for column in columns]))
        for name, columns in named.items()
    }
    return table.select(**coded, **{name: table[name] for name in (*by, "given")})


def _clusters(counts: Counts | Profile, cells: Any) -> CountedClusters:
    refuse_change(counts.n, int(numbers_of(cells, "given").sum()))
    need(_PER_CELL * cells.num_rows, f"Clusters of {counts.n:,} rows", "audit a part of the log")
    key, cluster = (np.unique(numbers_of(cells, name), return_inverse=True)[1] for name in ("key", CLUSTER))
    weights = numbers_of(cells, "given").astype(np.float64)
    sample = Sample(Plain(key), numbers_of(cells, "label"), weights=weights, clusters=cluster)
    return CountedClusters(replace(counts, clusters=Strangers(sample).totals()), sample)


def one_text_per_rule(rows: KeyedRows) -> Table:
    """The rows with one text for each rule, of which several may be one: engines compare texts."""
    import pyarrow as pa

    if not isinstance(rows.kind, RuleColumn):
        return rows.table
    key = rows.keys[0]
    answer = fetch(rows.table.select(key).distinct().limit(_MOST_TEXTS + 1))
    if answer.num_rows > _MOST_TEXTS:
        raise BadInput(f"The log has more than {_MOST_TEXTS:,} different rules: audit a part of it.")
    texts = sorted(answer.column(key).to_pylist())
    codes, first = rows.read(pa.table({key: pa.array(texts, pa.string())})).group()
    other = {text: texts[first[code]] for text, code in zip(texts, codes.tolist(), strict=True)}
    spellings = [(text, same) for text, same in other.items() if text != same]
    if len(spellings) > _MOST_SPELLINGS:
        raise BadInput(f"More than {_MOST_SPELLINGS:,} rules are written in several ways: write each in one way.")
    if not spellings:
        return rows.table
    return rows.table.mutate(**{key: rows.table[key].cases(*spellings, else_=rows.table[key])})
