"""Rows of a log that are counted where they are, by all that tells them apart, and measured in memory."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from faithscope.agreements import Agreement
from faithscope.counting.beside import Kinds
from faithscope.counting.counts import Counts, count_rows
from faithscope.counting.kept import sizes_matter
from faithscope.explanations.base import Explanations, join_all
from faithscope.explanations.keys import Plain
from faithscope.inputs.array_types import Ints
from faithscope.measures.comparing.beside import BY_PREDICTION, Beside
from faithscope.runtime.memory import need
from faithscope.sample import Sample
from faithscope.tables.counts import FetchedKinds, in_order, numbered
from faithscope.tables.engine.answers import as_array, with_missing
from faithscope.tables.log.rows import KeyedRows
from faithscope.tables.sources.snapshot import changed

_PER_ROW = 200  # bytes of a row, with what is computed of it


@dataclass(frozen=True, eq=False)
class FetchedRows:
    """The rows of a log whose predictions are numbers, or that belong to clusters, or that have weights.

    Attributes
    ----------
    kinds : FetchedKinds
        The kinds of rows that there are.
    codes : array
        The explanation of each kind, by number.
    distinct : Explanations
        The different explanations.
    sample : Sample
        Every row, with its explanation by number.
    group : (n,) array
        Which of the populations each row is of.
    """

    kinds: FetchedKinds
    codes: Ints
    distinct: Explanations
    sample: Sample
    group: Ints

    @classmethod
    def of(cls, rows: KeyedRows, n: int, agreement: Agreement, by: Sequence[str] = ()) -> "FetchedRows":
        """The n rows of a log, with populations by these columns."""
        what = "predicted numbers" if agreement.of_numbers else "clusters" if rows.clustered else "weights"
        need(_PER_ROW * n, f"{n:,} rows with {what}", "audit a part of the log")
        kinds = FetchedKinds.of(rows, agreement, by, most=n)
        if kinds is None:
            raise changed(f"{n:,} rows at first, more later")
        codes, first = kinds.explanations.group()
        values, place = kinds.predicted
        labels = np.array(values, np.float64) if agreement.of_numbers else with_missing(as_array(values))
        clusters = None if kinds.clusters is None else np.repeat(kinds.clusters[1], kinds.rows)
        weights = None if kinds.weights is None else np.repeat(kinds.weights, kinds.rows)
        group, key, predicted = (np.repeat(each, kinds.rows) for each in (kinds.populations[1], codes, place))
        sample = Sample(Plain(key), labels[predicted], clusters=clusters, weights=weights, agreement=agreement)
        return cls(kinds, codes, kinds.explanations.take(first), sample, group)

    @property
    def parts(self) -> dict[Any, Sample]:
        """The rows of each population; all of them under None if there are no columns that name populations."""
        names = self.kinds.populations[0]
        return {name: self.sample.take(np.flatnonzero(self.group == number)) for number, name in enumerate(names)}

    @cached_property
    def counts(self) -> Counts:
        """Rows by explanation and prediction, whatever their clusters and weights."""
        return self.named(self.numbered)

    @cached_property
    def numbered(self) -> Counts:
        """The same with explanations by number."""
        return count_rows(replace(self.sample, clusters=None, weights=None))

    def named(self, counts: Counts) -> Counts:
        """Counts of rows whose explanations are numbered, with the explanations themselves."""
        numbers = counts.explanations.key[0][:, 0]
        return replace(counts, source=self.distinct.take(numbers), chosen=None)


def beside(
    parts: Sequence[tuple[FetchedKinds, Mapping[Any, int]]],
    agreement: Agreement,
    notes: tuple[str, ...],
    confidence: float,
) -> Beside:
    """Groups of one log or of several, each with the numbers of its populations, beside everybody."""
    kinds = [part for part, _ in parts]
    explanations = join_all([part.explanations for part in kinds])
    codes, first = explanations.group()
    groups = np.concatenate([numbered(part.populations, group) for part, group in parts])
    known = [label for part in kinds for label in part.predicted[0]]
    labels = sorted(set(known)) if agreement.of_numbers else in_order(known)
    values = np.array(labels, np.float64) if agreement.of_numbers else np.arange(float(len(labels)))
    place = {label: number for number, label in enumerate(labels)}
    predicted = np.concatenate([numbered(part.predicted, place) for part in kinds])
    rows, clusters = np.concatenate([part.rows for part in kinds]), None
    if all(part.clusters is not None for part in kinds):
        named = [part.clusters for part in kinds if part.clusters is not None]
        place = {
            name: number for number, name in enumerate(dict.fromkeys(name for names, _ in named for name in names))
        }
        clusters = np.concatenate([numbered(each, place) for each in named])
        seen = values[predicted] if agreement.of_numbers else predicted
        key, prediction, cluster = (np.repeat(column, rows) for column in (codes, seen, clusters))
        sample = Sample(Plain(key), prediction, clusters=cluster, agreement=agreement)
        notes = (*notes, *((BY_PREDICTION,) if sizes_matter(sample) else ()))
    ones, kernel = np.ones(len(rows)), agreement.over(values)
    counted = Kinds.counted(codes, predicted, groups, rows, ones, clusters, kernel, agreement.itself)
    return Beside(
        notes, confidence, kinds=counted, labels=labels, distinct=explanations.take(first), agreement=agreement
    )
