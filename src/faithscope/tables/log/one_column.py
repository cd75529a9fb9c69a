"""An explanation that sits in one column, whatever holds it there, in the columns that the kinds of a log have."""

from dataclasses import replace

from faithscope.errors import BadInput
from faithscope.explanations.base import several
from faithscope.tables.engine.answers import fetch
from faithscope.tables.engine.expressions import call
from faithscope.tables.log.codes import code_lists
from faithscope.tables.log.discretizers import reads_texts
from faithscope.tables.log.features import PlainColumns, features_of, field_names
from faithscope.tables.log.json_column import as_list, in_duckdb, is_json, json_form
from faithscope.tables.options import AuditOptions
from faithscope.tables.sources.source import LogSource

_AS_IT_IS = ("keys", "reasons", "rules", "counterfactuals")
_SETS = ("words", "prototypes", "codes")
_COPIED = "JSON is taken apart by DuckDB: the log was copied into one of our own, in memory and temporary files"


def plain_columns(source: LogSource, columns: tuple[str, ...], options: AuditOptions) -> PlainColumns:
    """The explanation in plain columns: one per feature if it is an object of numbers, lists if it is a list."""
    if options.kind == "codes":
        return _codes(source, columns, options)
    return _plain_columns(source, columns, options)


def _codes(source: LogSource, columns: tuple[str, ...], options: AuditOptions) -> PlainColumns:
    """Codes as one column of lists, whatever held them."""
    plain = _plain_columns(source, columns, options)
    lists, column, notes = code_lists(plain.source, plain.columns)
    return replace(plain, source=lists, columns=(column,), wanted="codes", notes=(*plain.notes, *notes))


def _plain_columns(source: LogSource, columns: tuple[str, ...], options: AuditOptions) -> PlainColumns:
    wanted = options.kind or ("reasons" if reads_texts(options.discretizer) else None)
    as_given = PlainColumns(source, columns, wanted)
    if len(columns) > 1 or wanted in _AS_IT_IS:
        return as_given
    column, source = columns[0], _with_objects(source, columns[0])
    kind = source.table.schema()[column]
    if kind.is_struct() or kind.is_map():
        if wanted in (None, "importances"):
            return features_of(source, column, "structs" if kind.is_struct() else "maps", options)
        value = source.table[column]
        lists = source.table.mutate(**{column: field_names(value) if kind.is_struct() else value.keys()})
        return PlainColumns(replace(source, table=lists), columns, wanted)
    if (column == "rule" and wanted is None) or not is_json(source, column):
        return as_given
    return _from_json(source, column, options)


def _with_objects(source: LogSource, column: str) -> LogSource:
    """The log with the objects of JSON lines, which are read as maps of JSON, as JSON."""
    kind = source.table.schema()[column]
    if not (kind.is_map() and kind.value_type.is_json()):
        return source
    return replace(source, table=source.table.mutate(**{column: call("to_json", source.table[column], "json")}))


def _from_json(source: LogSource, column: str, options: AuditOptions) -> PlainColumns:
    wanted, texts = options.kind, in_duckdb(source, column)
    form = json_form(texts, column, wanted)
    if form in ("keys", "rules"):
        return PlainColumns(source if form == "keys" else texts, (column,), form if form == "rules" else wanted)
    if form == "objects" and wanted not in _SETS:
        plain = features_of(texts, column, form, options)
    else:
        chosen = wanted or ("words" if form == "words" else "importances")
        what = "keys of JSON objects" if form == "objects" else "JSON lists"
        note = f"explanations were read from {what} in column {column!r}"
        plain = PlainColumns(as_list(texts, column, form, wanted), (column,), chosen, notes=(note,))
    here = texts.table.get_backend() is source.table.get_backend()
    return plain if here else replace(plain, notes=(*plain.notes, _COPIED))


def list_width(source: LogSource, column: str) -> int:
    """How many numbers every list of a column holds."""
    table = source.table.select(n=source.table[column].length())
    table = table.filter(table["n"].notnull())
    lines = fetch(table.group_by("n").aggregate(rows=table.count())).to_pylist()
    widths = {int(line["n"]): int(line["rows"]) for line in lines}
    if len(widths) != 1 or 0 in widths:
        raise _ragged(column, widths)
    return next(iter(widths))


def _ragged(column: str, widths: dict[int, int]) -> BadInput:
    if not any(widths):
        return BadInput(f"Column {column!r} holds no list with a number in it: name another column.")
    usual = max(widths, key=lambda width: (widths[width], width))
    other = min(set(widths) - {usual}, key=lambda width: (-widths[width], width))
    return BadInput(
        f"Column {column!r} holds lists of {several(usual, 'number', 'numbers')} in {widths[usual]:,} rows, but of "
        f"{other:,} in {widths[other]:,}: importances have one number for every feature, the same in every row."
    )
