"""Rows of a log in memory: how many have which explanation, prediction, cluster, weight and population."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from faithscope.counting.counts import Counts, count_rows
from faithscope.errors import Incompatible
from faithscope.explanations.base import Explanations, join_all
from faithscope.explanations.keys import Plain
from faithscope.inputs.array_types import Ints
from faithscope.runtime.memory import need
from faithscope.sample import Sample
from faithscope.tables.columns import CLUSTER, WEIGHT, predicted, sample_of

_PER_ROW = 200  # bytes of a row, with what is computed of it


@dataclass(frozen=True, eq=False)
class Cells:
    """How many rows of a log have which explanation, prediction, cluster, weight and population, a line for each.

    Attributes
    ----------
    lines : pyarrow.Table
        The columns of the log that tell them apart.
    kinds : Sample
        A row of each, with its explanation by number.
    distinct : Explanations
        The different explanations.
    populations : list
        Their names, in order; None alone if no columns name any.
    group : (k,) array
        The population of each, by number.
    given : (k,) array
        How many rows each stands for.
    by_content : bool
        Whether rows are drawn, which depends on what explanations are: `sample` then has them themselves.
    """

    lines: Any
    kinds: Sample
    distinct: Explanations
    populations: list[Any]
    group: Ints
    given: Ints
    by_content: bool = False

    @property
    def codes(self) -> Ints:
        """The explanation of each, by number."""
        return self.kinds.explanations.key[0][:, 0]

    @cached_property
    def sample(self) -> Sample:
        """Every row, with its explanation by number; raises if they do not fit in memory."""
        n, kinds = int(self.given.sum()), self.kinds
        what = "predicted numbers" if kinds.agreement.of_numbers else "weights" if kinds.weights is not None else ""
        need(_PER_ROW * n, f"{n:,} rows with {what or 'clusters'}", "audit a part of the log")
        rows = kinds.take(np.repeat(np.arange(len(self.given)), self.given))
        if not self.by_content:
            return rows
        return replace(rows, explanations=self.distinct.take(np.repeat(self.codes, self.given)))

    @property
    def by_row(self) -> bool:
        """Whether each row counts by itself: numbers, and rows with clusters or weights."""
        return self.kinds.agreement.of_numbers or not self.kinds.plain

    @property
    def members(self) -> list[Ints]:
        """The cells of each population; its rows if each counts by itself."""
        group = np.repeat(self.group, self.given) if self.by_row else self.group
        times = np.bincount(group, minlength=len(self.populations))
        return np.split(np.argsort(group, kind="stable"), np.cumsum(times)[:-1])

    @cached_property
    def counts(self) -> Counts:
        """Rows by explanation and prediction, whatever their clusters and weights."""
        return self.named(self.numbered)

    @cached_property
    def numbered(self) -> Counts:
        """The same with explanations by number."""
        return self.count(np.arange(len(self.given)))

    def count(self, cells: Ints) -> Counts:
        """Rows of some cells by explanation, by number, and prediction."""
        counts = count_rows(replace(self.kinds.take(cells), weights=self.given[cells].astype(np.float64)))
        assert counts.weight is not None
        given = counts.weight.astype(np.int64)
        return replace(counts, given=given, covered=given, weight=None, square=None)

    def named(self, counts: Counts) -> Counts:
        """Counts of rows whose explanations are numbered, with the explanations themselves."""
        return replace(counts, source=self.distinct.take(counts.explanations.key[0][:, 0]), chosen=None)

    def and_then(self, other: "Cells") -> "Cells | None":
        """These cells and those of another log, whose rows are a population more.

        None if explanations or predictions of the two differ in kind.
        """
        import pyarrow as pa

        known = self.lines.column_names
        told = [*predicted(known), *(name for name in (CLUSTER, WEIGHT) if name in known)]
        try:
            explanations = join_all([self.distinct, other.distinct])
            tables = [cells.lines.select(told) for cells in (self, other)]
            lines = pa.concat_tables(tables, promote_options="permissive")
        except (Incompatible, pa.ArrowInvalid, pa.ArrowTypeError):  # such as a feature that one of them never names
            return None
        codes, first = explanations.group()
        codes = codes[np.concatenate([self.codes, other.codes + len(self.distinct)])]
        return replace(
            self,
            lines=lines,
            kinds=sample_of(lines, Plain(codes), self.kinds.agreement),
            distinct=explanations.take(first),
            populations=[*self.populations, None],
            group=np.concatenate([self.group, np.full(len(other.given), len(self.populations))]),
            given=np.concatenate([self.given, other.given]),
        )
