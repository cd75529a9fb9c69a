"""Rows by number: their explanations, predictions, weights and blocks, as bitmaps and sums over pairs need them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from faithscope.counting.layout import Layout, numbered_pairs, order_by, sums
from faithscope.counting.leave_out import Units
from faithscope.explanations.base import Explanations
from faithscope.explanations.conditions.conjunctions import Shared
from faithscope.explanations.rules import Rules
from faithscope.inputs.array_types import Array, Floats, Ints
from faithscope.inputs.arrays import to_objects
from faithscope.inputs.columns import Rows as Columns
from faithscope.inputs.grouping import Words, group, hash_rows
from faithscope.inputs.repeats import row_blocks
from faithscope.relations import Applies, Relation
from faithscope.runtime.memory import need
from faithscope.sample import Sample

_BLOCKS = 100
ROWS_PER_SEGMENT = 4  # with fewer, most bits and most entries of tables would be padding


@dataclass(frozen=True, eq=False)
class Content:
    """Everything that a measure reads of the rows: rows of equal content are interchangeable.

    Attributes
    ----------
    sample : Sample
        Whose predictions, X, weights, clusters and askers count.
    explanations : sequence of Explanations
        The explanations of these rows, by one explainer or by each of several that are compared.
    relation : Relation, optional
        By which they cover rows.
    """

    sample: Sample
    explanations: Sequence[Explanations]
    relation: Relation | None = None

    @cached_property
    def _of_rows(self) -> Words:
        """One digest per row, without its explanation; of rows that cannot be read, without them.

        Weights go by their order, so that their unit says nothing. Of rules, only the columns that they speak of are
        read, in the order of their names, so that neither the order of columns nor others say anything.
        """
        sample = self.sample
        parts = [] if sample.X is None else [sample.X]
        if isinstance(self.relation, Applies) and all(isinstance(each, Rules) for each in self.explanations):
            parts = _spoken_of(self.explanations, sample.X)
        weights = None if sample.weights is None else np.unique(sample.weights, return_inverse=True)[1]
        known = (part for part in (sample.labels, weights, *parts) if part is not None)
        return hash_rows([block for part in known for block in row_blocks(part) or ()])

    @cached_property
    def of_rows_alone(self) -> bool:
        """Whether equal rows were given equal explanations; the blocks then depend on the rows alone."""
        order = np.argsort(self._of_rows, kind="stable")
        words = self._of_rows[order]
        repeated = np.flatnonzero(words[1:] == words[:-1])
        rows, previous = order[repeated + 1], order[repeated]
        given = (explanations.group()[0] for explanations in self.explanations if len(repeated))
        return not any((numbers[rows] != numbers[previous]).any() for numbers in given)

    @cached_property
    def _words(self) -> Words:
        """One digest per row, with its explanation if rows alone do not tell it."""
        if self.of_rows_alone:
            return self._of_rows
        # Explanations that are `Shared` go by their content, not by their order of appearance.
        given = [
            block[each.codes] if isinstance(each, Shared) else block
            for each in self.explanations
            for column in ([to_objects(each.content)] if isinstance(each, Shared) else each.scope_key)
            for block in row_blocks(column) or ()
        ]
        return hash_rows([self._of_rows[:, None], *given])

    def _by_digest(self, by_cluster: bool) -> Ints:
        """The rows in the order of their digests, which depends on their content alone; or the clusters.

        Of equal rows, by the group that asks, and by what their cluster holds. Clusters go by what their rows are, in
        any order.
        """
        words, askers, clusters = self._words, self.sample.askers, self.sample.clusters
        keys = [words] if askers is None else [askers, words]
        if clusters is not None:
            together = np.zeros(int(clusters.max()) + 1, np.uint64)
            np.add.at(together, clusters, words)
            ranked = np.argsort(together, kind="stable")
            if by_cluster:
                return ranked
            keys = [np.argsort(ranked)[clusters], *keys]
        return np.lexsort(keys)

    def deal(self, blocks: int) -> Ints:
        """The block of each row: rows are sorted by digest and dealt into blocks of equal size by a fixed permutation.

        Rows of one cluster are dealt together. The permutation is random because equal rows dealt in turn would spread
        evenly over the blocks, and the variance between blocks would be too small.
        """
        order = self._by_digest(by_cluster=True)
        dealt = np.empty(len(order), np.int64)
        dealt[order] = np.random.default_rng(0).permutation(len(order)) % blocks
        return dealt if self.sample.clusters is None else dealt[self.sample.clusters]

    def preferred(self) -> Ints:
        """The rank of each row where one row of a cluster is taken: by chance, whatever the order of rows and clusters.

        Every row of a cluster is as likely to come first. Clusters that hold the same rows choose independently.
        """
        place = np.argsort(self._by_digest(by_cluster=True))[self.sample.clusters]
        order, rank = np.lexsort((self._words, place)), np.empty(len(place), np.int64)
        rank[order] = np.random.default_rng(int(self._words.sum())).permutation(len(place))  # another for other rows
        return rank

    def chances(self, seed: int, *, by_cluster: bool) -> Floats:
        """An independent number from 0 to 1 for each row, or each cluster, that depends on its content alone."""
        order = self._by_digest(by_cluster)
        drawn = np.empty(len(order))
        drawn[order] = np.random.default_rng(seed).random(len(order))
        return drawn


def _spoken_of(rules: Sequence[Any], X: Any) -> list[Array]:
    """The columns of X that conditions of rules speak of, in the order of their names."""
    rows, places = Columns(X), dict[str, int]()
    for each in rules:
        used = {part for code in np.unique(each.codes) for part in each.distinct[code] if part.position >= 0}
        for part in used:
            at = rows.place(part.feature, f"{str(part)!r} needs") if rows.named else part.position
            places[part.feature] = at
    return [rows.column(places[name]).values for name in sorted(places)]


class Rows:
    """The rows of a sample, with their explanations, predictions and blocks as numbers.

    Parameters
    ----------
    sample : Sample
    relation : Relation
    exact : int
        Single rows are left out, each a block, while explanations x rows is at most this, if they are independent and
        count alike; by default blocks of rows are.
    beside : sequence of Explanations
        The explanations of all explainers that are compared, so that all leave out the same blocks.
    blocks : int, optional
        How many blocks there are, if that is known.

    Attributes
    ----------
    distinct : Explanations
        The distinct scopes, in order of appearance; if all are, those of the sample, which a caller may change later.
    codes : (n,) array
        The position of each row's explanation among the distinct ones.
    names : tuple
        The distinct predictions.
    labels : (n,) array
        The position of each row's prediction among the distinct ones.
    independent : Units
        The rows, or clusters of rows, that vary independently; there are `units`.
    single : bool
        Whether single rows are left out in turn.
    blocks : int
        Number of blocks of rows that are left out in turn.
    content : Content
        What decides the block of a row.
    numbers : bool
        Whether bitmaps hold rows in the order of their predictions, in a single segment: numbers, or clustered rows.
    """

    def __init__(
        self,
        sample: Sample,
        relation: Relation,
        exact: int = 0,
        beside: Sequence[Explanations] = (),
        blocks: int | None = None,
    ) -> None:
        scopes = relation.scopes(sample.explanations)
        codes, first = group(scopes.key)
        distinct = scopes if len(first) == len(codes) else scopes.take(first)
        self.distinct, self.codes, self.n = distinct, codes, sample.n
        self.names, self.labels = sample.numbered_labels
        self.content, self.clusters = Content(sample, beside or (scopes,), relation), sample.clusters
        self.weight, self.weighted, self.independent = sample.weight, sample.weights is not None, Units.of(sample)
        self.units = len(self.independent.mass)
        self.numbers = sample.agreement.of_numbers or sample.clusters is not None
        segments = 1 if self.numbers else len(self.names)
        few = len(distinct) * max(len(codes), 16 * segments) <= exact
        self.single = sample.plain and blocks is None and few
        if blocks is None:
            blocks = 1 if self.single else int(np.clip(len(codes) // (32 * segments), 20, _BLOCKS))
        self.blocks = min(blocks, self.units)

    @cached_property
    def block(self) -> Ints:
        """The block of each row, which is its own, or depends on its content and not on its position."""
        return np.zeros(self.n, np.int64) if self.blocks == 1 else self.content.deal(self.blocks)

    @cached_property
    def per_block(self) -> Floats:
        """The weight of the rows of each block."""
        return sums(self.block, self.weight, self.blocks)

    @cached_property
    def _by_explanation(self) -> tuple[Ints, Ints]:
        """Rows in order of explanation, then of prediction; and where the rows of each explanation begin."""
        explanation, _, cell = self.cells
        order = order_by(cell, len(explanation))
        return order, np.searchsorted(self.codes[order], np.arange(len(self.distinct) + 1))

    @cached_property
    def cells(self) -> tuple[Ints, Ints, Ints]:
        """The different pairs of an explanation and a prediction, in order, and the number of each row's."""
        return numbered_pairs(self.codes, self.labels)

    def given(self, start: int, many: int) -> Ints:
        """The rows that were given the explanations from `start` on, in order of explanation, then of prediction."""
        order, bounds = self._by_explanation
        return order[bounds[start] : bounds[start + many]]

    @property
    def listed(self) -> bool:
        """Whether covered rows are listed: numbers, clustered rows, or so few rows per label and block."""
        return self.numbers or self.n < ROWS_PER_SEGMENT * len(self.names) * self.blocks

    def layout(self, *, listed: bool = False) -> Layout:
        """The order of rows in bitmaps: by label, and by block within a label; if they are listed, by prediction."""
        segments, asked, fewer = len(self.names) * self.blocks, f"Bitmaps of {self.n:,} rows", "sample rows"
        if not self.numbers:
            asked, fewer = f"{asked} with {len(self.names):,} labels", f"{fewer}, or bin the predictions"
        if listed or self.listed:
            need((64 if self.numbers else 512) * self.n, asked, fewer)
            return Layout(np.zeros(self.n, np.int64), 1, self.labels)
        need(128 * self.n + 32 * segments, asked, fewer)
        layout = Layout(self.labels * self.blocks + self.block, segments, blocks=self.blocks)
        need(640 * layout.width, asked, fewer)
        return layout
