"""Counterexamples: pairs of rows with the same explanation and different predictions."""

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.explanations import Explanations
from faithscope.explanations.distances import Gower, columns_of
from faithscope.explanations.grouping import group
from faithscope.explanations.inputs import check_whole, same_length
from faithscope.explanations.labels import to_labels
from faithscope.measures.counts import Counts, number_labels

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_EXACT = 40_000_000  # values compared outright for one explanation; beyond it, neighbors along projections
_PROJECTIONS = 16
_WINDOW = 4  # neighbors on each side


def counterexamples(
    counts: Counts, explanations: Explanations, predictions: Any, X: Any = None, k: int = 10
) -> dict[str, Any]:
    """Up to k pairs of rows that share an explanation but not a prediction.

    Explanations with most disagreeing pairs come first, and give one pair each before any gives a second;
    within one, the nearest rows come first (Gower distance on X, where X is given). Never compares all pairs: for
    an explanation with very many rows, candidates are neighbors along a few fixed directions.

    Returns
    -------
    dict of columns
        ``row_a``, ``row_b``, their predictions, ``distance`` (NaN without X), and the explanation with its
        number of ``disagreeing_pairs``.
    """
    check_whole(k, "k, the number of pairs wanted,")
    labels = to_labels(predictions)
    _, numbers = number_labels(labels)
    codes = counts.explanations.locate(explanations)
    disagreeing = disagreeing_pairs(counts)
    worst = np.argsort(-disagreeing, kind="stable")[: min(k, int((disagreeing > 0).sum()))]
    quota = share_out(disagreeing[worst], k)
    space = _Space.of(X, len(labels))
    found = []
    for explanation, rows, wanted in zip(worst, _members(codes, worst), quota, strict=True):
        pairs, distance = _nearest_pairs(rows, numbers, space, int(wanted))
        found += [(explanation, a, b, d) for (a, b), d in zip(pairs, distance, strict=True)]
    chosen = [int(explanation) for explanation, *_ in found]
    a, b = (np.array([pair[i] for pair in found], np.int64) for i in (1, 2))
    return {
        "row_a": a,
        "row_b": b,
        "prediction_a": labels[a],
        "prediction_b": labels[b],
        "distance": np.array([pair[3] for pair in found], np.float64),
        "explanation": [counts.explanations.describe(explanation) for explanation in chosen],
        "disagreeing_pairs": disagreeing[chosen] if chosen else np.empty(0, np.int64),
    }


def disagreeing_pairs(counts: Counts) -> Ints:
    """For each explanation, how many pairs of its rows get different predictions."""
    total = counts.per_explanation
    same = np.zeros(counts.distinct, np.int64)
    np.add.at(same, counts.explanation, counts.given * (counts.given - 1))
    pairs: Ints = (total * (total - 1) - same) // 2
    return pairs


def share_out(available: Ints, k: int) -> Ints:
    """One pair for each explanation in turn, until k are given out or none is left."""
    quota = np.zeros(len(available), np.int64)
    k = min(k, int(available.sum()))
    while quota.sum() < k and np.any(quota < available):
        unfilled, left = np.flatnonzero(quota < available), k - int(quota.sum())
        several = max(1, left // len(unfilled))
        quota[unfilled[:left]] += np.minimum(several, available[unfilled[:left]] - quota[unfilled[:left]])
    return quota


def _members(codes: Ints, chosen: Ints) -> list[Ints]:
    """The rows of each chosen explanation, ascending."""
    place = np.full(int(codes.max(initial=-1)) + 1, -1, np.int64)
    place[chosen] = np.arange(len(chosen))
    rows = np.flatnonzero(place[codes] >= 0)
    order = rows[np.argsort(place[codes[rows]], kind="stable")]
    bounds = np.searchsorted(place[codes[order]], np.arange(len(chosen) + 1))
    return [order[a:b] for a, b in pairwise(bounds)]


class _Space:
    """The rows of X with Gower's distance."""

    def __init__(self, columns: list[NDArray[Any]]) -> None:
        self.metric = Gower.fit(columns)
        self.columns = [_category_codes(c) if c.dtype == object else c for c in self.metric.read(columns)]
        self.features = len(columns)

    @classmethod
    def of(cls, X: Any, rows: int) -> "_Space | None":
        """The space of these rows; None where they have no columns to compare (none given, or sparse)."""
        columns = [] if X is None or hasattr(X, "tocsr") else columns_of(X)
        if not columns:
            return None
        same_length(predictions=rows, X=len(columns[0]))
        return cls(columns)

    def distance(self, a: Ints, b: Ints) -> Floats:
        """Between rows a and rows b, one by one."""
        return self.metric.between([column[a] for column in self.columns], [column[b] for column in self.columns])

    def projections(self, rows: Ints) -> list[Floats]:
        """The rows along a few fixed random directions."""
        rng = np.random.default_rng(0)
        lines = ([_along(column, rows, rng) for column in self.columns] for _ in range(_PROJECTIONS))
        return [np.asarray(np.sum(line, axis=0)) for line in lines]


def _along(column: NDArray[Any], rows: Ints, rng: np.random.Generator) -> Floats:
    """One feature's part of a projection: a number times a weight, a category's own weight."""
    if column.dtype.kind == "i":
        return np.asarray(rng.normal(size=int(column.max()) + 1)[column[rows]])
    spread = np.nanstd(column) or 1.0
    return np.asarray(rng.normal() * np.nan_to_num(column[rows] / spread, nan=2.0))


def _category_codes(column: NDArray[Any]) -> Ints:
    codes, _ = group([column])
    return codes


def _nearest_pairs(rows: Ints, labels: Ints, space: _Space | None, wanted: int) -> tuple[Ints, Floats]:
    """Pairs of these rows with different labels, nearest first; in order of rows where there is no distance."""
    commonest = int(np.bincount(labels[rows]).argmax())
    rare = rows[labels[rows] != commonest]  # every disagreeing pair has at least one of these
    if space is None:
        pairs = _first_pairs(rare, rows, labels, commonest, wanted)
        return pairs, np.full(len(pairs), np.nan)
    if len(rare) * len(rows) * space.features <= _EXACT:
        pairs = _all_pairs(rare, rows, labels, commonest)
    else:
        first = _first_pairs(rare, rows, labels, commonest, wanted)
        pairs = np.unique(np.concatenate([_neighbors(rows, labels, space), first]), axis=0)
    distance = space.distance(pairs[:, 0], pairs[:, 1])
    order = np.lexsort((pairs[:, 1], pairs[:, 0], distance))[:wanted]
    return pairs[order], distance[order]


def _partners(row: int, rows: Ints, labels: Ints, commonest: int) -> Ints:
    """Rows of another label, so that no pair comes twice: of the commonest label, or later ones."""
    found: Ints = rows[(labels[rows] != labels[row]) & ((labels[rows] == commonest) | (rows > row))]
    return found


def _first_pairs(rare: Ints, rows: Ints, labels: Ints, commonest: int, wanted: int) -> Ints:
    pairs: list[tuple[int, int]] = []
    for row in rare:
        pairs += [
            (int(min(row, other)), int(max(row, other))) for other in _partners(row, rows, labels, commonest)[:wanted]
        ]
        if len(pairs) >= wanted:
            break
    return np.array(pairs[:wanted], np.int64).reshape(-1, 2)


def _all_pairs(rare: Ints, rows: Ints, labels: Ints, commonest: int) -> Ints:
    a, b = np.repeat(rare, len(rows)), np.tile(rows, len(rare))
    keep = (labels[a] != labels[b]) & ((labels[b] == commonest) | (b > a))
    a, b = a[keep], b[keep]
    return np.column_stack([np.minimum(a, b), np.maximum(a, b)])


def _neighbors(rows: Ints, labels: Ints, space: _Space) -> Ints:
    """Disagreeing neighbors in the order along each projection: linear many, and near pairs are among them."""
    pairs = []
    for line in space.projections(rows):
        ordered = rows[np.argsort(line, kind="stable")]
        for step in range(1, _WINDOW + 1):
            a, b = ordered[:-step], ordered[step:]
            differ = labels[a] != labels[b]
            pairs.append(np.column_stack([np.minimum(a, b)[differ], np.maximum(a, b)[differ]]))
    return np.concatenate(pairs)
