"""Where explanations fail: those with most disagreeing pairs of rows, and rows that contradict them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.counting.counts import Counts
from faithscope.explanations.base import Explanations
from faithscope.inputs.checks import check_whole
from faithscope.inputs.labels import to_labels
from faithscope.measures.counterexamples import disagreeing_pairs
from faithscope.measures.local import TogetherRows
from faithscope.sample import Sample
from faithscope.tables.cells import CountedCells, cells
from faithscope.tables.engine.answers import fetch, numbers_of
from faithscope.tables.engine.dialects import engine_of
from faithscope.tables.engine.protocol import Expression, Table
from faithscope.tables.engine.shown_columns import shown
from faithscope.tables.labels import Labels
from faithscope.tables.log.kinds import RuleColumn
from faithscope.tables.log.naming import NamedRows
from faithscope.tables.log.rows import CLUSTER, AuditedLog, KeyedRows
from faithscope.tables.numbers.counts import Numbers, one_text_per_rule
from faithscope.tables.numbers.sums import total
from faithscope.tables.numbers.worst import farthest_rows, ranked_explanations, rows_at_ends

Ints = NDArray[np.int64]

_EXAMPLES = 50  # rows of each label of an explanation that are fetched to be shown


def worst_counts(rows: KeyedRows, k: int | None) -> Counts:
    """Counts of the k worst explanations; of all without k, and of all rules, since two texts may be one rule."""
    table = cells(rows)
    if k is not None and not isinstance(rows.kind, RuleColumn):
        table = _among(table, _worst(rows, k), rows.keys)
    return CountedCells.of(rows, table).counts()


def rows_together(rows: KeyedRows, counts: Counts, k: int | None) -> TogetherRows:
    """What the table of these explanations reads of clusters."""
    one = _one_key_per_explanation(rows)
    ranked = _ranked_strangers(one)
    if k is not None and not isinstance(rows.kind, RuleColumn):
        ranked = _among(ranked, _worst(rows.independent(), k), rows.keys)
    answer = fetch(ranked)
    place, columns = counts.explanations.locate(one.read(answer)), np.zeros((3, counts.distinct))
    for column, name in zip(columns, ("together", "disagreeing", "met"), strict=True):
        column[place] = numbers_of(answer, name)
    together, apart, met = columns
    return TogetherRows(together, 1 - np.divide(apart, met, out=np.full(len(met), np.nan), where=met > 0))


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

    @property
    def sample(self) -> Sample:
        """These rows, with what says how near two of them are."""
        return Sample(self.explanations, to_labels(self.labels), self.compared, clusters=self.clusters)

    @classmethod
    def of(cls, log: AuditedLog, rows: KeyedRows, labels: Labels | Numbers, k: int) -> "Examples":
        """The rows of the k worst explanations; of numbers, those at both ends."""
        schema, nan_decimals = log.source.table.schema(), engine_of(log.source.table).nan_decimals
        columns = {name: shown(name, schema[name], nan_decimals=nan_decimals) for name in log.others}
        known = {name: column for name, column in columns.items() if column is not None}
        short = {f"x{j}": column for j, column in enumerate(known.values())}
        worst = _worst(rows, k) if isinstance(labels, Labels) else _worst_numbers(log, rows, labels, k)
        among = None if log.stream is None else fetch(worst.select(*rows.keys))
        candidates = log.rows(shown=short, among=among)
        if isinstance(labels, Numbers):
            chosen = _worst_numbers(log, candidates, labels, k)
            answer = rows_at_ends(candidates, labels, chosen, _EXAMPLES, list(short))
        else:
            answer = _some_rows(candidates, k, list(short))
        table = answer.select(list(short)).rename_columns(list(known))
        lists = table.to_pydict()
        named = NamedRows({name: lists.pop(name) for name in log.ids}, lists)
        compared = table.select(list(lists)) if lists else None
        clusters = _numbered(answer.column(CLUSTER).to_pylist()) if candidates.clustered else None
        return cls(candidates.read(answer), _predictions(answer, labels), named, compared, clusters)


def _numbered(values: Sequence[Any]) -> Ints:
    """Values by number, equal ones alike."""
    number: dict[Any, int] = {}
    return np.array([number.setdefault(value, len(number)) for value in values], np.int64)


def number_pairs(log: AuditedLog, rows: KeyedRows, numbers: Numbers, examples: Examples, k: int) -> dict[str, Any]:
    """Up to k pairs of rows with one explanation whose predictions are farthest apart."""
    worst = fetch(_worst_numbers(log, rows, numbers, k))
    apart = np.asarray(worst.column("disagreement").to_numpy(zero_copy_only=False), np.float64)
    clusters = np.arange(len(examples.labels)) if examples.clusters is None else examples.clusters
    known = (examples.explanations, examples.labels, examples.compared, clusters)
    return farthest_rows(rows.read(worst), apart, *known, k, log.options.agreement)


def _predictions(answer: Any, labels: Labels | Numbers) -> Any:
    """The predictions of fetched rows: labels as a list, missing ones as text; numbers as an array."""
    if isinstance(labels, Numbers):
        columns = [answer.column(name).to_numpy(zero_copy_only=False) for name in labels.columns]
        return columns[0].astype(np.float64) if len(columns) == 1 else np.column_stack(columns).astype(np.float64)
    values = answer.column("label").to_pylist()
    return list(map(str, values)) if None in values else values


def _worst_numbers(log: AuditedLog, rows: KeyedRows, numbers: Numbers, k: int) -> Table:
    """The keys of the k explanations whose rows disagree most, with `disagreement`, as an expression."""
    ranked = ranked_explanations(rows, numbers, log.options.agreement)
    return ranked.filter(ranked["disagreement"] > 0).limit(k)


def stranger_pairs(rows: KeyedRows, counts: Counts, k: int) -> Ints:
    """For each counted explanation, its disagreeing pairs of rows of different clusters; 0 for all but the k worst."""
    answer = fetch(_worst(_one_key_per_explanation(rows), k))
    pairs = np.zeros(counts.distinct, np.int64)
    pairs[counts.explanations.locate(rows.read(answer))] = numbers_of(answer, "disagreeing") // 2
    return pairs


def _one_key_per_explanation(rows: KeyedRows) -> KeyedRows:
    return replace(rows, table=one_text_per_rule(rows))


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
    """The same, of pairs of rows of different clusters (`met`), and how many rows are of one at most (`together`)."""
    table = rows.table.group_by([*rows.keys, "label", CLUSTER]).aggregate(given=rows.table.count().cast("float64"))
    given, keys = table["given"], list(rows.keys)
    every, part = total(given, keys), total(given, [*keys, CLUSTER])
    apart = every - part - total(given, [*keys, "label"]) + given
    table = table.mutate(disagreeing=given * apart, met=given * (every - part), together=part)
    sums = {name: table[name].sum().cast("int64") for name in ("disagreeing", "met")}
    largest = table["together"].max().cast("int64")
    return table.group_by(keys).aggregate(rows=table["given"].sum().cast("int64"), together=largest, **sums)


def _among(table: Table, chosen: Table, keys: Sequence[str]) -> Table:
    """The rows of a table whose keys are among the chosen ones, missing values included."""
    return table.semi_join(chosen, [table[key].identical_to(chosen[key]) for key in keys])


def _some_rows(rows: KeyedRows, k: int, columns: Sequence[str]) -> Any:
    """Some rows of each label of the k worst explanations: key columns, `label`, and the columns asked for."""
    import ibis

    if isinstance(rows.kind, RuleColumn) and not rows.clustered:
        chosen = rows.table.filter(rows.table["k0"].isin(_worst_texts(rows, k)))
    else:
        rows = _one_key_per_explanation(rows)
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


def _worst_texts(rows: KeyedRows, k: int) -> list[str]:
    """The texts of the k worst rules, of which several may be one rule."""
    table = CountedCells.of(rows, cells(rows))
    codes, _ = table.explanations.group()
    worst = set(np.argsort(-disagreeing_pairs(table.counts()), kind="stable")[:k].tolist())
    texts = table.answer.column("k0").to_pylist()
    return sorted({text for text, code in zip(texts, codes.tolist(), strict=True) if code in worst})
