"""An explanation that sits in one column, read here and kept in the DuckDB of our own as lists of numbers or texts.

JSON objects, structs and maps become one number per feature. A key that a row leaves out counts 0, as the dictionaries
of LIME leave features out; a note says in how many rows. A struct has all its fields, so that one which is null is a
missing value. What engines do not compare as it is meant is fetched once, each different value with its number of rows.
"""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

from faithscope.discretizers.base import steps
from faithscope.errors import BadInput
from faithscope.explanations.codes import LOOK_LIKE_MARKS, SEPARATORS
from faithscope.runtime.memory import need
from faithscope.tables.audited import AuditOptions
from faithscope.tables.columns import CodeColumns
from faithscope.tables.engines import Table, call, clear_errors, fetch, fetch_line, nan_as_null, numbers_of
from faithscope.tables.source import LogSource
from faithscope.words import several

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


def _is_number(value: Any) -> bool:
    """Whether a part of a value is a number that float64 holds, or a missing one."""
    if type(value) is int:
        return abs(value) < _EXACT
    return value is None or type(value) in (float, Decimal)


def plain_columns(
    source: LogSource, column: str, wanted: str | None, options: AuditOptions
) -> tuple[LogSource, str | None, tuple[str, ...], bool]:
    """The explanation in a plain column: lists of numbers for objects of numbers, lists of what JSON lists hold.

    Also the kind that the caller or the content says it is, the names of its features if the column said them, and
    whether a feature that an explanation does not name counts 0.
    """
    import pyarrow as pa

    table = source.table
    kind = table[column].type()
    if kind.is_map() and kind.value_type.is_json():  # objects of JSON lines
        table = table.mutate(**{column: call("to_json", table[column], "json")})
        kind = table[column].type()
    what = "structs" if kind.is_struct() else "maps" if kind.is_map() else ""
    if not what:
        table = table.mutate(**{column: table[column].cast("string").strip().nullif("null").nullif("")})
    known = table.filter(table[column].notnull())
    lines = fetch(known.group_by(column).aggregate(n=known.count()))
    need(_COPIES * lines.nbytes, f"{lines.num_rows:,} different explanations in column {column!r}", _IN_COLUMNS)
    values = lines.column(column).to_pylist()
    held = _Held(column, [_item(value) for value in values], numbers_of(lines, "n").tolist(), values)
    form = "objects" if what else held.form(wanted)
    if form in ("keys", "rules"):
        return source, wanted if form == "keys" else form, (), False
    names: tuple[str, ...] = ()
    told, read, part = [f"explanations were read from JSON lists in column {column!r}"], held.items, pa.float64()
    if form == "objects":
        if wanted not in (None, "importances"):
            raise BadInput(f"Column {column!r} holds {what or 'JSON objects'}: write lists of {wanted} in their place.")
        names, read, told = held.features(what, options)
    elif form == "words":
        part = pa.string()
    elif wanted == "prototypes":
        part = pa.int64()
    with clear_errors(f"Reading the explanations of column {column!r}"):
        copy = _with_values(table, column, lines.column(column), pa.array(read, pa.list_(part)))
    source = replace(source, table=copy, notes=(*source.notes, *told))
    wanted = "importances" if form == "objects" else wanted or ("words" if form == "words" else "importances")
    return source, wanted, names, form == "objects" and what != "structs"


def _with_values(table: Table, column: str, lines: Any, values: Any) -> Table:
    """The rows of a log in the DuckDB of our own, with each line's value in place of its column."""
    import pyarrow as pa
    from ibis.util import gen_name

    connection, name, quoted = table.get_backend(), gen_name("faithscope_log"), column.replace('"', '""')
    connection.con.register("faithscope_lines", pa.table({"line": lines, "value": values}))
    connection.raw_sql(
        f'CREATE TEMP TABLE "{name}" AS SELECT log.* REPLACE (known.value AS "{quoted}") FROM '
        f"({connection.compile(table)}) log LEFT JOIN faithscope_lines known "
        f'ON log."{quoted}" IS NOT DISTINCT FROM known.line'
    )
    connection.con.unregister("faithscope_lines")
    return connection.table(name, database=("temp", "main"))


def _shortened(value: Any) -> str:
    """A value of the log, short enough for a sentence."""
    text = value if isinstance(value, str) else ", ".join(name for name, _ in _item(value))
    return repr(text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…")


def holds_json(table: Table, column: str, wanted: str | None) -> bool:
    """Whether a column is of JSON, structs or maps, or most of its texts stand in braces or brackets.

    Texts that are empty or null do not count. A column in which fewer are JSON objects or lists of numbers is refused.
    """
    kind = table[column].type()
    if kind.is_map() or kind.is_struct():
        return True
    if column == "rule" and wanted is None:
        return False
    if not kind.is_string():
        return bool(kind.is_json())
    text = table[column].strip().nullif("null").nullif("")
    framed = (text.startswith("{") & text.endswith("}")) | (text.startswith("[") & text.endswith("]"))
    sure = framed & text.re_search(_SURELY)
    example = text.min(where=~framed)
    line = fetch_line(table.aggregate(n=text.count(), framed=framed.sum(), sure=sure.sum(), example=example))
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

    def refuse(self, wrong: Callable[[Any], bool], message: str) -> None:
        """Raise a message that tells in how many rows a value is wrong, and gives an example."""
        odd = [(n, _shortened(value)) for item, n, value in zip(*self[1:], strict=True) if wrong(item)]
        if odd:
            example = min(text for _, text in odd)
            told = f"{several(sum(n for n, _ in odd), 'row', 'rows')}, such as {example}"
            raise BadInput(f"Column {self.column!r} {message.format(told)}")

    def form(self, wanted: str | None) -> str:
        """What texts hold: objects, numbers, words or rules; keys if they are neither objects nor lists."""
        known = Counter[type]()
        for item, n in zip(self.items, self.rows, strict=True):
            known[type(item)] += n
        objects, lists = known[tuple], known[list]
        if not objects + lists:
            if any(mark in value for value in self.values for mark in ",: " if isinstance(value, str)):
                # Texts whose order and spelling would tell them apart.
                self.refuse(lambda item: item is _NO_JSON, f"holds texts that are no JSON in {{}}: {_ADVICE}")
            return "keys"
        usual, what = (tuple, "objects") if objects >= lists else (list, "lists")
        self.refuse(lambda item: type(item) is not usual, f"holds JSON {what}, but none in {{}}: {_ADVICE}")
        if usual is tuple:
            return "objects"
        if all(isinstance(part, str) for item in self.items for part in item):
            return "words"
        if wanted in (None, "rules") and all(isinstance(part, list) for item in self.items for part in item):
            return "rules"
        # Numbers and words in one list are neither.
        self.refuse(
            lambda item: not all(map(_is_number, item)),
            "holds JSON lists of numbers, but others in {}: write lists of numbers for importances, or of texts for "
            "words.",
        )
        return "numbers"

    def features(self, what: str, options: AuditOptions) -> tuple[tuple[str, ...], Any, list[str]]:
        """The names of the features of objects, their numbers as Arrow lists, and notes.

        Features of the log that this one is compared with come first; others in the order of the rows if that is the
        same in all of them, else by name: of two features that are equally important, the first has the higher rank,
        which must not depend on the order in which a row was written.
        """
        import pyarrow as pa

        present, orders = Counter[str](), dict[tuple[str, ...], None]()
        for item, n in zip(self.items, self.rows, strict=True):
            names = tuple(name for name, _ in item)
            orders[names] = None
            for name in names:
                present[name] += n
        self.refuse(  # readers disagree on which of them counts
            lambda item: len({name for name, _ in item}) < len(item),
            "holds objects with a key twice in {}: write every feature once.",
        )
        self.refuse(
            lambda item: not all(_is_number(value) for _, value in item),
            "holds importances that are no numbers below 2**53 in {}: write numbers, leave a key out, which counts 0, "
            "or pass kind='keys' to compare the texts as they stand.",
        )
        if not present:
            raise BadInput(f"No row of column {self.column!r} names a feature: every object is empty.")
        if len(present) > _MOST_KEYS:
            raise BadInput(
                f"Column {self.column!r} has more than {_MOST_KEYS:,} different keys, and each would be a feature: "
                "write the log with fewer features, or lists of the keys alone."
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
        place, matrix = {name: j for j, name in enumerate(names)}, np.zeros((len(self.items), len(names)))
        for row, item in enumerate(self.items):
            for name, value in item:
                matrix[row, place[name]] = np.nan if value is None else value
        return names, pa.FixedSizeListArray.from_arrays(matrix.ravel(), len(names)), notes


def list_width(source: LogSource, column: str) -> int:
    """How many numbers every list of a column holds."""
    lengths = source.table.select(n=source.table[column].length())
    least, most = fetch_line(lengths.aggregate(low=lengths["n"].min(), high=lengths["n"].max())).values()
    if not most:
        raise BadInput(f"Column {column!r} holds no list with a number in it: name another column.")
    if least != most:
        raise BadInput(
            f"Column {column!r} holds lists of {least:,} to {most:,} numbers: importances have one number for every "
            "feature, the same in every row."
        )
    return int(most)


def code_columns(source: LogSource, columns: Sequence[str]) -> tuple[LogSource, CodeColumns]:
    """Codes as they stand: in lists, in one text per row, or one per cell of several columns."""
    table, schema = source.table, source.table.schema()
    texts = [name for name in columns if schema[name].is_string()]
    if len(columns) > 1:
        numbers = [nan_as_null(table[name]).cast("float64") for name in columns if schema[name].is_numeric()]
        if numbers and not texts:  # 0 and 1 mark who has a code, and are none
            ends = {f"{end}{j}": getattr(each, end)() for j, each in enumerate(numbers) for end in ("min", "max")}
            known = {end for end in fetch_line(table.aggregate(**ends)).values() if end is not None}
            if known and (min(known), max(known)) == (0, 1):
                raise BadInput(LOOK_LIKE_MARKS)
        return source, CodeColumns()
    for name in texts:
        line = fetch_line(table.aggregate(**{mark: table[name].contains(mark).sum() for mark in SEPARATORS}))
        for mark in (mark for mark in SEPARATORS if line[mark]):
            note = f"codes were read from texts in column {name!r}, split at {mark!r}"
            return replace(source, notes=(*source.notes, note)), CodeColumns(mark)
    return source, CodeColumns()
