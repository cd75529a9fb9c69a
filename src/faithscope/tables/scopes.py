"""Sufficiency in an engine: whom rules and highlighted words cover, counted where the rows are.

Conditions are compiled to expressions. Where explanations x rows is small, rows that meet the same conditions are
grouped in one scan, and the interval leaves out every row exactly. Beyond, explanations are counted by conditional
aggregates, one scan a chunk, by blocks of rows that are left out one at a time.
"""

import json
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import and_, or_
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.counting.coverage import EXACT, Coverage
from faithscope.discretizers import Original
from faithscope.errors import BadInput
from faithscope.explanations.base import Explanations
from faithscope.explanations.conditions.conjunctions import Conjunctions
from faithscope.explanations.highlights import Highlights
from faithscope.measures.estimate import Estimate
from faithscope.measures.sufficiency import to_estimate
from faithscope.runtime.memory import need
from faithscope.tables.counts import in_order
from faithscope.tables.engine.calls import as_number, fetch, in_fixed_order, literal
from faithscope.tables.engine.conditions import contains, holds
from faithscope.tables.engine.showing import shown
from faithscope.tables.log.discretizers import packed
from faithscope.tables.log.kinds import Sets, Texts
from faithscope.tables.log.writing import DOCUMENT
from faithscope.tables.measuring import Measured
from faithscope.tables.patterns import Patterns, RowBlocks, to_counts
from faithscope.tables.sources.snapshot import refuse_change

Ints = NDArray[np.int64]

_CHUNK = 64  # explanations a scan
_BITS = 62  # conditions in one whole number
_MOST_PATTERNS = 1_000_000
_MOST_SCOPES = 1_000_000
_FEWER = "audit a part of the log, or discretize so that explanations are fewer"  # where memory is short
_BETWEEN = "\x1f"  # separates the values of a row in the text that its block is drawn from


def sufficiency(measured: Measured, *, exact: int = EXACT) -> tuple[Estimate | None, tuple[str, ...]]:
    """Sufficiency where the log's explanations say where they apply and it holds what they speak of; else why not."""
    log = measured.log
    words = isinstance(log.kind, Sets) and log.kind.words
    if not isinstance(log.discretizer, Original) or not (words or isinstance(log.kind, Texts)):
        return None, ()
    scoped = _Scoped.of(measured)
    if isinstance(scoped, str):
        return None, (f"sufficiency was not measured: {scoped}",)
    found = scoped.by_patterns(exact)
    return to_estimate(found or scoped.by_blocks(), "sufficiency", measured.confidence), ()


@dataclass(frozen=True, eq=False)
class _Scoped:
    """Rows with the text of their explanation (`own`), their label, and the inputs that conditions read."""

    table: Any
    inputs: dict[str, str]  # columns by feature
    distinct: Conjunctions
    texts: list[list[str]]  # how each distinct explanation is written
    names: list[Any]  # labels
    n: int

    @classmethod
    def of(cls, measured: Measured) -> "_Scoped | str":
        """The rows of a log; a reason where its inputs are not there."""
        log = measured.log
        known = (log.source.settings or {}).get("inputs", {})
        hidden = (*log.used, *log.ids)
        columns = {f"x{j}": name for j, name in enumerate(log.source.columns) if name not in hidden}
        rows = log.rows(shown=columns)
        place = {column: name for name, column in columns.items()}
        table = rows.table.mutate(own=_own(rows.table["k0"]))
        cells = fetch(table.group_by(["own", "label"]).aggregate(given=table.count()).limit(_MOST_SCOPES + 1))
        if cells.num_rows > _MOST_SCOPES:
            raise BadInput(f"The log has more than {_MOST_SCOPES:,} different explanations: audit a part of it.")
        cells = in_fixed_order(cells)
        own, labels = cells.column("own").combine_chunks(), cells.column("label").to_pylist()
        explanations = _read(log.kind, own)
        codes, first = explanations.group()
        distinct = explanations.take(first)
        assert isinstance(distinct, Conjunctions)
        texts: list[list[str]] = [[] for _ in first]
        for code, text in dict.fromkeys(zip(codes.tolist(), own.to_pylist(), strict=True)):
            texts[code].append(text)
        wanted = _wanted(distinct)
        found = {feature: known.get(feature, feature) for feature in wanted}
        absent = next((feature for feature, column in found.items() if column not in place), None)
        if absent is not None and found[absent] in log.ids:
            return f"the explanations speak of column {found[absent]!r}, which was said to identify rows"
        if absent is not None:
            return f"the log has no column {found[absent]!r}, which the explanations speak of"
        log.source.refuse_wide(found.values())
        inputs = {feature: place[column] for feature, column in found.items()}
        n = int(cells.column("given").to_numpy().sum())
        refuse_change(measured.consistency.n, n)
        return cls(table, inputs, distinct, texts, in_order(labels), n)

    @cached_property
    def parts(self) -> tuple[list[Any], list[tuple[int, ...]]]:
        """The different conditions, and the numbers of those of each explanation."""
        numbers: dict[Any, int] = {}
        rows = [self.distinct.conjunction(row) for row in range(len(self.distinct))]
        lists = [tuple(numbers.setdefault(part, len(numbers)) for part in row) for row in rows]
        return list(numbers), lists

    def _met(self, part: Any, table: Any) -> Any:
        columns = {feature: table[name] for feature, name in self.inputs.items()}
        return contains(part, columns[DOCUMENT]) if isinstance(part, str) else holds(part, columns)

    def by_patterns(self, exact: int) -> Coverage | None:
        """Rows grouped by the conditions they meet; None where that would bring back too much."""
        parts, lists = self.parts
        if len(lists) * self.n > exact:
            return None
        bits = [as_number(self._met(part, self.table)) for part in parts]
        words = {f"w{j}": packed(bits[start : start + _BITS], 2) for j, start in enumerate(range(0, len(bits), _BITS))}
        table = self.table.select("own", "label", **words)
        grouped = table.group_by(["own", "label", *words]).aggregate(rows=table.count())
        found = fetch(grouped.limit(_MOST_PATTERNS + 1))
        return (
            None
            if found.num_rows > _MOST_PATTERNS
            else self._covered(self._patterns(in_fixed_order(found), len(parts)))
        )

    def _patterns(self, found: Any, parts: int) -> Patterns:
        words = [found.column(f"w{j}").to_numpy().astype(np.int64) for j in range(-(-parts // _BITS))]
        many = f"{found.num_rows:,} kinds of rows by {parts:,} conditions"
        need(found.num_rows * parts, many, _FEWER)
        meets = np.empty((found.num_rows, parts), bool)
        for i in range(parts):
            meets[:, i] = words[i // _BITS] >> (i % _BITS) & 1
        refuse_change(self.n, int(found.column("rows").to_numpy().sum()))
        place = {text: code for code, texts in enumerate(self.texts) for text in texts}
        number = {name: j for j, name in enumerate(self.names)}
        code = np.array([place[text] for text in found.column("own").to_pylist()], np.int64)
        label = np.array([number[one] for one in found.column("label").to_pylist()], np.int64)
        return Patterns(meets, self.parts[1], code, label, found.column("rows").to_numpy().astype(np.int64))

    def _covered(self, patterns: Patterns) -> Coverage:
        given, covered, missed, own = patterns.tables(len(self.names))
        counts = to_counts(self.distinct, self.names, given, covered, missed)
        idle = tuple(str(self.parts[0][i]) for i in np.flatnonzero(~patterns.meets.any(axis=0)))
        return Coverage(counts, patterns.code, own, idle, patterns.left_out(counts, own))

    def by_blocks(self) -> Coverage:
        """Conditional aggregates, a chunk of explanations a scan, by label and block of rows."""
        table = self.table.mutate(block=_block(self.table))
        shape = (len(self.distinct), len(self.names), 256)
        many = f"Counts of {shape[0]:,} explanations by {shape[1]:,} labels and {shape[2]} blocks of rows"
        need(48 * shape[0] * shape[1] * shape[2], many, _FEWER)
        tables = [np.zeros(shape, np.int64) for _ in range(3)]
        number = {name: j for j, name in enumerate(self.names)}
        for start in range(0, len(self.distinct), _CHUNK):
            chunk = range(start, min(start + _CHUNK, len(self.distinct)))
            found = fetch(table.group_by(["label", "block"]).aggregate(**self._sums(table, chunk)))
            label = np.array([number[one] for one in found.column("label").to_pylist()], np.int64)
            block = np.array([int(one, 16) for one in found.column("block").to_pylist()], np.int64)
            for which, name in enumerate("gcm"):
                for r in chunk:
                    tables[which][r, label, block] = found.column(f"{name}{r}").to_numpy()
        refuse_change(self.n, int(tables[0].sum()))
        blocks = RowBlocks(*(one[:, :, tables[0].any(axis=(0, 1))] for one in tables))
        counts = to_counts(self.distinct, self.names, *(one.sum(axis=2) for one in tables))
        none = np.empty(0, np.int64)
        return Coverage(counts, none, none.astype(bool), left_out=blocks.left_out())

    def _sums(self, table: Any, chunk: range) -> dict[str, Any]:
        parts, lists = self.parts
        sums: dict[str, Any] = {}
        for r in chunk:
            own = reduce(or_, [table["own"] == literal(text) for text in self.texts[r]])
            tests = [self._met(parts[i], table) for i in lists[r]]
            covers = reduce(and_, tests) if tests else literal(True)
            sums[f"g{r}"] = table.count(where=own)
            sums[f"c{r}"] = table.count(where=covers)
            sums[f"m{r}"] = table.count(where=own & ~covers)
        return sums


def _own(key: Any) -> Any:
    """The explanation as one text; words as JSON, since they may hold whatever would separate them."""
    if not key.type().is_array():
        return key
    import ibis
    from ibis.expr.datatypes import json as json_type

    def to_json(words: Any) -> Any:  # every engine has it
        raise NotImplementedError

    written = ibis.udf.scalar.builtin(to_json, signature=((key.type(),), json_type))
    return written(key).cast("string")


def _read(kind: Any, own: Any) -> Explanations:
    if isinstance(kind, Texts):
        return kind.read([own])
    return Highlights([[] if text is None else json.loads(text) for text in own.to_pylist()])


def _wanted(distinct: Explanations) -> list[str]:
    """The features that conditions are on, or the documents that hold the words."""
    if isinstance(distinct, Highlights):
        return [DOCUMENT]
    assert isinstance(distinct, Conjunctions)
    return list(dict.fromkeys(part.feature for one in distinct.distinct for part in one if part.position >= 0))  # type: ignore[attr-defined]


def _block(table: Any) -> Any:
    """A block for every row from its own values, the same in every scan: the first two digits of a digest."""
    import ibis

    def md5(text: str) -> str:  # every engine has it
        raise NotImplementedError

    digest = ibis.udf.scalar.builtin(md5)
    columns = [table[name] for name in table.columns]
    words = [_own(one) for one in columns if one.type().is_array() and one.type().value_type.is_string()]
    told = {name: shown(name, kind, "") for name, kind in table.schema().items()}
    texts = [text.coalesce("") for text in (*words, *(table[name].cast("string") for name in told if told[name]))]
    return digest(reduce(lambda a, b: a.concat(_BETWEEN, b), texts)).substr(0, 2)
