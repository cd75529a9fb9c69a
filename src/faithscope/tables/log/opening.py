"""From a caller's words to a log that can be counted: columns found, kinds known, missing values dealt with."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from faithscope.discretizers import Discretizer, Floor, Original, Truncate
from faithscope.errors import BadInput, WrongType
from faithscope.explanations.arrow.tables import Settings, understood
from faithscope.explanations.conditions.grammar import parse_rule
from faithscope.inputs.arrays import to_items
from faithscope.tables.engine.calls import fetch
from faithscope.tables.engine.missing import Nulls, Scan, check_nulls, refuse_missing, scan
from faithscope.tables.engine.showing import refuse_nested, shown
from faithscope.tables.log.columns import Names, one_column, several_columns
from faithscope.tables.log.discretizers import to_numbers
from faithscope.tables.log.kinds import Kind, Numbers, Pairs, Texts, kind_by_columns, kind_in_log
from faithscope.tables.log.naming import id_columns, refuse_ids
from faithscope.tables.log.rows import Log
from faithscope.tables.log.streaming import Stream, split, steps
from faithscope.tables.sources.source import Source, list_width, unpacked

_EXACT = 2**53  # beyond it two integers may share one float64


def open_log(
    source: Source,
    prediction: str | None,
    explanation: Names | None,
    kind: str | None,
    discretizer: Discretizer | None,
    nulls: Nulls,
    ids: Names | None = None,
    carried: Sequence[str] = (),
) -> tuple[Log, Scan]:
    """The log ready to be counted, and what a first pass over it found; `carried` are other columns asked for."""
    check_nulls(nulls)
    chosen = Original() if discretizer is None else discretizer
    if not isinstance(chosen, Discretizer):
        raise WrongType(
            f"discretizer={discretizer!r} cannot be applied in an engine: pass an object such as fs.Sign()."
        )
    label = _prediction(source, prediction)
    identifiers = id_columns(source.columns, ids)
    refuse_ids(identifiers, "prediction", (label,))
    schema = source.table.schema()
    refuse_nested(schema, (label,), "a prediction is one label a row")
    refuse_nested(schema, identifiers, "what identifies a row is one value")
    if hidden := [name for name in identifiers if shown(name, schema[name], "") is None]:
        raise WrongType(f"Column {hidden[0]!r} cannot be shown as a text, so it cannot name rows: name another for id.")
    with understood():
        named = None if explanation is None else _explanation(source, explanation, label, identifiers)
        settings = _own_settings(source, named)
        log = None if settings is None else _own_log(source, label, settings, chosen, nulls)
    if log is None:
        log = _foreign_log(source, label, named or (), kind, chosen, nulls)
    refuse_ids(identifiers, "explanation", (*log.columns, *log.originals))
    log.source.refuse_wide((*log.used, *carried))
    log = replace(log, ids=identifiers)
    share = split(chosen, log.kind)
    if share is not None:
        return _streamed(log, *share, carried)
    found = scan(log.source.table, log.used)
    refuse_missing(found, nulls)
    _refuse_large(log, found)
    return replace(log, kind=_bounded(log, found), nan=found.nan), found


def _streamed(log: Log, first: Discretizer, rest: tuple[Any, ...], carried: Sequence[str]) -> tuple[Log, Scan]:
    """The log with its explanations discretized here: `first` in the engine, the rest in NumPy."""
    numbers = isinstance(log.kind, Numbers)
    seen = scan(log.source.table, (log.prediction,) if numbers else log.used)
    log = replace(log, nan=seen.nan, kind=log.kind if numbers else _bounded(log, seen))
    kind = log.kind if isinstance(log.kind, Numbers) else to_numbers(rest[0], log.values(first, {})[1])
    lists = numbers and len(log.columns) < kind.width
    features = tuple(f"{log.columns[0]}[{j}]" for j in range(kind.width)) if lists else log.columns
    read = partial(_read, log, first)
    stream = Stream(read, kind, features, rest, log.nulls == "drop", log.source.scratch)
    stream.table((log.prediction, *carried))
    holes = {name: stream.missing[name] for name in features if name in stream.missing} if numbers else {}
    found = replace(seen, missing={**seen.missing, **holes})
    refuse_missing(found, log.nulls)
    _refuse_large(log, found)
    return replace(log, stream=stream), found


def _read(log: Log, first: Discretizer, beside: Mapping[str, str]) -> Any:
    return log.values(first, beside)[0]


def _bounded(log: Log, found: Scan) -> Kind:
    """The kind with the largest size its values have, where that is known, and whether some are missing."""
    if isinstance(log.kind, Pairs) and log.nulls == "key":
        pairs = zip(log.columns, log.originals, strict=True)
        return replace(log.kind, holes=tuple(new in found.missing or old in found.missing for new, old in pairs))
    if not isinstance(log.kind, Numbers):
        return log.kind
    largest = max(found.largest.get(name, math.inf) for name in log.columns)
    holes = any(name in found.missing for name in log.columns)
    return replace(log.kind, bound=largest if math.isfinite(largest) else None, holes=holes)


def _prediction(source: Source, name: str | None) -> str:
    if name is None:
        name = (source.settings or {}).get("prediction")
    if name is None:
        raise BadInput(f"Say which column is the prediction. The log has: {', '.join(source.columns[:12])}.")
    return one_column(source.columns, name, "prediction")


def _explanation(source: Source, names: Names, prediction: str, ids: Sequence[str]) -> tuple[str, ...]:
    """The columns that names or globs say; a glob never means the prediction, nor what identifies rows."""
    exact = [names] if isinstance(names, str) else to_items(names, "explanation, the names of columns,")
    refuse_ids(ids, "explanation", [name for name in exact if isinstance(name, str)])
    hidden = {prediction, *ids}.difference(name for name in exact if isinstance(name, str))
    return tuple(several_columns([name for name in source.columns if name not in hidden], exact, "explanation"))


def _own_settings(source: Source, explanation: tuple[str, ...] | None) -> Settings | None:
    """What the log says about its explanations, where those are the ones meant."""
    settings = source.settings
    if explanation is None:
        if settings is None:
            raise BadInput(
                f"Say which columns are the explanation, e.g. 'phi_*'. The log has: {', '.join(source.columns[:12])}."
            )
        return settings
    if settings is None:
        return None
    own = settings["columns"]
    points = settings["points"]["columns"] if settings["kind"] == "Counterfactuals" else own
    return settings if list(explanation) in (own, points) else None


def _own_log(source: Source, label: str, settings: Settings, discretizer: Discretizer, nulls: Nulls) -> Log:
    if settings["kind"] != "Counterfactuals":
        columns = _there(source, settings["columns"])
        return Log(source, label, columns, kind_in_log(settings), discretizer, nulls)
    points, originals = (_there(source, settings[name]["columns"]) for name in ("points", "originals"))
    names = tuple(settings["names"] or [column.removeprefix("cf_") for column in points])
    kind = _pairs(source, names, points, originals, named=settings["names"] is not None)
    return Log(source, label, points, kind, discretizer, nulls, originals)


def _there(source: Source, columns: Sequence[str]) -> tuple[str, ...]:
    """The columns that a log of faithscope's own says its explanations are in."""
    lost = [name for name in columns if name not in source.columns]
    if lost:
        raise BadInput(
            f"The log says that its explanations are in column {lost[0]!r}, which it no longer has: write it again "
            "with all its columns, or say which columns are the explanation."
        )
    return tuple(columns)


def _foreign_log(
    source: Source, label: str, columns: tuple[str, ...], kind: str | None, discretizer: Discretizer, nulls: Nulls
) -> Log:
    numbers = source.as_numbers(columns)
    schema = numbers.table.schema()
    if kind == "counterfactuals" or (kind is None and all(name.startswith("cf_") for name in columns)):
        names = tuple(name.removeprefix("cf_") for name in columns)
        originals = tuple(_original(source, name) for name in names)
        source = source.as_numbers((*columns, *originals))
        pairs = _pairs(source, names, columns, originals, named=True)
        return Log(source, label, columns, pairs, discretizer, nulls, originals)
    found = kind_by_columns(schema, columns, kind, discretized=not isinstance(discretizer, Original))
    source = numbers if isinstance(found, Numbers) else source
    if isinstance(found, Numbers) and len(columns) == 1 and schema[columns[0]].is_array():
        width = list_width(source, columns[0])
        found = Numbers(tuple(f"x{j}" for j in range(width)), named=False)
        if split(discretizer, found) is None:
            source, columns = unpacked(source, columns[0], width)
    if isinstance(found, Texts):
        features, numeric = _rule_features(source, columns[0])
        source, found = source.as_numbers(numeric), Texts(features)
    return Log(source, label, columns, found, discretizer, nulls)


def _rule_features(source: Source, column: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The features that rules speak of, in the order of the log's columns, then others; and those that are numbers."""
    texts = fetch(source.table.select(rule=source.table[column]).distinct()).column("rule").to_pylist()
    conditions = [one for text in texts if text is not None for one in parse_rule(text)]
    named = {feature for feature, _, _ in conditions}
    texts_of = {feature for feature, _, value in conditions if any(isinstance(one, str) for one in _values(value))}
    ordered = (*(name for name in source.columns if name in named), *sorted(named - set(source.columns)))
    return ordered, tuple(name for name in ordered if name not in texts_of)


def _values(value: Any) -> Any:
    return value if isinstance(value, list | tuple | set | frozenset) else (value,)


def _original(source: Source, feature: str) -> str:
    for name in (f"original_{feature}", feature):
        if name in source.columns:
            return name
    raise BadInput(
        f"Counterfactuals need the rows they belong to: the log has cf_{feature} but neither original_{feature} nor "
        f"{feature}. Pass kind='keys' to compare the counterfactuals alone."
    )


def _pairs(
    source: Source, names: tuple[str, ...], points: tuple[str, ...], originals: tuple[str, ...], *, named: bool
) -> Kind:
    schema = source.table.schema()
    numeric = tuple(all(schema[name].is_numeric() for name in pair) for pair in zip(points, originals, strict=True))
    return Pairs(names, numeric, named)


def _refuse_large(log: Log, found: Scan) -> None:
    """Raise where numbers are too large to be compared or cut exactly."""
    if not isinstance(log.kind, Numbers | Pairs):
        return
    largest = max((found.largest.get(name, 0.0) for name in (*log.columns, *log.originals)), default=0.0)
    schema = log.source.table.schema()
    whole = [name for name in log.columns if schema[name].is_integer() and found.largest.get(name, 0.0) > _EXACT]
    if whole:
        raise BadInput(f"Column {whole[0]!r} holds integers beyond 2**53, which float64 cannot tell apart: scale them.")
    for step in steps(log.discretizer):
        if isinstance(step, Floor | Truncate) and 2 * largest * 10.0**step.decimals == float("inf"):
            raise BadInput(f"Importances as large as {largest:g} have no {step.decimals} decimals to keep: scale them.")
