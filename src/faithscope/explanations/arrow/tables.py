"""Explanations as an Arrow table, and back without loss. The columns are those of the log format.

A form of columns holds what rows have; what all rows share (`Explanations._settings`: names, a metric, the points of
prototypes) is JSON in the schema's metadata, beside the kind.
"""

import base64
import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from math import prod
from typing import Any, NamedTuple

import numpy as np

from faithscope.errors import BadInput, WrongType
from faithscope.explanations.arrow.columns import distinct_columns, read_array, read_column, write_column
from faithscope.explanations.base import Explanations
from faithscope.explanations.codes import Codes
from faithscope.explanations.concepts import Concepts
from faithscope.explanations.conditions.conjunctions import number_conjunctions
from faithscope.explanations.counterfactuals import Balls, Counterfactuals
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
from faithscope.runtime.memory import FEWER_ROWS, need

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
        if value is not None or name not in _ABSENT:
            metadata[name] = _SHARED[name].write(value)
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
        return _from_arrow(table, settings, tokenizer)


def _from_arrow(table: Any, settings: Settings, tokenizer: Callable[[str], Iterable[str]] | None) -> Explanations:
    kind = next((kind for kind in _FORMS if kind.__name__ == settings["kind"]), None)
    if kind is None or settings["version"] > _VERSION:
        raise BadInput(f"These explanations ({settings['kind']}) were written by a newer version: upgrade faithscope.")
    held = _FORMS[kind].read(_validated(table, settings["columns"]), settings)
    held |= {name: _SHARED[name].read(settings[name]) for name in kind._settings if name in settings}
    if "tokenizer" in held:
        if held["tokenizer"] is None and tokenizer is None:
            raise BadInput("These highlights have their own tokenizer, which a table cannot store: pass tokenizer=.")
        held["tokenizer"] = held["tokenizer"] if tokenizer is None else tokenizer
    shape = held.get("shape")
    if shape is not None and prod(shape) != held["values"].shape[1]:
        raise ValueError(f"maps of shape {shape} do not have {held['values'].shape[1]} values")
    claimed, names = None, settings.get("claims")
    if names:
        claims = _validated(table, [f"claimed_{name}" for name in names])
        claimed = np.empty(table.num_rows, [(str(name), np.float64) for name in names])
        for name, column in zip(names, claims.values(), strict=True):
            claimed[name] = column.to_numpy()
    remarks, claim = tuple(map(str, settings.get("remarks", ()))), str(settings.get("claim", ""))
    empty: Explanations = object.__new__(kind)
    return empty._with(**held, remarks=remarks, claimed=claimed, claim=claim)


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


class _Shared(NamedTuple):
    """How an attribute becomes JSON, and again what it was."""

    write: Callable[[Any], Any]
    read: Callable[[Any], Any]


def _same(value: Any) -> Any:
    return value


def _names(value: Any) -> tuple[str, ...] | None:
    return None if value is None else tuple(value)


def _write_points(points: Points) -> Settings:
    """Points that all rows share, as one Arrow file inside the metadata."""
    import pyarrow as pa

    columns, settings = _write_rows("point_", points.rows, points.names)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, pa.schema([(name, array.type) for name, array in columns.items()])) as stream:
        stream.write_table(pa.table(columns))
    table = base64.b64encode(sink.getvalue()).decode()
    return {"table": table, "rows": settings, "names": points.names, "metric": _write_metric(points.metric)}


def _read_points(settings: Settings) -> Points:
    import pyarrow as pa

    table = pa.ipc.open_stream(base64.b64decode(settings["table"])).read_all()
    rows = _read_rows(_validated(table, table.column_names), settings["rows"])
    return Points(rows, _read_metric(settings["metric"]), _names(settings["names"]))


def _write_metric(metric: Any) -> Any:
    if isinstance(metric, Gower):
        return {"gower": list(metric.ranges)}
    if not isinstance(metric, str):
        raise WrongType(f"The metric {metric!r} is a function, which cannot be stored: use a metric that has a name.")
    return metric


def _read_metric(written: Any) -> Any:
    return Gower(tuple(written["gower"])) if isinstance(written, dict) else written


def _pairs_of(categories: Any) -> dict[str, list[tuple[int, str]]]:
    """Codes with their texts as pairs: keys of JSON are texts."""
    return {feature: [(int(code), text) for code, text in texts.items()] for feature, texts in categories.items()}


_ABSENT = ("shape", "label")  # which are left out if there is none
_SHARED = {
    **dict.fromkeys(("names", "features"), _Shared(_same, _names)),
    **dict.fromkeys(("form", "doubt"), _Shared(_same, str)),
    **dict.fromkeys(("asked", "saved"), _Shared(_same, int)),
    "error": _Shared(_same, float),
    "label": _Shared(_same, str),
    "shape": _Shared(_same, lambda shape: tuple(map(int, shape))),
    "dates": _Shared(_same, tuple),
    "metric": _Shared(_write_metric, _read_metric),
    "points": _Shared(
        lambda points: None if points is None else _write_points(points),
        lambda written: None if written is None else _read_points(written),
    ),
    **dict.fromkeys(("tree", "positional"), _Shared(_same, _same)),
    "categories": _Shared(_pairs_of, lambda written: {feature: dict(pairs) for feature, pairs in written.items()}),
    "vocabulary": _Shared(lambda known: None if known is None else dict(known), to_vocabulary),
    "tokenizer": _Shared(
        lambda used: next((name for name, known in TOKENIZERS.items() if known is used), "own"),
        lambda name: None if name == "own" else TOKENIZERS[name],
    ),
}


# -- what rows have, by kind ------------------------------------------------------------------------------------------


def _written(prefix: str, names: Sequence[str], values: Sequence[Iterable[Any]]) -> tuple[Columns, list[bool]]:
    """Columns by name, and which of them are JSON text."""
    pairs = [write_column(column) for column in values]
    chosen = distinct_columns(f"{prefix}{name}" for name in names)
    return dict(zip(chosen, (array for array, _ in pairs), strict=True)), [as_json for _, as_json in pairs]


def _dtype(settings: Settings) -> str:
    """The NumPy type that was written: numbers, dates or objects; none whose size a damaged file could choose."""
    if np.dtype(settings["dtype"]).kind not in "biufMmO":
        raise TypeError(f"no explanation is of type {settings['dtype']}")
    return str(settings["dtype"])


def _write_numbers(given: Importances) -> tuple[Columns, Settings]:
    ranks = isinstance(given, Rankings)
    names = list(map(str, range(given.values.shape[1]))) if ranks or given.names is None else given.names
    prefix = "rank_" if ranks else "phi_" if given.names else "phi_x"
    return _written(prefix, names, list(given.values.T))[0], {"dtype": str(given.values.dtype)}


def _read_numbers(columns: Columns, settings: Settings) -> dict[str, Any]:
    values, kept = [column.to_numpy() for column in columns.values()], _dtype(settings)
    return {"values": np.column_stack(values).astype(kept) if values else np.empty((0, 0), kept)}


def _write_plain(given: Plain) -> tuple[Columns, Settings]:
    array, as_json = write_column(given.values)
    return {"explanation": array}, {"json": as_json, "dtype": str(given.values.dtype)}


def _write_codes(given: Codes) -> tuple[Columns, Settings]:
    import pyarrow as pa

    return {"codes": pa.array(list(map(list, given.values)), pa.list_(pa.string()))}, {}


def _write_records(given: Records) -> tuple[Columns, Settings]:
    values = list(zip(*given.values, strict=True)) or [()] * len(given.names)
    columns, as_json = _written("explanation_", given.names, values)
    return columns, {"json": as_json}


def _read_records(columns: Columns, settings: Settings) -> dict[str, Any]:
    values = [read_column(column, j) for column, j in zip(columns.values(), settings["json"], strict=True)]
    return {"values": to_objects(list(zip(*values, strict=True)))}


def _write_reasons(given: Reasons) -> tuple[Columns, Settings]:
    """What is compared first, since an audit compares it; then the texts as written, and what they are about."""
    names = ["reason", "reason_as_written", "reason_about"][: 2 if given.inputs is None else 3]
    columns, as_json = _written("", names, [given.folded, given.texts, given.about][: len(names)])
    return columns, {"json": as_json}


def _read_reasons(columns: Columns, settings: Settings) -> dict[str, Any]:
    pairs = zip(columns.values(), settings["json"], strict=True)
    folded, texts, *about = (read_array(column, as_json, "object") for column, as_json in pairs)
    if any(not isinstance(text, str) for column in (folded, texts) for text in column):
        raise TypeError("reasons are texts")
    return {"texts": texts, "folded": folded, "about": about[0] if about else np.full(len(folded), None, object)}


def _write_rules(given: Rules) -> tuple[Columns, Settings]:
    import pyarrow as pa

    first = {int(code): row for row, code in reversed(list(enumerate(given.codes)))}
    texts = [write_rule(given.item(first[code])) if code in first else None for code in range(len(given.distinct))]
    return {"rule": pa.array(texts, pa.string()).take(pa.array(given.codes))}, {}


def _read_rules(columns: Columns, settings: Settings) -> dict[str, Any]:
    whole = columns["rule"].combine_chunks()
    coded = (whole.chunk(0) if hasattr(whole, "chunk") else whole).dictionary_encode()
    rules = Rules.from_conditions(list(map(parse_rule, coded.dictionary.to_pylist())), settings["features"])
    codes = rules.codes[coded.indices.to_numpy().astype(np.int64)]
    return {"codes": codes, "distinct": rules.distinct, "categories": {}}


def _sets(name: str) -> Form:
    """Tuples of words, or of indices, as lists."""

    def write(given: Any) -> tuple[Columns, Settings]:
        import pyarrow as pa

        kind = pa.list_(pa.string() if name == "words" else pa.int64())
        return {name: pa.array(list(map(list, given.distinct)), kind).take(pa.array(given.codes))}, {}

    def read(columns: Columns, settings: Settings) -> dict[str, Any]:
        distinct, codes = number_conjunctions(list(map(tuple, columns[name].to_pylist())))
        return {"codes": codes, "distinct": distinct}

    return Form(write, read)


def _cells(**prefixes: str) -> Form:
    """Attributes that are rows of cells, each with the prefix of its columns; and radii, as they are."""

    def write(given: Any) -> tuple[Columns, Settings]:
        columns: Columns = {}
        settings: Settings = {}
        for name, prefix in prefixes.items():
            written, settings[name] = _write_rows(prefix, getattr(given, name), given.names)
            columns |= written
        return columns | ({"radius": write_column(given.radii)[0]} if isinstance(given, Balls) else {}), settings

    def read(columns: Columns, settings: Settings) -> dict[str, Any]:
        radii = {"radii": columns["radius"].to_numpy()} if "radius" in columns else {}
        return {name: _read_rows(columns, settings[name]) for name in prefixes} | radii

    return Form(write, read)


def _write_rows(prefix: str, rows: Array, names: Sequence[str] | None) -> tuple[Columns, Settings]:
    chosen = names or [f"x{j}" for j in range(rows.shape[1])]
    columns, as_json = _written(prefix, chosen, list(rows.T))
    return columns, {"columns": list(columns), "json": as_json, "dtype": str(rows.dtype)}


def _read_rows(columns: Columns, settings: Settings) -> Array:
    pairs = zip(settings["columns"], settings["json"], strict=True)
    kept = _dtype(settings)
    values = [read_array(columns[name], as_json, kept) for name, as_json in pairs]
    rows = np.empty((len(values[0]) if values else 0, len(values)), kept)
    for j, column in enumerate(values):
        rows[:, j] = column
    return rows


_FORMS: dict[type[Any], Form] = {
    **dict.fromkeys((Importances, Rankings), Form(_write_numbers, _read_numbers)),
    Plain: Form(
        _write_plain,
        lambda columns, settings: {"values": read_array(columns["explanation"], settings["json"], _dtype(settings))},
    ),
    Codes: Form(
        _write_codes, lambda columns, settings: {"values": Codes(to_objects(columns["codes"].to_pylist())).values}
    ),
    Records: Form(_write_records, _read_records),
    Reasons: Form(_write_reasons, _read_reasons),
    Rules: Form(_write_rules, _read_rules),
    **dict.fromkeys((Highlights, Concepts), _sets("words")),
    Prototypes: _sets("prototypes"),
    Counterfactuals: _cells(points="cf_", originals="original_"),
    Balls: _cells(centers="center_"),
}
