"""A log made ready to be counted: which columns hold what, of which kind explanations are, and what is missing."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from faithscope.agreements import Spread
from faithscope.discretizers import (
    Clusters,
    Codebook,
    CommonPhrases,
    Delta,
    DeltaSign,
    Discretizer,
    Modified,
    Phrases,
    Sign,
    Template,
)
from faithscope.discretizers.base import steps
from faithscope.errors import BadInput, WrongType
from faithscope.explanations.arrow import Settings, read_metric, understood
from faithscope.explanations.importances import Importances, Rankings
from faithscope.explanations.rule_text import parse_rule
from faithscope.tables.audited import AuditedLog, AuditOptions
from faithscope.tables.columns import (
    CodeColumns,
    KeyColumns,
    NumberColumns,
    PairColumns,
    ReasonColumn,
    RuleColumn,
    SetColumn,
)
from faithscope.tables.engines import fetch, fetch_line, refuse_nested, scan, shown
from faithscope.tables.one_column import code_columns, holds_json, list_width, plain_columns
from faithscope.tables.source import LogSource
from faithscope.tables.streams import at_once, in_batches

_AS_IT_IS = ("keys", "reasons", "rules", "counterfactuals")
_CODES = " If these columns hold codes, of which a row may have fewer, pass kind='codes'."
_WORDS = ("phi", "shap", "lime", "importance", "attribution", "contribution")  # in names of columns of importances
_OF_TEXTS = Clusters | Codebook | CommonPhrases | Phrases | Template  # what takes reasons in words
_MARKS = ("id", "clusters", "weights")  # what columns are named for that are never measured themselves
_WIDE = 100  # features beyond which an engine takes longer to read the question than to answer it


def open_log(source: LogSource, options: AuditOptions) -> AuditedLog:
    """The log ready to be counted, its explanations read here if need be, after a first pass over it."""
    if not isinstance(options.discretizer, Discretizer):
        raise WrongType(
            f"discretizer={options.discretizer!r} cannot be applied in an engine: pass an object such as fs.Sign()."
        )
    log = _laid_out(source, options)
    source, kind, agreement, chosen = log.source, log.kind, options.agreement, options.discretizer
    schema = source.table.schema()
    predicted = log.predictions if agreement.of_numbers else ()
    for name in predicted:
        if not (schema[name].is_numeric() or schema[name].is_boolean()):
            raise WrongType(
                f"Column {name!r} holds {schema[name]}, but {agreement} compares numbers: name a column of numbers, or "
                "leave the agreement away, so that predictions are labels."
            )
    if steps(chosen) and not isinstance(kind, ReasonColumn):
        _refuse_unlike(chosen, log)
    holes, infinite = Counter[str](), Counter[str]()
    together, whole, advice = isinstance(kind, ReasonColumn) or bool(steps(chosen)), list[str](), ""
    types = {name: schema[name] for name in log.columns}
    if isinstance(kind, KeyColumns) and len(types) > 1 and any(held.is_string() for held in types.values()):
        advice = _CODES
    elif isinstance(kind, NumberColumns | PairColumns):
        whole = [name for name, held in types.items() if held.is_integer()]
    if isinstance(kind, NumberColumns):  # discretized in batches, as are lists and many features
        if together or len(types) > _WIDE or types[log.columns[0]].is_array():
            log, holes, infinite = in_batches(log)
        together = False
    told: dict[str, Any] = {"features": whole, "holes": holes, "infinite": infinite, "advice": advice}
    log = replace(log, total=scan(source.table, log.used, options.nulls, numbers=(*log.weights, *predicted), **told))
    for name in log.weights:
        none = fetch_line(source.table.aggregate(n=(source.table[name] == 0).sum()))["n"]
        log = replace(log, weightless=int(none or 0))
    return at_once(log) if together and not options.raw else log


def named_columns(source: LogSource, said: Any) -> dict[str, tuple[str, ...]]:
    """The columns that a `Log` names, by what they are: prediction, weights, clusters, id, explanation and inputs."""
    names: Any = said.prediction if said.prediction is not None else (source.settings or {}).get("prediction")
    if names is None:
        raise BadInput(
            f"Say which column is the prediction. The log has: {source.listed}. Name it with prediction=, --prediction."
        )
    listed = isinstance(names, list | tuple) and len(names) > 0
    named = {
        "prediction": source.named(names, "prediction", hidden=()) if listed else source.named([names], "prediction")
    }
    for role in ("weights", "clusters", "id", "inputs"):
        name = getattr(said, role)
        one = role in ("weights", "clusters")
        named[role] = () if name is None else source.named([name] if one else name, role)
    # A glob never means the prediction, nor what identifies rows.
    hidden = [name for role in ("prediction", *_MARKS) for name in named[role]]
    given = said.explanation
    named["explanation"] = () if given is None else source.named(given, "explanation", hidden=hidden)
    return named


def countable(
    source: LogSource, options: AuditOptions, further: Sequence[str], *, shows: bool
) -> dict[str, bool] | None:
    """The columns that consistency reads, and of which the sign is enough, if an engine can count what they hold.

    None if it cannot, and if the log has other columns and `shows` them.
    """
    named, schema = named_columns(source, options.said), source.table.schema()
    explained = named["explanation"]
    pairs = options.said.kind == "counterfactuals" or any(name.startswith("cf_") for name in explained)
    read = [*(name for role in named if role != "id" for name in named[role]), *further]
    nested = any(schema[name].is_map() or schema[name].is_struct() for name in read)
    if pairs or nested or not explained or (shows and {*read} != {*source.table.columns}):
        return None
    signs = any(isinstance(step, Sign) for step in steps(options.discretizer)[:1])
    return {name: signs and name in explained and schema[name].is_floating() for name in read}


def _laid_out(source: LogSource, options: AuditOptions) -> AuditedLog:
    """The log with its columns named by the caller, by the log itself, or by their names and types."""
    settings, of_numbers, named = source.settings, options.agreement.of_numbers, named_columns(source, options.said)
    predictions, clusters, weights, columns = (named[role] for role in ("prediction", *_MARKS[1:], "explanation"))
    if len(predictions) > 1 and not isinstance(options.agreement, Spread):
        raise BadInput(
            f"A prediction is one column; got {len(predictions)}: name one, or pass agreement=fs.Spread(), which adds "
            "up columns."
        )
    one = "a prediction is one number per row" if of_numbers else "a prediction is one label per row"
    refuse_nested(source.table.schema(), predictions, one)
    source = source.as_numbers((*(predictions if of_numbers else ()), *weights))
    schema = source.table.schema()
    for name in weights:
        if not schema[name].is_numeric():
            raise WrongType(f"Column {name!r} holds {schema[name]}, and weights are numbers: name a column of numbers.")
    for name in (*clusters, *named["id"]):
        if shown(source.table[name]) is None:
            raise WrongType(
                f"Column {name!r} holds {schema[name]}, which cannot be shown as a text, so it names neither rows nor "
                "whose they are: name another for id or clusters."
            )
    marked = {name: role for role in _MARKS for name in named[role]}
    for role, measured in (("prediction", predictions), ("explanation", columns)):
        _refuse_marked(marked, role, measured)
    _refuse_marked(dict.fromkeys(weights, "weights"), "clusters", clusters)
    if not columns and settings is None:
        raise BadInput(f"Say which columns are the explanation, e.g. 'phi_*'. The log has: {source.listed}.")
    log = AuditedLog(
        source, options, predictions, columns, RuleColumn(), ids=tuple(marked), clusters=clusters, weights=weights
    )
    with understood():
        own = None if settings is None else _own_log(log, settings)
    log = _foreign_log(log) if own is None else own
    if isinstance(log.kind, ReasonColumn):
        log = _with_inputs(log, log.kind)
    elif options.said.inputs is not None:
        raise BadInput(f"inputs are the texts that reasons in words are about; the log holds {log.kind.what}.")
    _refuse_marked(marked, "explanation", (*log.columns, *log.originals))
    kind, features = log.kind, options.features
    ranked = isinstance(kind, NumberColumns) and kind.ranked
    if not features or set(log.features) != set(features) or ranked or len(log.columns) != len(features):
        return log
    # In the order of another log, which decides between features of equal size.
    place = [log.features.index(name) for name in features]
    columns, originals = (tuple(held[j] for j in place) if held else () for held in (log.columns, log.originals))
    same: Any = {"like": kind.like._with(names=features)} if isinstance(kind, NumberColumns) else {"names": features}
    return replace(log, columns=columns, originals=originals, kind=replace(kind, **same))


def _refuse_marked(marked: Mapping[str, str], role: str, columns: Sequence[Any]) -> None:
    """Raise if a column that identifies rows, or says whose they are or how much they count, would be measured."""
    for name in (name for name in marked if name in columns):
        raise BadInput(
            f"Column {name!r} is named both for {marked[name]} and for {role}: what says which rows these are, whose, "
            "or how much they count is never measured itself. Leave it out of one of them."
        )


def _own_log(log: AuditedLog, settings: Settings) -> AuditedLog | None:
    """A log that faithscope wrote, by what it says about itself; None if other columns than its own are meant."""
    held, what = tuple(settings["columns"]), settings["kind"]
    names, pairs = tuple(settings.get("names") or ()), what == "Counterfactuals"
    own = held[:1] if what == "Reasons" else held
    points = tuple(settings["points"]["columns"]) if pairs else own
    if log.columns and log.columns not in (own, points):
        return None
    originals = tuple(settings["originals"]["columns"]) if pairs else ()
    for name in (name for name in (*points, *originals) if name not in log.source.table.columns):
        raise BadInput(
            f"The log says that its explanations are in column {name!r}, which it no longer has: write it again with "
            "all its columns, or say which columns are the explanation."
        )
    kind: Any
    if pairs:
        kind = PairColumns(
            names or tuple(column.removeprefix("cf_") for column in points),
            bool(names),
            read_metric(settings.get("metric")),
        )
    elif what in ("Importances", "Rankings"):
        made = Rankings if what == "Rankings" else Importances
        like = made.made(np.empty((0, len(held))), names or None, settings["form"], left=settings["left"])
        kind = NumberColumns(like)
    elif what == "Rules":
        kind = RuleColumn(tuple(settings["features"]), settings["tree"])
    elif what in ("Plain", "Records"):
        kind = KeyColumns(names, tuple(settings["json"]) if what == "Records" else (settings["json"],))
    elif what == "Reasons":
        kind = ReasonColumn(held[1], tuple(settings["json"][:2]), str(settings["form"]))
    elif what == "Codes":
        kind = CodeColumns()
    elif what in ("Highlights", "Concepts", "Prototypes"):
        kind = SetColumn(words=what != "Prototypes")
    else:
        raise WrongType(f"A log of {what} cannot be audited: write the counterfactuals they belong to.")
    return replace(log, columns=points, kind=kind, originals=originals)


def _foreign_log(log: AuditedLog) -> AuditedLog:
    """Any other log, by the names and types of its columns, unless the caller says the kind."""
    columns, options = log.columns, log.options
    first = next(iter(steps(options.discretizer)), None)
    wanted = options.said.kind or ("reasons" if isinstance(first, _OF_TEXTS) else None)
    source, features, sparse = log.source, tuple[str, ...](), False
    if len(columns) == 1 and wanted not in _AS_IT_IS and holds_json(source.table, columns[0], wanted):
        source, wanted, features, sparse = plain_columns(source, columns[0], wanted, options)
    if wanted == "codes":
        source, kind = code_columns(source, columns)
        return replace(log, source=source, kind=kind)
    if wanted == "counterfactuals" or (wanted is None and all(name.startswith("cf_") for name in columns)):
        names = tuple(name.removeprefix("cf_") for name in columns)
        pairs = {name: next((n for n in (f"original_{name}", name) if n in source.table.columns), "") for name in names}
        for name in (name for name, original in pairs.items() if not original):
            raise BadInput(
                f"Counterfactuals need the rows they belong to: the log has cf_{name} but neither original_{name} nor "
                f"{name}. Pass kind='keys' to compare the counterfactuals alone."
            )
        rows = tuple(pairs.values())
        return replace(log, source=source.as_numbers((*columns, *rows)), kind=PairColumns(names), originals=rows)
    numbers = source.as_numbers(columns)
    schema = numbers.table.schema()
    types = [schema[name] for name in columns]
    first_type, several = types[0], len(types) > 1
    lists = first_type.is_array() and not several
    if wanted is None and lists:
        wanted = "words" if first_type.value_type.is_string() else "importances"
    elif wanted is None and columns == ("rule",) and first_type.is_string():
        wanted = "rules"
    elif wanted is None:  # a single number is a key
        numeric = all(held.is_numeric() or held.is_boolean() for held in types)
        wanted = "importances" if numeric and (several or steps(options.discretizer)) else "keys"
    if wanted == "importances":
        for name, held in zip(columns, types, strict=True):
            if not (held.is_numeric() or held.is_boolean() or (lists and held.value_type.is_numeric())):
                raise WrongType(
                    f"Importances are numbers; column {name!r} holds {held}: some of its values may not be numbers. "
                    "Convert it, or leave it out."
                )
        if lists:
            like = NumberColumns.of(features, None if features else list_width(numbers, columns[0]))
            return replace(log, source=numbers, sparse=sparse, kind=like)
        shorter = [  # the name of phi_age, or of shap_age or age_shap beside a column age, is age
            names
            for word in _WORDS
            for names in (
                tuple(name.removeprefix(f"{word}_") for name in columns),
                tuple(name.removesuffix(f"_{word}") for name in columns),
            )
            if all(len(name) < len(column) for name, column in zip(names, columns, strict=True))
        ]
        phi = columns[0].startswith("phi_")
        names = next((names for names in shorter if phi or all(name in schema for name in names)), columns)
        return replace(log, source=numbers, kind=NumberColumns.of(names))
    log = replace(log, source=source)
    if wanted == "keys":
        for name in (name for name in columns if schema[name].is_nested()):
            raise WrongType(f"Column {name!r} holds {schema[name]}: a key is one value; name its parts as columns.")
        return replace(log, kind=KeyColumns(columns if several else ()))
    if several:
        raise BadInput(f"{wanted.capitalize()} sit in one column; got {', '.join(columns)}.")
    if wanted == "reasons":
        if not first_type.is_string():
            raise WrongType(f"Reasons are a column of texts; {columns[0]!r} holds {first_type}: name another column.")
        return replace(log, kind=ReasonColumn())
    if wanted == "rules":
        texts = fetch(source.table.select(rule=source.table[columns[0]]).distinct()).column("rule").to_pylist()
        conditions = [condition for text in texts if text is not None for condition in parse_rule(text)]
        spoken = {feature for feature, _, _ in conditions}
        of_text = {
            feature
            for feature, _, value in conditions
            for item in (value if isinstance(value, list | tuple | set | frozenset) else (value,))
            if isinstance(item, str)
        }
        ordered = (*(name for name in schema if name in spoken), *sorted(spoken - set(schema)))
        read = source.as_numbers([name for name in ordered if name not in of_text])
        return replace(log, source=read, kind=RuleColumn(ordered))
    if not lists:
        raise WrongType(f"{wanted.capitalize()} are a column of lists; {columns[0]!r} holds {first_type}.")
    return replace(log, kind=SetColumn(words=wanted == "words"))


def _with_inputs(log: AuditedLog, kind: ReasonColumn) -> AuditedLog:
    """The log with the columns of what its reasons are about, if the discretizer reads them."""
    options, own = log.options, (log.source.settings or {}).get("columns", ())
    for step in steps(options.discretizer):
        if step.reads_beyond_text:
            raise BadInput(
                f"{step!r} has one embedding per row, and the rows of a log have no order by which they could be "
                "matched: read the log and call fs.consistency(fs.Reasons(texts), ...), or write the cluster of each "
                "row as a column and audit it with kind='keys'."
            )
    names = own[2:] if options.said.inputs is None and kind.written else options.said.inputs
    inputs = () if not names else log.source.named(names, "inputs")
    odd = next((name for name in inputs if not log.source.table.schema()[name].is_string()), None)
    if odd is not None:
        raise WrongType(f"Inputs are texts; column {odd!r} holds {log.source.table.schema()[odd]}: name another.")
    if not (options.raw or options.discretizer.reads_rows):
        return log
    if not (options.raw or inputs):
        raise BadInput(
            f"{options.discretizer!r} blanks the words of the input that a reason is about: name its column with "
            "inputs=, on the command line --input."
        )
    return replace(log, inputs=inputs)


def known_to_engines(discretizer: Any) -> bool:
    """Whether rows of a log can be discretized on their way into a DuckDB of our own."""
    return isinstance(discretizer, Discretizer) and all(
        type(step).__module__.startswith("faithscope.") for step in steps(discretizer)
    )


def _refuse_unlike(discretizer: Any, log: AuditedLog) -> None:
    """Raise if a discretizer does not take the explanations of a log."""
    first, kind = steps(discretizer)[0], log.kind
    if isinstance(first, _OF_TEXTS):
        raise WrongType(
            f"{first!r} discretizes reasons in words; the log holds {kind.what}. Name a column of texts as the "
            "explanation, and pass kind='reasons'."
        )
    if isinstance(first, Delta | DeltaSign | Modified):
        if not isinstance(kind, PairColumns):
            raise WrongType(f"{first!r} discretizes counterfactuals (columns cf_*); the log holds {kind.what}.")
    elif not isinstance(kind, NumberColumns) or kind.ranked:
        hint = " Take the change first: Delta() | ..." if isinstance(kind, PairColumns) else ""
        if kind.what == "keys":
            hint = (
                ' If they are meant to be numbers, pass kind="importances", --kind importances: it names what is none.'
            )
        raise WrongType(f"{first!r} discretizes importances; the log holds {kind.what}.{hint}")
