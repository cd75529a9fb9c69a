"""Counterexamples: pairs of rows with the same explanation and different predictions."""

import math
from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from faithscope.agreements import Spread, Tolerance
from faithscope.counting.counts import Counts
from faithscope.counting.profile import sum_by
from faithscope.explanations.distances.metrics import Gower
from faithscope.inputs.array_types import Floats, Ints
from faithscope.inputs.checks import check_whole
from faithscope.inputs.columns import Rows
from faithscope.inputs.grouping import group
from faithscope.measures.numbers import agreement_between, agreement_of_scopes, distance, shown
from faithscope.sample import Sample

_EXACT = 40_000_000  # values compared for one explanation; with more, only those of some rows
_SOME = 2**21  # values of these rows, and values that are in memory at once
_ENDS = 128  # numbers at each end that are compared with each other
_NO_PAIRS = np.empty((0, 2), np.int64)


def counterexamples(counts: Counts, sample: Sample, k: int = 10, pairs: Ints | None = None) -> dict[str, Any]:
    """Up to k pairs of rows that share an explanation but not a prediction.

    Explanations with most disagreement come first, and each gives one pair before any gives a second. Within an
    explanation the nearest rows come first (Gower distance on X, if the sample has X). If an explanation has very many
    rows, those compared are every so many of them. Of numbers, the pairs with the largest gap come first instead, and
    of equal gaps the nearest rows.

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
    numbers, codes = counts.agreement.of_numbers, counts.explanations.locate(sample.explanations)
    pairs = stranger_pairs(counts, sample, codes) if pairs is None else pairs
    total = agreement_of_scopes(counts)["disagreement"] / 2 if numbers else pairs
    worst = np.argsort(-total, kind="stable")[: min(k, int((total > 0).sum()))]
    available = total.astype(np.int64) if isinstance(counts.agreement, Tolerance) else pairs
    columns, apart = _distances(sample.X)
    order = np.argsort(codes, kind="stable")
    first, last = (np.searchsorted(codes[order], worst, side) for side in ("left", "right"))
    chosen = [_NO_PAIRS]
    for start, stop, wanted in zip(first, last, share_out(available[worst], k).tolist(), strict=True):
        rows, found = order[start:stop], _NO_PAIRS
        for more in _far_apart(rows, sample) if numbers else _unlike(rows, sample, columns):
            if sample.clusters is not None:
                more = more[sample.clusters[more[:, 0]] != sample.clusters[more[:, 1]]]
            found = np.concatenate([found, np.sort(more, axis=1)])
            a, b = found.T
            gaps = distance(sample.labels[a], sample.labels[b]) if numbers else np.zeros(len(found))
            found = found[np.lexsort((b, a, apart(a, b), -gaps))[:wanted]]
            if not columns and len(found) == wanted:  # all are as near
                break
        chosen.append(found)
    a, b = np.concatenate(chosen).T
    which = np.repeat(worst, list(map(len, chosen[1:])))
    one, other = sample.labels[a], sample.labels[b]
    return {
        "row_a": a,
        "row_b": b,
        "prediction_a": shown(one),
        "prediction_b": shown(other),
        **({"gap": distance(one, other)} if numbers else {}),
        "distance": apart(a, b),
        "explanation": [counts.explanations.describe(explanation) for explanation in which.tolist()],
        "disagreement" if numbers else "disagreeing_pairs": total[which],
    }


def _unlike(rows: Ints, sample: Sample, columns: int) -> Iterator[Ints]:
    """Pairs of these rows with different labels, in blocks; of very many rows, pairs of every so many of them."""
    labels = sample.numbered_labels[1]
    often = np.bincount(labels[rows]).argmax()
    common, rare = rows[labels[rows] == often], rows[labels[rows] != often]  # of which every pair has at least one
    values = len(rare) * len(rows) * columns
    step = 1 if values <= _EXACT else math.ceil(math.sqrt(values / _SOME))
    rare = rare[::step]
    some = np.sort(np.concatenate([common[::step], rare]))
    block = max(1, _SOME // (len(some) * max(1, columns)))
    for start in range(0, len(rare), block):
        a, b = (side.ravel() for side in np.meshgrid(rare[start : start + block], some, indexing="ij"))
        kept = (labels[a] != labels[b]) & ((labels[b] == often) | (b > a))  # so that no pair comes twice
        yield np.column_stack([a[kept], b[kept]])


def _far_apart(rows: Ints, sample: Sample) -> Iterator[Ints]:
    """Pairs of these rows that disagree, among them those that are farthest apart.

    Of numbers the 128 lowest and the 128 highest are compared, so that as many pairs are the farthest; of vectors those
    nearest to their mean, and those farthest from it.
    """
    values = sample.labels[rows]
    order = np.argsort(values if values.ndim == 1 else distance(values, values.mean(axis=0)[None]), kind="stable")
    far = np.union1d(order[:_ENDS], order[-_ENDS:])
    one, other = far[np.column_stack(np.triu_indices(len(far), 1))].T
    between = agreement_between(sample.agreement, values[one], values[other])
    unlike = between > 0 if isinstance(sample.agreement, Spread) else between < 1
    yield rows[np.column_stack([one, other])[unlike]]


def stranger_pairs(counts: Counts, sample: Sample, codes: Ints) -> Ints:
    """For each explanation, how many pairs of its rows get different predictions and are of different clusters."""
    if sample.clusters is None or counts.agreement.of_numbers:
        return (counts.rows_given**2 - sum_by(counts.explanation, counts.given**2, counts.distinct)) // 2
    apart = pairs_apart(codes, sample.numbered_labels[1], sample.clusters, np.ones(sample.n))
    return np.rint(apart).astype(np.int64) // 2


def pairs_apart(codes: Ints, one: Ints, other: Ints, weight: Floats) -> Floats:
    """Per code, ``Σ w_i w_j`` over ordered pairs of rows that share it and differ in both columns."""

    def alike(*columns: Ints) -> Floats:
        """The same over pairs, each row with itself included, that share the code and these columns."""
        place, first = group([np.column_stack([codes, *columns])])
        return np.asarray(np.bincount(codes[first], np.bincount(place, weight) ** 2), np.float64)

    return alike() - alike(one) - alike(other) + alike(one, other)


def share_out(available: Ints, k: int) -> Ints:
    """How many of k pairs each explanation gives: one each in turn, up to the pairs that it has."""
    k = min(k, int(available.sum()))
    turns = bisect_right(range(k + 1), k, key=lambda turns: int(np.minimum(available, turns).sum())) - 1
    quota = np.minimum(available, turns)
    quota[np.flatnonzero(available > turns)[: k - int(quota.sum())]] += 1
    return quota


def _distances(X: Any) -> tuple[int, Callable[[Ints, Ints], Floats]]:
    """How many columns of X are compared, and Gower's distances between rows of it; NaN if there are none."""
    columns = [] if X is None or hasattr(X, "tocsr") else Rows(X, loose=True).measured()
    metric = Gower.fit(columns)
    columns = metric.read(columns)

    def apart(a: Ints, b: Ints) -> Floats:
        if not columns:
            return np.full(len(a), np.nan)
        return metric.between(*([column[side] for column in columns] for side in (a, b)))

    return len(columns), apart
