"""Counterexamples: pairs of rows with the same explanation and different predictions."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from faithscope.agreements import Agreement, Tolerance
from faithscope.counting.counts import Counts
from faithscope.counting.profile import sum_by
from faithscope.explanations.distances.metrics import Gower
from faithscope.inputs.array_types import Array, Floats, Ints
from faithscope.inputs.checks import check_whole
from faithscope.inputs.columns import Rows
from faithscope.measures.numbers.groups import disagree, disagreement, distance, shown
from faithscope.sample import Sample

Pairs = tuple[Ints, Floats]  # of rows, the smaller first, and their distance

_EXACT = 40_000_000  # values compared for one explanation; with more, only neighbors along projections are
_AT_ONCE = 2**20  # values of them that are in memory at once
_PROJECTIONS = 16
_FAR = 128  # vectors at each end that are compared with each other
_WINDOW = 4  # neighbors on each side
_WITHIN_CLUSTERS = 1000  # pairs of rows of one cluster that may be farther apart than those that are shown


def counterexamples(counts: Counts, sample: Sample, k: int = 10, pairs: Ints | None = None) -> dict[str, Any]:
    """Up to k pairs of rows that share an explanation but not a prediction.

    Explanations with most disagreement come first, and each gives one pair before any gives a second. Within an
    explanation the nearest rows come first (Gower distance on X, if the sample has X). If an explanation has very many
    rows, not all pairs are compared: candidates are neighbors along a few fixed directions. Of numbers, the pairs with
    the largest gap come first instead (`farthest_pairs`), and of equal gaps the nearest rows.

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
    pairs = stranger_pairs(counts, sample, codes) if pairs is None else pairs
    total = disagreement(counts) if numbers else pairs
    worst = np.argsort(-total, kind="stable")[: min(k, int((total > 0).sum()))]
    available = total.astype(np.int64) if isinstance(counts.agreement, Tolerance) else pairs
    space, choose = _Rows.of(sample.X), _farthest_rows if numbers else _nearest_rows
    order = np.argsort(codes, kind="stable")
    first, last = (np.searchsorted(codes[order], worst, side) for side in ("left", "right"))
    quota = zip(first, last, share_out(available[worst], k), strict=True)
    chosen = [choose(order[start:stop], sample, space, int(wanted)) for start, stop, wanted in quota]
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


def _nearest_rows(rows: Ints, sample: Sample, space: "_Rows | None", wanted: int) -> Pairs:
    """Pairs of these rows that disagree, of different clusters: nearest first, or in order if there is no distance."""
    labels, clusters = sample.numbered_labels[1], np.arange(sample.n) if sample.clusters is None else sample.clusters
    commonest = np.bincount(labels[rows]).argmax()
    rare = rows[labels[rows] != commonest]  # every disagreeing pair contains at least one of these rows

    def disagreeing(a: Ints, b: Ints) -> Ints:
        differ = (labels[a] != labels[b]) & (clusters[a] != clusters[b])
        return np.sort(np.column_stack([a, b])[differ], axis=1)

    def all_pairs() -> Iterator[Ints]:
        for row in rare:
            others = rows[(labels[rows] == commonest) | (rows > row)]  # so that no pair comes twice
            yield disagreeing(np.full(len(others), row), others)

    def first_pairs() -> Ints:
        pairs = np.empty((0, 2), np.int64)
        for more in all_pairs():
            pairs = np.concatenate([pairs, more[: wanted - len(pairs)]])
            if len(pairs) == wanted:
                break
        return pairs

    def neighbors(space: _Rows) -> Iterator[Ints]:
        """Neighbors in one of the orders: linearly many pairs, and the near ones are among them."""
        yield first_pairs()
        for ordered in space.orders(rows):
            yield from (disagreeing(ordered[:-step], ordered[step:]) for step in range(1, _WINDOW + 1))

    if space is None:
        pairs = first_pairs()
        return pairs, np.full(len(pairs), np.nan)
    exact = len(rare) * len(rows) * len(space.columns) <= _EXACT
    return _nearest(all_pairs() if exact else neighbors(space), space, wanted)


def _farthest_rows(rows: Ints, sample: Sample, space: "_Rows | None", wanted: int) -> Pairs:
    """Pairs of these rows with the largest gaps, of equal gaps the nearest rows first, and their distance.

    If rows are clustered, both are of different clusters, of which numbers at the ends of each are enough.
    """
    if len(rows) < 2:  # of a sample that does not hold all rows
        return np.empty((0, 2), np.int64), np.empty(0)
    many = 0
    if sample.clusters is not None:
        whose = sample.clusters[rows]
        many = min(len(np.unique(whose)), _WITHIN_CLUSTERS)
        if sample.labels.ndim == 1:
            order = np.lexsort((sample.labels[rows], whose))
            new = np.diff(whose[order], prepend=-1) != 0
            rows = np.sort(rows[order[new | np.append(new[1:], True)]])
    pairs = np.sort(rows[farthest_pairs(sample.labels[rows], sample.agreement, wanted + many)], axis=1)
    if sample.clusters is not None:
        pairs = pairs[sample.clusters[pairs[:, 0]] != sample.clusters[pairs[:, 1]]]
    a, b = pairs.T
    apart = np.full(len(pairs), np.nan) if space is None else space.distance(a, b)
    order = np.lexsort((b, a, apart, -distance(sample.labels[a], sample.labels[b])))[:wanted]
    return pairs[order], apart[order]


def farthest_pairs(values: Array, agreement: Agreement, wanted: int) -> Ints:
    """Positions of pairs that disagree: among them the `wanted` pairs that are farthest apart, (m, 2).

    Of numbers this is exact: in the i-th lowest and the j-th highest of the p farthest pairs, i j is at most p. Of more
    than 256 vectors, those farthest from the mean, and those farthest from the first of these, are compared with each
    other, so that the largest gap is at least half of the largest there is.

    Examples
    --------
    >>> from faithscope.agreements import Close
    >>> farthest_pairs(np.array([1.0, 9.0, 4.0]), Close(1.0), 1).tolist()
    [[0, 1]]
    """
    if values.ndim == 1:
        order, last = np.argsort(values, kind="stable"), len(values) - 1
        ends = [(low, last - high) for low in range(min(wanted, last)) for high in range(wanted // (low + 1))]
        pairs = order[np.array([(low, high) for low, high in ends if low < high], np.int64).reshape(-1, 2)]
    else:
        far = np.arange(len(values))
        if len(values) > 2 * _FAR:
            ends_of_mean = np.argsort(-distance(values, values.mean(axis=0)[None]), kind="stable")[:_FAR]
            others = np.argsort(-distance(values, values[ends_of_mean[:1]]), kind="stable")[:_FAR]
            far = np.union1d(ends_of_mean, others)
        pairs = far[np.column_stack(np.triu_indices(len(far), 1))]
    return pairs[disagree(agreement, values[pairs[:, 0]], values[pairs[:, 1]])]


def stranger_pairs(counts: Counts, sample: Sample, codes: Ints) -> Ints:
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

    def __init__(self, columns: list[Array]) -> None:
        self.metric = Gower.fit(columns)
        pairs = zip(self.metric.read(columns), self.metric.ranges, strict=True)
        # Categories numbered from 0, to index arrays with; Gower's digests of them are arbitrary 64-bit numbers.
        self.columns = [np.unique(each, return_inverse=True)[1] if width is None else each for each, width in pairs]

    @classmethod
    def of(cls, X: Any) -> "_Rows | None":
        """The rows of X; None if there are no columns to compare (X is None or sparse)."""
        columns = [] if X is None or hasattr(X, "tocsr") else Rows(X, loose=True).measured()
        return cls(columns) if columns else None

    def distance(self, a: Ints, b: Ints) -> Floats:
        """The distance between row ``a[i]`` and row ``b[i]``, for every i."""
        return self.metric.between([column[a] for column in self.columns], [column[b] for column in self.columns])

    def orders(self, rows: Ints) -> Iterator[Ints]:
        """The rows sorted along a few fixed random directions.

        If there are categories or missing values, also along directions of half of the features: rows that differ in
        one category are far apart along every direction that uses it.
        """
        rng, features = np.random.default_rng(0), len(self.columns)
        for _ in range(_PROJECTIONS):
            yield rows[np.argsort(sum(_along(column, rows, rng) for column in self.columns), kind="stable")]
        numbers = all(column.dtype.kind == "f" and not np.isnan(column).any() for column in self.columns)
        for _ in range(0 if numbers or features < 2 else _PROJECTIONS):
            parts = np.stack([_along(column, rows, rng) for column in self.columns])
            half = rng.permutation(features)[: features // 2]
            yield rows[np.lexsort((parts.sum(axis=0), parts[half].sum(axis=0)))]


def _along(column: Array, rows: Ints, rng: np.random.Generator) -> Floats:
    """The part of a projection due to one feature: number times weight; categories and missing have own weights."""
    if column.dtype.kind == "i":
        return np.asarray(rng.normal(size=int(column.max()) + 1)[column[rows]])
    known = column[np.isfinite(column)]
    spread = (known.std() if len(known) else 0.0) or 1.0
    values = rng.normal() * (column[rows] / spread)
    missing = ~np.isfinite(values)
    values[missing] = rng.normal() if missing.any() else 0.0
    return values


def _nearest(candidates: Iterable[Ints], space: _Rows, wanted: int) -> Pairs:
    """The nearest of these pairs, each once, and their distances; of equal distances, in order of rows.

    Of all that came before, only as many pairs are kept as are wanted, so memory does not grow with the candidates.
    """
    nearest, apart = np.empty((0, 2), np.int64), np.empty(0)
    at_once = max(1, _AT_ONCE // len(space.columns))
    for pairs in (some[i : i + at_once] for some in candidates for i in range(0, len(some), at_once)):
        distance = space.distance(*pairs.T)
        near = distance <= (apart[-1] if 0 < wanted == len(apart) else np.inf)
        nearest, apart = np.concatenate([nearest, pairs[near]]), np.concatenate([apart, distance[near]])
        order = np.lexsort((*nearest.T[::-1], apart))
        nearest, apart = nearest[order], apart[order]
        new = np.any(np.diff(nearest, axis=0, prepend=-1) != 0, axis=1)  # the same pair is equally far each time
        nearest, apart = nearest[new][:wanted], apart[new][:wanted]
    return nearest, apart
