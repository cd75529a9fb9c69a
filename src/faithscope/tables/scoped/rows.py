"""Rows of a log whose explanations say where they apply: rules and highlighted words, met where the rows are.

Conditions are compiled to expressions. If explanations x rows is small, rows that meet the same conditions are
grouped in one scan. Beyond, explanations are counted by conditional aggregates, one scan per chunk of explanations, by
blocks of rows.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import chain
from operator import and_, or_
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.agreements import Agreement
from faithscope.errors import BadInput
from faithscope.explanations.base import Explanations
from faithscope.explanations.conditions.conjunctions import Conjunctions
from faithscope.explanations.highlights import Highlights
from faithscope.runtime.memory import need
from faithscope.sample import Sample
from faithscope.tables.engine.answers import fetch, in_fixed_order, numbers_of
from faithscope.tables.engine.conditions import contains, holds
from faithscope.tables.engine.expressions import as_number, call, literal
from faithscope.tables.engine.protocol import Expression, Table
from faithscope.tables.engine.shown_columns import shown
from faithscope.tables.labels import in_order
from faithscope.tables.log.discretizers import packed
from faithscope.tables.log.kinds import Kind, RuleColumn
from faithscope.tables.log.rows import AuditedLog
from faithscope.tables.log.writing import DOCUMENT
from faithscope.tables.measured_log import MeasuredLog
from faithscope.tables.numbers import Numbers
from faithscope.tables.scoped.patterns import MetConditions, Patterns, RowBlocks
from faithscope.tables.sources.snapshot import refuse_change

Ints = NDArray[np.int64]

_CHUNK = 64  # explanations per scan
_BITS = 62  # conditions in one integer
MOST_FETCHED = 1_000_000
_MOST_SCOPES = 1_000_000
_FEWER = "audit a part of the log, or discretize so that explanations are fewer"  # if memory is short
_SEPARATOR = "\x1f"  # between the values of a row in the text that its block is drawn from


@dataclass(frozen=True, eq=False)
class ScopedRows:
    """Rows with the text of their explanation (`own`), their label, and the inputs that conditions read."""

    table: Table
    inputs: dict[str, str]  # columns by feature
    distinct: Conjunctions
    texts: list[list[str]]  # how each distinct explanation is written
    names: list[Any]  # labels
    n: int

    @classmethod
    def of(cls, measured: MeasuredLog) -> "ScopedRows | str":
        """The rows of a log; a reason if its inputs are not there."""
        log = measured.log
        short = {name: f"x{j}" for j, name in enumerate(log.others) if name not in log.ids}
        rows = log.rows(shown={column: name for name, column in short.items()})
        table = rows.table.mutate(own=_own_text(rows.table["k0"]))
        numbers = measured.agreement.of_numbers
        names = ["own"] if numbers else ["own", "label"]
        cells = fetch(table.group_by(names).aggregate(given=table.count()).limit(_MOST_SCOPES + 1))
        if cells.num_rows > _MOST_SCOPES:
            raise BadInput(f"The log has more than {_MOST_SCOPES:,} different explanations: audit a part of it.")
        cells = in_fixed_order(cells)
        distinct, texts = _distinct(log.kind, cells.column("own").combine_chunks())
        inputs = _inputs(log, distinct)
        absent = next((column for column in inputs.values() if column not in short), None)
        if absent is not None and absent in log.ids:
            return f"the explanations speak of column {absent!r}, which was said to identify rows"
        if absent is not None:
            return f"the log has no column {absent!r}, which the explanations speak of"
        log.source.refuse_wide(inputs.values())
        n = int(numbers_of(cells, "given").sum())
        refuse_change(measured.consistency.n, n)
        inputs = {feature: short[column] for feature, column in inputs.items()}
        labels = [] if numbers else in_order(cells.column("label").to_pylist())
        return cls(table, inputs, distinct, texts, labels, n)

    @cached_property
    def parts(self) -> tuple[list[Any], list[tuple[int, ...]]]:
        """The different conditions, and the numbers of those of each explanation."""
        numbers: dict[Any, int] = {}
        rows = [self.distinct.conjunction(row) for row in range(len(self.distinct))]
        lists = [tuple(numbers.setdefault(condition, len(numbers)) for condition in row) for row in rows]
        return list(numbers), lists

    def _met(self, condition: Any, table: Table) -> Expression:
        columns = {feature: table[name] for feature, name in self.inputs.items()}
        if isinstance(condition, str):
            return contains(condition, columns[DOCUMENT])
        return holds(condition, columns)

    def patterns(self, exact: int) -> Patterns | None:
        """The kinds of rows by the conditions they meet; None if that would fetch too much."""
        if len(self.parts[1]) * self.n > exact:
            return None
        words = self._words()
        table = self.table.select("own", "label", **words)
        grouped = table.group_by(["own", "label", *words]).aggregate(rows=table.count())
        answer = fetch(grouped.limit(MOST_FETCHED + 1))
        return None if answer.num_rows > MOST_FETCHED else self._patterns(in_fixed_order(answer))

    def _words(self) -> dict[str, Expression]:
        """The conditions that each row meets, as bits of a few integers."""
        bits = [as_number(self._met(condition, self.table)) for condition in self.parts[0]]
        return {f"w{j}": packed(bits[start : start + _BITS], 2) for j, start in enumerate(range(0, len(bits), _BITS))}

    def _meets(self, answer: Any) -> NDArray[np.bool_]:
        """Which conditions each fetched row meets."""
        conditions = len(self.parts[0])
        words = [numbers_of(answer, f"w{j}") for j in range(-(-conditions // _BITS))]
        need(answer.num_rows * conditions, f"{answer.num_rows:,} kinds of rows by {conditions:,} conditions", _FEWER)
        meets = np.empty((answer.num_rows, conditions), bool)
        for i in range(conditions):
            meets[:, i] = words[i // _BITS] >> (i % _BITS) & 1
        return meets

    def _own_codes(self, answer: Any) -> Ints:
        """The number of each fetched row's own explanation."""
        place = {text: code for code, texts in enumerate(self.texts) for text in texts}
        return np.array([place[text] for text in answer.column("own").to_pylist()], np.int64)

    def _patterns(self, answer: Any) -> Patterns:
        rows = numbers_of(answer, "rows")
        refuse_change(self.n, int(rows.sum()))
        return Patterns(self._meets(answer), self.parts[1], self._own_codes(answer), self._label_codes(answer), rows)

    def fetched(self, numbers: Numbers, agreement: Agreement) -> tuple[Sample, MetConditions]:
        """Every row with its number and the conditions it meets."""
        answer = in_fixed_order(fetch(self.table.select("own", *numbers.columns, **self._words())))
        refuse_change(self.n, answer.num_rows)
        met = MetConditions(self.parts[0], self._meets(answer))
        columns = [answer.column(name).to_numpy(zero_copy_only=False) for name in numbers.columns]
        values = np.column_stack(columns).astype(np.float64)
        sample = Sample(
            self.distinct.take(self._own_codes(answer)),
            values[:, 0] if len(columns) == 1 else values,
            met.meets if self.parts[0] else None,
            agreement=agreement,
        )
        return sample, met

    def _label_codes(self, answer: Any) -> Ints:
        number = {name: j for j, name in enumerate(self.names)}
        return np.array([number[label] for label in answer.column("label").to_pylist()], np.int64)

    def row_blocks(self) -> RowBlocks:
        """Conditional aggregates, one scan per chunk of explanations, by label and block of rows."""
        table = self.table.mutate(block=_block(self.table))
        shape = (len(self.distinct), len(self.names), 256)
        many = f"Counts of {shape[0]:,} explanations by {shape[1]:,} labels and {shape[2]} blocks of rows"
        need(48 * shape[0] * shape[1] * shape[2], many, _FEWER)
        tables = [np.zeros(shape, np.int64) for _ in range(3)]
        for start in range(0, len(self.distinct), _CHUNK):
            chunk = range(start, min(start + _CHUNK, len(self.distinct)))
            answer = fetch(table.group_by(["label", "block"]).aggregate(**self._sums(table, chunk)))
            label = self._label_codes(answer)
            block = np.array([int(digits, 16) for digits in answer.column("block").to_pylist()], np.int64)
            for counts, letter in zip(tables, "gcm", strict=True):
                for r in chunk:
                    counts[r, label, block] = answer.column(f"{letter}{r}").to_numpy()
        refuse_change(self.n, int(tables[0].sum()))
        used = tables[0].any(axis=(0, 1))
        return RowBlocks(*(counts[:, :, used] for counts in tables))

    def _sums(self, table: Table, chunk: range) -> dict[str, Expression]:
        """For each explanation r of a chunk the rows that were given it (g), that it covers (c), and misses (m)."""
        conditions, lists = self.parts
        sums: dict[str, Expression] = {}
        for r in chunk:
            own = reduce(or_, [table["own"] == literal(text) for text in self.texts[r]])
            tests = [self._met(conditions[i], table) for i in lists[r]]
            covers = reduce(and_, tests) if tests else literal(True)
            sums[f"g{r}"] = table.count(where=own)
            sums[f"c{r}"] = table.count(where=covers)
            sums[f"m{r}"] = table.count(where=own & ~covers)
        return sums


def _own_text(key: Expression) -> Expression:
    """The explanation as one text; words as JSON, since they may hold whatever would separate them."""
    return call("to_json", key, "json").cast("string") if key.type().is_array() else key


def _distinct(kind: Kind, own: Any) -> tuple[Conjunctions, list[list[str]]]:
    """The distinct explanations of an Arrow column of texts, and the texts of each."""
    explanations: Explanations
    if isinstance(kind, RuleColumn):
        explanations = kind.read([own])
    else:
        explanations = Highlights([[] if text is None else json.loads(text) for text in own.to_pylist()])
    codes, first = explanations.group()
    distinct = explanations.take(first)
    assert isinstance(distinct, Conjunctions)
    texts: list[list[str]] = [[] for _ in first]
    for code, text in dict.fromkeys(zip(codes.tolist(), own.to_pylist(), strict=True)):
        texts[code].append(text)
    return distinct, texts


def _inputs(log: AuditedLog, distinct: Conjunctions) -> dict[str, str]:
    """The columns of the features that conditions are on, or of the documents that hold the words."""
    known = (log.source.settings or {}).get("inputs", {})
    return {feature: known.get(feature, feature) for feature in _features(distinct)}


def _features(distinct: Conjunctions) -> Sequence[str]:
    if isinstance(distinct, Highlights):
        return [DOCUMENT]
    conditions: Iterable[Any] = chain.from_iterable(distinct.distinct)
    return list(dict.fromkeys(condition.feature for condition in conditions if condition.position >= 0))


def _block(table: Table) -> Expression:
    """A block for every row from its own values, the same in every scan: the first two digits of a digest."""
    columns = [table[name] for name in table.columns]
    words = [_own_text(column) for column in columns if _holds_words(column.type())]
    plain = [table[name].cast("string") for name, kind in table.schema().items() if shown(name, kind)]
    texts = [text.coalesce("") for text in (*words, *plain)]
    return call("md5", reduce(lambda a, b: a.concat(_SEPARATOR, b), texts), "string").substr(0, 2)


def _holds_words(kind: Any) -> bool:
    return bool(kind.is_array() and kind.value_type.is_string())
