"""Groups of a log beside everybody, or beside a reference: rows are counted where they are, and measured in memory."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from faithscope.agreements import Agreement
from faithscope.counting.beside import Kinds
from faithscope.counting.kept import sizes_matter
from faithscope.explanations.base import Explanations, join_all
from faithscope.explanations.keys import Plain
from faithscope.measures.comparing.beside import BY_PREDICTION, Beside
from faithscope.sample import Sample
from faithscope.tables.engine.answers import fetch, in_fixed_order, numbers_of
from faithscope.tables.labels import in_order
from faithscope.tables.log.rows import CLUSTER, KeyedRows

Ints = NDArray[np.int64]

_MOST = 3_000_000  # kinds of rows that are fetched


class FetchedKinds(NamedTuple):
    """How many rows have which explanation, prediction, cluster and population."""

    explanations: Explanations
    predicted: tuple[list[Any], Ints]  # the different ones, and which of them each kind has
    clusters: tuple[list[Any], Ints] | None
    populations: tuple[list[Any], Ints]
    rows: Ints

    @classmethod
    def of(
        cls, rows: KeyedRows, agreement: Agreement, by: Sequence[str] = (), most: int = _MOST
    ) -> "FetchedKinds | None":
        """The kinds of rows of a log, with populations by these columns; None if they are too many to be fetched."""
        predicted = rows.predicted if agreement.of_numbers else ["label"]
        names = [*by, *rows.keys, *predicted, *((CLUSTER,) if rows.clustered else ())]
        grouped = rows.table.group_by(names).aggregate(given=rows.table.count())
        answer = in_fixed_order(fetch(grouped.limit(most + 1)))
        if answer.num_rows > most:
            return None
        return cls(
            rows.read(answer),
            coded(answer, predicted),
            coded(answer, [CLUSTER]) if rows.clustered else None,
            coded(answer, by),
            numbers_of(answer, "given"),
        )


def coded(answer: Any, names: Sequence[str]) -> tuple[list[Any], Ints]:
    """The different values of a column of an Arrow table, or tuples of several, and which of them each line has."""
    columns = [answer.column(name).combine_chunks().dictionary_encode("encode") for name in names]
    values = [column.dictionary.to_pylist() for column in columns]
    numbers = [column.indices.to_numpy(zero_copy_only=False).astype(np.int64) for column in columns]
    if len(names) == 1:
        return values[0], numbers[0]
    if not names:
        return [None], np.zeros(answer.num_rows, np.int64)
    lines, place = np.unique(np.column_stack(numbers), axis=0, return_inverse=True)
    combined = [tuple(each[number] for each, number in zip(values, line, strict=True)) for line in lines.tolist()]
    return combined, place.reshape(-1)


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
