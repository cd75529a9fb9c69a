"""Where explanations fail: those with most disagreeing pairs of rows, and rows that contradict them."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from faithscope.counting.counts import Counts
from faithscope.inputs.array_types import Ints
from faithscope.inputs.checks import check_whole
from faithscope.measures.counterexamples import counterexamples, stranger_pairs
from faithscope.sample import Sample, number_labels
from faithscope.tables.counts import Cells, cells
from faithscope.tables.engine.answers import fetch
from faithscope.tables.engine.engines import Expression, Table
from faithscope.tables.log.rows import CLUSTER, KeyedRows
from faithscope.tables.measured_log import MeasuredLog
from faithscope.tables.scopes import read_rows
from faithscope.words import readable

_EXAMPLES = 50  # rows of each label of an explanation that are fetched to be shown
_COLUMNS = 6  # of a row that has no id
_CHARACTERS = 40  # of a cell
_COUNTER = re.compile(r"(?i)^(unnamed: \d+|index|(.*[\W_])?id)$")  # what numbers rows, if nobody named an id


class Examples(NamedTuple):
    """Some rows of each label of the worst explanations, to be shown, with the columns that name them.

    Attributes
    ----------
    sample : Sample
        Its X is what says how near two rows are: `others`.
    ids : dict of columns
        Those that identify rows; empty if none do.
    others : dict of columns
        Every other column that can be shown and is neither prediction nor explanation.
    """

    sample: Sample
    ids: dict[str, list[Any]]
    others: dict[str, list[Any]]

    @classmethod
    def of(cls, measured: MeasuredLog, k: int) -> "Examples":
        """Rows of the k worst explanations; of numbers, those of the pairs that are farthest apart."""
        found = read_rows(measured.log, answered=lambda rows: _examples(measured, k, rows))
        ids, others = found.ids.to_pydict(), found.columns.to_pydict()
        for name in [name for name in others if _COUNTER.search(name)]:
            if len(set(others[name])) == len(found.predictions):
                ids[name] = others.pop(name)
        compared = found.columns.select(list(others)) if others else None
        clusters = None if found.clusters is None else number_labels(found.clusters)[1]
        labels, agreement = found.predictions, measured.agreement
        return cls(Sample(found.explanations, labels, compared, clusters=clusters, agreement=agreement), ids, others)

    def name(self, row: int) -> str:
        """A row by its ids, else by the first of its own columns."""
        cells = self.ids or dict(list(self.others.items())[:_COLUMNS])
        text = ", ".join(f"{_short(name)} {_short(column[row])}" for name, column in cells.items())
        more = 0 if self.ids else len(self.others) - len(cells)
        return (text + (f", … ({more} more)" if more else "")) or "a row without other columns"

    def names(self, pairs: dict[str, Any]) -> dict[str, list[str]]:
        """The names of the rows of pairs, which are given by position, as the columns `index_a` and `index_b`."""
        return {f"index_{side}": list(map(self.name, pairs[f"row_{side}"].tolist())) for side in "ab"}

    def without_positions(self, pairs: dict[str, Any]) -> dict[str, Any]:
        """Pairs of rows by name in place of their positions: ids first, then `index_a` and `index_b` to read."""
        named: dict[str, Any] = {}
        for name, column in self.ids.items():
            for side in "ab":
                named[f"{name}_{side}"] = [column[row] for row in pairs[f"row_{side}"].tolist()]
        others = {name: column for name, column in pairs.items() if not name.startswith("row_")}
        return {**named, **self.names(pairs), **others, **named}


def _short(value: Any) -> str:
    text = " ".join(readable(value).split())
    return text if len(text) <= _CHARACTERS else text[: _CHARACTERS - 1] + "…"


def worst_counts(measured: MeasuredLog, k: int | None) -> Counts:
    """Counts of the k worst explanations; of all without k, and if all are in memory."""
    cells, rows = measured.cells, measured.rows
    if cells is None:
        worst = rows if k is None else replace(rows, table=_among(rows.table, _worst(rows, k), rows.keys))
        cells = Cells.of(worst, measured.agreement)
    return cells.counts


def apart(cells: Cells) -> Ints:
    """For each explanation, how many pairs of rows of different clusters get different predictions."""
    counts, sample = cells.numbered, cells.sample
    return stranger_pairs(counts, sample, counts.explanations.locate(sample.explanations))


def _examples(measured: MeasuredLog, k: int, rows: KeyedRows) -> Any:
    """Some rows of the k worst explanations; of numbers, one for each of the k farthest pairs."""
    import ibis

    held, numbers = measured.cells, measured.agreement.of_numbers
    told = [*rows.keys, *(rows.predicted if numbers else ())]
    worst = _worst(rows, k) if held is None else ibis.memtable(held.lines.take(_worst_cells(held, k)).select(told))
    chosen = replace(rows, table=_among(rows.table, worst, told))
    return _some_rows(chosen, numbers)


def _worst(rows: KeyedRows, k: int) -> Table:
    """The keys of the k explanations with most disagreeing pairs of rows, then most rows, as an expression."""
    import ibis

    table = cells(rows)
    given = table["given"]
    pairs = given.sum() * given.sum() - (given * given).sum()
    ranked = table.group_by(rows.keys).aggregate(rows=given.sum(), disagreeing=pairs)
    return ranked.order_by([ibis.desc("disagreeing"), ibis.desc("rows"), *rows.keys]).limit(check_whole(k, "k"))


def _among(table: Table, chosen: Table, keys: Sequence[str]) -> Table:
    """The rows of a table whose keys are among the chosen ones, missing values included."""
    return table.semi_join(chosen, [table[key].identical_to(chosen[key]) for key in keys])


def _worst_cells(held: Cells, k: int) -> Ints:
    """The places of cells of the k worst explanations; of numbers, those of the k pairs that are farthest apart."""
    if held.agreement.of_numbers:
        found = counterexamples(held.numbered, held.sample, k)
        rows = np.concatenate([found["row_a"], found["row_b"]])
        return np.unique(np.repeat(np.arange(len(held.rows)), held.rows)[rows])
    numbers = held.numbered.explanations.key[0][:, 0]
    return np.flatnonzero(np.isin(held.codes, numbers[np.argsort(-apart(held), kind="stable")[:k]]))


def _some_rows(rows: KeyedRows, numbers: bool) -> Any:
    """A few rows of each explanation and label, or one of each number and cluster, in an order of their own."""
    import ibis

    def place(kind: list[str], order: list[str]) -> Expression:
        return ibis.row_number().over(ibis.window(group_by=kind, order_by=order))

    columns = [name for name in rows.table.columns if name[0] in "xi"]  # those that are shown
    kind, whose = [*rows.keys, *rows.predicted], [CLUSTER] if rows.clustered else []
    # A row of each cluster comes before any cluster's second.
    table = rows.table.mutate(turn=place([*kind, *whose], columns or kind))
    table = table.mutate(number=place(kind, ["turn", *columns]))
    chosen = table.filter(table["turn"] == 0 if numbers else table["number"] < _EXAMPLES)
    told = chosen.order_by([*kind, *(whose if numbers else ()), "number"])
    return fetch(told.mutate(**{name: told[name].cast("string") for name in whose}))
