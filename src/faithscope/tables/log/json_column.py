"""Explanations as JSON in one column: which JSON it is, and the column in the types of an engine."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from faithscope.errors import BadInput
from faithscope.explanations.base import several
from faithscope.tables.engine.answers import fetch, fetch_line
from faithscope.tables.engine.expressions import INVALID, NUMBERS, Expression, Table, items, json_type, keys
from faithscope.tables.sources.copies import copied
from faithscope.tables.sources.source import LogSource

_LONGEST = 60  # characters of an example
_ADVICE = (
    "write every row with json.dumps in one form, null where there is none, or pass kind='keys' to compare the texts "
    "as they stand."
)
_SURELY = r'^(\{\s*"[^"]*"\s*:|\{\s*\}$|\[\s*-?[0-9.][0-9.eE+-]*\s*,)'  # begins like JSON, and like nothing else
_WORDS = {
    "OBJECT": "objects",
    "ARRAY": "lists",
    "VARCHAR": "texts",
    "BOOLEAN": "true or false",
    "NULL": "null",
    INVALID: "text that is no JSON",
}


@dataclass(frozen=True)
class Survey:
    """How many JSON texts are of each type, and an example of each type."""

    rows: Mapping[str, int]
    examples: Mapping[str, str]

    @classmethod
    def of(cls, table: Table, kind: str, text: str) -> "Survey":
        """By the columns that hold the types and the texts."""
        table = table.filter(table[kind].notnull())
        lines = fetch(table.group_by(kind).aggregate(n=table.count(), example=table[text].min())).to_pylist()
        return cls({line[kind]: line["n"] for line in lines}, {line[kind]: line["example"] for line in lines})

    @property
    def types(self) -> frozenset[str]:
        """The types that occur; every number is a NUMBER."""
        return frozenset("NUMBER" if kind in NUMBERS else kind for kind in self.rows)

    def refuse(self, column: str, usual: str, what: str, advice: str) -> BadInput:
        """The error that some texts are of another type than the usual one."""
        usual_kinds = NUMBERS if usual == "NUMBER" else {usual}
        odd = next(kind for kind in sorted(self.rows) if kind not in usual_kinds)
        rows, example = several(self.rows[odd], "row", "rows"), shortened(self.examples[odd])
        return BadInput(f"Column {column!r} holds {what}, but {type_word(odd)} in {rows}, such as {example}: {advice}")


def type_word(kind: str) -> str:
    """What a type of JSON is called in a sentence."""
    return "numbers" if kind in NUMBERS else _WORDS.get(kind, kind.lower())


def shortened(text: str) -> str:
    """A text of the log, short enough for a sentence."""
    return repr(text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…")


def is_json(source: LogSource, column: str) -> bool:
    """Whether a column is of JSON, or most of its texts stand in braces or brackets; those empty or null do not count.

    A column in which fewer are JSON objects or lists of numbers is refused.
    """
    kind = source.table.schema()[column]
    if not kind.is_string():
        return bool(kind.is_json())
    text = _present(source.table[column])
    framed = (text.startswith("{") & text.endswith("}")) | (text.startswith("[") & text.endswith("]"))
    sure = framed & text.re_search(_SURELY)
    example = text.min(where=~framed)
    line = fetch_line(source.table.aggregate(n=text.count(), framed=framed.sum(), sure=sure.sum(), example=example))
    if 2 * int(line["framed"] or 0) > line["n"]:
        return True
    if line["sure"]:
        raise BadInput(
            f"Column {column!r} holds JSON in {several(line['sure'], 'row', 'rows')}, but other texts in "
            f"{line['n'] - line['framed']:,}, such as {shortened(line['example'])}: {_ADVICE}"
        )
    return False


def _present(text: Expression) -> Expression:
    """A text without blanks around it, null if it is empty or the null of JSON."""
    return text.strip().nullif("null").nullif("")


def in_duckdb(source: LogSource, column: str) -> LogSource:
    """The log with its JSON column as text, in an engine that takes JSON apart: DuckDB, if need be one of our own."""
    text = _present(source.table[column].cast("string"))
    texts = replace(source, table=source.table.mutate(**{column: text}), cells=None)
    return texts if source.embedded else copied(texts)


def json_form(source: LogSource, column: str, wanted: str | None) -> str:
    """What a column of JSON texts holds: objects, numbers, words or rules; keys if it is neither objects nor lists."""
    table = source.table.select(text=source.table[column])
    survey = Survey.of(table.mutate(kind=json_type(table["text"])), "kind", "text")
    if not survey.types & {"OBJECT", "ARRAY"} and not _separated(survey.examples.get(INVALID, "")):
        return "keys"
    usual = max(survey.types & {"OBJECT", "ARRAY"}, key=lambda kind: (survey.rows[kind], kind), default=None)
    if usual is None:
        raise BadInput(
            f"Column {column!r} holds texts in braces or brackets that are no JSON, such as "
            f"{shortened(survey.examples[INVALID])}: {_ADVICE}"
        )
    if survey.types != {usual}:
        raise survey.refuse(column, usual, f"JSON {type_word(usual)}", _ADVICE)
    return "objects" if usual == "OBJECT" else _list_form(table, column, wanted)


def _separated(text: str) -> bool:
    """Whether a text in brackets has several parts, whose order and spelling would tell texts apart."""
    return any(mark in text for mark in ",: ")


def _list_form(table: Table, column: str, wanted: str | None) -> str:
    lists = table.select(text=table["text"], item=items(table["text"]).unnest())
    survey = Survey.of(lists.mutate(kind=json_type(lists["item"])), "kind", "text")
    if survey.types <= {"VARCHAR"}:
        return "words"
    if survey.types <= {"NUMBER", "NULL"}:
        return "numbers"
    if survey.types == {"ARRAY"} and wanted in (None, "rules"):
        return "rules"
    usual = "VARCHAR" if survey.rows.get("VARCHAR", 0) > sum(survey.rows.get(kind, 0) for kind in NUMBERS) else "NUMBER"
    what = "JSON lists of words" if usual == "VARCHAR" else "JSON lists of numbers"
    raise survey.refuse(column, usual, what, "write lists of numbers for importances, or of texts for words.")


def as_list(source: LogSource, column: str, form: str, wanted: str | None) -> LogSource:
    """The log with a column of JSON lists as lists of numbers or words, or of objects as lists of their keys."""
    text: Any = source.table[column]
    lists: Expression
    if form == "objects":
        lists = keys(text)
    else:
        kind = "string" if form == "words" or wanted == "codes" else "int64" if wanted == "prototypes" else "float64"
        lists = text.cast("json").cast(f"array<{kind}>")
    return replace(source, table=source.table.mutate(**{column: lists}))
