"""Groups of a log beside everybody, or beside a reference: rows are counted where they are, and measured in memory."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from faithscope.agreements import Agreement
from faithscope.counting.beside import Kinds
from faithscope.counting.kept import sizes_matter
from faithscope.explanations.base import join_all
from faithscope.explanations.keys import Plain
from faithscope.inputs.array_types import Ints
from faithscope.measures.comparing.beside import BY_PREDICTION, Beside
from faithscope.sample import Sample
from faithscope.tables.fetched import FetchedKinds
from faithscope.tables.labels import in_order


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
    groups = np.concatenate([_numbered(part.populations, group) for part, group in parts])
    known = [label for part in kinds for label in part.predicted[0]]
    labels = sorted(set(known)) if agreement.of_numbers else in_order(known)
    values = np.array(labels, np.float64) if agreement.of_numbers else np.arange(float(len(labels)))
    place = {label: number for number, label in enumerate(labels)}
    predicted = np.concatenate([_numbered(part.predicted, place) for part in kinds])
    rows, clusters = np.concatenate([part.rows for part in kinds]), None
    if all(part.clusters is not None for part in kinds):
        named = [part.clusters for part in kinds if part.clusters is not None]
        place = {
            name: number for number, name in enumerate(dict.fromkeys(name for names, _ in named for name in names))
        }
        clusters = np.concatenate([_numbered(each, place) for each in named])
        seen = values[predicted] if agreement.of_numbers else predicted
        key, prediction, cluster = (np.repeat(column, rows) for column in (codes, seen, clusters))
        sample = Sample(Plain(key), prediction, clusters=cluster, agreement=agreement)
        notes = (*notes, *((BY_PREDICTION,) if sizes_matter(sample) else ()))
    ones, kernel = np.ones(len(rows)), agreement.over(values)
    counted = Kinds.counted(codes, predicted, groups, rows, ones, clusters, kernel, agreement.itself)
    return Beside(
        notes, confidence, kinds=counted, labels=labels, distinct=explanations.take(first), agreement=agreement
    )


def _numbered(column: tuple[list[Any], Ints], place: Mapping[Any, int]) -> Ints:
    names, numbers = column
    return np.array([place[name] for name in names], np.int64)[numbers]
