"""Thinning for rules that overlap: a row's term is what agrees among the kept rows that its explanation covers.

For a row i that its explanation π covers, averaged over all ways of keeping other rows j with probability ``a_j``,

    term_i = ∫₀¹ Π_{k≠i} (1 - a_k u) · Σ_{j≠i, y_j = y_i} b_j du,   b_j = a_j / (1 - a_j u),

over the rows that π covers, and the row is silent with probability ``Π_{k≠i} (1 - a_k)``. Each row counts its weight.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from faithscope.counting.weights.thinned import MEDIUM

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_EXACT, _BINS = 256, 512  # kinds of rows that are told apart exactly; kinds if weights are grouped


@dataclass(frozen=True, eq=False)
class Kinds:
    """Kinds of rows: rows with one label that are kept with the same probability.

    Attributes
    ----------
    label, kept : (k,) arrays
        The label of each kind, and the probability with which its rows are kept.
    of : (n,) array
        The kind of each row.
    """

    label: Ints
    kept: Floats
    of: Ints

    @classmethod
    def by_weight(cls, labels: Ints, weights: Floats) -> "Kinds":
        """Rows are kept in proportion to their weight.

        If weights are many, those of one label that are within a few percent of each other are replaced by their mean.
        """
        share = weights / weights.max()
        values, place = np.unique(share, return_inverse=True)
        keys, first, of = np.unique(labels * len(values) + place, return_index=True, return_inverse=True)
        if len(keys) <= _EXACT:
            return cls(labels[first], share[first], of)
        bins = max(8, _BINS // (1 + int(labels.max())))
        step = np.maximum(np.floor(bins * (1 + np.log10(share) / 4)), 0.0).astype(np.int64)  # lightest: 1e-4 and less
        _, first, of = np.unique(labels * (bins + 1) + step, return_index=True, return_inverse=True)
        kept = np.bincount(of, share) / np.bincount(of)
        return cls(labels[first], kept, of)


class RuleTerms(NamedTuple):
    """Terms of a batch of explanations: sums per explanation, and tables (explanations, kinds).

    Attributes
    ----------
    agreeing, silent : (explanations,) arrays
        The weight of agreeing and of silent rows that were given each explanation.
    changed, silenced : tables
        By how much these change if one covered row of a kind is left out as a witness.
    leaning : table
        How much the terms lean on one covered row of a kind.
    missed : pair of tables
        Of a row that its explanation misses: its term, and its chance to be silent.
    alone : triple of tables
        Of a row that its explanation covers, as a witness of itself: what `agreeing`, `silent` and `leaning` hold of it
        once it was left out as a witness, which is then to be left out too.
    """

    agreeing: Floats
    silent: Floats
    changed: Floats
    silenced: Floats
    leaning: Floats
    missed: tuple[Floats, Floats]
    alone: tuple[Floats, Floats, Floats]


def rule_terms(kinds: Kinds, covered: NDArray[np.int64], given: Floats, missed: Floats) -> RuleTerms:
    """Terms of explanations from tables (explanations, kinds).

    Parameters
    ----------
    covered : table
        How many rows of each kind each explanation covers.
    given, missed : tables
        The weight of the rows that were given it and that it covers, and of those that it does not cover.
    """
    label, kept = kinds.label, kinds.kept
    by_label = np.equal.outer(label, np.arange(1 + int(label.max()))).astype(np.float64)
    span = np.minimum(1.0, MEDIUM.tail / np.maximum(covered @ kept, 1e-300))[:, None]
    shape = covered.shape
    agreeing, without, leaning = np.zeros(shape[0]), np.zeros(shape), np.zeros(shape)
    outside, again, on_itself = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    for place, weight in zip(MEDIUM.nodes, MEDIUM.weights, strict=True):
        u = place * span
        b = kept / (1 - kept * u)
        grown = 1 + u * b  # 1 / (1 - a u)
        product = np.exp(np.sum(covered * np.log1p(-kept * u), axis=1, keepdims=True)) * (weight * span)
        same = ((covered * b) @ by_label)[:, label]
        others = given * grown
        whole = np.sum(others * (same - b) + missed * same, axis=1, keepdims=True)
        lean = ((others + missed) @ by_label)[:, label]
        agreeing += (product * whole)[:, 0]
        without += product * grown * (whole - b * lean)
        leaning += product * b * np.sum(others + missed, axis=1, keepdims=True)
        outside += product * same
        again += product * grown**2 * (same - 2 * b)
        on_itself += product * b * grown
    silent, silent_without, silent_outside, silent_again = _silent(kinds, covered, given, missed)
    return RuleTerms(
        agreeing,
        silent,
        without - agreeing[:, None],
        silent_without - silent[:, None],
        leaning,
        (outside, silent_outside),
        (again, silent_again, on_itself),
    )


def _silent(
    kinds: Kinds, covered: NDArray[np.int64], given: Floats, missed: Floats
) -> tuple[Floats, Floats, Floats, Floats]:
    """The weight of silent rows, the same without one row of each kind, and of a row missed, and of one left out."""
    sure = kinds.kept == 1.0
    logs = np.where(sure, 0.0, np.log1p(-np.where(sure, 0.0, kinds.kept)))
    rows = covered.astype(np.float64)
    certain, log = ((rows @ column)[:, None] for column in (sure.astype(np.float64), logs))
    nobody = missed.sum(axis=1, keepdims=True)
    unsure = np.sum(given * np.where(sure, 0.0, np.exp(-logs)), axis=1, keepdims=True)
    surely = np.sum(given * sure, axis=1, keepdims=True)

    def weight(certain: Floats, log: Floats) -> Floats:
        """Of rows given, if so many rows are surely kept; each leaves out itself."""
        return np.asarray(np.exp(log) * ((certain <= 0) * (unsure + nobody) + (certain <= 1) * surely))

    whole = weight(certain, log)[:, 0]
    outside = np.broadcast_to(np.exp(log) * (certain <= 0), covered.shape)
    again = np.exp(log - 2 * logs) * (certain - 2 * sure <= 0)
    return whole, weight(certain - sure, log - logs), outside, again
