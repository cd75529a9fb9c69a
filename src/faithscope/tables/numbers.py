"""Predictions of a log that are numbers: fetched with their explanations, and measured in memory."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from faithscope.agreements import Agreement, Close
from faithscope.counting.counts import Counts, count_rows
from faithscope.errors import BadInput
from faithscope.explanations.base import Explanations
from faithscope.explanations.keys import Plain
from faithscope.inputs.array_types import Ints
from faithscope.runtime.memory import need
from faithscope.sample import Sample
from faithscope.tables.beside import FetchedKinds
from faithscope.tables.engine.answers import fetch_line
from faithscope.tables.engine.protocol import Table
from faithscope.tables.log.rows import KeyedRows

_FINEST = 2.0**52  # a prediction in units of eps, beyond which doubles are farther than eps apart
_PER_ROW = 200  # bytes of a row, with what is computed of it


class Range(NamedTuple):
    """The numbers of one column: the lowest, the highest and the mean."""

    low: float
    high: float
    mean: float


@dataclass(frozen=True)
class Numbers:
    """Predictions that are numbers.

    Attributes
    ----------
    n : int
        Number of rows.
    columns : tuple of str
        The columns that hold them: y0 …
    ranges : tuple of Range
        One per column.
    """

    n: int
    columns: tuple[str, ...]
    ranges: tuple[Range, ...]

    @property
    def values(self) -> tuple[Any, ...]:
        """Empty: different numbers are too many to be listed."""
        return ()

    @classmethod
    def of(cls, table: Table, agreement: Agreement) -> "Numbers":
        """Those of a table."""
        columns = tuple(table.columns)
        question: dict[str, Any] = {"n": table.count()}
        for name in columns:
            question |= {f"low_{name}": table[name].min(), f"high_{name}": table[name].max()}
            question[f"mean_{name}"] = table[name].mean()
        line = fetch_line(table.aggregate(**question))
        if not line["n"]:
            raise BadInput("No row is left after those with missing values were dropped: nothing can be measured.")
        ranges = tuple(Range(*(float(line[f"{part}_{name}"] or 0.0) for part in Range._fields)) for name in columns)
        largest = max(max(abs(column.low), abs(column.high)) for column in ranges)
        if isinstance(agreement, Close) and largest >= _FINEST * agreement.eps:
            raise BadInput(
                f"Predictions as large as {largest:g} are float64 numbers that lie farther apart than eps="
                f"{agreement.eps:g}: choose a larger eps, or leave such rows out."
            )
        return cls(int(line["n"]), columns, ranges)

    def same(self, other: "Numbers") -> bool:
        """Whether rows, ends and means are the same; a mean is rounded, in an order that no engine fixes."""
        return self.n == other.n and all(_alike(a, b) for a, b in zip(self.ranges, other.ranges, strict=True))


def _alike(a: Range, b: Range) -> bool:
    return (a.low, a.high) == (b.low, b.high) and abs(a.mean - b.mean) <= 1e-9 * max(abs(a.low), abs(a.high))


@dataclass(frozen=True, eq=False)
class NumberRows:
    """The rows of a log with the numbers they were predicted.

    Attributes
    ----------
    distinct : Explanations
        The different explanations.
    sample : Sample
        Every row, with its explanation by number.
    groups : list and (n,) array
        The populations that there are, and which of them each row is of.
    clusters : list
        What clusters are called, by their number in the sample; empty if rows are independent.
    """

    distinct: Explanations
    sample: Sample
    groups: tuple[list[Any], Ints]
    clusters: list[Any]

    @classmethod
    def of(cls, rows: KeyedRows, numbers: Numbers, agreement: Agreement, by: Sequence[str] = ()) -> "NumberRows":
        """All rows of a log, with populations by these columns."""
        need(_PER_ROW * numbers.n, f"{numbers.n:,} rows with predicted numbers", "audit a part of the log")
        kinds = FetchedKinds.of(rows, agreement, by, most=numbers.n)
        assert kinds is not None
        codes, first = kinds.explanations.group()
        values, place = kinds.predicted
        predicted = np.array(values, np.float64)[place]
        clusters = None if kinds.clusters is None else np.repeat(kinds.clusters[1], kinds.rows)
        group, key = (np.repeat(each, kinds.rows) for each in (kinds.populations[1], codes))
        labels = np.repeat(predicted, kinds.rows, axis=0)
        sample = Sample(Plain(key), labels, clusters=clusters, agreement=agreement)
        names = [] if kinds.clusters is None else kinds.clusters[0]
        return cls(kinds.explanations.take(first), sample, (kinds.populations[0], group), names)

    @property
    def parts(self) -> dict[Any, Sample]:
        """The rows of each population; all of them under None if there are no columns that name populations."""
        names, group = self.groups
        return {name: self.sample.take(np.flatnonzero(group == number)) for number, name in enumerate(names)}

    @cached_property
    def counts(self) -> Counts:
        """Rows by explanation and prediction, whatever their clusters."""
        return self.named(self.numbered)

    @cached_property
    def numbered(self) -> Counts:
        """The same with explanations by number."""
        return count_rows(replace(self.sample, clusters=None))

    def named(self, counts: Counts) -> Counts:
        """Counts of rows whose explanations are numbered, with the explanations themselves."""
        numbers = counts.explanations.key[0][:, 0]
        return replace(counts, source=self.distinct.take(numbers), chosen=None)
