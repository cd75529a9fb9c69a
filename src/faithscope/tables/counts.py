"""From an engine to the waist: groups are counted where the rows are, and only the numbers in each group come back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from faithscope.agreements import Agreement
from faithscope.counting.clusters import Kinds
from faithscope.counting.counts import Counts, count_rows
from faithscope.counting.kept import sizes_matter
from faithscope.counting.profile import Profile
from faithscope.errors import BadInput, Incompatible, TooLarge
from faithscope.explanations.base import Explanations, join_all
from faithscope.explanations.keys import Plain
from faithscope.inputs.array_types import Array, Ints
from faithscope.inputs.labels import refuse_numbers, to_weights
from faithscope.measures.comparing.beside import BY_PREDICTION, Beside
from faithscope.runtime.memory import available
from faithscope.sample import Sample, in_order
from faithscope.tables.engine.answers import coded, fetch, in_fixed_order, numbers_of, predictions_of, row_count
from faithscope.tables.engine.engines import Table, literal
from faithscope.tables.log.rows import CLUSTER, WEIGHT, KeyedRows

_PER_VALUE = 100  # bytes of a value of a cell, with what is computed of it
_FEW = 16  # labels that are counted side by side
_MOST_LABELS = 1_000_000
_INSTEAD = (
    "pass agreement=fs.Spread() or fs.Close(eps), on the command line --agreement spread, or a column of labels or bins"
)


def read_labels(rows: KeyedRows) -> dict[Any, int]:
    """How many rows have each label, None for missing; refuses numbers that are nearly all different.

    Of predictions that are meant as numbers, too many to be listed, all of them under None.
    """
    table = rows.table
    if "label" not in table.columns:
        return {None: row_count(table)}
    answer = fetch(table.group_by("label").aggregate(given=table.count()).limit(_MOST_LABELS + 1))
    values, given = answer.column("label").to_pylist(), numbers_of(answer, "given")
    if len(values) > _MOST_LABELS:
        many = f"Predictions have more than {_MOST_LABELS:,} different values"
        raise BadInput(f"{many}: pass classes, bins, or agreement=fs.Spread().")
    refuse_number_labels(values, given)
    return dict(zip(values, given.tolist(), strict=True))


def refuse_number_labels(values: Sequence[Any], rows: Ints) -> None:
    """Raise if labels, None for missing, are numbers that are nearly all different; as in memory, in one sentence."""
    known = [label for label in values if label is not None]
    if not known or not all(isinstance(label, int | float) and not isinstance(label, bool) for label in known):
        return
    numbers, given = np.array(known, np.float64), rows[[label is not None for label in values]]
    try:
        refuse_numbers(numbers, given, "")
    except BadInput:  # what is passed instead are columns, not arrays
        raise BadInput(
            f"Predictions are numbers, {len(numbers):,} different ones in {int(given.sum()):,} rows such as "
            f"{numbers[0]:g}, and labels agree only if they are equal: {_INSTEAD}."
        ) from None


def cells(rows: KeyedRows) -> Table:
    """The (explanation, label) cells as an expression: key columns, `label` and `given`."""
    return rows.table.group_by([*rows.keys, "label"]).aggregate(given=rows.table.count())


def counted(rows: KeyedRows, labels: Mapping[Any, int]) -> Profile:
    """The rows counted where they are.

    Groups with the same numbers of rows by label are merged in the engine, and only those numbers come back, if labels
    are few in columns side by side, else in sorted lists.
    """
    table, label = rows.table, rows.table["label"]
    plain = all(isinstance(value, str | bool | int | float | None) for value in labels)
    if plain and len(labels) <= _FEW and not label.type().is_unknown():
        counts = {}
        for j, value in enumerate(labels):
            is_it = label.isnull() if value is None else label == literal(value)
            counts[f"n{j}"] = table.count(where=is_it)
        groups = table.group_by(rows.keys).aggregate(**counts)
        answer = fetch(groups.group_by(list(counts)).aggregate(times=groups.count()))
        cell = np.column_stack([numbers_of(answer, name) for name in counts])
        which, place = np.nonzero(cell)
        given, times = cell[which, place], numbers_of(answer, "times")
    else:
        groups = cells(rows)
        groups = groups.group_by(rows.keys).aggregate(given=groups["given"].collect())
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
    measured : list of str
        Those of predictions, clusters and weights.
    codes : (k,) array
        The explanation of each, by number.
    distinct : Explanations
        The different explanations.
    populations : list
        Their names, in order; None alone if no columns name any.
    group : (k,) array
        The population of each, by number.
    rows : (k,) array
        How many rows each stands for.
    """

    lines: Any
    measured: list[str]
    codes: Ints
    distinct: Explanations
    populations: list[Any]
    group: Ints
    rows: Ints
    agreement: Agreement

    @classmethod
    def of(cls, rows: KeyedRows, agreement: Agreement, by: Sequence[str] = ()) -> "Cells":
        """The cells of rows, with populations by these columns; raises if they do not fit in memory."""
        measured = [*rows.predicted, *(name for name in (CLUSTER, WEIGHT) if name in rows.table.columns)]
        names = [*by, *rows.keys, *measured]
        most = int(min(2**62, available() / (_PER_VALUE * len(names))))
        lines = fetch(rows.table.group_by(names).aggregate(given=rows.table.count()).limit(most + 1))
        if lines.num_rows > most:
            raise TooLarge(
                f"More than {most:,} different {rows.kind.what}, with their predictions and populations, do not fit in "
                "memory: audit a part of the log."
            )
        lines = in_fixed_order(lines)
        explanations, (members, place) = rows.read(lines), coded(lines, by)
        codes, first = explanations.group()
        known = [name for name in members if name is not None]
        populations: list[Any] = [known[j] for j in in_order(known)]
        populations += [None] if None in members else []
        order = {name: number for number, name in enumerate(populations)}
        group = np.array([order[name] for name in members], np.int64)[place]
        return cls(
            lines, measured, codes, explanations.take(first), populations, group, numbers_of(lines, "given"), agreement
        )

    @cached_property
    def labels(self) -> Array:
        """The prediction of each; missing is one of them."""
        return predictions_of(self.lines, [name for name in self.measured if name not in (CLUSTER, WEIGHT)])

    @cached_property
    def clusters(self) -> Ints | None:
        """The cluster of each, by number; None if rows are independent."""
        return coded(self.lines, [CLUSTER])[1] if CLUSTER in self.measured else None

    @cached_property
    def sample(self) -> Sample:
        """Every row, with its explanation by number."""
        row = np.repeat(np.arange(len(self.rows)), self.rows)
        clusters = None if self.clusters is None else self.clusters[row]
        weights = None
        if WEIGHT in self.measured:
            weights = to_weights(self.lines.column(WEIGHT).to_pylist(), len(self.rows))[row]
        labels = self.labels[row]
        return Sample(Plain(self.codes[row]), labels, clusters=clusters, weights=weights, agreement=self.agreement)

    @property
    def parts(self) -> dict[Any, Counts | Sample]:
        """The rows of each population: counts of labels, all that is known of numbers, clusters and weights."""
        if self.measured == ["label"]:
            parts: Any = (self.named(self._numbered(cells)) for cells in self._members(self.group))
        else:
            parts = (self.sample.take(rows) for rows in self._members(np.repeat(self.group, self.rows)))
        return dict(zip(self.populations, parts, strict=True))

    def _members(self, group: Ints) -> list[Ints]:
        """The places of each population, in order."""
        times = np.bincount(group, minlength=len(self.populations))
        return np.split(np.argsort(group, kind="stable"), np.cumsum(times)[:-1])

    @cached_property
    def counts(self) -> Counts:
        """Rows by explanation and prediction, whatever their clusters and weights."""
        return self.named(self.numbered)

    @cached_property
    def numbered(self) -> Counts:
        """The same with explanations by number."""
        return self._numbered(np.arange(len(self.rows)))

    def _numbered(self, cells: Ints) -> Counts:
        rows = self.rows[cells].astype(np.float64)
        sample = Sample(Plain(self.codes[cells]), self.labels[cells], weights=rows, agreement=self.agreement)
        counts = count_rows(sample)
        assert counts.weight is not None
        given = counts.weight.astype(np.int64)
        return replace(counts, given=given, covered=given, weight=None, square=None)

    def named(self, counts: Counts) -> Counts:
        """Counts of rows whose explanations are numbered, with the explanations themselves."""
        numbers = counts.explanations.key[0][:, 0]
        return replace(counts, source=self.distinct.take(numbers), chosen=None)

    def and_then(self, other: "Cells") -> "Cells | None":
        """These cells and those of another log, whose rows are a population more.

        None if explanations or predictions of the two differ in kind.
        """
        import pyarrow as pa

        try:
            explanations = join_all([self.distinct, other.distinct])
            tables = [cells.lines.select(self.measured) for cells in (self, other)]
            lines = pa.concat_tables(tables, promote_options="permissive")
        except (Incompatible, pa.ArrowInvalid, pa.ArrowTypeError):  # such as a feature that one of them never names
            return None
        codes, first = explanations.group()
        return replace(
            self,
            lines=lines,
            codes=codes[np.concatenate([self.codes, other.codes + len(self.distinct)])],
            distinct=explanations.take(first),
            populations=[*self.populations, None],
            group=np.concatenate([self.group, np.full(len(other.rows), len(self.populations))]),
            rows=np.concatenate([self.rows, other.rows]),
        )


def beside(cells: Cells, notes: tuple[str, ...], confidence: float) -> Beside:
    """The populations of a log beside everybody."""
    explanations, rows = cells.distinct.take(cells.codes), np.repeat(np.arange(len(cells.rows)), cells.rows)
    sample = Sample(explanations, cells.labels, clusters=cells.clusters, agreement=cells.agreement)
    if cells.clusters is not None and sizes_matter(replace(sample, explanations=Plain(cells.codes)).take(rows)):
        notes = (*notes, BY_PREDICTION)
    return Beside(notes, confidence, Kinds.of(sample, cells.group, cells.rows))
