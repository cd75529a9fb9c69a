"""From a caller's words to a log that can be counted: columns chosen, kinds known, missing values dealt with."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from faithscope.discretizers import Discretizer, Floor, Original, Truncate
from faithscope.errors import BadInput, WrongType
from faithscope.explanations.arrow.tables import Settings, understood
from faithscope.explanations.conditions.grammar import parse_rule
from faithscope.tables.engine.answers import fetch
from faithscope.tables.engine.missing import Scan, refuse_missing, scan
from faithscope.tables.engine.protocol import Table
from faithscope.tables.engine.shown_columns import refuse_nested, shown
from faithscope.tables.log.columns import Names, name_list, named_columns, one_column, several_columns
from faithscope.tables.log.discretizers import to_numbers
from faithscope.tables.log.kinds import Kind, NumberColumns, PairColumns, RuleColumn, kind_by_columns, kind_in_log
from faithscope.tables.log.naming import refuse_ids
from faithscope.tables.log.rows import AuditedLog
from faithscope.tables.log.streaming import Stream, split, steps
from faithscope.tables.options import AuditOptions
from faithscope.tables.sources.source import LogSource, list_width, unpacked

_EXACT = 2**53  # beyond it two integers may share one float64


def open_log(source: LogSource, options: AuditOptions, carried: Sequence[str] = ()) -> tuple[AuditedLog, Scan]:
    """The log ready to be counted, and what a first pass over it counted.

    Parameters
    ----------
    carried : sequence of str
        Other columns that will be asked for, such as those of populations.
    """
    label = _prediction(source, options.prediction)
    ids = _ids(source, options.ids, label)
    with understood():
        columns = None if options.explanation is None else _explanation(source, options.explanation, label, ids)
        settings = _own_settings(source, columns)
        log = None if settings is None else _own_log(source, label, settings, options)
    if log is None:
        log = _foreign_log(source, label, columns or (), options)
    refuse_ids(ids, "explanation", (*log.columns, *log.originals))
    log.source.refuse_wide((*log.used, *carried))
    log = replace(log, ids=ids)
    parts = split(options.discretizer, log.kind)
    if parts is not None:
        return _streamed(log, *parts, carried)
    seen = scan(log.source.table, log.used)
    refuse_missing(seen, options.nulls)
    _refuse_large(log, seen)
    return replace(log, kind=_bounded(log, seen), nan=seen.nan), seen


def _streamed(
    log: AuditedLog, first: Discretizer, rest: tuple[Any, ...], carried: Sequence[str]
) -> tuple[AuditedLog, Scan]:
    """The log with its explanations discretized by `first` in the engine and by the rest in NumPy."""
    numbers, nulls = isinstance(log.kind, NumberColumns), log.options.nulls
    seen = scan(log.source.table, (log.prediction,) if numbers else log.used)
    log = replace(log, nan=seen.nan, kind=log.kind if numbers else _bounded(log, seen))
    kind = log.kind if isinstance(log.kind, NumberColumns) else to_numbers(rest[0], log.values(first, {})[1])
    lists = numbers and len(log.columns) < kind.width
    features = tuple(f"{log.columns[0]}[{j}]" for j in range(kind.width)) if lists else log.columns
    stream = Stream(partial(_values, log, first), kind, features, rest, nulls == "drop", log.source.scratch)
    stream.table((log.prediction, *carried))
    holes = {name: stream.missing[name] for name in features if name in stream.missing} if numbers else {}
    seen = replace(seen, missing={**seen.missing, **holes})
    refuse_missing(seen, nulls)
    _refuse_large(log, seen)
    return replace(log, stream=stream), seen


def _values(log: AuditedLog, first: Discretizer, beside: Mapping[str, str]) -> Table:
    return log.values(first, beside)[0]


def _bounded(log: AuditedLog, seen: Scan) -> Kind:
    """The kind with the largest size that its values have, if that is known, and whether some are missing."""
    if isinstance(log.kind, PairColumns) and log.options.nulls == "key":
        pairs = zip(log.columns, log.originals, strict=True)
        return replace(log.kind, holes=tuple(new in seen.missing or old in seen.missing for new, old in pairs))
    if not isinstance(log.kind, NumberColumns):
        return log.kind
    largest = max(seen.largest.get(name, math.inf) for name in log.columns)
    holes = any(name in seen.missing for name in log.columns)
    return replace(log.kind, bound=largest if math.isfinite(largest) else None, holes=holes)


def _prediction(source: LogSource, name: str | None) -> str:
    if name is None:
        name = (source.settings or {}).get("prediction")
    if name is None:
        raise BadInput(f"Say which column is the prediction. The log has: {', '.join(source.columns[:12])}.")
    label = one_column(source.columns, name, "prediction")
    refuse_nested(source.table.schema(), (label,), "a prediction is one label per row")
    return label


def _ids(source: LogSource, names: Names | None, label: str) -> tuple[str, ...]:
    """The columns that identify rows, each once."""
    ids = () if names is None else tuple(dict.fromkeys(named_columns(source.columns, names, "id")))
    refuse_ids(ids, "prediction", (label,))
    schema = source.table.schema()
    refuse_nested(schema, ids, "what identifies a row is one value")
    if hidden := [name for name in ids if shown(name, schema[name]) is None]:
        raise WrongType(f"Column {hidden[0]!r} cannot be shown as a text, so it cannot name rows: name another for id.")
    return ids


def _explanation(source: LogSource, names: Names, prediction: str, ids: Sequence[str]) -> tuple[str, ...]:
    """The columns that names or globs mean; a glob never means the prediction, nor what identifies rows."""
    listed = name_list(names, "explanation")
    exact = [name for name in listed if isinstance(name, str)]
    refuse_ids(ids, "explanation", exact)
    hidden = {prediction, *ids}.difference(exact)
    return tuple(several_columns([name for name in source.columns if name not in hidden], listed, "explanation"))


def _own_settings(source: LogSource, explanation: tuple[str, ...] | None) -> Settings | None:
    """What the log says about its explanations, if those are the columns that are meant."""
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


def _own_log(source: LogSource, label: str, settings: Settings, options: AuditOptions) -> AuditedLog:
    """A log that faithscope wrote, by what it says about itself."""
    if settings["kind"] != "Counterfactuals":
        return AuditedLog(source, options, label, _present(source, settings["columns"]), kind_in_log(settings))
    points, originals = (_present(source, settings[name]["columns"]) for name in ("points", "originals"))
    names = tuple(settings["names"] or [column.removeprefix("cf_") for column in points])
    kind = _pairs(source, names, points, originals, named=settings["names"] is not None)
    return AuditedLog(source, options, label, points, kind, originals)


def _present(source: LogSource, columns: Sequence[str]) -> tuple[str, ...]:
    """The columns in which a log that faithscope wrote says its explanations are, if it still has them."""
    lost = [name for name in columns if name not in source.columns]
    if lost:
        raise BadInput(
            f"The log says that its explanations are in column {lost[0]!r}, which it no longer has: write it again "
            "with all its columns, or say which columns are the explanation."
        )
    return tuple(columns)


def _foreign_log(source: LogSource, label: str, columns: tuple[str, ...], options: AuditOptions) -> AuditedLog:
    """Any other log, by the names and types of its columns."""
    wanted, discretizer = options.kind, options.discretizer
    numbers = source.as_numbers(columns)
    schema = numbers.table.schema()
    if wanted == "counterfactuals" or (wanted is None and all(name.startswith("cf_") for name in columns)):
        names = tuple(name.removeprefix("cf_") for name in columns)
        originals = tuple(_original(source, name) for name in names)
        source = source.as_numbers((*columns, *originals))
        pairs = _pairs(source, names, columns, originals, named=True)
        return AuditedLog(source, options, label, columns, pairs, originals)
    kind = kind_by_columns(schema, columns, wanted, discretized=not isinstance(discretizer, Original))
    source = numbers if isinstance(kind, NumberColumns) else source
    if isinstance(kind, NumberColumns) and len(columns) == 1 and schema[columns[0]].is_array():
        width = list_width(source, columns[0])
        kind = NumberColumns(tuple(f"x{j}" for j in range(width)), named=False)
        if split(discretizer, kind) is None:
            source, columns = unpacked(source, columns[0], width)
    if isinstance(kind, RuleColumn):
        features, numeric = _rule_features(source, columns[0])
        source, kind = source.as_numbers(numeric), RuleColumn(features)
    return AuditedLog(source, options, label, columns, kind)


def _rule_features(source: LogSource, column: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The features that rules speak of, in the order of the log's columns, then others; and those that are numbers."""
    texts = fetch(source.table.select(rule=source.table[column]).distinct()).column("rule").to_pylist()
    conditions = [condition for text in texts if text is not None for condition in parse_rule(text)]
    named = {feature for feature, _, _ in conditions}
    text_features = {feature for feature, _, value in conditions if _holds_text(value)}
    ordered = (*(name for name in source.columns if name in named), *sorted(named - set(source.columns)))
    return ordered, tuple(name for name in ordered if name not in text_features)


def _holds_text(value: Any) -> bool:
    values = value if isinstance(value, list | tuple | set | frozenset) else (value,)
    return any(isinstance(item, str) for item in values)


def _original(source: LogSource, feature: str) -> str:
    for name in (f"original_{feature}", feature):
        if name in source.columns:
            return name
    raise BadInput(
        f"Counterfactuals need the rows they belong to: the log has cf_{feature} but neither original_{feature} nor "
        f"{feature}. Pass kind='keys' to compare the counterfactuals alone."
    )


def _pairs(
    source: LogSource, names: tuple[str, ...], points: tuple[str, ...], originals: tuple[str, ...], *, named: bool
) -> PairColumns:
    schema = source.table.schema()
    numeric = tuple(all(schema[name].is_numeric() for name in pair) for pair in zip(points, originals, strict=True))
    return PairColumns(names, numeric, named)


def _refuse_large(log: AuditedLog, seen: Scan) -> None:
    """Raise if numbers are too large to be compared or cut exactly."""
    if not isinstance(log.kind, NumberColumns | PairColumns):
        return
    largest = max((seen.largest.get(name, 0.0) for name in (*log.columns, *log.originals)), default=0.0)
    schema = log.source.table.schema()
    integers = [name for name in log.columns if schema[name].is_integer() and seen.largest.get(name, 0.0) > _EXACT]
    if integers:
        raise BadInput(
            f"Column {integers[0]!r} holds integers beyond 2**53, which float64 cannot tell apart: scale them."
        )
    for step in steps(log.options.discretizer):
        if isinstance(step, Floor | Truncate) and 2 * largest * 10.0**step.decimals == float("inf"):
            raise BadInput(f"Importances as large as {largest:g} have no {step.decimals} decimals to keep: scale them.")
