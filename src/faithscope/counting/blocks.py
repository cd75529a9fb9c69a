"""Blocks of rows that are left out together; the content of a row decides its block, so the order never matters."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.explanations.base import Explanations
from faithscope.explanations.conditions.conjunctions import Shared
from faithscope.inputs.arrays import to_objects
from faithscope.inputs.grouping import Words, hash_rows
from faithscope.inputs.row_hashes import Block, row_blocks

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Content:
    """Everything that a measure reads of the rows: rows of equal content are interchangeable.

    Attributes
    ----------
    labels : (n,) array
    explanations : sequence of Explanations
        The explanations of these rows, by one explainer or by each of several that are compared.
    X : rows, optional
    weights, clusters : (n,) arrays, optional
    """

    labels: NDArray[Any]
    explanations: Sequence[Explanations]
    X: Any = None
    weights: NDArray[np.float64] | None = None
    clusters: Ints | None = None

    @cached_property
    def _of_rows(self) -> Words:
        """One digest per row, without its explanation; of rows that cannot be read, without them."""
        known = (part for part in (self.labels, self.weights, self.X) if part is not None)
        return hash_rows([block for part in known for block in row_blocks(part) or ()])

    @cached_property
    def of_rows_alone(self) -> bool:
        """Whether equal rows were given equal explanations; the blocks then depend on the rows alone."""
        words = self._of_rows[self._order]
        repeated = np.flatnonzero(words[1:] == words[:-1])
        rows, previous = self._order[repeated + 1], self._order[repeated]
        given = (explanations.group()[0] for explanations in self.explanations if len(repeated))
        return not any((numbers[rows] != numbers[previous]).any() for numbers in given)

    @cached_property
    def _order(self) -> Ints:
        """The rows by their digest."""
        return np.argsort(self._of_rows, kind="stable")

    def deal(self, blocks: int) -> Ints:
        """The block of each row: rows are sorted by digest and dealt into blocks of equal size by a fixed permutation.

        Rows of one cluster are dealt together.

        The permutation is random because equal rows dealt in turn would spread evenly over the blocks, and the
        variance between blocks would be too small.
        """
        words = self._of_rows
        if self.of_rows_alone and self.clusters is None:
            return _deal(self._order, blocks)
        if not self.of_rows_alone:
            words = hash_rows([words[:, None], *(block for each in self.explanations for block in _blocks(each))])
        if self.clusters is None:
            return _deal(np.argsort(words, kind="stable"), blocks)
        whole = np.zeros(int(self.clusters.max()) + 1, np.uint64)  # a cluster is what its rows are, in any order
        np.add.at(whole, self.clusters, words)
        return _deal(np.argsort(whole, kind="stable"), blocks)[self.clusters]


def _blocks(explanations: Explanations) -> list[Block]:
    """The explanation of each row as numbers; those of `Shared` ones by content, not in order of appearance."""
    if isinstance(explanations, Shared):
        return [block[explanations.codes] for block in row_blocks(to_objects(explanations.distinct)) or ()]
    return [block for column in explanations.scope_key for block in row_blocks(column) or ()]


def _deal(order: Ints, blocks: int) -> Ints:
    dealt = np.empty(len(order), np.int64)
    dealt[order] = np.random.default_rng(0).permutation(len(order)) % blocks
    return dealt
