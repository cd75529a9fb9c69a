"""Where a log holds what: the columns of predictions, explanations and ids, and the kind of the explanations."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from faithscope.agreements import Spread
from faithscope.discretizers import Original
from faithscope.discretizers.base import steps
from faithscope.errors import BadInput, WrongType
from faithscope.explanations.arrow.tables import Settings, understood
from faithscope.explanations.rule_text import parse_rule
from faithscope.tables.engine.answers import fetch
from faithscope.tables.engine.shown_columns import refuse_nested, shown
from faithscope.tables.log.columns import (
    Names,
    name_list,
    named_columns,
    one_column,
    refuse_ids,
    several_columns,
)
from faithscope.tables.log.kinds import (
    KeyColumns,
    Kind,
    NumberColumns,
    PairColumns,
    ReasonColumn,
    RuleColumn,
    SetColumn,
)
from faithscope.tables.log.one_column import list_width, plain_columns
from faithscope.tables.log.rows import AuditedLog
from faithscope.tables.options import AuditOptions
from faithscope.tables.sources.source import LogSource, unpacked


def laid_out(source: LogSource, options: AuditOptions) -> AuditedLog:
    """The log with its columns named by the caller, by the log itself, or by their names and types."""
    predictions = _predictions(source, options)
    weights = _weights(source, options.weights, predictions)
    source = source.as_numbers((*(predictions if options.agreement.of_numbers else ()), *weights))
    clusters = _clusters(source, options.clusters, predictions)
    if weights and weights == clusters:
        raise BadInput(f"Column {weights[0]!r} is named both for weights and for clusters: name one for each.")
    ids = _ids(source, options.ids, predictions)
    with understood():
        columns = (
            None
            if options.explanation is None
            else _explanation(source, options, predictions, ids, (*clusters, *weights))
        )
        settings = _own_settings(source, columns)
        log = None if settings is None else _own_log(source, predictions, settings, options)
    if log is None:
        log = _foreign_log(source, predictions, columns or (), options)
    log = _with_inputs(log)
    refuse_ids(ids, "explanation", (*log.columns, *log.originals))
    refuse_ids(clusters, "explanation", (*log.columns, *log.originals), "clusters")
    refuse_ids(weights, "explanation", (*log.columns, *log.originals), "weights")
    log = replace(log, ids=tuple(dict.fromkeys((*ids, *clusters, *weights))), clusters=clusters, weights=weights)
    return _in_order(log, options.features) if options.features else log


def _with_inputs(log: AuditedLog) -> AuditedLog:
    """The log with the columns of what its reasons are about, if the discretizer reads them."""
    options, own = log.options, (log.source.settings or {}).get("columns", ())
    if not isinstance(log.kind, ReasonColumn):
        if options.inputs is not None:
            raise BadInput(f"inputs are the texts that reasons in words are about; the log holds {log.kind.what}.")
        return log
    for step in steps(options.discretizer):
        if step.reads_beyond_text:
            raise BadInput(
                f"{step!r} has one embedding per row, and the rows of a log have no order by which they could be "
                "matched: read the log and call fs.consistency(fs.Reasons(texts), ...), or write the cluster of each "
                "row as a column and audit it with kind='keys'."
            )
    names = own[2:] if options.inputs is None and log.kind.written else options.inputs
    inputs = () if not names else tuple(dict.fromkeys(named_columns(log.source.columns, names, "inputs")))
    odd = next((name for name in inputs if not log.source.table.schema()[name].is_string()), None)
    if odd is not None:
        raise WrongType(f"Inputs are texts; column {odd!r} holds {log.source.table.schema()[odd]}: name another.")
    if options.raw:
        return replace(log, inputs=inputs)
    if not options.discretizer.reads_rows:
        return log
    if not inputs:
        raise BadInput(
            f"{options.discretizer!r} blanks the words of the input that a reason is about: name its column with "
            "inputs=, on the command line --input."
        )
    return replace(log, inputs=inputs)


def _in_order(log: AuditedLog, features: Sequence[str]) -> AuditedLog:
    """The log with its features in the order of another log, which decides between equal ones; if it has the same."""
    kind = log.kind
    pairs = isinstance(kind, PairColumns)
    if not (pairs or (isinstance(kind, NumberColumns) and not kind.order)) or set(kind.names) != set(features):
        return log
    place = [kind.names.index(name) for name in features]
    columns, names = tuple(log.columns[j] for j in place), tuple(features)
    if isinstance(kind, PairColumns):
        originals = tuple(log.originals[j] for j in place)
        return replace(log, columns=columns, originals=originals, kind=replace(kind, names=names))
    return replace(log, columns=columns, kind=replace(kind, names=names)) if len(log.columns) == len(names) else log


def _clusters(source: LogSource, name: str | None, predictions: Sequence[str]) -> tuple[str, ...]:
    """The column of clusters; empty if rows are independent."""
    if name is None:
        return ()
    column = one_column(source.columns, name, "clusters")
    schema = source.table.schema()
    refuse_nested(schema, [column], "a cluster is one value per row")
    if column in predictions:
        raise BadInput(
            f"Column {column!r} is named both for clusters and for prediction, and rows of one cluster are never "
            "compared: name a column for clusters that says whose the rows are."
        )
    if shown(column, schema[column]) is None:
        raise WrongType(
            f"Column {column!r} holds {schema[column]}, which cannot be shown as a text: name another for clusters."
        )
    return (column,)


def _weights(source: LogSource, name: str | None, predictions: Sequence[str]) -> tuple[str, ...]:
    """The column of weights; empty if rows count alike."""
    if name is None:
        return ()
    column = one_column(source.columns, name, "weights")
    kind = source.as_numbers([column]).table.schema()[column]
    if not kind.is_numeric():
        raise WrongType(f"Column {column!r} holds {kind}, and weights are numbers: name a column of numbers.")
    refuse_ids([column], "prediction", predictions, "weights")
    return (column,)


def _predictions(source: LogSource, options: AuditOptions) -> tuple[str, ...]:
    """The column of predictions, or several for an agreement that adds up columns."""
    names, vectors = options.prediction, isinstance(options.agreement, Spread)
    if names is None:
        names = (source.settings or {}).get("prediction")
    if names is None:
        known = ", ".join(source.columns[:12])
        raise BadInput(
            f"Say which column is the prediction. The log has: {known}. Name it with prediction=, --prediction."
        )
    if isinstance(names, str) or not isinstance(names, list | tuple) or not names:
        columns: tuple[str, ...] = (one_column(source.columns, names, "prediction"),)  # type: ignore[arg-type]
    else:
        columns = tuple(dict.fromkeys(several_columns(source.columns, names, "prediction")))
    if not vectors and len(columns) > 1:
        raise BadInput(
            f"A prediction is one column; got {len(columns)}: name one, or pass agreement=fs.Spread(), which adds up "
            "columns."
        )
    what = "a prediction is one number per row" if options.agreement.of_numbers else "a prediction is one label per row"
    refuse_nested(source.table.schema(), columns, what)
    return columns


def _ids(source: LogSource, names: Names | None, predictions: Sequence[str]) -> tuple[str, ...]:
    """The columns that identify rows, each once."""
    ids = () if names is None else tuple(dict.fromkeys(named_columns(source.columns, names, "id")))
    refuse_ids(ids, "prediction", predictions)
    schema = source.table.schema()
    refuse_nested(schema, ids, "what identifies a row is one value")
    if hidden := [name for name in ids if shown(name, schema[name]) is None]:
        raise WrongType(f"Column {hidden[0]!r} cannot be shown as a text, so it cannot name rows: name another for id.")
    return ids


def _explanation(
    source: LogSource,
    options: AuditOptions,
    predictions: Sequence[str],
    ids: Sequence[str],
    clusters: Sequence[str],
) -> tuple[str, ...]:
    """The columns that names or globs mean; a glob never means the prediction, nor what identifies rows."""
    listed = name_list(options.explanation or (), "explanation")
    exact = [name for name in listed if isinstance(name, str)]
    refuse_ids(ids, "explanation", exact)
    refuse_ids(clusters, "explanation", exact, "clusters")
    hidden = {*predictions, *ids, *clusters}.difference(exact)
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
    own = list(compared_columns(settings))
    points = settings["points"]["columns"] if settings["kind"] == "Counterfactuals" else own
    return settings if list(explanation) in (own, points) else None


def _own_log(source: LogSource, predictions: tuple[str, ...], settings: Settings, options: AuditOptions) -> AuditedLog:
    """A log that faithscope wrote, by what it says about itself."""
    if settings["kind"] != "Counterfactuals":
        columns = _present(source, compared_columns(settings))
        return AuditedLog(source, options, predictions, columns, kind_in_log(settings))
    points, originals = (_present(source, settings[name]["columns"]) for name in ("points", "originals"))
    names = tuple(settings["names"] or [column.removeprefix("cf_") for column in points])
    kind = PairColumns(names, settings["names"] is not None)
    return AuditedLog(source, options, predictions, points, kind, originals)


def _present(source: LogSource, columns: Sequence[str]) -> tuple[str, ...]:
    """The columns in which a log that faithscope wrote says its explanations are, if it still has them."""
    lost = [name for name in columns if name not in source.columns]
    if lost:
        raise BadInput(
            f"The log says that its explanations are in column {lost[0]!r}, which it no longer has: write it again "
            "with all its columns, or say which columns are the explanation."
        )
    return tuple(columns)


def _foreign_log(
    source: LogSource, predictions: tuple[str, ...], columns: tuple[str, ...], options: AuditOptions
) -> AuditedLog:
    """Any other log, by the names and types of its columns."""
    plain = plain_columns(source, columns, options)
    source, columns, wanted = plain.source, plain.columns, plain.wanted
    if wanted == "counterfactuals" or (wanted is None and all(name.startswith("cf_") for name in columns)):
        return _counterfactuals(source, predictions, columns, options)
    numbers, discretized = source.as_numbers(columns), not isinstance(options.discretizer, Original)
    kind = kind_by_columns(numbers.table.schema(), columns, wanted, discretized=discretized)
    log = AuditedLog(source, options, predictions, columns, kind, notes=plain.notes, sparse=plain.sparse)
    if isinstance(kind, RuleColumn):
        features, numeric = _rule_features(source, columns[0])
        return replace(log, source=source.as_numbers(numeric), kind=RuleColumn(features))
    if not isinstance(kind, NumberColumns):
        return log
    if plain.names:
        return replace(log, kind=NumberColumns(plain.names))
    return _of_numbers(replace(log, source=numbers), kind)


def _of_numbers(log: AuditedLog, kind: NumberColumns) -> AuditedLog:
    """Importances in columns of numbers, or in one column of lists."""
    (column, *others), schema = log.columns, log.source.table.schema()
    if others or not schema[column].is_array():
        return log
    width = list_width(log.source, column)
    kind = NumberColumns(tuple(f"x{j}" for j in range(width)), named=False)
    log = replace(log, kind=kind)
    if log.in_batches:
        return log
    source, columns = unpacked(log.source, column, width)
    return replace(log, source=source, columns=columns)


def _counterfactuals(
    source: LogSource, predictions: tuple[str, ...], columns: tuple[str, ...], options: AuditOptions
) -> AuditedLog:
    names = tuple(name.removeprefix("cf_") for name in columns)
    originals = tuple(_original(source, name) for name in names)
    source = source.as_numbers((*columns, *originals))
    return AuditedLog(source, options, predictions, columns, PairColumns(names), originals)


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


_WORDS = ("phi", "shap", "lime", "importance", "attribution", "contribution")  # in names of columns of importances


def kind_in_log(settings: Settings) -> Kind:
    """The kind that a log of faithscope's own says it holds."""
    kind, columns = settings["kind"], settings["columns"]
    names = tuple(settings.get("names") or ())
    if kind in ("Importances", "Rankings"):
        chosen = names or tuple(f"x{j}" for j in range(len(columns)))
        order: Literal["", "features"] = "features" if kind == "Rankings" else ""
        return NumberColumns(chosen, bool(names), settings["form"], order)
    if kind == "Rules":
        return RuleColumn(tuple(settings["features"]), settings["tree"])
    if kind in ("Highlights", "Concepts"):
        return SetColumn("words")
    if kind in ("Prototypes", "Codes"):
        return SetColumn("codes" if kind == "Codes" else "prototypes")
    if kind == "Plain":
        return KeyColumns(("explanation",), (settings["json"],), False)
    if kind == "Reasons":
        return ReasonColumn(columns[1], tuple(settings["json"][:2]), str(settings["form"]))
    if kind == "Records":
        return KeyColumns(names, tuple(settings["json"]), True)
    raise WrongType(f"A log of {kind} cannot be audited: write the counterfactuals they belong to.")


def compared_columns(settings: Settings) -> tuple[str, ...]:
    """The columns by which explanations of a log of faithscope's own are compared."""
    return tuple(settings["columns"][:1] if settings["kind"] == "Reasons" else settings["columns"])


def kind_by_columns(schema: Any, columns: Sequence[str], wanted: str | None, *, discretized: bool) -> Kind:
    """The kind that the types and names of the columns say, unless the caller does.

    Parameters
    ----------
    schema : ibis.Schema
    columns : names of the columns that hold the explanation
    wanted : str, optional
        importances, keys, reasons, codes, rules, words or prototypes; counterfactuals are known by their names.
    discretized : bool
        Whether a discretizer follows, so that a single number must be an importance.
    """
    types = [schema[name] for name in columns]
    kind = wanted or _guess(types, columns, discretized)
    if kind == "importances":
        _refuse_text(types, columns)
        return NumberColumns(_feature_names(columns, schema))
    if kind == "keys":
        nested = next((name for name in columns if schema[name].is_nested()), None)
        if nested is not None:
            raise WrongType(f"Column {nested!r} holds {schema[nested]}: a key is one value; name its parts as columns.")
        return KeyColumns(tuple(columns), (False,) * len(columns), len(columns) > 1)
    if len(columns) > 1:
        raise BadInput(f"{kind.capitalize()} sit in one column; got {', '.join(columns)}.")
    if kind == "reasons":
        if not types[0].is_string():
            raise WrongType(f"Reasons are a column of texts; {columns[0]!r} holds {types[0]}: name another column.")
        return ReasonColumn()
    if kind == "rules":
        return RuleColumn()
    if not types[0].is_array():
        raise WrongType(f"{kind.capitalize()} are a column of lists; {columns[0]!r} holds {types[0]}.")
    return SetColumn(kind)  # type: ignore[arg-type]


def _guess(types: Sequence[Any], columns: Sequence[str], discretized: bool) -> str:
    if len(types) == 1 and types[0].is_array():
        return "words" if types[0].value_type.is_string() else "importances"
    if len(types) == 1 and columns[0] == "rule" and types[0].is_string():
        return "rules"
    numeric = all(kind.is_numeric() or kind.is_boolean() for kind in types)
    return "importances" if numeric and (len(types) > 1 or discretized) else "keys"


def _refuse_text(types: Sequence[Any], columns: Sequence[str]) -> None:
    if len(types) == 1 and types[0].is_array() and types[0].value_type.is_numeric():
        return
    for name, kind in zip(columns, types, strict=True):
        if not (kind.is_numeric() or kind.is_boolean()):
            raise WrongType(
                f"Importances are numbers; column {name!r} holds {kind}: some of its values may not be numbers. "
                "Convert it, or leave it out."
            )


def _feature_names(columns: Sequence[str], schema: Any) -> tuple[str, ...]:
    """The names of features: of phi_age, or of shap_age or age_shap beside a column age, it is age."""
    for word in _WORDS:
        for names in (
            tuple(name.removeprefix(f"{word}_") for name in columns),
            tuple(name.removesuffix(f"_{word}") for name in columns),
        ):
            changed = all(len(name) < len(column) for name, column in zip(names, columns, strict=True))
            known = all(name in schema for name in names) or columns[0].startswith("phi_")
            if changed and known:
                return names
    return tuple(columns)
