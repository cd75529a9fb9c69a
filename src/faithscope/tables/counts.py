"""From an engine to the waist: groups are counted where the rows are, and only the numbers in each group come back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from faithscope.agreements import Agreement, Same
from faithscope.counting.clusters import Kinds
from faithscope.counting.counts import Counts, count_rows
from faithscope.counting.kept import sizes_matter
from faithscope.counting.profile import Profile
from faithscope.errors import BadInput
from faithscope.explanations.base import Explanations, join_all
from faithscope.explanations.keys import Plain
from faithscope.inputs.array_types import Floats, Ints
from faithscope.inputs.arrays import to_vector
from faithscope.inputs.labels import refuse_numbers, to_keys
from faithscope.measures.comparing.beside import BY_PREDICTION, Beside
from faithscope.runtime.memory import need
from faithscope.sample import Sample, number_labels
from faithscope.tables.engine.answers import (
    as_array,
    coded,
    fetch,
    fetch_line,
    in_fixed_order,
    numbers_of,
    with_missing,
)
from faithscope.tables.engine.engines import Table, literal
from faithscope.tables.log.rows import CLUSTER, SPELLED, WEIGHT, KeyedRows
from faithscope.tables.sources.source import changed, refuse_change

_MOST = 3_000_000  # kinds of rows that are fetched
_MOST_RULES = 2_000_000  # cells of rules and labels that are fetched
_FEW = 16  # labels that are counted side by side
_MOST_LABELS = 1_000_000
_ENDS = ("min", "max")
_INSTEAD = (
    "pass agreement=fs.Spread() or fs.Close(eps), on the command line --agreement spread, or a column of labels or bins"
)


def read_labels(rows: KeyedRows) -> dict[Any, int]:
    """How many rows have each label, None for missing; refuses numbers that are nearly all different.

    Of predictions that are meant as numbers, too many to be listed, the ends of each column in place of labels.
    """
    table = rows.table
    if "label" not in table.columns:
        ends = {f"{end}{j}": getattr(table[name], end)() for j, name in enumerate(rows.predicted) for end in _ENDS}
        line = fetch_line(table.aggregate(n=table.count(), **ends))
        return {tuple(line[end] for end in ends): line["n"]}
    answer = fetch(table.group_by("label").aggregate(given=table.count()).limit(_MOST_LABELS + 1))
    values, given = answer.column("label").to_pylist(), numbers_of(answer, "given")
    if len(values) > _MOST_LABELS:
        many = f"Predictions have more than {_MOST_LABELS:,} different values"
        raise BadInput(f"{many}: pass classes, bins, or agreement=fs.Spread().")
    refuse_alike(values)
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


def refuse_alike(values: Sequence[Any]) -> None:
    """Raise if an engine tells values apart that Python takes for one, such as times in different zones."""
    seen: set[Any] = set()
    for value in values:
        if value in seen:
            raise BadInput(
                f"The log's engine tells two values {value!r} apart that are one in Python: write them as text."
            )
        seen.add(value)


def in_order(names: Sequence[Any]) -> list[Any]:
    """The different names in order, None last."""
    present = [name for name in dict.fromkeys(names) if name is not None]
    ordered = list(number_labels(to_keys(to_vector(present, "Values"), "Values"))[0]) if present else []
    return [*ordered, None] if None in names else ordered


def cells(rows: KeyedRows, by: Sequence[str] = ()) -> Table:
    """The (explanation, label) cells as an expression: key columns, `label` and `given`."""
    table = rows.table
    return table.group_by([*by, *rows.keys, "label"]).aggregate(given=table.count())


class FetchedKinds(NamedTuple):
    """How many rows have which explanation, prediction, cluster, weight and population."""

    answer: Any  # an Arrow table with a line for each
    explanations: Explanations
    predicted: tuple[list[Any], Ints]  # the different ones, and which of them each kind has
    clusters: tuple[list[Any], Ints] | None
    populations: tuple[list[Any], Ints]
    rows: Ints
    weights: Floats | None

    @classmethod
    def of(
        cls, rows: KeyedRows, agreement: Agreement, by: Sequence[str] = (), most: int = _MOST
    ) -> "FetchedKinds | None":
        """The kinds of rows of a log, with populations by these columns; None if they are too many to be fetched."""
        predicted = rows.predicted if agreement.of_numbers else ["label"]
        units = [name for name in (CLUSTER, WEIGHT) if name in rows.table.columns]
        names = [*by, *rows.keys, *predicted, *units]
        grouped = rows.table.group_by(names).aggregate(given=rows.table.count())
        answer = in_fixed_order(fetch(grouped.limit(most + 1)))
        if answer.num_rows > most:
            return None
        return cls(
            answer,
            rows.read(answer),
            coded(answer, predicted),
            coded(answer, [CLUSTER]) if rows.clustered else None,
            coded(answer, by),
            numbers_of(answer, "given"),
            rows.weights(answer),
        )

    def counts(self, population: int = 0) -> Counts:
        """The rows of one population; those of one explanation and label added up."""
        chosen = np.flatnonzero(self.populations[1] == population)
        labels = with_missing(as_array(self.predicted[0]))[self.predicted[1][chosen]]
        counts = count_rows(
            Sample(self.explanations.take(chosen), labels, weights=self.rows[chosen].astype(np.float64))
        )
        assert counts.weight is not None
        rows = counts.weight.astype(np.int64)
        return replace(counts, given=rows, covered=rows, weight=None, square=None)


def numbered(column: tuple[list[Any], Ints], place: Mapping[Any, int]) -> Ints:
    """The place of each line's value, of a column by number."""
    names, numbers = column
    return np.array([place[name] for name in names], np.int64)[numbers]


def counted(rows: KeyedRows, labels: Mapping[Any, int], by: Sequence[str] = ()) -> dict[Any, Counts | Profile]:
    """The rows counted, all of them under None, or those of each population by the values of other columns.

    Groups with the same numbers of rows by label are merged in the engine, and only those numbers come back, if labels
    are few in columns side by side, else in sorted lists. Rules and codes come back whole: two texts may be one rule.
    """
    if isinstance(rows.kind, SPELLED):
        return _count_spelled(rows, labels, by)
    table, label, n = rows.table, rows.table["label"], sum(labels.values())
    plain = all(isinstance(value, str | bool | int | float | None) for value in labels)
    if plain and len(labels) <= _FEW and not label.type().is_unknown():
        counts = {}
        for j, value in enumerate(labels):
            is_it = label.isnull() if value is None else label == literal(value)
            # Never null, since an engine may sum nothing but nulls to null.
            counts[f"n{j}"] = table.count(where=is_it.coalesce(False) if None in labels else is_it)
        groups = table.group_by([*by, *rows.keys]).aggregate(**counts)
        answer = fetch(groups.group_by([*by, *counts]).aggregate(times=groups.count()))
        cell = np.column_stack([numbers_of(answer, name) for name in counts])
        which, place = np.nonzero(cell)
        given, times = cell[which, place], numbers_of(answer, "times")
        if not cell.any(axis=1).all() or (not by and (cell.T @ times).tolist() != list(labels.values())):
            raise changed(f"{n:,} rows at first, {cell.sum(axis=1) @ times:,} of the same labels later")
    else:
        groups = cells(rows, by)
        groups = groups.group_by([*by, *rows.keys]).aggregate(given=groups["given"].collect())
        groups = groups.mutate(given=groups["given"].sort())
        answer = fetch(groups.group_by([*by, "given"]).aggregate(times=groups.count()))
        lists = answer.column("given").combine_chunks()
        which = np.repeat(np.arange(len(lists)), np.asarray(lists.value_lengths()))
        given, times = np.asarray(lists.flatten()).astype(np.int64), numbers_of(answer, "times")
    names, place = coded(answer, by)
    known: dict[Any, Mapping[Any, int]] = {None: labels}
    if by:
        known = dict(_labels_by(rows, by))
        refuse_change(sum(sum(part.values()) for part in known.values()), int(given @ times[which]))
    found: dict[Any, Counts | Profile] = {}
    for name in in_order(names):
        chosen, part = place == names.index(name), known.get(name, {})
        inside = chosen[which]
        group = (np.cumsum(chosen) - 1)[which[inside]]
        refuse_change(sum(part.values()), int(given[inside] @ times[chosen][group]))
        profile = Profile.of_groups(group, given[inside], times[chosen], np.array([*part.values()], np.int64))
        found[name] = replace(profile, labels=tuple(part))
    return found


def _count_spelled(rows: KeyedRows, labels: Mapping[Any, int], by: Sequence[str]) -> dict[Any, Counts | Profile]:
    kinds = FetchedKinds.of(rows, Same(), by, _MOST_RULES)
    if kinds is None:
        raise BadInput(f"The log has more than {_MOST_RULES:,} different {rows.kind.what}: audit a part of it.")
    if not by:
        refuse_change(sum(labels.values()), int(kinds.rows.sum()))
    names = kinds.populations[0]
    return {name: kinds.counts(names.index(name)) for name in in_order(names)}


def _labels_by(rows: KeyedRows, by: Sequence[str]) -> dict[Any, dict[Any, int]]:
    """The labels of each population."""
    answer = fetch(rows.table.group_by([*by, "label"]).aggregate(given=rows.table.count()))
    parts: dict[Any, dict[Any, int]] = {}
    names, place = coded(answer, by)
    lines = [(names[number], label) for number, label in zip(place, answer.column("label").to_pylist(), strict=True)]
    refuse_alike(lines)
    for (name, label), given in zip(lines, answer.column("given").to_pylist(), strict=True):
        parts.setdefault(name, {})[label] = given
    return parts


_PER_ROW = 200  # bytes of a row, with what is computed of it


@dataclass(frozen=True, eq=False)
class FetchedRows:
    """The rows of a log whose predictions are numbers, or that belong to clusters, or that have weights.

    Attributes
    ----------
    kinds : FetchedKinds
        The kinds of rows that there are.
    codes : array
        The explanation of each kind, by number.
    distinct : Explanations
        The different explanations.
    sample : Sample
        Every row, with its explanation by number.
    group : (n,) array
        Which of the populations each row is of.
    """

    kinds: FetchedKinds
    codes: Ints
    distinct: Explanations
    sample: Sample
    group: Ints

    @classmethod
    def of(cls, rows: KeyedRows, n: int, agreement: Agreement, by: Sequence[str] = ()) -> "FetchedRows":
        """The n rows of a log, with populations by these columns."""
        what = "predicted numbers" if agreement.of_numbers else "clusters" if rows.clustered else "weights"
        need(_PER_ROW * n, f"{n:,} rows with {what}", "audit a part of the log")
        kinds = FetchedKinds.of(rows, agreement, by, most=n)
        if kinds is None:
            raise changed(f"{n:,} rows at first, more later")
        codes, first = kinds.explanations.group()
        values, place = kinds.predicted
        labels = np.array(values, np.float64) if agreement.of_numbers else with_missing(as_array(values))
        clusters = None if kinds.clusters is None else np.repeat(kinds.clusters[1], kinds.rows)
        weights = None if kinds.weights is None else np.repeat(kinds.weights, kinds.rows)
        group, key, predicted = (np.repeat(each, kinds.rows) for each in (kinds.populations[1], codes, place))
        sample = Sample(Plain(key), labels[predicted], clusters=clusters, weights=weights, agreement=agreement)
        return cls(kinds, codes, kinds.explanations.take(first), sample, group)

    @property
    def parts(self) -> dict[Any, Sample]:
        """The rows of each population; all of them under None if there are no columns that name populations."""
        names = self.kinds.populations[0]
        return {name: self.sample.take(np.flatnonzero(self.group == number)) for number, name in enumerate(names)}

    @cached_property
    def counts(self) -> Counts:
        """Rows by explanation and prediction, whatever their clusters and weights."""
        return self.named(self.numbered)

    @cached_property
    def numbered(self) -> Counts:
        """The same with explanations by number."""
        return count_rows(replace(self.sample, clusters=None, weights=None))

    def named(self, counts: Counts) -> Counts:
        """Counts of rows whose explanations are numbered, with the explanations themselves."""
        numbers = counts.explanations.key[0][:, 0]
        return replace(counts, source=self.distinct.take(numbers), chosen=None)


def beside(
    parts: Sequence[tuple[FetchedKinds, Mapping[Any, int]]],
    agreement: Agreement,
    notes: tuple[str, ...],
    confidence: float,
) -> Beside:
    """Groups of one log or of several, each with the numbers of its populations, beside everybody."""
    kinds = [part for part, _ in parts]
    explanations = join_all([part.explanations for part in kinds])
    groups = np.concatenate([numbered(part.populations, group) for part, group in parts])
    values = [value for part in kinds for value in part.predicted[0]]
    before = np.cumsum([0, *(len(part.predicted[0]) for part in kinds)])
    predicted = np.concatenate([part.predicted[1] + start for part, start in zip(kinds, before, strict=False)])
    labels = np.array(values, np.float64) if agreement.of_numbers else with_missing(as_array(values))
    rows, clusters = np.concatenate([part.rows for part in kinds]), None
    owners = [part.clusters for part in kinds if part.clusters is not None]
    if len(owners) == len(kinds):
        names = dict.fromkeys(name for known, _ in owners for name in known)
        clusters = np.concatenate([numbered(each, {name: j for j, name in enumerate(names)}) for each in owners])
    sample = Sample(explanations, labels[predicted], clusters=clusters, agreement=agreement)
    if clusters is not None:
        numbered_rows = replace(sample, explanations=Plain(explanations.group()[0]))
        if sizes_matter(numbered_rows.take(np.repeat(np.arange(len(rows)), rows))):
            notes = (*notes, BY_PREDICTION)
    return Beside(notes, confidence, kinds=Kinds.of(sample, groups, rows))
