"""Where explanations fail: those with most disagreeing pairs of rows, and rows that contradict them."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from faithscope.agreements import Agreement, Same
from faithscope.counting.counts import Counts
from faithscope.explanations.base import Explanations, readable
from faithscope.inputs.array_types import Floats, Ints
from faithscope.inputs.checks import check_whole
from faithscope.inputs.labels import to_labels
from faithscope.measures.counterexamples import counterexamples, disagreeing_pairs, stranger_pairs
from faithscope.sample import Sample
from faithscope.tables.counts import FetchedKinds, cells
from faithscope.tables.engine.answers import coded, fetch, in_fixed_order, predictions_of
from faithscope.tables.engine.engines import engine_of
from faithscope.tables.engine.expressions import Expression, Table
from faithscope.tables.engine.shown_columns import shown
from faithscope.tables.fetched import FetchedRows
from faithscope.tables.log.kinds import RuleColumn
from faithscope.tables.log.rows import CLUSTER, VALUE, AuditedLog, KeyedRows

_ALL = 2**31 - 2  # kinds of rows: Spark takes no larger limit
_EXAMPLES = 50  # rows of each label of an explanation that are fetched to be shown
_COLUMNS = 6  # of a row that has no id
_CHARACTERS = 40  # of a cell


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
    if k is not None and not isinstance(rows.kind, RuleColumn):
        rows = replace(rows, table=_among(rows.table, _worst(rows, k), rows.keys))
    return _kinds(rows).counts()


def _kinds(rows: KeyedRows) -> FetchedKinds:
    kinds = FetchedKinds.of(rows, Same(), most=_ALL)
    assert kinds is not None
    return kinds


@dataclass(frozen=True, eq=False)
class Examples:
    """Some rows of each label of the worst explanations, to be shown.

    Attributes
    ----------
    explanations, labels
        One per row; numbers as an array.
    rows : NamedRows
        The columns that the measure does not read.
    compared : pyarrow.Table or None
        The columns that say how near two rows are; None if there are none.
    clusters : (n,) array or None
        The cluster of each row by number; None if rows are independent.
    """

    explanations: Explanations
    labels: Any
    rows: NamedRows
    compared: Any
    clusters: Ints | None = None
    agreement: Agreement = field(default_factory=Same)

    @property
    def sample(self) -> Sample:
        """These rows, with what says how near two of them are."""
        labels = self.labels if self.agreement.of_numbers else to_labels(self.labels)
        return Sample(self.explanations, labels, self.compared, clusters=self.clusters, agreement=self.agreement)

    @classmethod
    def of(cls, log: AuditedLog, rows: KeyedRows, fetched: FetchedRows | None, k: int) -> "Examples":
        """Rows of the k worst explanations; of numbers, those of the pairs that are farthest apart."""
        schema, nan_decimals = log.source.table.schema(), engine_of(log.source.table).nan_decimals
        columns = {name: shown(name, schema[name], nan_decimals=nan_decimals) for name in log.others}
        known = {name: column for name, column in columns.items() if column is not None}
        short = {f"x{j}": column for j, column in enumerate(known.values())}
        numbers = log.options.agreement.of_numbers
        if fetched is not None and numbers:
            candidates = log.rows(shown=short)
            answer = _rows_far_apart(candidates, fetched, k, list(short))
        else:
            among = None if log.stream is None else fetch(_worst(rows, k).select(*rows.keys))
            candidates = log.rows(shown=short, among=among)
            answer = _some_rows(candidates, fetched, k, list(short))
        table = answer.select(list(short)).rename_columns(list(known))
        lists = table.to_pydict()
        named = NamedRows({name: lists.pop(name) for name in log.ids}, lists)
        compared = table.select(list(lists)) if lists else None
        clusters = coded(answer, [CLUSTER])[1] if candidates.clustered else None
        labels = predictions_of(answer, candidates.predicted) if numbers else _labels(answer)
        agreement = log.options.agreement
        return cls(candidates.read(answer), labels, named, compared, clusters, agreement)


def _rows_far_apart(rows: KeyedRows, numbers: FetchedRows, k: int, columns: Sequence[str]) -> Any:
    """The rows of the k pairs of numbers that are farthest apart, as they stand in the log: one for each prediction."""
    import ibis

    found = counterexamples(numbers.numbered, numbers.sample, k)
    chosen = np.unique(np.concatenate([found["row_a"], found["row_b"]]))
    wanted = numbers.sample.take(chosen)
    first = wanted.labels if wanted.labels.ndim == 1 else wanted.labels[:, 0]
    table = rows.table.filter(rows.table[VALUE].isin(np.unique(first).tolist()))
    kind = [*rows.keys, *rows.predicted, *([CLUSTER] if rows.clustered else [])]
    table = table.mutate(place=ibis.row_number().over(ibis.window(group_by=kind, order_by=list(columns) or kind)))
    answer = in_fixed_order(fetch(table.filter(table["place"] == 0).drop("place")))
    owners = answer.column(CLUSTER).to_pylist() if rows.clustered else None
    lines = _told(numbers.distinct.locate(rows.read(answer)), predictions_of(answer, rows.predicted), owners)
    whose = numbers.sample.clusters
    names = numbers.kinds.clusters
    owners = None if whose is None or names is None else [names[0][number] for number in whose[chosen]]
    known = set(_told(wanted.explanations.key[0][:, 0], wanted.labels, owners))
    return answer.take([place for place, line in enumerate(lines) if line in known])


def _told(codes: Ints, predicted: Floats, clusters: list[Any] | None) -> list[tuple[int, str, Any]]:
    """What tells rows apart: the number of the explanation, the prediction, and the cluster."""
    whose = [None] * len(codes) if clusters is None else clusters
    return list(zip(codes.tolist(), map(repr, predicted.tolist()), whose, strict=True))


def _labels(answer: Any) -> list[Any]:
    """The labels of fetched rows, missing ones as text."""
    values = answer.column("label").to_pylist()
    return list(map(str, values)) if None in values else values


def apart(fetched: FetchedRows) -> Ints:
    """For each explanation, how many pairs of rows of different clusters get different predictions."""
    counts, sample = fetched.numbered, fetched.sample
    return stranger_pairs(counts, sample, counts.explanations.locate(sample.explanations))


def _worst(rows: KeyedRows, k: int) -> Table:
    """The keys of the k explanations with most disagreeing pairs of rows, then most rows, as an expression.

    If rows are clustered, only pairs of rows of different clusters count.
    """
    import ibis

    ranked = _ranked_strangers(rows) if rows.clustered else _ranked(rows)
    return ranked.order_by([ibis.desc("disagreeing"), ibis.desc("rows"), *rows.keys]).limit(check_whole(k, "k"))


def _ranked(rows: KeyedRows) -> Table:
    """The `rows` of each explanation, and its ordered pairs of rows that are `disagreeing`."""
    table = cells(rows)
    sums = table.group_by(list(rows.keys)).aggregate(
        rows=table["given"].sum().cast("int64"),
        same=(table["given"] * (table["given"] - 1)).sum().cast("int64"),
    )
    return sums.mutate(disagreeing=sums["rows"] * (sums["rows"] - 1) - sums["same"])


def _ranked_strangers(rows: KeyedRows) -> Table:
    """The same, of pairs of rows of different clusters."""
    import ibis

    table = rows.table.group_by([*rows.keys, "label", CLUSTER]).aggregate(given=rows.table.count().cast("float64"))
    given, keys = table["given"], list(rows.keys)

    def total(*groups: str) -> Expression:
        return given.sum().over(ibis.window(group_by=[*keys, *groups]))

    table = table.mutate(disagreeing=given * (total() - total(CLUSTER) - total("label") + given))
    sums = {"rows": table["given"].sum(), "disagreeing": table["disagreeing"].sum()}
    return table.group_by(keys).aggregate(**{name: value.cast("int64") for name, value in sums.items()})


def _among(table: Table, chosen: Table, keys: Sequence[str]) -> Table:
    """The rows of a table whose keys are among the chosen ones, missing values included."""
    return table.semi_join(chosen, [table[key].identical_to(chosen[key]) for key in keys])


def _some_rows(rows: KeyedRows, fetched: FetchedRows | None, k: int, columns: Sequence[str]) -> Any:
    """Some rows of each label of the k worst explanations: key columns, `label`, and the columns asked for."""
    import ibis

    if isinstance(rows.kind, RuleColumn):
        chosen = rows.table.filter(rows.table["k0"].isin(_worst_texts(rows, fetched, k)))
    else:
        chosen = _among(rows.table, _worst(rows, k), rows.keys)
    chosen = chosen.mutate(turn=_turn(rows, chosen, columns))
    window = ibis.window(group_by=[*rows.keys, "label"], order_by=["turn", *columns])
    numbered = chosen.mutate(number=ibis.row_number().over(window))
    numbered = numbered.mutate(**{CLUSTER: numbered[CLUSTER].cast("string")}) if rows.clustered else numbered
    order = [*rows.keys, "label", "number"]
    return fetch(numbered.filter(numbered["number"] < _EXAMPLES).order_by(order))


def _turn(rows: KeyedRows, table: Table, columns: Sequence[str]) -> Expression:
    """When a row is chosen: a row of each cluster comes before any cluster's second; all at once without clusters."""
    import ibis

    if not rows.clustered:
        return ibis.literal(0, "int64")
    window = ibis.window(group_by=[*rows.keys, "label", CLUSTER], order_by=list(columns) or ["label"])
    return ibis.row_number().over(window)


def _worst_texts(rows: KeyedRows, fetched: FetchedRows | None, k: int) -> list[str]:
    """The texts of the k worst rules, of which several may be one rule."""
    if fetched is None:
        kinds = _kinds(rows)
        answer, codes = kinds.answer, kinds.explanations.group()[0]
        worst = np.argsort(-disagreeing_pairs(kinds.counts()), kind="stable")[:k]
    else:
        answer, codes = fetched.kinds.answer, fetched.codes
        worst = fetched.numbered.explanations.key[0][np.argsort(-apart(fetched), kind="stable")[:k], 0]
    texts, chosen = answer.column("k0").to_pylist(), set(worst.tolist())
    return sorted({text for text, code in zip(texts, codes.tolist(), strict=True) if code in chosen})
