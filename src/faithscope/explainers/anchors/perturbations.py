"""Perturbed rows that keep an anchor: which batches of them are wanted, and what must be able to draw them."""

from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np

from faithscope.explainers.anchors.answers import Keys, anchor_keys
from faithscope.explainers.shared.arrays import Codes, Floats, Ints

CHECKED = 2**20  # number of the first batch that checks a choice
_FRESH = 2**21  # number of the first batch that reports on a choice


@dataclass(frozen=True, eq=False)
class Wanted:
    """Batches of draws that are wanted, one per line, each under an anchor that extends another by one condition.

    Attributes
    ----------
    row, batch : (m,) arrays
        The row that a batch is for, and the number of the batch.
    origin, parent : (p, width) and (m,) arrays
        Anchors, and which of them a line extends.
    feature, code : (m,) arrays
        The feature of the anchor that is set, and the code that it is set to.
    key : (m,) array
        Keys of the extended anchors.
    """

    row: Ints
    batch: Ints
    origin: Codes
    parent: Ints
    feature: Ints
    code: Codes
    key: Keys

    @classmethod
    def of(cls, rows: Ints, anchors: Codes, batch: int) -> Self:
        """One batch per row, under the row's anchor."""
        lines, nought = np.arange(len(rows)), np.zeros(len(rows), np.int64)
        return cls(rows, nought + batch, anchors, lines, nought, anchors[:, 0], anchor_keys(anchors))

    def anchors(self, lines: Any) -> Codes:
        """The extended anchors of these lines."""
        anchors: Codes = self.origin[self.parent[lines]]
        anchors[np.arange(len(anchors)), self.feature[lines]] = self.code[lines]
        return anchors


class Perturbations(Protocol):
    """Numbered draws of perturbed rows that keep an anchor.

    An anchor has one code per feature: 0 leaves the feature free, others stand for conditions that the row meets.
    """

    @property
    def batch(self) -> int:
        """How many draws a batch has."""
        ...

    @property
    def width(self) -> int:
        """How many features an anchor has."""
        ...

    def extend(self, rows: Ints, anchors: Codes) -> tuple[Ints, Codes]:
        """What may be added: features (k,), and their new codes (n, beam, k), 0 if nothing may."""
        ...

    def coverage(self, anchors: Codes, features: Ints, codes: Codes) -> Floats:
        """The share of rows that each extension covers, from 0 to 1: (n, beam, k)."""
        ...

    def agreeing(self, wanted: Wanted) -> Ints:
        """How many draws of each batch have the row's prediction."""
        ...


def fresh_precision(space: Perturbations, rows: Ints, anchors: Codes, batches: int) -> Floats:
    """Share of draws with the row's prediction under each row's anchor: (n,); on batches that no search has seen."""
    hits = sum((space.agreeing(Wanted.of(rows, anchors, _FRESH + batch)) for batch in range(batches)), rows * 0)
    return np.asarray(hits / (batches * space.batch))
