"""An explanation that sits in one column, read here and kept in the DuckDB of our own as lists of numbers or texts.

JSON objects, structs and maps become one number per feature. A key that a row leaves out counts 0, as the dictionaries
of LIME leave features out; a note says in how many rows. A struct has all its fields, so that one which is null is a
missing value. What engines do not compare as it is meant is fetched once, each different value with its number of rows.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

from faithscope.discretizers.base import steps
from faithscope.errors import BadInput, WrongType
from faithscope.explanations.base import several
from faithscope.explanations.codes import LOOK_LIKE_MARKS, SEPARATORS
from faithscope.inputs.array_types import Floats
from faithscope.runtime.memory import need
from faithscope.tables.engine.answers import fetch, fetch_line, nan_as_null, numbers_of
from faithscope.tables.engine.engines import Expression, call, clear_errors
from faithscope.tables.log.rows import AuditOptions, CodeColumns
from faithscope.tables.sources.source import LogSource, copied

_AS_IT_IS = ("keys", "reasons", "rules", "counterfactuals")
_COPIED = "explanations are read here: the log was copied into a DuckDB of our own, in memory and temporary files"
_IN_COLUMNS = "write one column per feature, or audit a part of the log"
_COPIES = 10  # of a column that is read here, in memory
_MOST_KEYS = 1_000
_NAMED = 3  # features that a note names
_EXACT = 2**53  # beyond it two integers may share one float64
_LONGEST = 60  # characters of an example
_ADVICE = (
    "write every row with json.dumps in one form, null where there is none, or pass kind='keys' to compare the texts "
    "as they stand."
)
_SURELY = r'^(\{\s*"[^"]*"\s*:|\{\s*\}$|\[\s*-?[0-9.][0-9.eE+-]*\s*,)'  # begins like JSON, and like nothing else
_NO_JSON = object()  # what a text holds that is no JSON
_LARGE = "whole numbers of 2**53 or more"
_FORMS: dict[type, str] = {
    tuple: "objects",
    list: "lists",
    str: "texts",
    bool: "true or false",
    type(None): "null",
    int: "numbers",
    float: "numbers",
    Decimal: "numbers",
    object: "text that is no JSON",
}


def _form(value: Any) -> str:
    """What a part of a value is."""
    return _LARGE if type(value) is int and abs(value) >= _EXACT else _FORMS.get(type(value), "values")


class PlainColumns(NamedTuple):
    """A log whose explanation is in plain columns.

    Attributes
    ----------
    columns : tuple of str
        The columns of the explanation.
    wanted : str or None
        The kind that the caller or the content says it is; None if types and names must.
    names : tuple of str
        The names of the features, if the column said them.
    sparse : bool
        Whether a feature that an explanation does not name counts 0.
    """

    source: LogSource
    columns: tuple[str, ...]
    wanted: str | None
    names: tuple[str, ...] = ()
    sparse: bool = False


def plain_columns(
    source: LogSource, columns: tuple[str, ...], wanted: str | None, options: AuditOptions
) -> PlainColumns:
    """The explanation in plain columns: lists of numbers for objects of numbers, lists of what JSON lists hold."""
    import pyarrow as pa

    plain, column = PlainColumns(source, columns, wanted), columns[0]
    if len(columns) > 1 or wanted in _AS_IT_IS:
        return plain
    kind = source.table[column].type()
    if kind.is_map() and kind.value_type.is_json():  # objects of JSON lines
        text = call("to_json", source.table[column], "json")
        source, kind = replace(source, table=source.table.mutate(**{column: text})), text.type()
    nested = kind.is_struct() or kind.is_map()
    if not nested:
        if (column == "rule" and wanted is None) or not _is_json(source, column):
            return plain
        text = _present(source.table[column].cast("string"))
        source = replace(source, table=source.table.mutate(**{column: text}))
    notes = () if source.embedded else (_COPIED,)
    source = source if source.embedded else copied(source, column)
    table = source.table.filter(source.table[column].notnull())
    lines = fetch(table.group_by(column).aggregate(n=table.count()))
    need(_COPIES * lines.nbytes, f"{lines.num_rows:,} different explanations in column {column!r}", _IN_COLUMNS)
    values = lines.column(column).to_pylist()
    held = _Held(column, [_item(value) for value in values], numbers_of(lines, "n").tolist(), values)
    what = "structs" if kind.is_struct() else "maps" if kind.is_map() else ""
    form = "objects" if what else held.form(wanted)
    if form in ("keys", "rules"):
        return plain if form == "keys" else PlainColumns(source, columns, form)
    read: Any
    if form == "objects" and wanted in (None, "importances"):
        kind, (names, read, told) = pa.float64(), held.features(what, options)
        found = PlainColumns(source, columns, "importances", names, what != "structs")
    else:
        kind = pa.float64() if form == "numbers" else pa.string()
        kind = pa.int64() if wanted == "prototypes" and form == "numbers" else kind
        read, told = held.items, [f"explanations were read from JSON lists in column {column!r}"]
        if form == "objects":
            read = [[name for name, value in item if value is not None or what != "structs"] for item in held.items]
            told = [f"explanations were read from keys of {what or 'JSON objects'} in column {column!r}"]
        found = PlainColumns(source, columns, wanted or ("words" if form == "words" else "importances"))
    with clear_errors(f"Reading the explanations of column {column!r}"):
        values = pa.array(read, pa.list_(kind)) if isinstance(read, list) else read.cast(pa.list_(kind))
        known = replace(source, table=_with_values(source, column, lines.column(column), values))
    return found._replace(source=replace(known, notes=(*source.notes, *told, *notes)))


def _with_values(source: LogSource, column: str, lines: Any, values: Any) -> Any:
    """The table of a log in the DuckDB of our own, with each line's value in place of its column."""
    import pyarrow as pa
    from ibis.util import gen_name

    connection, name, quoted = source.table.get_backend(), gen_name("faithscope_log"), column.replace('"', '""')
    connection.con.register("faithscope_lines", pa.table({"line": lines, "value": values}))
    connection.raw_sql(
        f'CREATE TEMP TABLE "{name}" AS SELECT log.* REPLACE (known.value AS "{quoted}") FROM '
        f"({connection.compile(source.table)}) log LEFT JOIN faithscope_lines known "
        f'ON log."{quoted}" IS NOT DISTINCT FROM known.line'
    )
    connection.con.unregister("faithscope_lines")
    return connection.table(name, database=("temp", "main"))


def _present(text: Expression) -> Expression:
    """A text without blanks around it, null if it is empty or the null of JSON."""
    return text.strip().nullif("null").nullif("")


def _shortened(value: Any) -> str:
    """A value of the log, short enough for a sentence."""
    text = value if isinstance(value, str) else ", ".join(name for name, _ in _item(value))
    return repr(text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…")


def _is_json(source: LogSource, column: str) -> bool:
    """Whether a column is of JSON, or most of its texts stand in braces or brackets; those empty or null do not count.

    A column in which fewer are JSON objects or lists of numbers is refused.
    """
    kind = source.table[column].type()
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
            f"{line['n'] - line['framed']:,}, such as {_shortened(line['example'])}: {_ADVICE}"
        )
    return False


def _item(value: Any) -> Any:
    """What a value of a column holds: a tuple of pairs for an object, a list, or whatever else JSON has."""
    if not isinstance(value, str):
        return tuple(value.items() if isinstance(value, dict) else value)
    try:
        return json.loads(value, object_pairs_hook=tuple)
    except (ValueError, RecursionError):
        return _NO_JSON


class _Held(NamedTuple):
    """The different values of a column that are not missing, what they hold, and in how many rows."""

    column: str
    items: list[Any]
    rows: list[int]
    values: list[Any]

    def forms(self, parts: Callable[[Any], Iterable[Any]]) -> tuple[dict[str, int], dict[str, Any]]:
        """In how many rows a part of a value is of each form, and the first such value."""
        found, examples = Counter[str](), dict[str, Any]()
        for item, n, value in zip(self.items, self.rows, self.values, strict=True):
            for form in {_form(part) for part in parts(item)}:
                found[form] += n
                examples[form] = min(examples.get(form, value), value, key=_shortened)
        return dict(found), examples

    def form(self, wanted: str | None) -> str:
        """What texts hold: objects, numbers, words or rules; keys if they are neither objects nor lists."""
        found, examples = self.forms(lambda item: (item,))
        holds = f"Column {self.column!r} holds"
        nested = found.keys() & {"objects", "lists"}
        if not nested:
            example = examples.get(_FORMS[object], "")
            if any(mark in example for mark in ",: "):  # whose order and spelling would tell texts apart
                raise BadInput(
                    f"Column {self.column!r} holds texts in braces or brackets that are no JSON, such as "
                    f"{_shortened(example)}: {_ADVICE}"
                )
            return "keys"
        usual = max(nested, key=lambda form: (found[form], form))
        self._refuse_others(found, examples, {usual}, f"{holds} JSON {usual}, but", _ADVICE)
        if usual == "objects":
            return usual
        found, examples = self.forms(lambda item: item)
        if found.keys() <= {"texts"}:
            return "words"
        if found.keys() == {"lists"} and wanted in (None, "rules"):
            return "rules"
        words = found.get("texts", 0) > found.get("numbers", 0)
        advice = "write lists of numbers for importances, or of texts for words."
        allowed = {"texts"} if words else {"numbers", "null"}
        self._refuse_others(
            found, examples, allowed, f"{holds} JSON lists of {'words' if words else 'numbers'}, but", advice
        )
        return "numbers"

    def _refuse_others(
        self, found: dict[str, int], examples: dict[str, Any], allowed: set[str], begin: str, advice: str
    ) -> None:
        for form in sorted(found.keys() - allowed):
            told = f"{form} in {several(found[form], 'row', 'rows')}, such as {_shortened(examples[form])}"
            raise BadInput(f"{begin} {told}: {advice}")

    def features(self, what: str, options: AuditOptions) -> tuple[tuple[str, ...], Any, list[str]]:
        """The names of the features of objects, their numbers as Arrow lists, and notes.

        Features of the log that this one is compared with come first; others in the order of the rows if that is the
        same in all of them, else by name: of two features that are equally important, the first has the higher rank,
        which must not depend on the order in which a row was written.
        """
        import pyarrow as pa

        present, orders, twice = Counter[str](), dict[tuple[str, ...], None](), []
        for item, n, value in zip(self.items, self.rows, self.values, strict=True):
            names = tuple(name for name, _ in item)
            orders[names] = None
            for name in names:
                present[name] += n
            if len(set(names)) < len(names):  # readers disagree on which of them counts
                twice.append((value, n))
        if twice:
            told, example = several(sum(n for _, n in twice), "row", "rows"), min(_shortened(v) for v, _ in twice)
            raise BadInput(
                f"Column {self.column!r} holds objects with a key twice in {told}, such as {example}: write every "
                "feature once."
            )
        if not present:
            raise BadInput(f"No row of column {self.column!r} names a feature: every object is empty.")
        if len(present) > _MOST_KEYS:
            raise BadInput(
                f"Column {self.column!r} has more than {_MOST_KEYS:,} different keys, and each would be a feature: "
                "pass kind='words' to compare the sets of keys alone, or write the log with fewer features."
            )
        order = next(iter(orders)) if len(orders) == 1 else sorted(present)
        names = tuple(dict.fromkeys((*options.features, *order)))
        notes = [
            f"explanations were read from {what or 'JSON objects'} in column {self.column!r}: "
            f"{several(len(names), 'feature', 'features')}"
        ]
        n = sum(self.rows)
        lacking = [f"{name!r} in {several(n - present[name], 'row', 'rows')}" for name in names if present[name] < n]
        if lacking:
            more = f" and {len(lacking) - _NAMED} more" if len(lacking) > _NAMED else ""
            notes.append(f"a feature that an explanation leaves out counts 0: {', '.join(lacking[:_NAMED])}{more}")
        ranked = any(step.orders_features for step in steps(options.discretizer))
        if ranked and not options.features and len(orders) > 1 and len(names) > 1:
            notes.append(
                "rows write their features in different orders: they were put in the order of their names, which "
                "decides between features of equal size"
            )
        matrix = self._matrix(names)
        return names, pa.FixedSizeListArray.from_arrays(matrix.ravel(), len(names)), notes

    def _matrix(self, names: Sequence[str]) -> Floats:
        """The numbers of objects, NaN for null and 0 for a key that an object does not have."""
        place, matrix = {name: j for j, name in enumerate(names)}, np.zeros((len(self.items), len(names)))
        odd = set[int]()
        for row, item in enumerate(self.items):
            for name, number in item:
                form = _form(number)
                if form == "numbers":
                    matrix[row, place[name]] = float(number)
                elif form == "null":
                    matrix[row, place[name]] = np.nan
                else:
                    odd.add(place[name])
        if odd:
            name = names[min(odd)]
            found, examples = self.forms(lambda item: (number for key, number in item if key == name))
            begin = f"Importances are numbers; key {name!r} of column {self.column!r} holds"
            advice = "write a number, leave the key out, which counts 0, or pass kind='keys' to compare the texts as "
            self._refuse_others(found, examples, {"numbers", "null"}, begin, f"{advice}they stand.")
        return matrix


def list_width(source: LogSource, column: str) -> int:
    """How many numbers every list of a column holds."""
    table = source.table.select(n=source.table[column].length())
    table = table.filter(table["n"].notnull())
    lines = fetch(table.group_by("n").aggregate(rows=table.count())).to_pylist()
    widths = {int(line["n"]): int(line["rows"]) for line in lines}
    if not any(widths):
        raise BadInput(f"Column {column!r} holds no list with a number in it: name another column.")
    usual, *others = sorted(widths, key=lambda width: (-widths[width], -width))
    if others:
        other = min(others, key=lambda width: (-widths[width], width))
        raise BadInput(
            f"Column {column!r} holds lists of {several(usual, 'number', 'numbers')} in {widths[usual]:,} rows, but of "
            f"{other:,} in {widths[other]:,}: importances have one number for every feature, the same in every row."
        )
    return usual


def code_columns(source: LogSource, columns: Sequence[str]) -> tuple[LogSource, CodeColumns]:
    """Codes as they stand: in lists, in one text per row, or one per cell of several columns; refuses what are none."""
    table, schema, notes = source.table, source.table.schema(), source.notes
    # DuckDB gives a column of nothing but nulls in a frame a type of its own.
    held = [name for name in columns if not (schema[name].is_null() or 'kind="NULL"' in str(schema[name]))]
    for name in held:
        kind = schema[name].value_type if schema[name].is_array() and len(columns) == 1 else schema[name]
        if not (kind.is_string() or kind.is_integer() or kind.is_floating() or kind.is_decimal()):
            raise WrongType(
                f"A code is a text or a whole number, and lists of codes sit in one column; column {name!r} holds "
                f"{schema[name]}: name other columns, or write the codes as texts."
            )
    texts = [name for name in held if schema[name].is_string()]
    if len(columns) > 1:
        if not texts:  # 0 and 1 mark who has a code, and are none
            numbers = [nan_as_null(table[each]).cast("float64") for each in held]
            ends = {f"{end}{j}": getattr(each, end)() for j, each in enumerate(numbers) for end in ("min", "max")}
            known = [end for end in fetch_line(table.aggregate(**ends)).values() if end is not None]
            if known and (min(known), max(known)) == (0, 1):
                raise BadInput(LOOK_LIKE_MARKS)
        return source, CodeColumns()
    question = {f"s{j}": table[name].contains(mark).sum() for name in texts for j, mark in enumerate(SEPARATORS)}
    line = fetch_line(table.aggregate(**question)) if question else {}
    separator = next((mark for j, mark in enumerate(SEPARATORS) if line.get(f"s{j}")), None)
    if separator is not None:
        notes = (*notes, f"codes were read from texts in column {columns[0]!r}, split at {separator!r}")
    return replace(source, notes=notes), CodeColumns(separator)
