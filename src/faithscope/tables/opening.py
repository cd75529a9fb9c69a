"""From a caller's words to a log that can be counted: columns found, kinds known, missing values dealt with."""

import math
from dataclasses import replace
from typing import Any

from faithscope.errors import BadInput, WrongType
from faithscope.explanations.arrow import Settings, understood
from faithscope.explanations.discretize import Chain, Discretizer, Floor, Original, Truncate
from faithscope.explanations.grammar import parse_rule
from faithscope.tables.columns import Names, one_column, several_columns
from faithscope.tables.engine import fetch
from faithscope.tables.kinds import Kind, Numbers, Pairs, Texts, kind_by_columns, kind_in_log
from faithscope.tables.missing import Nulls, Scan, check_nulls, refuse_missing, scan
from faithscope.tables.rows import Log
from faithscope.tables.sources import Source, unpacked

_EXACT = 2**53  # beyond it two integers may share one float64


def open_log(
    source: Source,
    prediction: str | None,
    explanation: Names | None,
    kind: str | None,
    discretizer: Discretizer | None,
    nulls: Nulls,
) -> tuple[Log, Scan]:
    """The log ready to be counted, and what a first pass over it found."""
    check_nulls(nulls)
    chosen = Original() if discretizer is None else discretizer
    if not isinstance(chosen, Discretizer):
        raise WrongType(
            f"discretizer={discretizer!r} cannot be applied in an engine: pass an object such as fs.Sign()."
        )
    label = _prediction(source, prediction)
    if source.table.schema()[label].is_nested():
        raise WrongType(f"Column {label!r} holds {source.table.schema()[label]}: a prediction is one label a row.")
    with understood():
        settings = _own_settings(source, explanation)
        log = None if settings is None else _own_log(source, label, settings, chosen, nulls)
    if log is None:
        log = _foreign_log(source, label, explanation, kind, chosen, nulls)
    found = scan(log.source.table, log.used)
    refuse_missing(found, nulls)
    _refuse_large(log, found)
    return replace(log, kind=_bounded(log, found), nan=found.nan), found


def _bounded(log: Log, found: Scan) -> Kind:
    """The kind with the largest size its values have, where that is known."""
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


def _own_settings(source: Source, explanation: Names | None) -> Settings | None:
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
    named = several_columns(source.columns, explanation, "explanation")
    own = settings["columns"]
    points = settings["points"]["columns"] if settings["kind"] == "Counterfactuals" else own
    return settings if named in (own, points) else None


def _own_log(source: Source, label: str, settings: Settings, discretizer: Discretizer, nulls: Nulls) -> Log:
    if settings["kind"] != "Counterfactuals":
        columns = tuple(settings["columns"])
        return Log(source, label, columns, kind_in_log(settings), discretizer, nulls)
    points, originals = (tuple(settings[name]["columns"]) for name in ("points", "originals"))
    names = tuple(settings["names"] or [column.removeprefix("cf_") for column in points])
    kind = _pairs(source, names, points, originals, named=settings["names"] is not None)
    return Log(source, label, points, kind, discretizer, nulls, originals)


def _foreign_log(
    source: Source, label: str, explanation: Names | None, kind: str | None, discretizer: Discretizer, nulls: Nulls
) -> Log:
    assert explanation is not None
    columns = tuple(several_columns(source.columns, explanation, "explanation"))
    schema = source.table.schema()
    if kind == "counterfactuals" or (kind is None and all(name.startswith("cf_") for name in columns)):
        names = tuple(name.removeprefix("cf_") for name in columns)
        originals = tuple(_original(source, name) for name in names)
        pairs = _pairs(source, names, columns, originals, named=True)
        return Log(source, label, columns, pairs, discretizer, nulls, originals)
    found = kind_by_columns(schema, columns, kind, discretized=not isinstance(discretizer, Original))
    if isinstance(found, Numbers) and len(columns) == 1 and schema[columns[0]].is_array():
        source, columns = unpacked(source, columns[0])
        found = Numbers(tuple(f"x{j}" for j in range(len(columns))), named=False)
    if isinstance(found, Texts):
        found = Texts(_rule_features(source, columns[0]))
    return Log(source, label, columns, found, discretizer, nulls)


def _rule_features(source: Source, column: str) -> tuple[str, ...]:
    """The features that rules speak of: in the order of the log's columns, then those it does not have."""
    texts = fetch(source.table.select(rule=source.table[column]).distinct()).column("rule").to_pylist()
    named = {feature for text in texts if text is not None for feature, _, _ in parse_rule(text)}
    return (*(name for name in source.columns if name in named), *sorted(named - set(source.columns)))


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
    whole = [name for name in log.columns if schema[name].is_integer() and found.largest[name] > _EXACT]
    if whole:
        raise BadInput(f"Column {whole[0]!r} holds integers beyond 2**53, which float64 cannot tell apart: scale them.")
    for step in _steps(log.discretizer):
        if isinstance(step, Floor | Truncate) and 2 * largest * 10.0**step.decimals == float("inf"):
            raise BadInput(f"Importances as large as {largest:g} have no {step.decimals} decimals to keep: scale them.")


def _steps(discretizer: Any) -> list[Any]:
    if isinstance(discretizer, Chain):
        return [*_steps(discretizer.first), *_steps(discretizer.second)]
    return [discretizer]
