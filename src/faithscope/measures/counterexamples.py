"""Counterexamples: pairs of rows with the same explanation and different predictions."""

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.explanations import Explanations
from faithscope.explanations.inputs import check_whole, frame_columns, is_frame, same_length, to_labels, to_vector
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
    quota = _share_out(disagreeing[worst], k)
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


def _share_out(available: Ints, k: int) -> Ints:
    """One pair for each explanation in turn, until k are given out or none is left."""
    quota = np.zeros(len(available), np.int64)
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
    """Gower distance on rows: numbers by their range, categories by equality, averaged over features."""

    def __init__(self, columns: list[NDArray[Any]]) -> None:
        self.numbers = [_scaled(column) for column in columns if column.dtype.kind in "biufMm"]
        self.categories = [_category_codes(column) for column in columns if column.dtype == object]
        self.features = len(columns)

    @classmethod
    def of(cls, X: Any, rows: int) -> "_Space | None":
        """The space of these rows; None where they have no columns to compare (none given, or sparse)."""
        columns = [] if X is None or hasattr(X, "tocsr") else _columns(X)
        if not columns:
            return None
        same_length(predictions=rows, X=len(columns[0]))
        return cls(columns)

    def distance(self, a: Ints, b: Ints) -> Floats:
        """Between rows a and rows b, broadcast against each other."""
        total = np.zeros(np.broadcast(a, b).shape)
        for column in self.numbers:
            gap = np.abs(column[a] - column[b])
            gap[np.isnan(gap)] = 1.0  # a missing number is far from any other ...
            gap[np.isnan(column[a]) & np.isnan(column[b])] = 0.0  # ... but not from another missing one
            total += gap
        for codes in self.categories:
            total += codes[a] != codes[b]
        return total / self.features

    def projections(self, rows: Ints) -> list[Floats]:
        """The rows along a few fixed random directions."""
        rng = np.random.default_rng(0)
        directions = []
        for _ in range(_PROJECTIONS):
            line = np.zeros(len(rows))
            for column in self.numbers:
                line += rng.normal() * np.nan_to_num(column[rows], nan=2.0)
            for codes in self.categories:
                line += rng.normal(size=int(codes.max()) + 1)[codes[rows]]
            directions.append(line)
        return directions


def _columns(X: Any) -> list[NDArray[Any]]:
    if is_frame(X):
        return frame_columns(X)[1]
    array = to_vector(X, "X")
    if array.ndim == 1 and array.dtype == object and len(array) and isinstance(array[0], list | np.ndarray):
        lengths = {len(row) for row in array}
        array = np.array(list(map(list, array)), object) if len(lengths) == 1 else array.astype(str)
    columns = list(array.reshape(len(array), -1).T)
    return [to_vector(column.tolist()) if column.dtype.kind not in "biuf" else column for column in columns]


def _scaled(column: NDArray[Any]) -> Floats:
    values = column.astype(np.int64 if column.dtype.kind in "Mm" else np.float64).astype(np.float64)
    values[~np.isfinite(values)] = np.nan
    spread = np.nanmax(values) - np.nanmin(values) if np.isfinite(values).any() else 0.0
    scaled: Floats = values / spread if spread > 0 else values * 0.0
    return scaled


def _category_codes(column: NDArray[Any]) -> Ints:
    numbers: dict[str, int] = {}
    return np.fromiter((numbers.setdefault(str(item), len(numbers)) for item in column), np.int64, len(column))


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
