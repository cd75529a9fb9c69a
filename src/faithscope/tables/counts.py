"""From an engine to the waist: groups are counted where the rows are, and only how they are made up comes back."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.counting.counts import Counts, number_labels
from faithscope.counting.profile import Profile
from faithscope.errors import BadInput
from faithscope.explanations.base import Explanations
from faithscope.inputs.labels import refuse_numbers, to_keys
from faithscope.tables.engine.calls import fetch, in_fixed_order, literal
from faithscope.tables.log.kinds import Texts
from faithscope.tables.log.rows import Rows
from faithscope.tables.sources.snapshot import changed, refuse_change

Ints = NDArray[np.int64]

_FEW = 16  # labels that are counted side by side
_MOST_LABELS = 1_000_000
_MOST_RULES = 2_000_000  # cells of rules and labels that are brought here


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
    def side_by_side(self) -> bool:
        """Whether there are few enough, and of such types, that each gets its own count."""
        return len(self.values) <= _FEW and all(isinstance(one, str | bool | int | float | None) for one in self.values)


def find_labels(table: Any) -> Labels:
    """The values of a table's column `label`; refuses numbers that are nearly all different."""
    found = fetch(table.group_by("label").aggregate(given=table.count()).limit(_MOST_LABELS + 1))
    values, given = found.column("label").to_pylist(), found.column("given").to_numpy().astype(np.int64)
    if len(values) > _MOST_LABELS:
        raise BadInput(f"Predictions have more than {_MOST_LABELS:,} different values: pass classes, or bins.")
    _refuse_alike(values)
    known = np.array([one is not None for one in values], bool)
    if known.any() and all(
        isinstance(one, int | float) and not isinstance(one, bool) for one in values if one is not None
    ):
        numbers = np.array([one for one in values if one is not None], np.float64)
        refuse_numbers(numbers, given[known], "e.g. a column floor(10 * prediction)")
    return Labels(tuple(values), given)


def _refuse_alike(values: list[Any]) -> None:
    """Raise where an engine tells values apart that are one value here, such as times in different zones."""
    seen: set[Any] = set()
    for one in values:
        if one in seen:
            raise BadInput(f"The log's engine tells two values {one!r} apart that are one here: write them as text.")
        seen.add(one)


def counted(rows: Rows, labels: Labels, by: Sequence[str] = ()) -> dict[Any, Counts | Profile]:
    """The rows counted, all of them under None, or those of each population by the values of other columns.

    Groups with the same numbers of rows by label are merged in the engine, and only those numbers come back. Rules
    come back whole, since two texts may be one rule.
    """
    if isinstance(rows.kind, Texts):
        return _whole(rows, labels, by)
    plain = labels.side_by_side and not rows.table["label"].type().is_unknown()
    found = _side_by_side(rows, labels, by) if plain else _as_lists(rows, by)
    if not by:
        return {None: found.profile(labels.rows)}
    label_rows, none = _label_rows(rows, by), np.empty(0, np.int64)
    refuse_change(sum(int(one.sum()) for one in label_rows.values()), found.rows)
    return {name: found.part(name).profile(label_rows.get(name, none)) for name in in_order(found.names)}


def _whole(rows: Rows, labels: Labels, by: Sequence[str]) -> dict[Any, Counts | Profile]:
    found = in_fixed_order(fetch(cells(rows, by).limit(_MOST_RULES + 1)))
    if found.num_rows > _MOST_RULES:
        raise BadInput(f"The log has more than {_MOST_RULES:,} different rules: audit a part of it.")
    explanations, cell_labels = rows.read(found), found.column("label").to_pylist()
    given = found.column("given").to_numpy().astype(np.int64)
    if not by:
        refuse_change(labels.n, int(given.sum()))
        return {None: counts_of_cells(explanations, cell_labels, given)}
    names = _names(found, by)
    members = {name: np.flatnonzero([one == name for one in names]) for name in in_order(names)}
    return {
        name: counts_of_cells(explanations.take(chosen), [cell_labels[i] for i in chosen], given[chosen])
        for name, chosen in members.items()
    }


@dataclass(frozen=True)
class _Groups:
    """Kinds of groups: the cells (which kind, how many rows), how often each occurs, and in which population."""

    which: Ints
    given: Ints
    times: Ints
    names: list[Any]

    def part(self, name: Any) -> "_Groups":
        """The groups of one population."""
        chosen = np.array([one == name for one in self.names], bool)
        place = np.cumsum(chosen) - 1
        inside = chosen[self.which]
        return _Groups(place[self.which[inside]], self.given[inside], self.times[chosen], [])

    @property
    def rows(self) -> int:
        """Rows of all groups together."""
        return int((self.given * self.times[self.which]).sum())

    def profile(self, label_rows: Ints) -> Profile:
        """All of them as a profile, where another question counted as many rows by their labels."""
        refuse_change(int(label_rows.sum()), self.rows)
        return Profile.of_groups(self.which, self.given, self.times, label_rows)


def _side_by_side(rows: Rows, labels: Labels, by: Sequence[str]) -> _Groups:
    table = rows.table
    missing = None in labels.values
    counts = {f"n{j}": table.count(where=_is(table["label"], one, missing)) for j, one in enumerate(labels.values)}
    groups = table.group_by([*by, *rows.keys]).aggregate(**counts)
    found = fetch(groups.group_by([*by, *counts]).aggregate(times=groups.count()))
    numbers = np.column_stack([found.column(name).to_numpy().astype(np.int64) for name in counts])
    which, label = np.nonzero(numbers)
    groups_of = _Groups(which, numbers[which, label], _times(found), _names(found, by))
    if not numbers.any(axis=1).all() or (not by and (numbers.T @ groups_of.times != labels.rows).any()):
        raise changed(f"{labels.n:,} rows at first, {groups_of.rows:,} of the same labels later")
    return groups_of


def _as_lists(rows: Rows, by: Sequence[str]) -> _Groups:
    groups = cells(rows, by)
    groups = groups.group_by([*by, *rows.keys]).aggregate(given=groups["given"].collect())
    groups = groups.mutate(given=groups["given"].sort())
    found = fetch(groups.group_by([*by, "given"]).aggregate(times=groups.count()))
    lists = found.column("given").combine_chunks()
    lengths = np.asarray(lists.value_lengths())
    which = np.repeat(np.arange(len(lengths)), lengths)
    return _Groups(which, np.asarray(lists.flatten()).astype(np.int64), _times(found), _names(found, by))


def _times(found: Any) -> Ints:
    return np.asarray(found.column("times").to_numpy().astype(np.int64))


def _names(found: Any, by: Sequence[str]) -> list[Any]:
    """The population of each line: a value, or the values of several columns."""
    columns = [found.column(name).to_pylist() for name in by]
    return [] if not by else list(columns[0]) if len(by) == 1 else list(zip(*columns, strict=True))


def _label_rows(rows: Rows, by: Sequence[str]) -> dict[Any, Ints]:
    """For each population the rows of each label."""
    found = fetch(rows.table.group_by([*by, "label"]).aggregate(given=rows.table.count()))
    parts: dict[Any, list[int]] = {}
    _refuse_alike(list(zip(_names(found, by), found.column("label").to_pylist(), strict=True)))
    for name, given in zip(_names(found, by), found.column("given").to_pylist(), strict=True):
        parts.setdefault(name, []).append(given)
    return {name: np.array(given, np.int64) for name, given in parts.items()}


def in_order(names: list[Any]) -> list[Any]:
    """The different names in order, None last."""
    present = [one for one in dict.fromkeys(names) if one is not None]
    ordered = list(number_labels(to_keys(present, "Values"))[0]) if present else []
    return [*ordered, None] if None in names else ordered


def _is(column: Any, value: Any, missing: bool) -> Any:
    """Whether a label is this one; never null, since an engine may sum nothing but nulls to null."""
    if value is None:
        return column.isnull()
    same = column == literal(value)
    return same.coalesce(False) if missing else same


def cells(rows: Rows, by: Sequence[str] = ()) -> Any:
    """The (explanation, label) cells as an expression: key columns, `label` and `given`."""
    return rows.table.group_by([*by, *rows.keys, "label"]).aggregate(given=rows.table.count())


def counts_of_cells(explanations: Explanations, labels: list[Any], given: Ints) -> Counts:
    """Counts from cells, of which several may be of one explanation and label.

    Parameters
    ----------
    explanations : Explanations, one a cell
    labels : list, one a cell; None for missing
    given : (m,) array
        Rows of each cell.
    """
    codes, first = explanations.group()
    names = tuple(in_order(labels))
    place = {name: number for number, name in enumerate(names)}
    numbers = np.array([place[one] for one in labels], np.int64)
    keys, inverse = np.unique(codes * len(names) + numbers, return_inverse=True)
    rows = np.zeros(len(keys), np.int64)
    np.add.at(rows, inverse, given)
    explanation, label = np.divmod(keys, len(names))
    none = np.zeros(len(keys), np.int64)
    return Counts(explanations.take(first), names, explanation, label, rows, rows, none)
