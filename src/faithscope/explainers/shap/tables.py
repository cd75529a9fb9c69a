"""Sums of trees: their outputs for rows, and for all mixtures of two rows at once."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from faithscope.explainers.shap.pairs import RowPairs
from faithscope.explainers.shared.arrays import Bools, Floats, Ints
from faithscope.explainers.shared.blocks import blocks


@dataclass(frozen=True, eq=False)
class TreeSums:
    """Trees whose leaves are added up; the nodes of all trees are numbered consecutively.

    Attributes
    ----------
    roots : (trees,) array of int
    feature, left, right : (nodes,) arrays of int
        The feature that a node asks, and its children; a leaf is its own child on either side.
    place : (nodes,) array
        A value goes left if it is at most this.
    missing_left : (nodes,) array of bool
        Whether a missing value goes left.
    values : (nodes, outputs) array
        What a leaf adds.
    offset : (outputs,) array
    """

    roots: Ints
    feature: Ints
    left: Ints
    right: Ints
    place: Floats
    missing_left: Bools
    values: Floats
    offset: Floats

    @classmethod
    def read(cls, reading: Any, places: Floats, trees: int) -> "TreeSums":
        """The first trees of shap's reading of a model, with ranked thresholds."""
        kept = np.arange(reading.values.shape[1]) < np.asarray(reading.num_nodes[:trees])[:, None]
        first = np.concatenate([[0], np.cumsum(kept.sum(axis=1))[:-1]])[:, None]
        own = first + np.arange(kept.shape[1])
        inner = reading.children_left[:trees] >= 0

        def flat(part: Any) -> Any:
            return np.asarray(part)[:trees][kept]

        sides = reading.children_left[:trees], reading.children_right[:trees]
        left, right = (np.where(inner, first + side, own) for side in sides)
        default = reading.children_default[:trees] == reading.children_left[:trees]
        values = flat(reading.values) * ~flat(inner)[:, None]
        offset = np.broadcast_to(np.asarray(reading.base_offset, np.float64), reading.values.shape[2:]).copy()
        feature = np.where(flat(inner), flat(reading.features), 0)
        return cls(
            first[:, 0], feature, flat(left), flat(right), flat(places), flat(default) & flat(inner), values, offset
        )

    def shifted(self, codes: Floats, margins: Floats | None) -> "TreeSums":
        """The trees with the offset of the model's margins (n, outputs); shap reads one for all classes of XGBoost."""
        sums = plain(self(codes), 0 if margins is None else margins.shape[1])
        if margins is None or sums.shape != margins.shape:
            return self
        apart = margins - sums
        if np.ptp(apart, axis=0).max() > 1e-4 * np.abs(margins).max():  # not an offset alone: another scale
            return self
        offset: Floats = self.offset + apart.mean(axis=0)[-len(self.offset) :]
        return replace(self, offset=offset)

    def __call__(self, codes: Floats) -> Floats:
        """The outputs of the trees for rows: (n, outputs)."""
        sums = np.repeat(self.offset[None], len(codes), axis=0)
        for block in blocks(len(codes), 2**21 // len(self.roots)):
            part = codes[block]
            row = np.arange(len(part))[:, None]
            node = np.repeat(self.roots[None], len(part), axis=0)
            while True:
                child = np.where(self._goes_left(part, row, node), self.left[node], self.right[node])
                if (child == node).all():
                    break
                node = child
            sums[block] += self.values[node].sum(axis=1)
        return sums

    def _goes_left(self, codes: Floats, row: Ints, node: Ints) -> Bools:
        asked = codes[row, self.feature[node]]
        return np.where(np.isnan(asked), self.missing_left[node], asked <= self.place[node])

    def mixtures(self, rows: Floats, background: Floats, pairs: RowPairs) -> Floats:
        """The outputs of the trees for all mixtures of each pair: (p, 2^k, outputs).

        A leaf is reached by the mixtures that have the row's values of some features R, and the background's values of
        some other features B. So it adds ``value · Π_{j in R} s_j · Π_{j in B} (1 - s_j)``, with s_j = 1 for members of
        the coalition and 0 for others. This is a polynomial, whose coefficients are added up over all leaves, and then,
        for each coalition, over its subsets.
        """
        pair, node, own, others = self._leaves(rows, background, pairs)
        signs = np.ones(len(pair))
        while others.any():
            lowest = others & -others
            more = np.flatnonzero(lowest)
            others = others ^ lowest
            pair, node = np.concatenate([pair, pair[more]]), np.concatenate([node, node[more]])
            own = np.concatenate([own, own[more] | lowest[more]])
            others, signs = np.concatenate([others, others[more]]), np.concatenate([signs, -signs[more]])
        many, size = len(pairs.row), pairs.features.shape[1]
        at = pair << size | own
        table = np.stack([np.bincount(at, signs * value[node], many << size) for value in self.values.T], axis=-1)
        for j in range(size):
            halves = table.reshape(-1, 2, 2**j, table.shape[1])
            halves[:, 1] += halves[:, 0]
        return table.reshape(many, 1 << size, -1) + self.offset

    def _leaves(self, rows: Floats, background: Floats, pairs: RowPairs) -> tuple[Ints, Ints, Ints, Ints]:
        """Leaves that mixtures reach: pair, node, the bits of features that must be the row's, and the background's."""
        bits = np.zeros((len(pairs.row), rows.shape[1]), np.int64)
        np.put_along_axis(bits, pairs.features, 1 << np.arange(pairs.features.shape[1])[None], axis=1)
        pair = np.repeat(np.arange(len(pairs.row)), len(self.roots))
        node = np.tile(self.roots, len(pairs.row))
        own = np.zeros(len(pair), np.int64)
        others = own.copy()
        done: list[tuple[Ints, ...]] = []
        while len(pair):
            leaf = self.left[node] == node
            done.append((pair[leaf], node[leaf], own[leaf], others[leaf]))
            pair, node, own, others = pair[~leaf], node[~leaf], own[~leaf], others[~leaf]
            bit = bits[pair, self.feature[node]]
            by_row = self._goes_left(rows, pairs.row[pair], node)
            by_other = self._goes_left(background, pairs.other[pair], node)
            parted = by_row != by_other
            with_row = ~parted | (others & bit == 0)
            with_other = parted & (own & bit == 0)
            bit = np.where(parted, bit, 0)
            pair = np.concatenate([pair[with_row], pair[with_other]])
            child = np.concatenate([node[with_row], node[with_other]])
            left = np.concatenate([by_row[with_row], by_other[with_other]])
            own = np.concatenate([(own | bit)[with_row], own[with_other]])
            others = np.concatenate([others[with_row], (others | bit)[with_other]])
            node = np.where(left, self.left[child], self.right[child])
        pair, node, own, others = (np.concatenate(parts) for parts in zip(*done, strict=True))
        return pair, node, own, others


def plain(sums: Floats, outputs: int) -> Floats:
    """The sums themselves; a single sum is that of class 1, and class 0 has its negative."""
    return sums if sums.shape[-1] == outputs else np.concatenate([-sums, sums], axis=-1)


def logistic(sums: Floats, outputs: int) -> Floats:
    """The probabilities of two classes."""
    chance = 0.5 + 0.5 * np.tanh(0.5 * sums)
    return np.concatenate([1 - chance, chance], axis=-1)


def softmax(sums: Floats, outputs: int) -> Floats:
    """The probabilities of several classes."""
    shares = np.exp(sums - sums.max(axis=-1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=-1, keepdims=True))


def exponential(sums: Floats, outputs: int) -> Floats:
    """The rate of a count, or another positive quantity."""
    return plain(np.exp(np.minimum(sums, 700.0)), outputs)


Link = Callable[[Floats, int], Floats]
LINKS: tuple[Link, ...] = (plain, logistic, softmax, exponential)
