"""From an engine to the waist: groups are counted where the rows are, and only the numbers in each group come back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from faithscope.agreements import Agreement, Same
from faithscope.counting.counts import Counts
from faithscope.counting.profile import Profile
from faithscope.errors import BadInput
from faithscope.explanations.base import Explanations
from faithscope.inputs.array_types import Floats, Ints
from faithscope.inputs.arrays import to_vector
from faithscope.inputs.labels import refuse_numbers, to_keys
from faithscope.sample import number_labels
from faithscope.tables.engine.answers import coded, fetch, fetch_line, in_fixed_order, numbers_of
from faithscope.tables.engine.expressions import Expression, Table, literal
from faithscope.tables.log.kinds import RuleColumn
from faithscope.tables.log.rows import CLUSTER, WEIGHT, KeyedRows
from faithscope.tables.sources.snapshot import changed, refuse_change

_MOST = 3_000_000  # kinds of rows that are fetched
_MOST_RULES = 2_000_000  # cells of rules and labels that are fetched
_FEW = 16  # labels that are counted side by side
_MOST_LABELS = 1_000_000
_INSTEAD = (
    "pass agreement=fs.Spread() or fs.Close(eps), on the command line --agreement spread, or a column of labels or bins"
)


@dataclass(frozen=True)
class Labels:
    """The predicted labels that occur, None for missing, and how many rows have each."""

    values: tuple[Any, ...]
    rows: Ints

    @property
    def n(self) -> int:
        """Rows of all labels together."""
        return int(self.rows.sum())

    @property
    def counts(self) -> dict[Any, int]:
        """The number of rows by label."""
        return dict(zip(self.values, self.rows.tolist(), strict=True))

    @property
    def side_by_side(self) -> bool:
        """Whether there are few enough, and of such types, that each gets its own count."""
        plain = all(isinstance(label, str | bool | int | float | None) for label in self.values)
        return len(self.values) <= _FEW and plain


def read_labels(table: Table) -> Labels:
    """The values of a table's column `label`; refuses numbers that are nearly all different."""
    answer = fetch(table.group_by("label").aggregate(given=table.count()).limit(_MOST_LABELS + 1))
    labels = Labels(tuple(answer.column("label").to_pylist()), numbers_of(answer, "given"))
    if len(labels.values) > _MOST_LABELS:
        many = f"Predictions have more than {_MOST_LABELS:,} different values"
        raise BadInput(f"{many}: pass classes, bins, or agreement=fs.Spread().")
    refuse_alike(labels.values)
    refuse_number_labels(labels.values, labels.rows)
    return labels


def refuse_number_labels(values: Sequence[Any], rows: Ints) -> None:
    """Raise if labels, None for missing, are numbers that are nearly all different."""
    known = [label for label in values if label is not None]
    if known and all(isinstance(label, int | float) and not isinstance(label, bool) for label in known):
        _refuse_numbers(np.array(known, np.float64), rows[[label is not None for label in values]])


def _refuse_numbers(values: NDArray[np.float64], rows: Ints) -> None:
    """As in memory, in one sentence: what is passed instead are columns, not arrays."""
    try:
        refuse_numbers(values, rows, "")
    except BadInput:
        raise BadInput(
            f"Predictions are numbers, {len(values):,} different ones in {int(rows.sum()):,} rows such as "
            f"{values[0]:g}, and labels agree only if they are equal: {_INSTEAD}."
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


def names_of(answer: Any, by: Sequence[str]) -> list[Any]:
    """The population of each line of an answer: a value, or the values of several columns."""
    columns = [answer.column(name).to_pylist() for name in by]
    return [] if not by else list(columns[0]) if len(by) == 1 else list(zip(*columns, strict=True))


def read_numbers(table: Table) -> Labels:
    """Predictions that are numbers, too many to be listed: the ends of each column in place of labels, and all rows."""
    ends = {f"{end}{j}": getattr(table[name], end)() for j, name in enumerate(table.columns) for end in ("min", "max")}
    line = fetch_line(table.aggregate(n=table.count(), **ends))
    return Labels((tuple(line[end] for end in ends),), np.array([line["n"]]))


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
        explanations = self.explanations.take(chosen)
        codes, first = explanations.group()
        labels = [self.predicted[0][number] for number in self.predicted[1][chosen].tolist()]
        names = tuple(in_order(labels))
        place = {name: number for number, name in enumerate(names)}
        numbers = np.array([place[label] for label in labels], np.int64)
        keys, inverse = np.unique(codes * len(names) + numbers, return_inverse=True)
        rows = np.zeros(len(keys), np.int64)
        np.add.at(rows, inverse, self.rows[chosen])
        explanation, label = np.divmod(keys, len(names))
        none = np.zeros(len(keys), np.int64)
        return Counts(explanations.take(first), names, explanation, label, rows, rows, none)


def numbered(column: tuple[list[Any], Ints], place: Mapping[Any, int]) -> Ints:
    """The place of each line's value, of a column by number."""
    names, numbers = column
    return np.array([place[name] for name in names], np.int64)[numbers]


def counted(rows: KeyedRows, labels: Labels, by: Sequence[str] = ()) -> dict[Any, Counts | Profile]:
    """The rows counted, all of them under None, or those of each population by the values of other columns.

    Groups with the same numbers of rows by label are merged in the engine, and only those numbers come back. Rules
    come back whole, since two texts may be one rule.
    """
    if isinstance(rows.kind, RuleColumn):
        return _count_rules(rows, labels, by)
    plain = labels.side_by_side and not rows.table["label"].type().is_unknown()
    groups = _side_by_side(rows, labels, by) if plain else _as_lists(rows, by)
    if not by:
        return {None: groups.profile(labels)}
    known, none = _labels_by(rows, by), Labels((), np.empty(0, np.int64))
    refuse_change(sum(part.n for part in known.values()), groups.rows)
    return {name: groups.part(name).profile(known.get(name, none)) for name in in_order(groups.names)}


def _count_rules(rows: KeyedRows, labels: Labels, by: Sequence[str]) -> dict[Any, Counts | Profile]:
    kinds = FetchedKinds.of(rows, Same(), by, _MOST_RULES)
    if kinds is None:
        raise BadInput(f"The log has more than {_MOST_RULES:,} different rules: audit a part of it.")
    if not by:
        refuse_change(labels.n, int(kinds.rows.sum()))
    names = kinds.populations[0]
    return {name: kinds.counts(names.index(name)) for name in in_order(names)}


@dataclass(frozen=True)
class _Groups:
    """Kinds of groups: the cells (which kind, how many rows), how often each kind occurs, and in which population."""

    which: Ints
    given: Ints
    times: Ints
    names: list[Any]

    def part(self, name: Any) -> "_Groups":
        """The groups of one population."""
        chosen = np.array([other == name for other in self.names], bool)
        place = np.cumsum(chosen) - 1
        inside = chosen[self.which]
        return _Groups(place[self.which[inside]], self.given[inside], self.times[chosen], [])

    @property
    def rows(self) -> int:
        """Rows of all groups together."""
        return int((self.given * self.times[self.which]).sum())

    def profile(self, labels: Labels) -> Profile:
        """All of them as a profile, if another question counted as many rows by their labels."""
        refuse_change(labels.n, self.rows)
        return replace(Profile.of_groups(self.which, self.given, self.times, labels.rows), labels=labels.values)


def _side_by_side(rows: KeyedRows, labels: Labels, by: Sequence[str]) -> _Groups:
    table = rows.table
    missing = None in labels.values
    counts = {f"n{j}": table.count(where=_is(table["label"], value, missing)) for j, value in enumerate(labels.values)}
    groups = table.group_by([*by, *rows.keys]).aggregate(**counts)
    answer = fetch(groups.group_by([*by, *counts]).aggregate(times=groups.count()))
    given = np.column_stack([numbers_of(answer, name) for name in counts])
    which, label = np.nonzero(given)
    merged = _Groups(which, given[which, label], numbers_of(answer, "times"), names_of(answer, by))
    if not given.any(axis=1).all() or (not by and (given.T @ merged.times != labels.rows).any()):
        raise changed(f"{labels.n:,} rows at first, {merged.rows:,} of the same labels later")
    return merged


def _as_lists(rows: KeyedRows, by: Sequence[str]) -> _Groups:
    groups = cells(rows, by)
    groups = groups.group_by([*by, *rows.keys]).aggregate(given=groups["given"].collect())
    groups = groups.mutate(given=groups["given"].sort())
    answer = fetch(groups.group_by([*by, "given"]).aggregate(times=groups.count()))
    lists = answer.column("given").combine_chunks()
    lengths = np.asarray(lists.value_lengths())
    which = np.repeat(np.arange(len(lengths)), lengths)
    given = np.asarray(lists.flatten()).astype(np.int64)
    return _Groups(which, given, numbers_of(answer, "times"), names_of(answer, by))


def _labels_by(rows: KeyedRows, by: Sequence[str]) -> dict[Any, Labels]:
    """The labels of each population."""
    answer = fetch(rows.table.group_by([*by, "label"]).aggregate(given=rows.table.count()))
    parts: dict[Any, dict[Any, int]] = {}
    names, labels = names_of(answer, by), answer.column("label").to_pylist()
    refuse_alike(list(zip(names, labels, strict=True)))
    for name, label, given in zip(names, labels, answer.column("given").to_pylist(), strict=True):
        parts.setdefault(name, {})[label] = given
    return {name: Labels(tuple(given), np.array([*given.values()], np.int64)) for name, given in parts.items()}


def _is(column: Expression, value: Any, missing: bool) -> Expression:
    """Whether a label is this value; never null, since an engine may sum nothing but nulls to null."""
    if value is None:
        return column.isnull()
    same = column == literal(value)
    return same.coalesce(False) if missing else same
