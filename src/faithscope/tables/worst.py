"""Where explanations fail: those with most disagreeing pairs of rows, and rows that contradict them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from faithscope.agreements import Agreement
from faithscope.counting.counts import Counts
from faithscope.explanations.base import readable
from faithscope.inputs.array_types import Ints
from faithscope.inputs.checks import check_whole
from faithscope.measures.counterexamples import counterexamples, stranger_pairs
from faithscope.sample import Sample
from faithscope.tables.counts import Cells, cells
from faithscope.tables.engine.answers import coded, fetch, predictions_of, shown
from faithscope.tables.engine.engines import Expression, Table, engine_of, literal
from faithscope.tables.log.rows import CLUSTER, KeyedRows
from faithscope.tables.measured_log import MeasuredLog

_EXAMPLES = 50  # rows of each label of an explanation that are fetched to be shown
_COLUMNS = 6  # of a row that has no id
_CHARACTERS = 40  # of a cell
_COUNTER = re.compile(r"(?i)^(unnamed: \d+|index|(.*[\W_])?id)$")  # what numbers rows, if nobody named an id


@dataclass(frozen=True, eq=False)
class NamedRows:
    """Rows of a log that are shown, with the columns that name them.

    Attributes
    ----------
    ids : dict of columns
        Those that identify rows; empty if none do.
    others : dict of columns
        Every other column that can be shown and is neither prediction nor explanation.
    """

    ids: dict[str, list[Any]]
    others: dict[str, list[Any]]

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
        ids = {
            f"{name}_{side}": [column[row] for row in pairs[f"row_{side}"].tolist()]
            for name, column in self.ids.items()
            for side in "ab"
        }
        others = {name: column for name, column in pairs.items() if not name.startswith("row_")}
        return {**ids, **{name: column for name, column in {**self.names(pairs), **others}.items() if name not in ids}}


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


class Examples(NamedTuple):
    """Some rows of each label of the worst explanations, to be shown, with the columns that the measure does not read.

    What the sample holds of them says how near two rows are.
    """

    sample: Sample
    rows: NamedRows

    @classmethod
    def of(cls, measured: MeasuredLog, k: int) -> "Examples":
        """Rows of the k worst explanations; of numbers, those of the pairs that are farthest apart."""
        log, agreement = measured.log, measured.agreement
        schema, nan_decimals = log.source.table.schema(), engine_of(log.source.table).nan_decimals
        columns = {name: shown(name, schema[name], nan_decimals=nan_decimals) for name in log.others}
        known = {name: column for name, column in columns.items() if column is not None}
        short = {f"x{j}": column for j, column in enumerate(known.values())}
        worst = None if measured.cells is None else _worst_lines(measured.cells, k)
        among = None
        if log.stream is not None:
            keys = list(measured.rows.keys)
            among = fetch(_worst(measured.rows, k).select(*keys)) if worst is None else worst.select(keys)
        rows = log.rows(shown=short, among=among)
        chosen = _among(rows.table, _worst(rows, k), rows.keys) if worst is None else _as_lines(rows, worst)
        answer = _some_rows(replace(rows, table=chosen), agreement, list(short))
        table = answer.select(list(short)).rename_columns(list(known))
        lists = table.to_pydict()
        counters = [name for name in lists if _COUNTER.search(name) and len(set(lists[name])) == answer.num_rows]
        named = NamedRows({name: lists.pop(name) for name in (*log.ids, *counters) if name in lists}, lists)
        compared = table.select(list(lists)) if lists else None
        clusters = coded(answer, [CLUSTER])[1] if rows.clustered else None
        labels = predictions_of(answer, rows.predicted or ["label"])
        return cls(Sample(rows.read(answer), labels, compared, clusters=clusters, agreement=agreement), named)


def apart(cells: Cells) -> Ints:
    """For each explanation, how many pairs of rows of different clusters get different predictions."""
    counts, sample = cells.numbered, cells.sample
    return stranger_pairs(counts, sample, counts.explanations.locate(sample.explanations))


def _worst(rows: KeyedRows, k: int) -> Table:
    """The keys of the k explanations with most disagreeing pairs of rows, then most rows, as an expression."""
    import ibis

    keys, table = list(rows.keys), cells(rows)
    disagreeing = table["given"].sum() * table["given"].sum() - (table["given"] * table["given"]).sum()
    ranked = table.group_by(keys).aggregate(
        rows=table["given"].sum().cast("int64"), disagreeing=disagreeing.cast("int64")
    )
    return ranked.order_by([ibis.desc("disagreeing"), ibis.desc("rows"), *keys]).limit(check_whole(k, "k"))


def _among(table: Table, chosen: Table, keys: Sequence[str]) -> Table:
    """The rows of a table whose keys are among the chosen ones, missing values included."""
    return table.semi_join(chosen, [table[key].identical_to(chosen[key]) for key in keys])


def _worst_lines(held: Cells, k: int) -> Any:
    """The cells of the k worst explanations; of numbers, those of the k pairs that are farthest apart."""
    numbers = held.numbered.explanations.key[0][:, 0]
    if not held.agreement.of_numbers:
        return held.lines.take(
            np.flatnonzero(np.isin(held.codes, numbers[np.argsort(-apart(held), kind="stable")[:k]]))
        )
    found = counterexamples(held.numbered, held.sample, k)
    rows = np.unique(np.concatenate([found["row_a"], found["row_b"]]))
    return held.lines.take(np.unique(np.repeat(np.arange(len(held.rows)), held.rows)[rows]))


def _as_lines(rows: KeyedRows, lines: Any) -> Table:
    """The rows that are as some cells, of which labels may have further rows."""
    import ibis

    clusters = [CLUSTER] if rows.clustered and rows.predicted else []
    kinds = {name: rows.table[name] for name in (*rows.keys, *rows.predicted, *clusters)}
    different = {repr(line): line for line in lines.select(list(kinds)).to_pylist()}.values()
    alike = [
        ibis.and_(*(kinds[name].identical_to(_literal(value, kinds[name])) for name, value in line.items()))
        for line in different
    ]
    return rows.table.filter(ibis.or_(*alike))


def _literal(value: Any, column: Expression) -> Expression:
    import ibis

    return literal(value) if isinstance(value, float) else ibis.literal(value, column.type())


def _some_rows(rows: KeyedRows, agreement: Agreement, columns: Sequence[str]) -> Any:
    """Some rows of each explanation and label, or one of each number and cluster, in an order of their own."""
    import ibis

    table, kind = rows.table, [*rows.keys, *(rows.predicted or ["label"])]
    whose = [CLUSTER] if rows.clustered else []
    turn = ibis.literal(0, "int64")
    if rows.clustered:  # a row of each cluster comes before any cluster's second
        turn = ibis.row_number().over(ibis.window(group_by=[*kind, CLUSTER], order_by=list(columns) or kind))
    table = table.mutate(turn=turn)
    kind = [*kind, *whose] if agreement.of_numbers else kind
    table = table.mutate(number=ibis.row_number().over(ibis.window(group_by=kind, order_by=["turn", *columns])))
    table = table.mutate(**{name: table[name].cast("string") for name in whose})
    most = 1 if agreement.of_numbers else _EXAMPLES
    return fetch(table.filter(table["number"] < most).order_by([*kind, "number"]))
