"""From an engine to the waist: groups are counted where the rows are, and only the numbers in each group come back."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.counting.counts import Counts
from faithscope.counting.profile import Profile
from faithscope.errors import BadInput
from faithscope.tables.cells import CountedCells, cells
from faithscope.tables.engine.answers import fetch, numbers_of
from faithscope.tables.engine.expressions import literal
from faithscope.tables.engine.protocol import Expression
from faithscope.tables.labels import Labels, in_order, names_of, refuse_alike
from faithscope.tables.log.kinds import RuleColumn
from faithscope.tables.log.rows import KeyedRows
from faithscope.tables.sources.snapshot import changed, refuse_change

Ints = NDArray[np.int64]

_MOST_RULES = 2_000_000  # cells of rules and labels that are fetched


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
    table = CountedCells.of(rows, cells(rows, by).limit(_MOST_RULES + 1))
    if len(table.labels) > _MOST_RULES:
        raise BadInput(f"The log has more than {_MOST_RULES:,} different rules: audit a part of it.")
    if not by:
        refuse_change(labels.n, int(table.given.sum()))
        return {None: table.counts()}
    names = names_of(table.answer, by)
    members = {name: np.flatnonzero([other == name for other in names]) for name in in_order(names)}
    return {name: table.take(chosen).counts() for name, chosen in members.items()}


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
