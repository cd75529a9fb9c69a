"""Candidates for anchors: all extensions of a beam by one condition, and how many of their draws agree with the row."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from faithscope.explainers.anchors.answers import Keys, anchor_keys, condition_keys
from faithscope.explainers.anchors.perturbations import Perturbations, Wanted
from faithscope.explainers.shared.arrays import Bools, Codes, Floats, Ints


@dataclass(frozen=True, eq=False)
class Candidates:
    """Candidates of one size, one line per row, the widest first; and what was drawn of them.

    Attributes
    ----------
    rows, count : (n,) arrays
        The rows, and how many candidates each has; all lines are as long as the longest.
    origin, parent : (n · beam, width) and (n, k) arrays
        The anchors that are extended, and which of them each candidate extends.
    feature, code, key, coverage : (n, k) arrays
    hits, batches : (n, k) arrays
        Agreeing draws and batches drawn, so far.
    """

    space: Perturbations
    rows: Ints
    count: Ints
    origin: Codes
    parent: Ints
    feature: Ints
    code: Codes
    key: Keys
    coverage: Floats
    hits: Ints
    batches: Ints

    @classmethod
    def extending(cls, space: Perturbations, rows: Ints, beams: Codes, alive: Bools, least: Floats) -> Self:
        """All anchors that extend an anchor of the row's beam by a condition and may be worth more than `least`."""
        features, codes = space.extend(rows, beams)
        keys = condition_keys(features, codes) - condition_keys(features, beams[:, :, features])
        keys = (keys + anchor_keys(beams)[:, :, None]).reshape(len(rows), -1)
        coverage = space.coverage(beams, features, codes).reshape(keys.shape)
        wanted = ((codes != 0) & alive[:, :, None]).reshape(keys.shape) & (1.0 + coverage > least[:, None])
        valid = _first_of_equals(keys, wanted)
        coverage = np.where(valid, coverage, -1.0)
        count = valid.sum(axis=1)
        order = np.argsort(-coverage, axis=1, kind="stable")[:, : count.max()]
        beam, place = np.divmod(order, len(features))
        code = np.take_along_axis(codes.reshape(keys.shape), order, axis=1)
        key, width = np.take_along_axis(keys, order, axis=1), np.take_along_axis(coverage, order, axis=1)
        parent = np.arange(len(rows))[:, None] * beams.shape[1] + beam
        origin, nothing = beams.reshape(-1, beams.shape[2]), np.zeros(order.shape, np.int64)
        return cls(space, rows, count, origin, parent, features[place], code, key, width, nothing, nothing.copy())

    def wanted(self, lines: Ints, which: Ints, batch: Ints) -> Wanted:
        """Batches of these candidates."""
        at = lines, which
        row, parent, feature = self.rows[lines], self.parent[at], self.feature[at]
        return Wanted(row, batch, self.origin, parent, feature, self.code[at], self.key[at])

    def draw(self, lines: Ints, which: Ints) -> None:
        """Draw another batch of each of these candidates; several batches if it is listed several times."""
        batch = self.batches[lines, which] + _how_often_before(lines * self.hits.shape[1] + which)
        np.add.at(self.hits, (lines, which), self.space.agreeing(self.wanted(lines, which, batch)))
        np.add.at(self.batches, (lines, which), 1)

    def draw_all(self) -> None:
        """Draw a batch of every candidate."""
        self.draw(*np.nonzero(np.arange(self.hits.shape[1]) < self.count[:, None]))

    def means(self, lines: Any) -> Floats:
        """Share of draws that agree with the row; -1 if there is no candidate."""
        drawn = self.batches[lines] * self.space.batch
        return np.where(drawn > 0, self.hits[lines] / np.maximum(drawn, 1), -1.0)

    def anchors(self, which: Ints) -> Codes:
        """The anchors of some candidates of every row: (n, beam) -> (n, beam, width)."""
        lines = np.repeat(np.arange(len(which)), which.shape[1])
        return self.wanted(lines, which.ravel(), lines).anchors(slice(None)).reshape(*which.shape, -1)


def _first_of_equals(keys: Keys, valid: Bools) -> Bools:
    """What is valid, except candidates whose key is that of an earlier candidate of the line."""
    order = np.lexsort((~valid, keys), axis=1)
    ordered = np.take_along_axis(keys, order, axis=1)
    first = np.take_along_axis(valid, order, axis=1)
    first[:, 1:] &= ordered[:, 1:] != ordered[:, :-1]
    kept = np.empty_like(valid)
    np.put_along_axis(kept, order, first, axis=1)
    return kept


def _how_often_before(numbers: Ints) -> Ints:
    """How often each number came before."""
    order = np.argsort(numbers, kind="stable")
    ordered, before = numbers[order], np.empty_like(order)
    before[order] = np.arange(len(order)) - np.searchsorted(ordered, ordered)
    return before
