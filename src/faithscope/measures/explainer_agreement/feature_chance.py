"""How many features two explainers share on different rows: what feature agreement is worth."""

import numpy as np

from faithscope.measures.explainer_agreement.named_features import NamedFeatures
from faithscope.measures.explainer_agreement.shares import CountedRows, Floats, Ints


def feature_chance(a: NamedFeatures, b: NamedFeatures, own: Floats, rows: CountedRows) -> float | None:
    """The mean feature agreement of a's explanation of one row and b's of a row of another cluster.

    Two explainers that always name the same few features reach it without looking at the row. Features of a and b have
    the same numbers; `own` is their agreement on each row. None if all rows are of one cluster.
    """
    within = float((rows.by_cluster**2).sum())
    if len(rows.by_cluster) < 2:
        return None
    everybody = _pairs(a, b, rows.weights, np.zeros(len(rows.weights), np.int64))
    alone = len(rows.by_cluster) == len(rows.weights)
    together = float(rows.weights**2 @ own) if alone else _pairs(a, b, rows.weights, rows.cluster)
    return float(np.clip((everybody - together) / (rows.total**2 - within), 0.0, 1.0))


def _pairs(a: NamedFeatures, b: NamedFeatures, weights: Floats, group: Ints) -> float:
    """The sum over pairs of rows of one group of their weights by the features that they share.

    ``Σ_f 1(f in A_i, f in B_j) / max(|A_i|, |B_j|)``, and 1 if neither names any: one pass per size of B.
    """
    (in_a, in_b), cells = _numbered(a, b, group)
    own, others, mass = a.sizes[a.rows], b.sizes[b.rows], weights[b.rows]
    empty_a, empty_b = (np.bincount(group, weights * (each.sizes == 0)) for each in (a, b))
    pairs = float(empty_a @ empty_b)
    for size in np.flatnonzero(np.bincount(others)):
        chosen = others == size
        named = np.bincount(in_b[chosen], mass[chosen], cells)
        pairs += float(np.sum(weights[a.rows] * named[in_a] / np.maximum(own, size)))
    return pairs


def _numbered(a: NamedFeatures, b: NamedFeatures, group: Ints) -> tuple[tuple[Ints, Ints], int]:
    """The number of the group and feature of each naming, and how many there are; without gaps if they are many."""
    width = 1 + max(int(each.features.max(initial=0)) for each in (a, b))
    in_a, in_b = (group[each.rows] * width + each.features for each in (a, b))
    cells = (int(group.max()) + 1) * width
    if cells <= len(in_a) + len(in_b):
        return (in_a, in_b), cells
    known, place = np.unique(np.concatenate([in_a, in_b]), return_inverse=True)
    first, second = np.split(place.reshape(-1), [len(in_a)])
    return (first, second), len(known)
