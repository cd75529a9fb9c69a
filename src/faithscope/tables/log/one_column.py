"""An explanation that sits in one column, or codes in several, in the columns that the kinds of a log have.

Importances in JSON objects, structs, maps and lists become one column per feature. A key that a row leaves out counts
0, as the dictionaries of LIME leave features out; a note says in how many rows. A struct has all its fields, so that
one which is null is a missing value. Keys of JSON become pointers (RFC 6901) inside literals, so that no key is ever
read as a path, a pattern or SQL.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import Any, NamedTuple

from faithscope.discretizers.base import steps
from faithscope.errors import BadInput, WrongType
from faithscope.explanations.base import several
from faithscope.explanations.codes import LOOK_LIKE_MARKS, SEPARATORS
from faithscope.tables.engine.answers import fetch, fetch_line, nan_as_null
from faithscope.tables.engine.engines import Expression, Table, as_number, call, clear_errors, literal
from faithscope.tables.log.rows import AuditOptions
from faithscope.tables.sources.source import LogSource, copied

_AS_IT_IS = ("keys", "reasons", "rules", "counterfactuals")
_COPIED = "JSON is taken apart by DuckDB: the log was copied into one of our own, in memory and temporary files"
_MEMBERS = "faithscope_members"
_MOST_KEYS = 1_000
_NAMED = 3  # features that a note names
_EXACT = 2**53  # beyond it two integers may share one float64
_LONGEST = 60  # characters of an example
_ADVICE = (
    "write every row with json.dumps in one form, null where there is none, or pass kind='keys' to compare the texts "
    "as they stand."
)
_SURELY = r'^(\{\s*"[^"]*"\s*:|\{\s*\}$|\[\s*-?[0-9.][0-9.eE+-]*\s*,)'  # begins like JSON, and like nothing else
_WHOLE = "^[0-9]+[.]0$"  # a whole number, as tables write it in a column with empty cells
_INVALID = "INVALID"  # the type of a text that is no JSON
_NUMBERS = frozenset({"DOUBLE", "BIGINT", "UBIGINT", "HUGEINT", "UHUGEINT"})  # DuckDB's types of numbers
_WORDS = {
    "OBJECT": "objects",
    "ARRAY": "lists",
    "VARCHAR": "texts",
    "BOOLEAN": "true or false",
    "NULL": "null",
    _INVALID: "text that is no JSON",
    **dict.fromkeys(_NUMBERS, "numbers"),
}


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
    """The explanation in plain columns: one per feature if it is an object of numbers, lists if it is a list."""
    plain = PlainColumns(source, columns, wanted)
    if len(columns) == 1 and wanted not in _AS_IT_IS:
        plain = _unnested(plain, options)
    return _code_lists(plain) if wanted == "codes" else plain


def _unnested(plain: PlainColumns, options: AuditOptions) -> PlainColumns:
    import ibis

    source, (column,), wanted, *_ = plain
    value = source.table[column]
    kind = value.type()
    if kind.is_map() and kind.value_type.is_json():  # objects of JSON lines
        source = replace(source, table=source.table.mutate(**{column: call("to_json", value, "json")}))
        value = source.table[column]
        kind = value.type()
    if kind.is_struct() or kind.is_map():
        if wanted in (None, "importances"):
            return (_of_structs if kind.is_struct() else _of_keys)(source, column, options)
        lists = value.keys() if kind.is_map() else None
        if lists is None:  # the names of the fields that are not null
            names = [ibis.ifelse(value[name].isnull(), ibis.null("string"), name) for name in kind.fields]
            present = ibis.array(names).filter(lambda name: name.notnull())
            lists = ibis.ifelse(value.isnull(), ibis.null("array<string>"), present)
        return PlainColumns(replace(source, table=source.table.mutate(**{column: lists})), plain.columns, wanted)
    if (column == "rule" and wanted is None) or not _is_json(source, column):
        return plain
    text = _present(value.cast("string"))
    texts = replace(source, table=source.table.mutate(**{column: text}), cells=None)
    texts = texts if source.embedded else copied(texts)
    form = _json_form(texts.table.select(text=texts.table[column]), column, wanted)
    if form in ("keys", "rules"):
        return plain if form == "keys" else PlainColumns(texts, plain.columns, form)
    here = texts.table.get_backend() is source.table.get_backend()
    if form == "objects" and wanted not in ("words", "prototypes", "codes"):
        found = _of_keys(texts, column, options)
    else:
        if form == "objects":
            lists, what = call("json_keys", texts.table[column], "array<string>"), "keys of JSON objects"
        else:
            held = "string" if form == "words" or wanted == "codes" else "float64"
            held = "int64" if wanted == "prototypes" and form != "words" else held
            lists, what = texts.table[column].cast("json").cast(f"array<{held}>"), "JSON lists"
        notes = (*source.notes, f"explanations were read from {what} in column {column!r}")
        texts = replace(texts, table=texts.table.mutate(**{column: lists}), notes=notes)
        found = PlainColumns(texts, plain.columns, wanted or ("words" if form == "words" else "importances"))
    notes = (*found.source.notes, *(() if here else (_COPIED,)))
    return found._replace(source=replace(found.source, notes=notes))


def _present(text: Expression) -> Expression:
    """A text without blanks around it, null if it is empty or the null of JSON."""
    return text.strip().nullif("null").nullif("")


def _shortened(text: str) -> str:
    """A text of the log, short enough for a sentence."""
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


def _json_form(table: Table, column: str, wanted: str | None) -> str:
    """What JSON texts hold: objects, numbers, words or rules; keys if they are neither objects nor lists."""
    import ibis

    def survey(table: Table, text: Expression) -> tuple[dict[str, int], dict[str, str]]:
        """How many JSON texts are of each of DuckDB's types, and an example of the rows of each."""
        valid, none = call("json_valid", text, "boolean"), ibis.null("string")
        kind = ibis.ifelse(valid, call("json_type", ibis.ifelse(valid, text, none), "string"), _INVALID)
        rows = table.mutate(kind=ibis.ifelse(text.isnull(), none, kind))
        rows = rows.filter(rows["kind"].notnull())
        lines = fetch(rows.group_by("kind").aggregate(n=rows.count(), example=rows["text"].min())).to_pylist()
        return {line["kind"]: line["n"] for line in lines}, {line["kind"]: line["example"] for line in lines}

    def odd(usual: set[str] | frozenset[str], what: str, advice: str) -> BadInput:
        """The error that some texts are of another type than the usual ones."""
        kind = next(kind for kind in sorted(rows) if kind not in usual)
        told = f"{_WORDS.get(kind, kind.lower())} in {several(rows[kind], 'row', 'rows')}"
        return BadInput(f"Column {column!r} holds {what}, but {told}, such as {_shortened(examples[kind])}: {advice}")

    rows, examples = survey(table, table["text"])
    nested = rows.keys() & {"OBJECT", "ARRAY"}
    # A text in brackets of several parts, whose order and spelling would tell texts apart
    separated = any(mark in examples.get(_INVALID, "") for mark in ",: ")
    if not nested:
        if separated:
            raise BadInput(
                f"Column {column!r} holds texts in braces or brackets that are no JSON, such as "
                f"{_shortened(examples[_INVALID])}: {_ADVICE}"
            )
        return "keys"
    usual = max(nested, key=lambda kind: (rows[kind], kind))
    if rows.keys() != {usual}:
        raise odd({usual}, f"JSON {_WORDS[usual]}", _ADVICE)
    if usual == "OBJECT":
        return "objects"
    items = call("json_extract", table["text"], "array<string>", ibis.literal("$[*]"))
    lists = table.select(text=table["text"], item=items.unnest())
    rows, examples = survey(lists, lists["item"])
    types = {"NUMBER" if kind in _NUMBERS else kind for kind in rows}
    if types <= {"VARCHAR"}:
        return "words"
    if types <= {"NUMBER", "NULL"}:
        return "numbers"
    if types == {"ARRAY"} and wanted in (None, "rules"):
        return "rules"
    words = rows.get("VARCHAR", 0) > sum(rows.get(kind, 0) for kind in _NUMBERS)
    advice = "write lists of numbers for importances, or of texts for words."
    raise odd({"VARCHAR"} if words else _NUMBERS, f"JSON lists of {'words' if words else 'numbers'}", advice)


def _of_structs(source: LogSource, column: str, options: AuditOptions) -> PlainColumns:
    """The features of a column of structs."""
    value = source.table[column]
    fields = value.type().fields
    for name, kind in fields.items():
        if not _is_number(kind):
            raise WrongType(
                f"Importances are numbers; field {name!r} of column {column!r} holds {kind}: write a number, or leave "
                "it out."
            )
    _refuse_many(len(fields), column)
    present = {f"n{j}": value[name].count() for j, name in enumerate(fields)}
    line = fetch_line(source.table.aggregate(rows=value.count(), **present))
    for j, name in enumerate(fields):
        if options.nulls == "error" and line["rows"] > line[f"n{j}"]:
            raise BadInput(
                f"Values are missing (null or NaN): field {name!r} of the structs in column {column!r} in "
                f'{several(line["rows"] - line[f"n{j}"], "row", "rows")}. Say nulls="drop" to leave such rows out, or '
                'nulls="key" to let missing be a value; if the explainer left these features out, write 0, or JSON '
                "texts without them."
            )
    numbers = {name: _float(value[name]).coalesce(literal(float("nan"))) for name in fields}
    return _unpacked(source, column, numbers, dict.fromkeys(fields, 0), "structs")


def _of_keys(source: LogSource, column: str, options: AuditOptions) -> PlainColumns:
    """The features of a column of maps from texts to numbers, or of JSON objects of numbers.

    Features of the log that this one is compared with come first; others in the order of the rows if that is the same
    in all of them, else by name: of two features that are equally important, the first has the higher rank, which must
    not depend on the order in which a row was written.
    """
    import ibis

    value, kind, first = source.table[column], source.table[column].type(), options.features
    maps = kind.is_map()
    if maps and not (kind.key_type.is_string() and _is_number(kind.value_type)):
        raise WrongType(f"Column {column!r} holds {kind}: importances are maps from names of features to numbers.")
    lists = value.keys() if maps else call("json_keys", value, "array<string>")
    rows = source.table.select(value=value, names=lists)
    rows = rows.filter(rows["value"].notnull())
    twice = rows["names"].length() != rows["names"].unique().length()
    example = (rows["names"].join(", ") if maps else rows["value"]).min(where=twice)
    line = fetch_line(rows.aggregate(n=rows.count(), twice=twice.sum(), example=example))
    if line["twice"]:  # readers disagree on which of them counts
        raise BadInput(
            f"Column {column!r} holds objects with a key twice in {several(line['twice'], 'row', 'rows')}, such as "
            f"{_shortened(line['example'])}: write every feature once."
        )
    single = rows.select(name=rows["names"].unnest())
    lines = fetch(single.group_by("name").aggregate(n=single.count()).limit(_MOST_KEYS + 1)).to_pylist()
    present = {each["name"]: each["n"] for each in lines}
    _refuse_many(len(present), column)
    orders = fetch(rows.select("names").distinct().limit(2)).column("names").to_pylist()
    order = orders[0] if len(orders) == 1 else sorted(present)
    absent = {name: line["n"] - present.get(name, 0) for name in dict.fromkeys((*first, *order))}
    if maps:
        nan, null = literal(float("nan")), ibis.null("float64")
        numbers = {name: ibis.ifelse(value.contains(name), _float(value[name]).coalesce(nan), null) for name in absent}
        found = _unpacked(source, column, numbers, absent, "maps")
    else:
        members = _checked_members(source.table, column, list(absent))
        held = _worked_out(source, source.table.mutate(**{_MEMBERS: members}))
        numbers = {name: held.table[_MEMBERS][j] for j, name in enumerate(absent)}
        found = _unpacked(held, column, numbers, absent, "JSON objects")
        found = found._replace(source=_worked_out(found.source, found.source.table.drop(_MEMBERS)))
        held.table.get_backend().raw_sql(f"DROP TABLE {held.table.op().name}")
    ranked = any(step.orders_features for step in steps(options.discretizer))
    if ranked and not first and len(orders) > 1 and len(order) > 1:
        note = "rows write their features in different orders: they were put in the order of their names, which "
        notes = (*found.source.notes, note + "decides between features of equal size")
        found = found._replace(source=replace(found.source, notes=notes))
    return found


def _worked_out(source: LogSource, table: Table) -> LogSource:
    """The log as this table of the DuckDB of our own that reads it, worked out once: each question would anew."""
    from ibis.util import gen_name

    with clear_errors("Unpacking the explanations with duckdb"):
        backend, name = table.get_backend(), gen_name("faithscope_log")
        backend.raw_sql(f'CREATE TEMP TABLE "{name}" AS {backend.compile(table)}')
        return replace(source, table=backend.table(name, database=("temp", "main")))


def _is_number(kind: Any) -> bool:
    return bool(kind.is_numeric() or kind.is_boolean())


def _float(value: Expression) -> Expression:
    return (as_number(value) if value.type().is_boolean() else value).cast("float64")


def _refuse_many(width: int, column: str) -> None:
    if not width:
        raise BadInput(f"No row of column {column!r} names a feature: every object is empty.")
    if width > _MOST_KEYS:
        raise BadInput(
            f"Column {column!r} has more than {_MOST_KEYS:,} different keys, and each would be a feature: pass "
            "kind='words' to compare the sets of keys alone, or write the log with fewer features."
        )


def _checked_members(table: Table, column: str, names: Sequence[str]) -> Expression:
    """The members of objects under these keys, as lists of JSON texts; null for a key that an object does not have.

    Raises if one is neither a number nor null, or a whole number that no float64 holds.
    """
    import ibis

    text = table[column]
    pointers = ibis.array(["/" + name.replace("~", "~0").replace("/", "~1") for name in names])
    members = call("json_extract", text, "array<json>", pointers)
    rows = table.select(
        text=text,
        place=ibis.range(len(names)).unnest(),
        kind=call("json_type", text, "array<string>", pointers).unnest(),
        member=members.unnest(),
    )
    rows = rows.filter(rows["kind"].notnull() & (rows["kind"] != "NULL"))
    whole = rows["kind"].isin(["BIGINT", "UBIGINT"])
    large = ibis.ifelse(whole, rows["member"].cast("float64").abs(), literal(0.0)) >= literal(float(_EXACT))
    rows = rows.mutate(large=ibis.ifelse(rows["kind"].isin(sorted(_NUMBERS)), large, False))
    odd = rows.filter(~rows["kind"].isin(sorted(_NUMBERS)) | rows["large"])
    lines = fetch(odd.group_by(["place", "kind"]).aggregate(n=odd.count(), example=odd["text"].min())).to_pylist()
    for line in sorted(lines, key=lambda line: (line["place"], line["kind"])):
        kind = line["kind"]
        what = "whole numbers of 2**53 or more" if kind in _NUMBERS else _WORDS.get(kind, kind.lower())
        raise BadInput(
            f"Importances are numbers; key {names[line['place']]!r} of column {column!r} holds {what} in "
            f"{several(line['n'], 'row', 'rows')}, such as {_shortened(line['example'])}: write a number, leave the "
            "key out, which counts 0, or pass kind='keys' to compare the texts as they stand."
        )
    return members


def _unpacked(
    source: LogSource, column: str, values: Mapping[str, Expression], absent: Mapping[str, int], what: str
) -> PlainColumns:
    """The log with a column of floats per feature; a value that is null in a row that is not counts 0."""
    import ibis

    names, taken = tuple(values), source.columns
    columns = tuple(f"{column}[{name!r}]" for name in names)
    folded = [name.casefold() for name in (*columns, *taken)]
    if len(set(folded)) < len(folded):  # engines may not tell names apart that differ in case alone
        start = next(k for k in range(len(taken) + 1) if not any(name.startswith(f"{column}[{k},") for name in taken))
        columns = tuple(f"{column}[{start}, {j}]" for j in range(len(names)))
    nothing, zero, null = source.table[column].isnull(), literal(0.0), ibis.null("float64")
    numbers = [
        ibis.ifelse(nothing, null, ibis.ifelse(value.isnull(), zero, _float(value))) for value in values.values()
    ]
    table = source.table.mutate(**dict(zip(columns, numbers, strict=True))).drop(column)
    notes = [f"explanations were read from {what} in column {column!r}: {several(len(absent), 'feature', 'features')}"]
    lacking = [f"{name!r} in {several(rows, 'row', 'rows')}" for name, rows in absent.items() if rows]
    if lacking:
        more = f" and {len(lacking) - _NAMED} more" if len(lacking) > _NAMED else ""
        notes.append(f"a feature that an explanation leaves out counts 0: {', '.join(lacking[:_NAMED])}{more}")
    source = replace(source, table=table, notes=(*source.notes, *notes))
    return PlainColumns(source, columns, "importances", names, what != "structs")


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


def _code_lists(plain: PlainColumns) -> PlainColumns:
    """All codes of a row, in several columns, in lists or joined in one text, as one list without empty ones."""
    import ibis

    source, columns = plain.source, plain.columns
    table, schema, alone = source.table, source.table.schema(), len(columns) == 1
    # DuckDB gives a column of nothing but nulls in a frame a type of its own.
    held = [name for name in columns if not (schema[name].is_null() or 'kind="NULL"' in str(schema[name]))]
    if not held:
        raise BadInput(f"No row has a code in {', '.join(columns[:8])}: name columns that hold codes.")
    for name in held:
        _refuse_other_codes(table, name, alone)
    name, notes = columns[0], source.notes
    value = table[name]
    if not alone:
        if not any(schema[each].is_string() for each in held):  # 0 and 1 mark who has a code, and are none
            numbers = [nan_as_null(table[each]).cast("float64") for each in held]
            ends = {f"low{j}": each.min() for j, each in enumerate(numbers)}
            ends |= {f"high{j}": each.max() for j, each in enumerate(numbers)}
            known = [end for end in fetch_line(table.aggregate(**ends)).values() if end is not None]
            if known and (min(known), max(known)) == (0, 1):
                raise BadInput(LOOK_LIKE_MARKS)
        lists = ibis.array([_code(table[each]) for each in held])
        name = next(name for j in count(1) if (name := "codes" if j == 1 else f"codes_{j}") not in source.columns)
    elif value.type().is_array():
        lists = ibis.ifelse(value.isnull(), ibis.literal([], "array<string>"), value.map(_code))
    else:
        separator = None
        if value.type().is_string():
            question = {f"s{j}": value.contains(each).sum() for j, each in enumerate(SEPARATORS)}
            line = fetch_line(table.aggregate(**question))
            separator = next((each for j, each in enumerate(SEPARATORS) if line[f"s{j}"]), None)
        if separator is None:
            lists = ibis.array([_code(value)])
        else:  # Spark would read a bar as a pattern; no text holds a mark that comes before its separator
            lists = value.coalesce("").replace(separator, SEPARATORS[0]).split(SEPARATORS[0]).map(_code)
            notes = (*notes, f"codes were read from texts in column {name!r}, split at {separator!r}")
    table = table.mutate(**{name: lists.filter(lambda code: code.notnull() & (code != ""))})
    table = table.drop(*(each for each in columns if each != name))
    return PlainColumns(replace(source, table=table, cells=None, notes=notes), (name,), "codes")


def _code(value: Expression) -> Expression:
    """One code as a text without blanks around it; null or empty if there is none."""
    import ibis

    if value.type().is_string():
        text = value.strip()
        return ibis.ifelse(text.re_search(_WHOLE), text.substr(0, text.length() - 2), text)
    whole = value if value.type().is_integer() else nan_as_null(value).cast("int64")
    return whole.cast("string")


def _refuse_other_codes(table: Table, column: str, alone: bool) -> None:
    """Raise if a column holds no codes: neither texts nor whole numbers that can be told from others."""
    import ibis

    kind = table[column].type()
    held = kind.value_type if kind.is_array() and alone else kind
    fractions = held.is_floating() or held.is_decimal()
    if not (held.is_string() or held.is_integer() or fractions):
        lists = "" if alone or not kind.is_array() else ", and lists of codes sit in one column"
        raise WrongType(
            f"A code is a text or a whole number{lists}; column {column!r} holds {kind}: name other columns, or write "
            "the codes as texts."
        )
    if not fractions:
        return
    table = table.select(code=table[column].unnest() if kind.is_array() else table[column])
    size = nan_as_null(table["code"]).cast("float64").abs()
    small = size <= literal(float(_EXACT))  # beyond it no integer holds the floor
    floor = ibis.ifelse(small, size, literal(0.0)).floor().cast("float64")
    odd = ~small | (size != floor)
    line = fetch_line(table.aggregate(n=as_number(odd.coalesce(False)).sum(), example=table["code"].min(where=odd)))
    if line["n"]:
        raise BadInput(
            f"A code that is a number is a whole one; column {column!r} holds "
            f"{several(line['n'], 'other', 'others')}, such as {line['example']:g}: write the codes as texts."
        )
