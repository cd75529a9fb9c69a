"""Explanations as an Arrow table, and back without loss. The columns are those of the log format.

What all rows share (the kind, names, a metric, the points of prototypes) is JSON in the schema's metadata.
"""

import base64
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput, FaithscopeError, WrongType
from faithscope.explanations.arrow.columns import distinct_columns, read_array, read_column, write_column
from faithscope.explanations.base import Explanations
from faithscope.explanations.codes import Codes
from faithscope.explanations.concepts import Concepts
from faithscope.explanations.conditions.conjunctions import number_conjunctions
from faithscope.explanations.counterfactuals import Balls, Counterfactuals
from faithscope.explanations.distances.metrics import Gower
from faithscope.explanations.distances.points import Points
from faithscope.explanations.highlights import Highlights
from faithscope.explanations.importances import Importances, Rankings
from faithscope.explanations.keys import Plain, Records
from faithscope.explanations.prototypes import Prototypes
from faithscope.explanations.reasons import Reasons
from faithscope.explanations.rule_text import parse_rule, write_rule
from faithscope.explanations.rules import Rules
from faithscope.explanations.tokenizers import TOKENIZERS
from faithscope.inputs.arrays import to_objects
from faithscope.runtime.memory import FEWER_ROWS, need

METADATA = b"faithscope"
_VERSION = 1

Settings = dict[str, Any]
Columns = dict[str, Any]  # Arrow arrays by name


def to_arrow(explanations: Explanations) -> Any:
    """The explanations as a ``pyarrow.Table``, from which `from_arrow` makes the same again.

    Importances are columns ``phi_<feature>``, rankings ``rank_<j>``, rules ``rule`` (the rule grammar), highlights
    ``words`` (lists), codes ``codes`` (lists), plain keys ``explanation``, reasons ``reason`` (as compared) and
    ``reason_as_written``, records ``explanation_<name>``, prototypes ``prototypes`` (lists of indices), counterfactuals
    ``cf_<feature>`` and ``original_<feature>``. What explanations claim of themselves are columns ``claimed_<name>``.
    """
    import pyarrow as pa

    write = next((write for kind, (write, _) in _KINDS.items() if type(explanations) is kind), None)
    if write is None:
        raise WrongType(
            f"{type(explanations).__name__} cannot be written to a table: use a kind that faithscope defines."
        )
    columns, settings = write(explanations)
    metadata = {"version": _VERSION, "kind": type(explanations).__name__, "columns": list(columns), **settings}
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
    kind = next((kind for kind in _KINDS if kind.__name__ == settings["kind"]), None)
    if kind is None or settings["version"] > _VERSION:
        raise BadInput(f"These explanations ({settings['kind']}) were written by a newer version: upgrade faithscope.")
    columns = _validated(table, settings["columns"])
    explanations = _KINDS[kind][1](columns, settings)._with(remarks=tuple(map(str, settings.get("remarks", ()))))
    claim = str(settings.get("claim", ""))
    explanations = explanations._with(claimed=_claims(table, settings.get("claims")), claim=claim)
    return _with_tokenizer(explanations, settings, tokenizer) if isinstance(explanations, Highlights) else explanations


def _claims(table: Any, names: Sequence[str] | None) -> NDArray[Any] | None:
    """What explanations claim of themselves, from the columns ``claimed_<name>``."""
    if not names:
        return None
    columns = _validated(table, [f"claimed_{name}" for name in names])
    claimed = np.empty(table.num_rows, [(str(name), np.float64) for name in names])
    for name, column in zip(names, columns.values(), strict=True):
        claimed[name] = column.to_numpy()
    return claimed


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


@contextmanager
def understood() -> Iterator[None]:
    """Raise one sentence if a table's metadata was damaged, or written by another program."""
    import pyarrow as pa

    wrong = (
        LookupError,
        TypeError,
        ValueError,
        AttributeError,
        ArithmeticError,
        RecursionError,
        OSError,
        pa.ArrowException,
    )
    try:
        yield
    except FaithscopeError:
        raise
    except wrong as why:
        raise BadInput(
            f"What this table says about its explanations cannot be read ({type(why).__name__}: {why}): it was "
            "damaged, or not written by faithscope. Write it again with to_arrow."
        ) from None


def _written(prefix: str, names: Sequence[str], values: Sequence[Iterable[Any]]) -> tuple[Columns, list[bool]]:
    """Columns by name, and which of them are JSON text."""
    pairs = [write_column(column) for column in values]
    chosen = distinct_columns(f"{prefix}{name}" for name in names)
    return dict(zip(chosen, (array for array, _ in pairs), strict=True)), [as_json for _, as_json in pairs]


def _write_importances(given: Importances) -> tuple[Columns, Settings]:
    width = given.values.shape[1]
    ranks = isinstance(given, Rankings)
    names = list(map(str, range(width))) if ranks or given.names is None else given.names
    prefix = "rank_" if ranks else "phi_" if given.names else "phi_x"
    columns, _ = _written(prefix, names, list(given.values.T))
    settings = {"names": given.names, "form": given.form, "dtype": str(given.values.dtype)}
    known = {"error": given.error or None, "shape": given.shape, "doubt": given.doubt or None}
    known |= {"asked": given.asked or None, "saved": given.saved or None, "label": given.label}
    return columns, settings | {name: value for name, value in known.items() if value is not None}


def _read_importances(columns: Columns, settings: Settings) -> Importances:
    values = [column.to_numpy() for column in columns.values()]
    kept = _dtype(settings)
    matrix = np.column_stack(values).astype(kept) if values else np.empty((0, 0), kept)
    kind = Rankings if settings["kind"] == "Rankings" else Importances
    shape = tuple(map(int, settings["shape"])) if "shape" in settings else None
    if shape is not None and prod(shape) != matrix.shape[1]:
        raise ValueError(f"maps of shape {shape} do not have {matrix.shape[1]} values")
    read = kind.made(matrix, _names(settings), settings["form"], float(settings.get("error", 0.0)), shape)
    told = {name: int(settings.get(name, 0)) for name in ("asked", "saved")}
    label = str(settings["label"]) if "label" in settings else None
    return read._with(doubt=str(settings.get("doubt", "")), label=label, **told)


def _dtype(settings: Settings) -> str:
    """The NumPy type that was written: numbers, dates or objects; none whose size a damaged file could choose."""
    if np.dtype(settings["dtype"]).kind not in "biufMmO":
        raise TypeError(f"no explanation is of type {settings['dtype']}")
    return str(settings["dtype"])


def _names(settings: Settings) -> tuple[str, ...] | None:
    return None if settings["names"] is None else tuple(settings["names"])


def _write_plain(given: Plain) -> tuple[Columns, Settings]:
    array, as_json = write_column(given.values)
    return {"explanation": array}, {"json": as_json, "dtype": str(given.values.dtype)}


def _read_plain(columns: Columns, settings: Settings) -> Plain:
    values = read_array(columns["explanation"], settings["json"], _dtype(settings))
    return Plain.__new__(Plain)._with(values=values)


def _write_codes(given: Codes) -> tuple[Columns, Settings]:
    import pyarrow as pa

    try:
        return {"codes": pa.array([list(codes) for codes in given.values], pa.list_(pa.string()))}, {}
    except UnicodeEncodeError:
        raise BadInput("A code holds a lone surrogate, which no table can store: clean the texts.") from None


def _read_codes(columns: Columns, settings: Settings) -> Codes:
    return Codes(to_objects(columns["codes"].to_pylist()))


def _write_reasons(given: Reasons) -> tuple[Columns, Settings]:
    """What is compared first, since an audit compares it; then the texts as written, and what they are about."""
    names = ["reason", "reason_as_written", "reason_about"][: 2 if given.inputs is None else 3]
    columns, as_json = _written("", names, [given.folded, given.texts, given.about][: len(names)])
    return columns, {"json": as_json, "form": given.form}


def _read_reasons(columns: Columns, settings: Settings) -> Reasons:
    pairs = zip(columns.values(), settings["json"], strict=True)
    folded, texts, *about = (read_array(column, as_json, "object") for column, as_json in pairs)
    inputs = about[0] if about else np.full(len(folded), None, object)
    if any(not isinstance(text, str) for column in (folded, texts) for text in column):
        raise TypeError("reasons are texts")
    return Reasons.made(texts, folded, inputs, str(settings["form"]))


def _write_records(given: Records) -> tuple[Columns, Settings]:
    values = list(zip(*given.values, strict=True)) or [()] * len(given.names)
    columns, as_json = _written("explanation_", given.names, values)
    return columns, {"names": given.names, "json": as_json}


def _read_records(columns: Columns, settings: Settings) -> Records:
    values = [read_column(column, j) for column, j in zip(columns.values(), settings["json"], strict=True)]
    rows = to_objects(list(zip(*values, strict=True)))
    return Records.__new__(Records)._with(values=rows, names=_names(settings))


def _write_rules(given: Rules) -> tuple[Columns, Settings]:
    import pyarrow as pa

    first = {int(code): row for row, code in reversed(list(enumerate(given.codes)))}
    texts = [write_rule(given.item(first[code])) if code in first else None for code in range(len(given.distinct))]
    rules = pa.array(texts, pa.string()).take(pa.array(given.codes))
    known = {"features": given.features, "tree": given.tree, "positional": given.positional}
    return {"rule": rules}, known | ({"categories": _category_pairs(given)} if given.categories else {})


def _category_pairs(given: Rules) -> dict[str, list[tuple[int, str]]]:
    """Codes with their texts as pairs: keys of JSON are texts."""
    return {feature: [(int(code), text) for code, text in texts.items()] for feature, texts in given.categories.items()}


def _read_rules(columns: Columns, settings: Settings) -> Rules:
    texts, codes = _coded(columns["rule"])
    rules = Rules.from_conditions([parse_rule(text) for text in texts], settings["features"])
    categories = {feature: dict(pairs) for feature, pairs in settings.get("categories", {}).items()}
    known = {"tree": settings["tree"], "positional": settings["positional"], "categories": categories}
    return rules._with(codes=rules.codes[codes], **known)


def _coded(column: Any) -> tuple[list[Any], NDArray[np.int64]]:
    """The distinct values of a column, and which of them each row has."""
    coded = (
        column.combine_chunks().dictionary_encode() if column.num_chunks != 1 else column.chunk(0).dictionary_encode()
    )
    return coded.dictionary.to_pylist(), coded.indices.to_numpy().astype(np.int64)


def _write_sets(name: str, given: Any, element: str) -> Columns:
    """The tuples of parts as lists."""
    import pyarrow as pa

    kind = pa.list_(pa.string() if element == "string" else pa.int64())
    try:
        return {name: pa.array([list(parts) for parts in given.distinct], kind).take(pa.array(given.codes))}
    except UnicodeEncodeError:
        raise BadInput(
            "A highlighted word holds a lone surrogate, which no table can store: clean the texts."
        ) from None


def _read_sets(column: Any) -> tuple[tuple[Any, ...], NDArray[np.int64]]:
    return number_conjunctions([tuple(parts) for parts in column.to_pylist()])


def _write_highlights(given: Highlights) -> tuple[Columns, Settings]:
    vocabulary = None if given.vocabulary is None else dict(given.vocabulary)
    settings = {"vocabulary": vocabulary, "tokenizer": _tokenizer_name(given)}
    return _write_sets("words", given, "string"), settings


def _read_highlights(columns: Columns, settings: Settings) -> Highlights:
    distinct, codes = _read_sets(columns["words"])
    empty = Highlights([], vocabulary=settings["vocabulary"])
    if settings["kind"] == "Concepts":
        empty = Concepts(np.empty((0, len(settings["vocabulary"]))), list(settings["vocabulary"]))
    return empty._with(codes=codes, distinct=distinct)


def _tokenizer_name(highlights: Highlights) -> str:
    return next((name for name, known in TOKENIZERS.items() if known is highlights.tokenizer), "own")


def _with_tokenizer(
    highlights: Highlights, settings: Mapping[str, Any], tokenizer: Callable[[str], Iterable[str]] | None
) -> Highlights:
    name = settings["tokenizer"]
    if name == "own" and tokenizer is None:
        raise BadInput("These highlights have their own tokenizer, which a table cannot store: pass tokenizer=.")
    return highlights._with(tokenizer=TOKENIZERS[name] if tokenizer is None else tokenizer)


def _write_prototypes(given: Prototypes) -> tuple[Columns, Settings]:
    settings = {"points": None if given.points is None else _write_points(given.points)}
    return _write_sets("prototypes", given, "integer"), settings


def _read_prototypes(columns: Columns, settings: Settings) -> Prototypes:
    distinct, codes = _read_sets(columns["prototypes"])
    points = None if settings["points"] is None else _read_points(settings["points"])
    return Prototypes([])._with(codes=codes, distinct=distinct, points=points)


def _write_rows(prefix: str, rows: NDArray[Any], names: Sequence[str] | None) -> tuple[Columns, Settings]:
    chosen = names or [f"x{j}" for j in range(rows.shape[1])]
    columns, as_json = _written(prefix, chosen, list(rows.T))
    return columns, {"columns": list(columns), "json": as_json, "dtype": str(rows.dtype)}


def _read_rows(columns: Columns, settings: Settings) -> NDArray[Any]:
    pairs = zip(settings["columns"], settings["json"], strict=True)
    kept = _dtype(settings)
    values = [read_array(columns[name], as_json, kept) for name, as_json in pairs]
    rows = np.empty((len(values[0]) if values else 0, len(values)), kept)
    for j, column in enumerate(values):
        rows[:, j] = column
    return rows


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
    return Points(rows, _read_metric(settings["metric"]), _names(settings))


def _write_metric(metric: Any) -> Any:
    if isinstance(metric, Gower):
        return {"gower": list(metric.ranges)}
    if not isinstance(metric, str):
        raise WrongType(f"The metric {metric!r} is a function, which cannot be stored: use a metric that has a name.")
    return metric


def _read_metric(written: Any) -> Any:
    return Gower(tuple(written["gower"])) if isinstance(written, dict) else written


def _write_counterfactuals(given: Counterfactuals) -> tuple[Columns, Settings]:
    points, point_rows = _write_rows("cf_", given.points, given.names)
    originals, original_rows = _write_rows("original_", given.originals, given.names)
    metric = _write_metric(given.metric)
    settings = {
        "points": point_rows,
        "originals": original_rows,
        "names": given.names,
        "metric": metric,
        "dates": given.dates,
    }
    return points | originals, settings


def _read_counterfactuals(columns: Columns, settings: Settings) -> Counterfactuals:
    return Counterfactuals.__new__(Counterfactuals)._with(
        points=_read_rows(columns, settings["points"]),
        originals=_read_rows(columns, settings["originals"]),
        names=_names(settings),
        metric=_read_metric(settings["metric"]),
        dates=tuple(settings.get("dates", ())),
    )


def _write_balls(given: Balls) -> tuple[Columns, Settings]:
    centers, center_rows = _write_rows("center_", given.centers, given.names)
    radius, _ = write_column(given.radii)
    settings = {
        "centers": center_rows,
        "names": given.names,
        "metric": _write_metric(given.metric),
        "dates": given.dates,
    }
    return centers | {"radius": radius}, settings


def _read_balls(columns: Columns, settings: Settings) -> Balls:
    centers = _read_rows(columns, settings["centers"])
    metric, dates = _read_metric(settings["metric"]), tuple(settings.get("dates", ()))
    return Balls(centers, columns["radius"].to_numpy(), metric, _names(settings), dates)


_KINDS: dict[
    type[Any], tuple[Callable[[Any], tuple[Columns, Settings]], Callable[[Columns, Settings], Explanations]]
] = {
    Importances: (_write_importances, _read_importances),
    Rankings: (_write_importances, _read_importances),
    Plain: (_write_plain, _read_plain),
    Codes: (_write_codes, _read_codes),
    Records: (_write_records, _read_records),
    Reasons: (_write_reasons, _read_reasons),
    Rules: (_write_rules, _read_rules),
    Highlights: (_write_highlights, _read_highlights),
    Concepts: (_write_highlights, _read_highlights),
    Prototypes: (_write_prototypes, _read_prototypes),
    Counterfactuals: (_write_counterfactuals, _read_counterfactuals),
    Balls: (_write_balls, _read_balls),
}
