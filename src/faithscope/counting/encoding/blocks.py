"""The gap of encoding without each block of rows: weighted rows, clusters, and more rows than are left out singly."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from faithscope.agreements import GroupedRows
from faithscope.agreements.base import AgreementSums
from faithscope.counting.encoding.sums import GapLeftOut, GapSums
from faithscope.counting.leaving_out.block_sums import without_each
from faithscope.counting.leaving_out.leave_out import ratio

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_ENTRIES = 2**20  # kinds of rows x blocks worked on at once


class Met(NamedTuple):
    """Rows that a row may be compared with, by explanation and block.

    Attributes
    ----------
    rows : GroupedRows
        Grouped by ``explanation * blocks + block``.
    weight, size : (explanations, blocks) arrays
        Their weight, and how many they are.
    """

    rows: GroupedRows
    weight: Floats
    size: Floats


class Known(NamedTuple):
    """Per kind of row, those of the rows met that are no others: the row itself, or all of its cluster.

    Attributes
    ----------
    weight, size, agreeing : (m,) arrays
        Their weight, their number, and their weight by agreement with the row.
    """

    weight: Floats
    size: Floats
    agreeing: Floats


class GapKinds(NamedTuple):
    """Rows that were given the same explanation, have the same prediction, and are compared with the same rows.

    Attributes
    ----------
    explanation, value : (m,) arrays
    mass : (m, blocks) array
        The weight of the rows of each kind, by block.
    given, others : Known
        The rows given the explanation, and the others that it covers, with which a row is not compared.
    """

    explanation: Ints
    value: Ints
    mass: Floats
    given: Known
    others: Known


class GapBlocks:
    """Sums over all rows, and over all rows but those of one block; batches of explanations add up."""

    def __init__(self, blocks: int, sums: AgreementSums) -> None:
        self.blocks, self.sums = blocks, sums
        self.gap, self.tested, self.leaning = np.zeros(1 + blocks), np.zeros(1 + blocks), np.zeros(blocks)
        self.alone = self.exclusive = 0.0

    def add(self, kinds: GapKinds, given: Met, others: Met) -> NDArray[np.bool_]:
        """Add a batch of explanations; whether each of them can be tested."""
        step, tested = max(1, _ENTRIES // self.blocks), np.zeros(len(given.weight))
        for start in range(0, len(kinds.value), step):
            part = slice(start, start + step)
            known = [Known(*(column[part] for column in each)) for each in (kinds.given, kinds.others)]
            chunk = GapKinds(kinds.explanation[part], kinds.value[part], kinds.mass[part], *known)
            mass = self._add(chunk, given, others)
            tested += np.bincount(chunk.explanation, mass, minlength=len(tested))
        self.leaning += (ratio(tested[:, None], others.weight.sum(axis=1, keepdims=True)) * others.weight).sum(axis=0)
        return np.asarray(tested > 0)

    def _add(self, kinds: GapKinds, given: Met, others: Met) -> Floats:
        """Add some kinds; the weight of the rows of each that can be tested."""
        alike, has_given = self._shares(kinds, given, kinds.given)
        crossed, has_others = self._shares(kinds, others, kinds.others)
        mass, both = without_each(kinds.mass), has_given & has_others
        tested = mass * both
        self.gap += (tested * (alike - crossed)).sum(axis=0)
        self.tested += tested.sum(axis=0)
        self.alone += float(mass[~has_given[:, 0], 0].sum())
        self.exclusive += float(mass[has_given[:, 0] & ~has_others[:, 0], 0].sum())
        return tested[:, 0]

    def _shares(self, kinds: GapKinds, met: Met, known: Known) -> tuple[Floats, NDArray[np.bool_]]:
        """How much each kind agrees with the rows that it meets, and whether it meets any: (kinds, 1 + blocks)."""
        shape = (len(kinds.value), self.blocks)
        group = kinds.explanation[:, None] * self.blocks + np.arange(self.blocks)
        value = np.broadcast_to(kinds.value[:, None], shape)
        agreeing = without_each(self.sums.at(met.rows, group.reshape(-1), value.reshape(-1)).reshape(shape))
        weight, size = (without_each(table)[kinds.explanation] for table in (met.weight, met.size))
        meets = size - known.size[:, None] > 0.5
        share = ratio(agreeing - known.agreeing[:, None], np.where(meets, weight - known.weight[:, None], 0.0))
        return np.minimum(share, 1.0), meets

    def result(self, per_block: Floats, units: int) -> GapSums:
        """The sums of all explanations that were added.

        Parameters
        ----------
        per_block : (blocks,) array
            The weight of the rows of each block.
        units : int
            How many rows there are, or clusters.
        """
        total = float(per_block.sum())
        whole = GapSums(float(self.gap[0]), float(self.tested[0]), self.alone, self.exclusive, total)
        if self.blocks < 2:
            return whole
        left = np.where(self.tested[1:] > 1e-9 * total, self.tested[1:], np.nan)
        apart = float((self.leaning - self.leaning.mean()).max())
        reach = float(self.leaning.sum()) / total + apart * units / total
        return whole._replace(without=GapLeftOut(self.gap[1:] / left, np.ones(self.blocks), reach))
