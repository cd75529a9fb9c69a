"""Importances of all features in one column, as one column per feature: JSON objects, structs, maps and lists.

A key that a row leaves out counts 0, as the dictionaries of LIME leave features out; a note says in how many rows. A
struct has all its fields, so that one which is null is a missing value.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from faithscope.discretizers.base import steps
from faithscope.errors import BadInput, WrongType
from faithscope.explanations.base import several
from faithscope.tables.engine.answers import fetch, fetch_line
from faithscope.tables.engine.expressions import (
    NUMBERS,
    Expression,
    Table,
    as_number,
    keys,
    literal,
    member_types,
    members,
)
from faithscope.tables.log.json_column import shortened, type_word
from faithscope.tables.options import AuditOptions
from faithscope.tables.sources.copies import worked_out
from faithscope.tables.sources.source import LogSource

_MEMBERS = "faithscope_members"
_MOST_KEYS = 1_000
_NAMED = 3  # features that a note names
_EXACT = 2**53  # beyond it two integers may share one float64


@dataclass(frozen=True)
class PlainColumns:
    """A log whose explanation is in plain columns.

    Attributes
    ----------
    source : LogSource
    columns : tuple of str
        The columns of the explanation.
    wanted : str or None
        The kind that the caller or the content says it is; None if types and names must.
    names : tuple of str
        The names of the features, if the column said them.
    notes : tuple of str
        How the column was read.
    sparse : bool
        Whether a feature that an explanation does not name counts 0.
    """

    source: LogSource
    columns: tuple[str, ...]
    wanted: str | None
    names: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    sparse: bool = False


@dataclass(frozen=True)
class _Keys:
    """The keys of all rows in order, in how many rows each is left out, and whether they had to be sorted."""

    absent: Mapping[str, int]
    sorted: bool

    @property
    def names(self) -> tuple[str, ...]:
        """The keys."""
        return tuple(self.absent)

    def notes(self, discretizer: Any) -> tuple[str, ...]:
        """That features are in the order of their names, if that may decide between equal ones."""
        ranked = any(step.orders_features for step in steps(discretizer))
        note = "rows write their features in different orders: they were put in the order of their names, which "
        return (note + "decides between features of equal size",) if ranked and self.sorted else ()


def features_of(source: LogSource, column: str, form: str, options: AuditOptions) -> PlainColumns:
    """The features of a column of structs, of maps from texts to numbers, or of JSON objects of numbers."""
    if form == "structs":
        return _of_structs(source, column, options)
    features, named = (_of_maps if form == "maps" else _of_objects)(source, column, options.features)
    return replace(features, notes=(*features.notes, *named.notes(options.discretizer)))


def field_names(value: Expression) -> Expression:
    """The names of the fields of a struct that are not null, as a list."""
    import ibis

    names = [ibis.ifelse(value[name].isnull(), ibis.null("string"), name) for name in value.type().fields]
    lists = ibis.array(names).filter(lambda name: name.notnull())
    return ibis.ifelse(value.isnull(), ibis.null("array<string>"), lists)


def _of_structs(source: LogSource, column: str, options: AuditOptions) -> PlainColumns:
    value = source.table[column]
    fields = value.type().fields
    _refuse_other({name: kind for name, kind in fields.items() if not _is_number(kind)}, column)
    _refuse_many(len(fields), column)
    present = {f"n{j}": value[name].count() for j, name in enumerate(fields)}
    line = fetch_line(source.table.aggregate(rows=value.count(), **present))
    empty = {name: line["rows"] - line[f"n{j}"] for j, name in enumerate(fields) if line["rows"] > line[f"n{j}"]}
    if empty and options.nulls == "error":
        raise _empty_fields(column, empty)
    nan = literal(float("nan"))
    numbers = {name: _float(value[name]).coalesce(nan) for name in fields}
    return _unpacked(source, column, numbers, dict.fromkeys(fields, 0), "structs")


def _empty_fields(column: str, empty: Mapping[str, int]) -> BadInput:
    """The error that fields of structs are null, and nobody said what that means."""
    name, rows = next(iter(empty.items()))
    return BadInput(
        f"Values are missing (null or NaN): field {name!r} of the structs in column {column!r} in "
        f'{several(rows, "row", "rows")}. Say nulls="drop" to leave such rows out, or nulls="key" to let missing be a '
        "value; if the explainer left these features out, write 0, or JSON texts without them."
    )


def _of_maps(source: LogSource, column: str, first: Sequence[str]) -> tuple[PlainColumns, _Keys]:
    value = source.table[column]
    kind = value.type()
    if not (kind.key_type.is_string() and _is_number(kind.value_type)):
        raise WrongType(f"Column {column!r} holds {kind}: importances are maps from names of features to numbers.")
    named = _keys(source.table, column, value.keys(), first)
    import ibis

    null = ibis.null("float64")
    numbers = {
        name: ibis.ifelse(value.contains(name), _float(value[name]).coalesce(literal(float("nan"))), null)
        for name in named.names
    }
    return _unpacked(source, column, numbers, named.absent, "maps"), named


def _of_objects(source: LogSource, column: str, first: Sequence[str]) -> tuple[PlainColumns, _Keys]:
    text = source.table[column]
    named = _keys(source.table, column, keys(text), first)
    _refuse_no_numbers(source.table, column, named.names)
    lists = worked_out(source, source.table.mutate(**{_MEMBERS: members(text, named.names)}))
    values = {name: lists.table[_MEMBERS][j] for j, name in enumerate(named.names)}
    features = _unpacked(lists, column, values, named.absent, "JSON objects")
    numbers = worked_out(features.source, features.source.table.drop(_MEMBERS))
    lists.table.get_backend().raw_sql(f"DROP TABLE {lists.table.op().name}")
    return replace(features, source=numbers), named


def _is_number(kind: Any) -> bool:
    return bool(kind.is_numeric() or kind.is_boolean())


def _float(value: Expression) -> Expression:
    return (as_number(value) if value.type().is_boolean() else value).cast("float64")


def _refuse_other(kinds: Mapping[str, Any], column: str) -> None:
    for name, kind in kinds.items():
        raise WrongType(
            f"Importances are numbers; field {name!r} of column {column!r} holds {kind}: write a number, or leave it "
            "out."
        )


def _refuse_many(width: int, column: str) -> None:
    if not width:
        raise BadInput(f"No row of column {column!r} names a feature: every object is empty.")
    if width > _MOST_KEYS:
        raise BadInput(
            f"Column {column!r} has more than {_MOST_KEYS:,} different keys, and each would be a feature: pass "
            "kind='words' to compare the sets of keys alone, or write the log with fewer features."
        )


def _keys(table: Table, column: str, lists: Expression, first: Sequence[str]) -> _Keys:
    """The keys of all rows, and how many rows lack each.

    Those of the log that this one is compared with come first; others in the order of the rows if that is the same in
    all of them, else by name: of two features that are equally important, the first has the higher rank, which must
    not depend on the order in which a row was written. Raises if a row has a key twice.
    """
    rows = table.select(value=table[column], names=lists)
    rows = rows.filter(rows["value"].notnull())
    twice = rows["names"].length() != rows["names"].unique().length()
    example = (rows["value"] if rows["value"].type().is_string() else rows["names"].join(", ")).min(where=twice)
    line = fetch_line(rows.aggregate(n=rows.count(), twice=twice.sum(), example=example))
    if line["twice"]:  # readers disagree on which of them counts
        raise BadInput(
            f"Column {column!r} holds objects with a key twice in {several(line['twice'], 'row', 'rows')}, such as "
            f"{shortened(line['example'])}: write every feature once."
        )
    single = rows.select(name=rows["names"].unnest())
    lines = fetch(single.group_by("name").aggregate(n=single.count()).limit(_MOST_KEYS + 1)).to_pylist()
    present = {line["name"]: line["n"] for line in lines}
    _refuse_many(len(present), column)
    orders = fetch(rows.select("names").distinct().limit(2)).column("names").to_pylist()
    order = orders[0] if len(orders) == 1 else sorted(present)
    absent = {name: line["n"] - present.get(name, 0) for name in dict.fromkeys((*first, *order))}
    return _Keys(absent, len(orders) > 1 and len(order) > 1 and not first)


def _refuse_no_numbers(table: Table, column: str, names: Sequence[str]) -> None:
    """Raise if a member of an object is neither a number nor null, or a whole number that no float64 holds."""
    import ibis

    text = table[column]
    rows = table.select(
        text=text,
        place=ibis.range(len(names)).unnest(),
        kind=member_types(text, names).unnest(),
        member=members(text, names).unnest(),
    )
    rows = rows.filter(rows["kind"].notnull() & (rows["kind"] != "NULL"))
    whole = rows["kind"].isin(["BIGINT", "UBIGINT"])
    large = ibis.ifelse(whole, rows["member"].cast("float64").abs(), literal(0.0)) >= literal(float(_EXACT))
    rows = rows.mutate(large=ibis.ifelse(rows["kind"].isin(sorted(NUMBERS)), large, False))
    odd = rows.filter(~rows["kind"].isin(sorted(NUMBERS)) | rows["large"])
    lines = fetch(odd.group_by(["place", "kind"]).aggregate(n=odd.count(), example=odd["text"].min())).to_pylist()
    for line in sorted(lines, key=lambda line: (line["place"], line["kind"])):
        what = "whole numbers of 2**53 or more" if line["kind"] in NUMBERS else type_word(line["kind"])
        raise BadInput(
            f"Importances are numbers; key {names[line['place']]!r} of column {column!r} holds {what} in "
            f"{several(line['n'], 'row', 'rows')}, such as {shortened(line['example'])}: write a number, leave the key "
            "out, which counts 0, or pass kind='keys' to compare the texts as they stand."
        )


def _unpacked(
    source: LogSource, column: str, values: Mapping[str, Expression], absent: Mapping[str, int], what: str
) -> PlainColumns:
    """The log with a column of floats per feature; a value that is null in a row that is not counts 0."""
    import ibis

    nothing = source.table[column].isnull()
    zero, null = literal(0.0), ibis.null("float64")
    numbers = [
        ibis.ifelse(nothing, null, ibis.ifelse(value.isnull(), zero, _float(value))) for value in values.values()
    ]
    columns = _column_names(column, tuple(values), source.columns)
    table = source.table.mutate(**dict(zip(columns, numbers, strict=True))).drop(column)
    source = replace(source, table=table)
    sparse = what != "structs"
    return PlainColumns(source, columns, "importances", tuple(values), _notes(column, absent, what), sparse)


def _column_names(column: str, names: tuple[str, ...], taken: Sequence[str]) -> tuple[str, ...]:
    """A name for the column of each feature; engines may not tell names apart that differ in case alone."""
    readable = tuple(f"{column}[{name!r}]" for name in names)
    folded = [name.casefold() for name in (*readable, *taken)]
    if len(set(folded)) == len(folded):
        return readable
    start = next(k for k in range(len(taken) + 1) if not any(name.startswith(f"{column}[{k},") for name in taken))
    return tuple(f"{column}[{start}, {j}]" for j in range(len(names)))


def _notes(column: str, absent: Mapping[str, int], what: str) -> tuple[str, ...]:
    read = f"explanations were read from {what} in column {column!r}: {several(len(absent), 'feature', 'features')}"
    lacking = {name: count for name, count in absent.items() if count}
    if not lacking:
        return (read,)
    named = ", ".join(f"{name!r} in {several(count, 'row', 'rows')}" for name, count in list(lacking.items())[:_NAMED])
    more = f" and {len(lacking) - _NAMED} more" if len(lacking) > _NAMED else ""
    return read, f"a feature that an explanation leaves out counts 0: {named}{more}"
