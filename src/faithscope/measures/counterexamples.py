"""Counterexamples: pairs of rows with the same explanation and different predictions."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.agreements import Tolerance
from faithscope.counting.counts import Counts
from faithscope.counting.profile import sum_by
from faithscope.explanations.distances.metrics import Gower, columns_of
from faithscope.inputs.checks import check_whole
from faithscope.measures.numbers.farthest_pairs import farthest_pairs
from faithscope.measures.numbers.groups import disagreement, distance, shown
from faithscope.sample import Sample

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Pairs = tuple[Ints, Floats]  # of rows, the smaller first, and their distance

_EXACT = 40_000_000  # values compared for one explanation; if there are more, only the first so many are:
_ENOUGH = 2**22
_AT_ONCE = 2**20  # values of them that are in memory at once


def counterexamples(counts: Counts, sample: Sample, k: int = 10, pairs: Ints | None = None) -> dict[str, Any]:
    """Up to k pairs of rows that share an explanation but not a prediction.

    Explanations with most disagreement come first, and each gives one pair before any gives a second. Within an
    explanation the nearest rows come first (Gower distance on X, if the sample has X). If an explanation has very many
    rows, not all pairs are compared: only those of its first rows. Of numbers, the pairs with the largest gap come
    first instead (`farthest_pairs`), and of equal gaps the nearest rows.

    If rows are clustered, both rows of a pair are of different clusters, and no other pairs are counted; of numbers,
    pairs are chosen and counted whatever their clusters.

    Parameters
    ----------
    pairs : (distinct,) array, optional
        The disagreeing pairs of each explanation, if the sample does not hold all rows that were counted.

    Returns
    -------
    dict of columns
        ``row_a``, ``row_b``, their predictions, of numbers their ``gap``, ``distance`` (NaN without X), and the
        explanation with its number of ``disagreeing_pairs``, or of numbers its ``disagreement``.
    """
    check_whole(k, "k, the number of pairs wanted,")
    numbers = counts.agreement.of_numbers
    codes = counts.explanations.locate(sample.explanations)
    pairs = _pairs(counts, sample, codes) if pairs is None else pairs
    total = disagreement(counts) if numbers else pairs
    worst = np.argsort(-total, kind="stable")[: min(k, int((total > 0).sum()))]
    available = total.astype(np.int64) if isinstance(counts.agreement, Tolerance) else pairs
    order = np.argsort(codes, kind="stable")
    begins, ends = np.searchsorted(codes, [worst, worst + 1], sorter=order)
    members = [order[begin:end] for begin, end in zip(begins, ends, strict=True)]  # of each explanation, ascending
    space, choose = _Rows(sample.X), _farthest_rows if numbers else _nearest_rows
    quota = zip(members, share_out(available[worst], k), strict=True)
    chosen = [choose(rows, sample, space, int(wanted)) for rows, wanted in quota]
    found = np.concatenate([np.empty((0, 2), np.int64), *(pairs for pairs, _ in chosen)])
    a, b = found.T
    which = np.repeat(worst, [len(pairs) for pairs, _ in chosen])
    columns = {"row_a": a, "row_b": b, "prediction_a": shown(sample.labels[a]), "prediction_b": shown(sample.labels[b])}
    columns |= {"gap": distance(sample.labels[a], sample.labels[b])} if numbers else {}
    return columns | {
        "distance": np.concatenate([np.empty(0), *(apart for _, apart in chosen)]),
        "explanation": [counts.explanations.describe(int(explanation)) for explanation in which],
        "disagreement" if numbers else "disagreeing_pairs": total[which],
    }


def _nearest_rows(rows: Ints, sample: Sample, space: "_Rows", wanted: int) -> Pairs:
    """Pairs of these rows that disagree, of different clusters: nearest first, or in order if there is no distance.

    Of all that came before, only as many pairs are kept as are wanted, so memory does not grow with the candidates.
    """
    labels, clusters = sample.numbered_labels[1], np.arange(sample.n) if sample.clusters is None else sample.clusters
    commonest = np.bincount(labels[rows]).argmax()
    rare = rows[labels[rows] != commonest]  # every disagreeing pair contains at least one of these rows
    features = len(space.columns)
    most = np.inf if len(rare) * len(rows) * features <= _EXACT else _ENOUGH

    def candidates() -> Iterator[Ints]:
        at_once = max(1, _AT_ONCE // max(1, features))
        for row in rare:
            others = rows[(labels[rows] == commonest) | (rows > row)]  # so that no pair comes twice
            others = others[(labels[others] != labels[row]) & (clusters[others] != clusters[row])]
            for start in range(0, len(others), at_once):
                some = others[start : start + at_once]
                yield np.column_stack([np.minimum(some, row), np.maximum(some, row)])

    nearest, apart, compared = np.empty((0, 2), np.int64), np.empty(0), 0
    for pairs in candidates():
        full = 0 < wanted == len(apart)
        if full and (compared >= most or not features):
            break
        distances = space.distance(*pairs.T)
        near = ~(distances > apart[-1]) if full else slice(None)
        nearest, apart = np.concatenate([nearest, pairs[near]]), np.concatenate([apart, distances[near]])
        order = np.lexsort((*nearest.T[::-1], apart)) if features else np.arange(len(apart))
        nearest, apart = nearest[order[:wanted]], apart[order[:wanted]]
        compared += len(pairs) * features
    return nearest, apart


def _farthest_rows(rows: Ints, sample: Sample, space: "_Rows", wanted: int) -> Pairs:
    """Pairs of these rows with the largest gaps, of equal gaps the nearest rows first, and their distance."""
    pairs = np.sort(rows[farthest_pairs(sample.labels[rows], sample.agreement, wanted)], axis=1)
    a, b = pairs.T
    apart = space.distance(a, b)
    order = np.lexsort((b, a, apart, -distance(sample.labels[a], sample.labels[b])))[:wanted]
    return pairs[order], apart[order]


def _pairs(counts: Counts, sample: Sample, codes: Ints) -> Ints:
    """For each explanation, how many pairs of its rows get different predictions and are of different clusters."""
    if sample.clusters is None or counts.agreement.of_numbers:
        return disagreeing_pairs(counts)
    labels = sample.numbered_labels[1]

    def alike(*columns: Ints) -> Ints:
        """Ordered pairs of rows, the row itself included, that share the explanation and these columns."""
        _, first, given = np.unique(np.column_stack([codes, *columns]), axis=0, return_index=True, return_counts=True)
        return sum_by(codes[first], given**2, counts.distinct)

    both = alike() - alike(labels) - alike(sample.clusters) + alike(labels, sample.clusters)
    return both // 2


def disagreeing_pairs(counts: Counts) -> Ints:
    """For each explanation, how many pairs of its rows get different predictions."""
    rows = counts.rows_given
    return (rows**2 - sum_by(counts.explanation, counts.given**2, counts.distinct)) // 2


def share_out(available: Ints, k: int) -> Ints:
    """How many of k pairs each explanation gives: one each in turn, up to the pairs that it has."""
    quota = np.zeros(len(available), np.int64)
    k = min(k, int(available.sum()))
    while quota.sum() < k and np.any(quota < available):
        unfilled, left = np.flatnonzero(quota < available), k - int(quota.sum())
        several = max(1, left // len(unfilled))
        quota[unfilled[:left]] += np.minimum(several, available[unfilled[:left]] - quota[unfilled[:left]])
    return quota


class _Rows:
    """The rows of X with Gower's distance."""

    def __init__(self, X: Any) -> None:
        columns = [] if X is None or hasattr(X, "tocsr") else columns_of(X)
        self.metric = Gower.fit(columns)
        self.columns = self.metric.read(columns)

    def distance(self, a: Ints, b: Ints) -> Floats:
        """The distance between row ``a[i]`` and row ``b[i]``, for every i; NaN if there are no columns to compare."""
        if not self.columns:
            return np.full(len(a), np.nan)
        return self.metric.between([column[a] for column in self.columns], [column[b] for column in self.columns])
