"""Explanations as an Arrow table, and back without loss. The columns are those of the log format.

A form of columns holds what rows have; what all rows share (`Explanations._settings`: names, a metric, the points of
prototypes) is JSON in the schema's metadata, beside the kind.
"""

import base64
import datetime
import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, suppress
from decimal import Decimal
from math import prod
from typing import Any, NamedTuple

import numpy as np

from faithscope.errors import BadInput, WrongType
from faithscope.explanations.base import Explanations, claims
from faithscope.explanations.codes import Codes
from faithscope.explanations.concepts import Concepts
from faithscope.explanations.conditions.conjunctions import number_conjunctions
from faithscope.explanations.counterfactuals import Counterfactuals
from faithscope.explanations.distances.metrics import Gower
from faithscope.explanations.distances.points import Points
from faithscope.explanations.highlights import Highlights, to_vocabulary
from faithscope.explanations.importances import Importances, Rankings
from faithscope.explanations.keys import Plain, Records
from faithscope.explanations.prototypes import Prototypes
from faithscope.explanations.reasons import Reasons
from faithscope.explanations.rule_text import parse_rule, write_rule
from faithscope.explanations.rules import Rules
from faithscope.explanations.tokenizers import TOKENIZERS
from faithscope.inputs.array_types import Array
from faithscope.inputs.arrays import to_objects
from faithscope.inputs.checks import one_sentence
from faithscope.inputs.columns import default_names
from faithscope.inputs.dates import Moment
from faithscope.runtime.memory import FEWER_ROWS, need
from faithscope.words import numbered

METADATA = b"faithscope"
_VERSION = 1

Settings = dict[str, Any]
Columns = dict[str, Any]  # Arrow arrays by name


class Form(NamedTuple):
    """How what rows have is stored: from explanations to columns and settings, and from these to attributes."""

    write: Callable[[Any], tuple[Columns, Settings]]
    read: Callable[[Columns, Settings], dict[str, Any]]


def to_arrow(explanations: Explanations) -> Any:
    """The explanations as a ``pyarrow.Table``, from which `from_arrow` makes the same again.

    Importances are columns ``phi_<feature>``, rankings ``rank_<j>``, rules ``rule`` (the rule grammar), highlights
    ``words`` (lists), codes ``codes`` (lists), plain keys ``explanation``, reasons ``reason`` (as compared) and
    ``reason_as_written``, records ``explanation_<name>``, prototypes ``prototypes`` (lists of indices), counterfactuals
    ``cf_<feature>`` and ``original_<feature>``. What explanations claim of themselves are columns ``claimed_<name>``.
    """
    import pyarrow as pa

    form = _FORMS.get(type(explanations))
    if form is None:
        raise WrongType(
            f"{type(explanations).__name__} cannot be written to a table: use a kind that faithscope defines."
        )
    try:
        columns, settings = form.write(explanations)
    except UnicodeEncodeError:
        raise BadInput("A word or a code holds a lone surrogate, which no table can store: clean the texts.") from None
    metadata = {"version": _VERSION, "kind": type(explanations).__name__, "columns": list(columns), **settings}
    for name in explanations._settings:
        value = getattr(explanations, name)
        metadata[name] = _WRITE[name](value) if name in _WRITE and value is not None else value
    if explanations.remarks:
        metadata["remarks"] = explanations.remarks
    if explanations.claimed is not None:
        metadata |= {"claims": list(explanations.claimed.dtype.names or ()), "claim": explanations.claim}
        columns |= {f"claimed_{name}": pa.array(explanations.claimed[name]) for name in metadata["claims"]}
    return pa.table(columns).replace_schema_metadata({METADATA: json.dumps(metadata).encode()})


def from_arrow(table: Any, *, tokenizer: Callable[[str], Iterable[str]] | None = None) -> Explanations:
    """The explanations that `to_arrow` wrote; other columns of the table are left alone.

    Parameters
    ----------
    table : pyarrow.Table
    tokenizer : callable, optional
        The tokenizer of highlights that have their own, since a function cannot be stored.
    """
    settings = read_settings(table)
    if settings is None:
        raise BadInput("This table does not say what its explanations are, as tables that to_arrow writes do.")
    with understood():
        kind = next((kind for kind in _FORMS if kind.__name__ == settings["kind"]), None)
        if kind is None or settings["version"] > _VERSION:
            raise BadInput(
                f"These explanations ({settings['kind']}) were written by a newer version: upgrade faithscope."
            )
        held = _FORMS[kind].read(_validated(table, settings["columns"]), settings)
        for name in kind._settings:
            if settings.get(name) is not None:
                held[name] = _READ.get(name, _tupled)(settings[name])
        if "tokenizer" in held:
            held["tokenizer"] = tokenizer or TOKENIZERS.get(held["tokenizer"])
            if held["tokenizer"] is None:
                raise BadInput("These highlights have their own tokenizer, which no table can store: pass tokenizer=.")
        shape = held.get("shape")
        if shape is not None and prod(shape) != held["values"].shape[1]:
            raise ValueError(f"maps of shape {shape} do not have {held['values'].shape[1]} values")
        if settings.get("claims"):
            names = list(map(str, settings["claims"]))
            columns = _validated(table, [f"claimed_{name}" for name in names]).values()
            held["claimed"] = claims({name: column.to_numpy() for name, column in zip(names, columns, strict=True)})
        remarks, claim = tuple(map(str, settings.get("remarks", ()))), str(settings.get("claim", ""))
        made: Explanations = kind._of(**held, remarks=remarks, claim=claim)
        return made


def _validated(table: Any, names: Sequence[str]) -> Columns:
    """Columns by name, checked not to point outside their memory: a damaged file would crash the process."""
    columns = {name: table.column(name) for name in names}
    need(8 * table.num_rows * len(columns), f"{table.num_rows:,} explanations", FEWER_ROWS)  # of no bytes in a file
    for column in columns.values():
        column.validate(full=True)
    return columns


def read_settings(table: Any) -> Settings | None:
    """What a table says about its explanations; None if it says nothing."""
    metadata = (table.schema.metadata or {}).get(METADATA)
    if metadata is None:
        return None
    with understood():
        settings: Settings = json.loads(metadata)
        if not isinstance(settings["kind"], str) or not isinstance(settings["version"], int):
            raise TypeError("kind is a text and version a number")
        return settings


def understood() -> AbstractContextManager[None]:
    """Raise one sentence if a table's metadata was damaged, or written by another program."""
    import pyarrow as pa

    said = "What this table says about its explanations cannot be read ({why}): it was damaged, or not written by "
    return one_sentence(f"{said}faithscope. Write it again with to_arrow.", pa.ArrowException)


# -- what all rows share, by attribute --------------------------------------------------------------------------------


def _write_points(points: Points) -> Settings:
    """Points that all rows share, as one Arrow file inside the metadata."""
    import pyarrow as pa

    columns, settings = _write_matrix("point_", points.rows, points.names)
    table, sink = pa.table(columns), pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return {
        "table": base64.b64encode(sink.getvalue()).decode(),
        "rows": settings,
        "names": points.names,
        "metric": _write_metric(points.metric),
    }


def _read_points(settings: Settings) -> Points:
    import pyarrow as pa

    table = pa.ipc.open_stream(base64.b64decode(settings["table"])).read_all()
    rows = _read_matrix(_validated(table, table.column_names), settings["rows"])
    return Points(rows, read_metric(settings["metric"]), settings["names"] and tuple(settings["names"]))


def _write_metric(metric: Any) -> Any:
    if isinstance(metric, Gower):
        return {"gower": list(metric.ranges)}
    if not isinstance(metric, str):
        raise WrongType(f"The metric {metric!r} is a function, which cannot be stored: use a metric that has a name.")
    return metric


def read_metric(written: Any) -> Any:
    """The metric that a table's metadata names, or holds."""
    return Gower(tuple(written["gower"])) if isinstance(written, dict) else written


def _tupled(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


# From an attribute to JSON, and from JSON to what it was, if that is not the same.
_WRITE: dict[str, Callable[[Any], Any]] = {
    "metric": _write_metric,
    "points": _write_points,
    "categories": lambda given: {feature: list(texts.items()) for feature, texts in given.items()},  # keys are texts
    "tokenizer": lambda used: next((name for name, known in TOKENIZERS.items() if known is used), "own"),
}
_READ: dict[str, Callable[[Any], Any]] = {
    "metric": read_metric,
    "points": _read_points,
    "categories": lambda written: {feature: dict(pairs) for feature, pairs in written.items()},
    "vocabulary": to_vocabulary,
}


# -- what rows have, by kind ------------------------------------------------------------------------------------------


def _write_rows(
    prefix: str, columns: Iterable[Iterable[Any]], names: Iterable[str], dtype: Any = object
) -> tuple[Columns, Settings]:
    """Columns by name, and which of them are JSON text."""
    pairs = list(map(write_column, columns))
    chosen = numbered((f"{prefix}{name}" for name in names), "_")
    settings = {"columns": chosen, "json": [as_json for _, as_json in pairs], "dtype": str(np.dtype(dtype))}
    return {name: array for name, (array, _) in zip(chosen, pairs, strict=True)}, settings


def _write_matrix(prefix: str, rows: Array, names: Sequence[str] | None) -> tuple[Columns, Settings]:
    return _write_rows(prefix, rows.T, names or default_names(rows.shape[1]), rows.dtype)


def _read_columns(columns: Columns, settings: Settings) -> list[Array]:
    """The columns that were written, of a NumPy type that holds numbers, dates or objects.

    None of a type whose size a damaged file could choose.
    """
    dtype = str(settings.get("dtype", "object"))
    if np.dtype(dtype).kind not in "biufMmO":
        raise TypeError(f"no explanation is of type {dtype}")
    names = settings["columns"]
    if dtype == "object":
        pairs = zip(names, np.broadcast_to(settings.get("json", False), len(names)).tolist(), strict=True)
        return [to_objects(read_column(columns[name], is_json)) for name, is_json in pairs]
    return [columns[name].to_numpy().astype(dtype) for name in names]


def _read_matrix(columns: Columns, settings: Settings) -> Array:
    values = _read_columns(columns, settings)
    return np.column_stack(values) if values else np.empty((0, 0), str(settings["dtype"]))


def _read_values(columns: Columns, settings: Settings) -> dict[str, Any]:
    return {"values": _read_matrix(columns, settings), "left": settings["left"]}  # in every file, for names need it


def _write_plain(given: Plain) -> tuple[Columns, Settings]:
    columns, settings = _write_rows("", [given.values], ["explanation"], given.values.dtype)
    return columns, settings | {"json": settings["json"][0]}


def _write_records(given: Records) -> tuple[Columns, Settings]:
    values = list(zip(*given.values, strict=True)) or [()] * len(given.names)
    return _write_rows("explanation_", values, given.names)


def _write_reasons(given: Reasons) -> tuple[Columns, Settings]:
    """What is compared first, since an audit compares it; then the texts as written, and what they are about."""
    names = ["reason", "reason_as_written", "reason_about"]
    columns = [given.folded, given.texts, *([] if given.inputs is None else [given.inputs])]
    return _write_rows("", columns, names[: len(columns)])


def _read_reasons(columns: Columns, settings: Settings) -> dict[str, Any]:
    folded, texts, *about = _read_columns(columns, settings)
    if any(not isinstance(text, str) for column in (folded, texts) for text in column):
        raise TypeError("reasons are texts")
    return {"texts": texts, "folded": folded, "about": about[0] if about else np.full(len(folded), None, object)}


def _lists(values: Iterable[Any], item: str) -> Any:
    """An Arrow array of lists of texts ("string") or of whole numbers ("int64")."""
    import pyarrow as pa

    return pa.array(list(map(list, values)), pa.list_(pa.type_for_alias(item)))


def _sets(name: str, item: str) -> Form:
    """Tuples of words, or of indices, as lists."""

    def read(columns: Columns, settings: Settings) -> dict[str, Any]:
        distinct, codes = number_conjunctions(list(map(tuple, columns[name].to_pylist())))
        return {"distinct": distinct, "codes": codes}

    return Form(lambda given: ({name: _lists(given.distinct, item).take(given.codes)}, {}), read)


def _write_rules(given: Rules) -> tuple[Columns, Settings]:
    import pyarrow as pa

    texts = pa.array([write_rule(given.triples(each)) for each in given.distinct], pa.string())
    return {"rule": texts.take(given.codes)}, {}


def _read_rules(columns: Columns, settings: Settings) -> dict[str, Any]:
    whole = columns["rule"].combine_chunks()
    coded = (whole.chunk(0) if hasattr(whole, "chunk") else whole).dictionary_encode()
    rules = Rules.from_conditions(list(map(parse_rule, coded.dictionary.to_pylist())), settings["features"])
    codes = rules.codes[coded.indices.to_numpy().astype(np.int64)]
    return {"codes": codes, "distinct": rules.distinct, "categories": {}}


def _write_pairs(given: Counterfactuals) -> tuple[Columns, Settings]:
    points, new = _write_matrix("cf_", given.points, given.names)
    originals, old = _write_matrix("original_", given.originals, given.names)
    return points | originals, {"points": new, "originals": old}


_FORMS: dict[type[Any], Form] = {
    Importances: Form(lambda given: _write_matrix("phi_", given.values, given.names), _read_values),
    Rankings: Form(
        lambda given: _write_matrix("rank_", given.values, list(map(str, range(given.values.shape[1])))), _read_values
    ),
    Plain: Form(_write_plain, lambda columns, settings: {"values": _read_columns(columns, settings)[0]}),
    Codes: Form(
        lambda given: ({"codes": _lists(given.values, "string")}, {}),
        lambda columns, _: {"values": Codes(to_objects(columns["codes"].to_pylist())).values},
    ),
    Records: Form(
        _write_records,
        lambda columns, settings: {"values": to_objects(list(zip(*_read_columns(columns, settings), strict=True)))},
    ),
    Reasons: Form(_write_reasons, _read_reasons),
    Rules: Form(_write_rules, _read_rules),
    **dict.fromkeys((Highlights, Concepts), _sets("words", "string")),
    Prototypes: _sets("prototypes", "int64"),
    Counterfactuals: Form(
        _write_pairs,
        lambda columns, settings: {name: _read_matrix(columns, settings[name]) for name in ("points", "originals")},
    ),
}


# -- one column: numbers and texts as they are, else JSON text; equal values have equal texts -------------------------

_SAME_TEXT = 1e15  # whole floats below it read like integers, so they may become them


def write_column(values: Iterable[Any]) -> tuple[Any, bool]:
    """The values as an Arrow array, and whether they are JSON text there."""
    import pyarrow as pa

    if isinstance(values, pa.Array):
        return values, False
    if isinstance(values, np.ndarray) and values.dtype != object:
        half = values.dtype == np.float16  # few readers know it
        return pa.array(values.astype(np.float32) if half else values), False
    items = [str(item) if type(item) is np.str_ else item for item in values]
    types = {type(item) for item in items if item is not None}
    if len(types) < 2 and types <= {str, int, float, bool, Decimal}:
        with suppress(pa.ArrowException, OverflowError, UnicodeEncodeError):  # too many digits, or a lone surrogate
            array = pa.array(items, None if types else pa.string())
            if not pa.types.is_decimal256(array.type):  # which engines do not have
                return array, False
    return pa.array([json.dumps(_to_json(item), separators=(",", ":")) for item in items], pa.string()), True


def read_column(column: Any, as_json: bool) -> list[Any]:
    """The values of an Arrow column as Python objects."""
    values = column.to_pylist()
    return [_from_json(json.loads(text)) for text in values] if as_json else values


def _to_json(item: Any) -> Any:
    """A value as JSON; a type that JSON lacks becomes an object with one entry, named after the type."""
    item = item.item() if isinstance(item, np.generic) else item
    if item is None or type(item) in (str, bool, int):
        return item
    if isinstance(item, float) and item.is_integer() and abs(item) < _SAME_TEXT:
        return int(item)
    if isinstance(item, tuple):
        return list(map(_to_json, item))
    for name, (kind, write, _) in _TYPES.items():
        if isinstance(item, kind):
            return {name: write(item)}
    raise WrongType(
        f"An explanation of type {type(item).__name__} ({item!r}) cannot be written to a table: "
        "use numbers, texts, dates, or tuples and frozensets of them."
    )


def _from_json(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_from_json, value))
    if not isinstance(value, dict):
        return value
    ((name, inner),) = value.items()
    return _TYPES[name][2](inner)


def _iso(item: Any) -> str:
    if getattr(item, "nanosecond", 0):
        raise WrongType(f"{item!r} has nanoseconds, which a table of dates cannot keep: round it or use its text.")
    return str(item.isoformat())


# By name: a type that JSON lacks, what is written of it, and how it is read; the first that a value is of counts.
_TYPES: dict[str, tuple[Any, Callable[[Any], Any], Callable[[Any], Any]]] = {
    "float": (float, float.hex, float.fromhex),
    "set": (
        frozenset,
        lambda item: sorted(map(_to_json, item), key=lambda part: json.dumps(part, sort_keys=True)),
        lambda inner: frozenset(map(_from_json, inner)),
    ),
    "bytes": (bytes, lambda item: base64.b64encode(item).decode(), base64.b64decode),
    "datetime": (datetime.datetime, _iso, datetime.datetime.fromisoformat),
    "date": (datetime.date, _iso, datetime.date.fromisoformat),
    "time": (datetime.time, _iso, datetime.time.fromisoformat),
    "moment": (Moment, str, Moment.parse),
    "timedelta": (
        datetime.timedelta,
        lambda item: [item.days, item.seconds, item.microseconds],
        lambda inner: datetime.timedelta(*inner),
    ),
}
