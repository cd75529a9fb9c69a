"""From an engine to the waist: groups are counted where the rows are, and only the numbers in each group come back."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from faithscope.counting.counts import Counts, count_rows
from faithscope.counting.profile import Profile
from faithscope.errors import BadInput, Incompatible
from faithscope.explanations.base import Explanations, join_all
from faithscope.explanations.keys import Plain
from faithscope.inputs.array_types import Ints
from faithscope.inputs.labels import refuse_numbers
from faithscope.runtime.memory import need
from faithscope.sample import Sample
from faithscope.tables.columns import CLUSTER, WEIGHT, keys_of, predicted, sample_of
from faithscope.tables.engines import (
    Table,
    fetch,
    fetch_line,
    literal,
    numbers_of,
)

_PER_ROW = 200  # bytes of a row, with what is computed of it
_FEW = 16  # labels that are counted side by side
_MOST_LABELS = 1_000_000
_INSTEAD = (
    "pass agreement=fs.Spread() or fs.Close(eps), on the command line --agreement spread, or a column of labels or bins"
)


def read_labels(table: Table) -> dict[Any, int]:
    """How many rows have each label, None for missing; refuses numbers that are nearly all different.

    Of predictions that are meant as numbers, too many to be listed, all of them under None.
    """
    if "label" not in table.columns:
        return {None: fetch_line(table.aggregate(n=table.count()))["n"]}
    answer = fetch(table.group_by("label").aggregate(given=table.count()).limit(_MOST_LABELS + 1))
    values, given = answer.column("label").to_pylist(), numbers_of(answer, "given")
    if len(values) > _MOST_LABELS:
        many = f"Predictions have more than {_MOST_LABELS:,} different values"
        raise BadInput(f"{many}: pass classes, bins, or agreement=fs.Spread().")
    known = [(label, n) for label, n in zip(values, given, strict=True) if label is not None]
    if known and all(isinstance(label, int | float) and not isinstance(label, bool) for label, _ in known):
        numbers, rows = (np.array(column) for column in zip(*known, strict=True))
        try:
            refuse_numbers(numbers.astype(np.float64), rows, "")
        except BadInput:  # what is passed instead are columns, not arrays
            raise BadInput(
                f"Predictions are numbers, {len(numbers):,} different ones in {int(rows.sum()):,} rows such as "
                f"{numbers[0]:g}, and labels agree only if they are equal: {_INSTEAD}."
            ) from None
    return dict(zip(values, given.tolist(), strict=True))


def counted(table: Table, labels: Mapping[Any, int]) -> Profile:
    """The rows counted where they are.

    Groups with the same numbers of rows by label are merged in the engine, and only those numbers come back, if labels
    are few in columns side by side, else in sorted lists.
    """
    keys, label = keys_of(table.columns), table["label"]
    plain = all(isinstance(value, str | bool | int | float | None) for value in labels)
    if plain and len(labels) <= _FEW and not label.type().is_unknown():
        counts = {}
        for j, value in enumerate(labels):
            is_it = label.isnull() if value is None else label == literal(value)
            counts[f"n{j}"] = table.count(where=is_it)
        groups = table.group_by(keys).aggregate(**counts)
        answer = fetch(groups.group_by(list(counts)).aggregate(times=groups.count()))
        cell = np.column_stack([numbers_of(answer, name) for name in counts])
        which, place = np.nonzero(cell)
        given, times = cell[which, place], numbers_of(answer, "times")
    else:
        groups = table.group_by([*keys, "label"]).aggregate(given=table.count())
        groups = groups.group_by(keys).aggregate(given=groups["given"].collect())
        groups = groups.mutate(given=groups["given"].sort())
        answer = fetch(groups.group_by("given").aggregate(times=groups.count()))
        lists = answer.column("given").combine_chunks()
        which = np.repeat(np.arange(len(lists)), np.asarray(lists.value_lengths()))
        given, times = np.asarray(lists.flatten()).astype(np.int64), numbers_of(answer, "times")
    profile = Profile.of_groups(which, given, times, np.array([*labels.values()], np.int64))
    return replace(profile, labels=tuple(labels))


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
    def parts(self) -> dict[Any, Counts | Sample]:
        """The rows of each population: counts of labels, all that is known of numbers, clusters and weights."""
        by_row = self.by_row
        group = np.repeat(self.group, self.given) if by_row else self.group
        times = np.bincount(group, minlength=len(self.populations))
        members = np.split(np.argsort(group, kind="stable"), np.cumsum(times)[:-1])
        return {
            name: self.sample.take(each) if by_row else self.named(self._numbered(each))
            for name, each in zip(self.populations, members, strict=True)
        }

    @cached_property
    def counts(self) -> Counts:
        """Rows by explanation and prediction, whatever their clusters and weights."""
        return self.named(self.numbered)

    @cached_property
    def numbered(self) -> Counts:
        """The same with explanations by number."""
        return self._numbered(np.arange(len(self.given)))

    def _numbered(self, cells: Ints) -> Counts:
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
