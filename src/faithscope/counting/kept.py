"""Kept rows: what agrees and what is silent among rows that are kept by chance, averaged over all ways of keeping them.

A *lot* is a row, or the rows of one cluster with one explanation: one draw, however many rows it has. Of lot k one row
is kept with probability ``a_k = W_k / c``, each in proportion to its weight, ``a_i = w_i / c``. Kept rows of an
explanation are independent draws of the target population, whatever weights and sizes have to do with predictions.
Each is compared with the other kept rows of its explanation. Over all ways of keeping, the sums of M̂ and U have the
means

    A_π = ∫₀¹ Π_k (1 - a_k u) · Σ_{k≠l} Σ_{i∈k, j∈l} K_ij b_i b_j du,   b_i = a_i / (1 - a_k u),
    S_π = Σ_k a_k Π_{l≠k} (1 - a_l),

because ``1 / (1 + N) = ∫₀¹ (1 - u)^N du``, and ``E (1 - u)^N = Π_k (1 - a_k u)`` if N counts the rows that are kept.
Both are linear in what a lot holds, and leaving one out is one factor and one subtraction.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.special import chdtri, ndtri, roots_laguerre, roots_legendre

from faithscope.agreements.base import AgreementSums
from faithscope.counting.clusters import Cells, Kinds, in_quarters
from faithscope.counting.layout import numbered_pairs, run_starts, sums
from faithscope.counting.leave_out import LeftOut, Sums, Units
from faithscope.counting.rows import Content
from faithscope.inputs.array_types import Floats, Ints
from faithscope.notes import Notes
from faithscope.runtime.memory import FEWER_ROWS, need
from faithscope.sample import Sample

_ROUNDING, _APART = 1e-9, 2.5
_CLUSTERS_APART = 2.0
_SEEMING = 0.005  # probability that weights seem to go with labels, if they do not
_BY_SIZE = "sizes of clusters may go with predictions"


# The integrand of N lots is a polynomial of degree N - 2, so k Legendre nodes are exact up to 2k + 1 lots.
_NODES = (1, 2, 4, 8, 16)
_SIZES = np.array([1, *(2 * many + 1 for many in _NODES)])
# Its m-th derivative is at most (Σa)^m, so 24 nodes on [0, 36 / Σa] are within 1e-13 of the integral, in proportion.
# If Σa is large, it is exp(-Σa u) times a factor that is nearly constant: within 1e-13 from Σa = 1,000 on.
# Nodes and weights on [0, span], where span = min(1, tail / Σa).
_QUADRATURES: list[tuple[Floats, Floats, float]] = [
    ((1 + nodes) / 2, weights / 2, tail)
    for many, tail in (*((many, np.inf) for many in _NODES), (24, 36.0))
    for nodes, weights in [roots_legendre(many)]
]
_QUADRATURES += [(nodes, weights * np.exp(nodes), 1.0) for nodes, weights in [roots_laguerre(8)]]
_MANY = 1000.0


class Lots(NamedTuple):
    """Rows with one explanation of which at most one is kept, and what they hold.

    Attributes
    ----------
    explanation : (k,) array
        The explanation of each lot, by number.
    kept : (k,) array
        The probability that one of its rows is kept: above 0, and at most 1.
    within : (k,) array
        ``Σ K_ij a_i a_j`` over all its rows, which are not compared with each other.
    times : (k,) array
        How many lots are like this one.
    lot, label, share : (m,) arrays
        Its rows by prediction: their lot, their prediction by number, and the probability that one of them is kept.
    """

    explanation: Ints
    kept: Floats
    within: Floats
    times: Ints
    lot: Ints
    label: Ints
    share: Floats


def thin(lots: Lots, agreement: AgreementSums) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
    """The means of A and of S over all ways of keeping rows, by an agreement of the predictions.

    Each of the two comes per explanation, and as it is of each lot's explanation without the lot.
    """
    need(160 * (len(lots.lot) + len(lots.kept)), f"Sums over {len(lots.lot):,} kinds of rows", FEWER_ROWS)
    size, mass = (sums(lots.explanation, each) for each in (lots.times, lots.times * lots.kept))
    quadrature = np.searchsorted(_SIZES, size) + ((size > _SIZES[-1]) & (mass >= _MANY))
    agreeing, without = np.zeros(len(size)), np.zeros(len(lots.kept))
    for number in np.unique(quadrature[quadrature > 0]):  # explanations of a single lot agree with nobody
        these = quadrature == number
        chosen = these[lots.explanation]
        entries = chosen[lots.lot]
        explanation = (np.cumsum(these) - 1)[lots.explanation[chosen]]
        kept, within, times = (column[chosen] for column in lots[1:4])
        lot, share = (np.cumsum(chosen) - 1)[lots.lot[entries]], lots.share[entries]
        cells, often = Cells(*numbered_pairs(explanation[lot], lots.label[entries])), times[lot]
        nodes, weights, tail = _QUADRATURES[number - 1]
        span = np.minimum(1.0, tail / sums(explanation, times * kept))
        whole, left = np.zeros(len(span)), np.zeros(len(kept))
        for place, weight in zip(nodes, weights, strict=True):
            u = (place * span)[explanation]
            factor = np.exp(sums(explanation, times * np.log1p(-kept * u))) * (weight * span)
            scale = 1 / (1 - kept * u)
            b = share * scale[lot]
            met = b * cells.agreeing(agreement, often * b)
            met = np.maximum((met if len(lot) == len(kept) else sums(lot, met)) - within * scale**2, 0.0)
            pairs = sums(explanation, times * met)
            whole += factor * pairs
            left += factor[explanation] * scale * (pairs[explanation] - 2 * met)
        agreeing[these], without[chosen] = whole, np.maximum(left, 0.0)
    explanation, kept, times = lots.explanation, lots.kept, lots.times
    sure = kept == 1.0  # lots that are surely kept silence no other
    odds = np.where(sure, 0.0, kept / np.where(sure, 1.0, 1 - kept))
    logs = np.where(sure, 0.0, np.log1p(-np.where(sure, 0.0, kept)))
    certain, ratio, log = (sums(explanation, times * column) for column in (sure, odds, logs))

    def alone(certain: Floats, ratio: Floats, log: Floats) -> Floats:
        return np.exp(log) * np.where(certain == 0, np.maximum(ratio, 0.0), certain == 1)

    others = (column[explanation] for column in (certain, ratio, log))
    left = alone(*(total - own for total, own in zip(others, (sure, odds, logs), strict=True)))
    return (agreeing, without), (alone(certain, ratio, log), np.where(size[explanation] > 1, left, 0.0))


class Kept(NamedTuple):
    """What an estimate of weighted or clustered rows is made of.

    Attributes
    ----------
    sums : Sums
        Their `silent` holds how much higher the sum of M̂ could be, which is more than the weight of rows alone.
    left_out : LeftOut
    notes : tuple of str
    """

    sums: Sums
    left_out: LeftOut
    notes: Notes


def keep(sample: Sample, kinds: Kinds) -> Kept | None:
    """Row i is kept with probability ``w_i / c``, at most one of each lot: these are a plain sample of the target.

    That is so for every c that was fixed before rows were seen: the weight of the heaviest lot. If the size of a
    cluster seems to say nothing of its predictions, c is that of the heaviest lot of each explanation, which keeps more
    rows. Without clusters, pairs of rows are weighed then (None) if c would keep less than half the effective sample
    size.
    """
    explanation = kinds.part[0]
    own, weights = kinds.parts.own, sample.weight
    heaviest, total = float(own.max()), float(own.sum())
    few = sample.clusters is not None or heaviest * total / 2 > float(np.sum(weights**2))
    if few:
        labeled = in_quarters(sample)
        apart = abs((kinds if labeled is sample else Kinds.of(labeled)).sizes_apart())
        if sample.clusters is not None:
            few = apart > _CLUSTERS_APART
        elif apart <= _APART and not _alike_within_labels(labeled, explanation):
            return None
    most = np.full(len(own), heaviest)
    if sample.clusters is not None and not few:
        largest = np.zeros(int(explanation.max()) + 1)
        np.maximum.at(largest, explanation, own)
        most = largest[explanation]
    lots, entry = _lots(sample, kinds, most)
    sides = thin(lots, sample.agreement.over(sample.values))
    weighed = np.zeros(len(sides[0][0]))
    weighed[explanation] = most
    unit = np.arange(len(own)) if kinds.parts.unit is None else kinds.parts.unit
    units = Units.of(sample)
    left = np.maximum(total - units.mass, total * 1e-12)

    # The sums over explanations, and what is left of them per row without each unit.
    agreeing, silent = (float(weighed @ per_explanation) for per_explanation, _ in sides)
    value, alone = (
        (total + sums(unit, most * (changed[entry] - per_explanation[explanation]))) / left
        for total, (per_explanation, changed) in zip((agreeing, silent), sides, strict=True)
    )
    nobody = len(own) == len(weighed)  # then all of it is silent, to the last digit
    terms = Sums(agreeing, total if nobody else min(silent, total), total)
    notes = (kept_note(sample, f"about {np.sum(own / most):,.0f} rows"),) if few else ()
    return Kept(terms, LeftOut(value, alone, heaviest=units.heaviest), notes)


def kept_note(sample: Sample, rows: str) -> str:
    """What an interval of kept rows is that of."""
    why, by = ("weights may go with predictions", "weight") if sample.clusters is None else (_BY_SIZE, "size")
    return f"{why}: the interval is that of {rows}, kept by chance in proportion to their {by}"


def _lots(sample: Sample, kinds: Kinds, most: Floats) -> tuple[Lots, Ints]:
    """The lots of a sample, each kept in proportion to the weight of its heaviest; and the lot of each part.

    Parts with the same explanation and weight whose rows all have the same prediction are one lot, so many times.
    """
    explanation, part = kinds.part
    lot, label, cell = numbered_pairs(part, sample.numbered_labels[1])
    kept, several = kinds.parts.own / most, np.bincount(lot) > 1
    within = sample.agreement.itself * kept**2
    if several.any():
        agreeing = (kinds.cells[1] or kinds.cells[0]).agreeing(kinds.sums, sample.weight)
        within = np.where(several, sums(part, sample.weight * agreeing) / most**2, within)
    alike = np.unique(kept, return_inverse=True)[1]
    alike[several] = len(alike) + np.arange(np.sum(several))  # each by itself
    entry = numbered_pairs(numbered_pairs(explanation, label[run_starts(lot)])[2], alike)[2]
    times = np.bincount(entry)
    one = np.empty(len(times), np.int64)
    one[entry] = np.arange(len(entry))
    held = np.flatnonzero(one[entry[lot]] == lot)
    held = held[np.argsort(entry[lot[held]], kind="stable")]
    share = sums(cell, sample.weight)[held] / most[lot[held]]
    return Lots(explanation[one], kept[one], within[one], times, entry[lot[held]], label[held], share), entry


def _alike_within_labels(sample: Sample, codes: Ints) -> bool:
    """Whether logarithms of weights, or how far they spread, are more alike within a label than across labels.

    Two rows of one explanation have a product of deviations whose mean does not depend on whether they share a label,
    if weights do not. Labels may have equal means of logarithms and yet unequal means of weights, if logarithms spread
    more in one of them.
    """
    explanation, _, cell = numbered_pairs(codes, sample.numbered_labels[1])

    def pairs(values: Floats, squares: Floats) -> tuple[Floats, Floats]:
        """Sums over ordered pairs of rows of each explanation: of one label, and of different ones."""
        alike = sums(explanation, values**2)
        return alike - sums(explanation, squares), sums(explanation, values) ** 2 - alike

    n_alike, n_others = pairs(*2 * (np.bincount(cell).astype(np.float64),))
    column = np.log(sample.weight)
    for _ in range(2):
        column = column - (np.bincount(codes, column) / np.bincount(codes))[codes]
        alike, others = pairs(sums(cell, column), sums(cell, column**2))
        apart = (alike * n_others - others * n_alike) / np.maximum(n_alike + n_others, 1)
        if apart.sum() > _APART * np.sqrt(np.sum(apart**2)) + _ROUNDING * len(column):
            return True
        column = np.abs(column)
    return False


def kept_rows(sample: Sample) -> Sample:
    """A plain sample of the target population: of each cluster, or row, one row is kept by chance.

    It is kept with probability ``W_k / max W``, so that it is an independent draw, whatever weights and sizes have to
    do with predictions; which row of a cluster it is goes by their weights. Draws depend on the content of rows and not
    on their order.
    """
    content = Content(replace(sample, askers=None), (sample.explanations,))
    mass = Units.of(sample).mass
    chosen = content.chances(0, by_cluster=True) * mass.max() < mass
    if sample.clusters is None:
        rows = np.flatnonzero(chosen)
    else:
        # Of independent waiting times at the rate of the weights, each is the shortest in proportion to its rate.
        waiting = -np.log1p(-content.chances(1, by_cluster=False)) / sample.weight
        order = np.lexsort((waiting, sample.clusters))
        rows = np.sort(order[run_starts(sample.clusters[order])][chosen])
    return replace(sample.take(rows), weights=None, clusters=None, notes=())


def goes_with_predictions(sample: Sample) -> bool:
    """Whether weights, or the sizes of clusters, seem to go with predictions.

    Weights do if their logarithms, or how far these spread, differ between labels, whatever the explanations. Numbers
    are told apart by the quarter in which they lie.
    """
    if sample.weights is not None:
        label = in_quarters(sample).numbered_labels[1]
        rows = np.bincount(label)
        column = np.log(sample.weights)
        for _ in range(2):
            column = column - column.mean()
            means = np.bincount(label, column) / np.maximum(rows, 1)
            between, whole = float(rows @ means**2), float(column @ column)
            if len(column) * between > chdtri(max(1, np.sum(rows > 0) - 1), _SEEMING) * whole + _ROUNDING:
                return True
            column = np.abs(column)  # from the mean of all: rows of a label of few would lie too near to their own
    return sizes_matter(sample)


def sizes_matter(sample: Sample) -> bool:
    """Whether the size of a row's cluster seems to go with its prediction, by either of two tests.

    One asks whether labels differ in the sizes of their clusters, whatever the explanations. The other, if most rows
    share their explanation with several clusters, whether agreement by rows differs from agreement by clusters; alone
    it would be blind where the two are equal by accident, as with label shares of .3 by clusters and .7 by rows.
    """
    if sample.clusters is None:
        return False
    kinds = Kinds.of(in_quarters(sample))
    labels = kinds.sizes_by_label()
    if labels.max() > -ndtri(_SEEMING / len(labels)):
        return True
    # Of rows, those whose explanation is of several other clusters.
    shared = float(np.mean((kinds.parts.left > 0)[kinds.part[1]]))
    return shared >= 0.5 and abs(kinds.sizes_apart()) > _CLUSTERS_APART
