"""Where explanations fail: those with most disagreeing pairs of rows, and rows that contradict them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from faithscope.agreements import Same
from faithscope.counting.counts import Counts
from faithscope.explanations.base import readable
from faithscope.inputs.array_types import Ints
from faithscope.inputs.checks import check_whole
from faithscope.inputs.labels import to_labels
from faithscope.measures.counterexamples import counterexamples, disagreeing_pairs, stranger_pairs
from faithscope.sample import Sample
from faithscope.tables.counts import FetchedKinds, FetchedRows, cells
from faithscope.tables.engine.answers import coded, fetch, in_fixed_order, predictions_of, shown
from faithscope.tables.engine.engines import Table, engine_of
from faithscope.tables.log.rows import CLUSTER, SPELLED, VALUE, AuditedLog, KeyedRows

_ALL = 2**31 - 2  # kinds of rows: Spark takes no larger limit
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


def worst_counts(rows: KeyedRows, k: int | None) -> Counts:
    """Counts of the k worst explanations; of all without k, and of all rules, since two texts may be one rule."""
    if k is not None and not isinstance(rows.kind, SPELLED):
        rows = replace(rows, table=_among(rows.table, _worst(rows, k), rows.keys))
    return _kinds(rows).counts()


def _kinds(rows: KeyedRows) -> FetchedKinds:
    kinds = FetchedKinds.of(rows, Same(), most=_ALL)
    assert kinds is not None
    return kinds


class Examples(NamedTuple):
    """Some rows of each label of the worst explanations, to be shown, with the columns that the measure does not read.

    What the sample holds of them says how near two rows are.
    """

    sample: Sample
    rows: NamedRows

    @classmethod
    def of(cls, log: AuditedLog, rows: KeyedRows, fetched: FetchedRows | None, k: int) -> "Examples":
        """Rows of the k worst explanations; of numbers, those of the pairs that are farthest apart."""
        schema, nan_decimals = log.source.table.schema(), engine_of(log.source.table).nan_decimals
        columns = {name: shown(name, schema[name], nan_decimals=nan_decimals) for name in log.others}
        known = {name: column for name, column in columns.items() if column is not None}
        short = {f"x{j}": column for j, column in enumerate(known.values())}
        agreement = log.options.agreement
        if fetched is not None and agreement.of_numbers:
            candidates = log.rows(shown=short)
            answer = _rows_far_apart(candidates, fetched, k, list(short))
            labels = predictions_of(answer, candidates.predicted)
        else:
            among = None if log.stream is None else fetch(_worst(rows, k).select(*rows.keys))
            candidates = log.rows(shown=short, among=among)
            answer = _some_rows(candidates, fetched, k, list(short))
            values = answer.column("label").to_pylist()
            labels = to_labels(list(map(str, values)) if None in values else values)
        table = answer.select(list(short)).rename_columns(list(known))
        lists = table.to_pydict()
        counters = [name for name in lists if _COUNTER.search(name) and len(set(lists[name])) == answer.num_rows]
        named = NamedRows({name: lists.pop(name) for name in (*log.ids, *counters) if name in lists}, lists)
        compared = table.select(list(lists)) if lists else None
        clusters = coded(answer, [CLUSTER])[1] if candidates.clustered else None
        sample = Sample(candidates.read(answer), labels, compared, clusters=clusters, agreement=agreement)
        return cls(sample, named)


def _rows_far_apart(rows: KeyedRows, numbers: FetchedRows, k: int, columns: Sequence[str]) -> Any:
    """Rows of the k pairs of numbers that are farthest apart, as they stand in the log: one for each prediction."""
    import ibis

    found = counterexamples(numbers.numbered, numbers.sample, k)
    wanted = numbers.sample.take(np.unique(np.concatenate([found["row_a"], found["row_b"]])))
    first = wanted.labels if wanted.labels.ndim == 1 else wanted.labels[:, 0]
    table = rows.table.filter(rows.table[VALUE].isin(np.unique(first).tolist()))
    kind = [*rows.keys, *rows.predicted, *([CLUSTER] if rows.clustered else [])]
    table = table.mutate(place=ibis.row_number().over(ibis.window(group_by=kind, order_by=list(columns) or kind)))
    answer = in_fixed_order(fetch(table.filter(table["place"] == 0).drop("place")))
    codes = numbers.distinct.locate(rows.read(answer))
    return answer.take(np.flatnonzero(np.isin(codes, wanted.explanations.key[0][:, 0])))


def apart(fetched: FetchedRows) -> Ints:
    """For each explanation, how many pairs of rows of different clusters get different predictions."""
    counts, sample = fetched.numbered, fetched.sample
    return stranger_pairs(counts, sample, counts.explanations.locate(sample.explanations))


def _worst(rows: KeyedRows, k: int) -> Table:
    """The keys of the k explanations with most disagreeing pairs of rows, then most rows, as an expression.

    If rows are clustered, only pairs of rows of different clusters count.
    """
    import ibis

    keys = list(rows.keys)
    if rows.clustered:
        table = cells(rows, [CLUSTER])
        given = table["given"].cast("float64")
        total, owner, alike = (
            given.sum().over(ibis.window(group_by=[*keys, *further])) for further in ([], [CLUSTER], ["label"])
        )
        table = table.mutate(apart=given * (total - owner - alike + given))
        apart = table["apart"].sum()
    else:  # of large logs a window takes long
        table = cells(rows)
        apart = table["given"].sum() * table["given"].sum() - (table["given"] * table["given"]).sum()
    ranked = table.group_by(keys).aggregate(rows=table["given"].sum().cast("int64"), disagreeing=apart.cast("int64"))
    return ranked.order_by([ibis.desc("disagreeing"), ibis.desc("rows"), *keys]).limit(check_whole(k, "k"))


def _among(table: Table, chosen: Table, keys: Sequence[str]) -> Table:
    """The rows of a table whose keys are among the chosen ones, missing values included."""
    return table.semi_join(chosen, [table[key].identical_to(chosen[key]) for key in keys])


def _some_rows(rows: KeyedRows, fetched: FetchedRows | None, k: int, columns: Sequence[str]) -> Any:
    """Some rows of each label of the k worst explanations: key columns, `label`, and the columns asked for."""
    import ibis

    chosen = (
        _spelled(rows, fetched, k) if isinstance(rows.kind, SPELLED) else _among(rows.table, _worst(rows, k), rows.keys)
    )
    turn = ibis.literal(0, "int64")
    if rows.clustered:  # a row of each cluster comes before any cluster's second
        whose = ibis.window(group_by=[*rows.keys, "label", CLUSTER], order_by=list(columns) or ["label"])
        turn = ibis.row_number().over(whose)
    chosen = chosen.mutate(turn=turn)
    window = ibis.window(group_by=[*rows.keys, "label"], order_by=["turn", *columns])
    numbered = chosen.mutate(number=ibis.row_number().over(window))
    numbered = numbered.mutate(**{CLUSTER: numbered[CLUSTER].cast("string")}) if rows.clustered else numbered
    order = [*rows.keys, "label", "number"]
    return fetch(numbered.filter(numbered["number"] < _EXAMPLES).order_by(order))


def _spelled(rows: KeyedRows, fetched: FetchedRows | None, k: int) -> Table:
    """The rows of the k worst explanations, each of which may be spelled in several ways."""
    import ibis

    if fetched is None:
        kinds = _kinds(rows)
        codes, worst = kinds.explanations.group()[0], np.argsort(-disagreeing_pairs(kinds.counts()), kind="stable")[:k]
    else:
        kinds, codes = fetched.kinds, fetched.codes
        worst = fetched.numbered.explanations.key[0][np.argsort(-apart(fetched), kind="stable")[:k], 0]
    lines = kinds.answer.take(np.flatnonzero(np.isin(codes, worst))).select(list(rows.keys)).to_pylist()
    values = {key: rows.table[key] for key in rows.keys}
    different = {repr(line): line for line in lines}.values()
    return rows.table.filter(
        ibis.or_(
            *(
                ibis.and_(*(values[key].identical_to(ibis.literal(line[key], values[key].type())) for key in line))
                for line in different
            )
        )
    )
