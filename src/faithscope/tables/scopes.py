"""Explanations of a log that say where they apply: rows are fetched with the inputs that these speak of, and measured.

Rules and words speak of columns of the log; importances by the features that they name (`Alike`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from faithscope.agreements import Agreement, Spread
from faithscope.discretizers import Original
from faithscope.discretizers.base import steps
from faithscope.errors import FaithscopeError, NotScoped
from faithscope.explanations.base import Explanations
from faithscope.explanations.forms import are_codes, names_all
from faithscope.inputs.array_types import Array, Floats
from faithscope.inputs.arrays import to_objects
from faithscope.measures.comparing.groupings import crossed_name
from faithscope.measures.comparing.populations import Populations
from faithscope.measures.encoding import Encoding, measure_encoding
from faithscope.measures.estimate import FOR_EQUALITY, NECESSITY, Estimate, noted, refuse_spread
from faithscope.measures.notes import rules_by_feature
from faithscope.measures.sufficiency import Scoping, made_otherwise, measure_asked, measure_scoped
from faithscope.notes import Note, doubts, of_kind
from faithscope.relations import Alike
from faithscope.runtime.memory import need
from faithscope.sample import Sample, number_labels, weightless_note
from faithscope.tables.audited import AuditedLog
from faithscope.tables.columns import CLUSTER, NumberColumns, PairColumns, RuleColumn, SetColumn, predicted, weights_of
from faithscope.tables.engines import (
    Table,
    as_array,
    fetch,
    fetch_line,
    in_fixed_order,
    predictions_of,
    shown,
)
from faithscope.tables.streams import in_batches
from faithscope.tables.writing import DOCUMENT
from faithscope.words import several

_MOST_NAMED = 100_000  # rows of importances
_PER_CELL = 100  # bytes of a value of a row, with what is computed of it
_OF_PAIRS = (
    "sufficiency and necessity were not measured: a log does not say by which distance counterfactuals are near; call "
    "fs.sufficiency(fs.Counterfactuals(points, rows), predictions, rows)"
)


def scoped_measures(measured: AuditedLog) -> tuple[Estimate | None, Estimate | None, tuple[str, ...]]:
    """Sufficiency and necessity, if the explanations say where they apply and the log holds what they speak of.

    Also notes that say why something is not measured.
    """
    options, named = measured.options, None
    try:
        if isinstance(measured.kind, NumberColumns):
            sample, named = _of_importances(measured, measured.kind) or (None, None)
        else:
            sample, _ = _of_scopes(measured)
    except NotScoped as problem:
        return None, None, (Note(f"sufficiency and necessity were not measured: {problem}", "unasked"),)
    if sample is None:
        pairs = isinstance(measured.kind, PairColumns) and isinstance(options.discretizer, Original)
        return None, None, (_OF_PAIRS,) if pairs else ()
    method = None if options.interval in FOR_EQUALITY and named is not None else options.interval
    how = Scoping(None, options.confidence, method, unseen=options.unseen)
    found = measure_scoped(sample, how, named=named)
    left = weightless_note(measured.weightless)
    found = noted(found, (*made_otherwise(found, options.interval), *left))
    if isinstance(sample.agreement, Spread):
        return found, None, ()
    return found, noted(measure_scoped(sample, replace(how, measure=NECESSITY)), left), ()


def scoped_by(measured: AuditedLog, columns: Sequence[str], measures: Sequence[str]) -> dict[str, Populations]:
    """Measures of rules or words by populations; none of other explanations. Raises if their inputs are not there."""
    options = measured.options
    sample, groups = _of_scopes(measured, columns)
    if sample is None:
        return {}
    how = Scoping(None, options.confidence, options.interval, unseen=options.unseen)
    asked = {name: replace(how, measure=name) for name in measures}
    return {name: in_groups(groups, partial(measure_asked, sample, how=asked[name])) for name in measures}


def encoding(measured: AuditedLog) -> Encoding:
    """The encoding of the rows of a log."""
    refuse_spread(measured.options.agreement, "encoding")
    try:
        sample, _ = _of_scopes(measured)
    except NotScoped as problem:
        raise NotScoped(f"Encoding cannot be measured, since {problem}: keep the inputs in the log.") from None
    if sample is None:
        raise NotScoped(
            "The explanations of this log do not say where they apply, so encoding is undefined: log rules or words, "
            "and audit them without a discretizer."
        )
    told = measured.consistency.notes
    return measure_encoding(
        sample.noting((*doubts(told), *of_kind(told, "dropped"))), None, measured.options.confidence
    )


def _of_scopes(measured: AuditedLog, by: Sequence[str] = ()) -> tuple[Sample | None, dict[str, Array]]:
    """The rows of rules or words, with what these speak of, and their groups; None of other explanations.

    Raises if what they speak of is not there.
    """
    words = isinstance(measured.kind, SetColumn) and measured.kind.words
    if not isinstance(measured.options.discretizer, Original) or not (words or isinstance(measured.kind, RuleColumn)):
        return None, {}
    features: Any = [DOCUMENT]
    if not words:
        features = rules_by_feature(measured.everything.distinct)[0]  # type: ignore[arg-type]
    inputs, missing = _inputs(measured, features, measured.ids)
    for column in missing:
        raise NotScoped(
            f"the log has no column {column!r}, which the explanations speak of, beside predictions, explanations and "
            "what identifies rows"
        )
    measured.refuse_populations(by)
    rows = read_rows(measured, by, inputs)
    lacking = sum(document is None for document in rows.X) if words else 0
    if lacking:
        raise NotScoped(f"the document is missing in {several(lacking, 'row', 'rows')}")
    return rows.sample(measured.options.agreement), rows.by


def _inputs(log: AuditedLog, features: Sequence[str], never: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """The columns of the values of features, and those that the log has not, or only as what is `never` such values."""
    known = (log.source.settings or {}).get("inputs", {})
    inputs = {feature: known.get(feature, feature) for feature in features}
    held = [name for name in log.others if name not in never]
    return inputs, [column for column in inputs.values() if column not in held]


def _of_importances(measured: AuditedLog, kind: NumberColumns) -> tuple[Sample, tuple[Sample, Alike]] | None:
    """The rows of importances as rules on the features that they name, and what these stand for.

    None if the log has not all features, or if all are named, so that there are no others that might be.

    A discretizer that keeps the largest features says which are named; of any other, the importances themselves do.
    Reason codes are not asked: what counts against a label is not why other rows get it.
    """
    log, options = measured, measured.options
    left = [kind.like.left, *(step.leaves for step in steps(options.discretizer))][-1]
    if kind.ranked or not log.features or are_codes(left):
        return None
    inputs, missing = _inputs(log, log.features, (*log.ids, *log.clusters))
    if missing and any(len(inputs) > getattr(step, "k", len(inputs)) for step in steps(options.discretizer)):
        raise NotScoped(
            f"the log has no column {missing[0]!r} with the values of that feature, so it was not asked whether "
            "explanations name the right features; log the inputs too, and name importances after them, such as "
            f"{f'shap_{missing[0]}'!r}"
        )
    if missing:
        return None
    if measured.consistency.n > _MOST_NAMED:
        raise NotScoped(
            f"rows alike in them are counted in memory, at most {_MOST_NAMED:,}, and the log has "
            f"{measured.consistency.n:,}: audit a part of it"
        )
    if not names_all(left) and log.keyed is not None:
        log = in_batches(replace(log.keyed.before, options=replace(options, discretizer=Original())))[0]
    given = read_rows(log, (), inputs).sample(options.agreement)
    try:
        ruled, _ = given._scoped_by(Alike())
        everything = given.explanations.named()[0].all()  # type: ignore[attr-defined]
    except FaithscopeError as problem:
        raise NotScoped(str(problem)) from None
    return None if everything else (ruled, (given, Alike()))


class LogRows(NamedTuple):
    """The rows of a log, sorted by all their values, since a log has no order of its own.

    Attributes
    ----------
    explanations : Explanations
    predictions : (n,) array, or (n, k) of several numbers
    X : Arrow table, list of documents, or None
        The columns that are neither predictions, explanations, ids, clusters nor weights; None if there are none.
    weights : (n,) array of float, optional
    clusters : (n,) array, optional
    by : dict of str to (n,) array
        The columns that were asked for as groups.
    columns, ids : Arrow tables
        Those of X, documents left out; and those that identify rows.
    """

    explanations: Explanations
    predictions: Array
    X: Any
    weights: Floats | None
    clusters: Array | None
    by: dict[str, Array]
    columns: Any
    ids: Any

    def sample(self, agreement: Agreement) -> Sample:
        """The rows, with their clusters by number."""
        clusters = None if self.clusters is None else number_labels(self.clusters)[1]
        labels, weights = agreement.read(self.predictions), self.weights
        return Sample(self.explanations, labels, self.X, clusters=clusters, weights=weights, agreement=agreement)


def in_groups(groups: Mapping[str, Array], measure: Callable[[Array], Populations]) -> Populations:
    """A measure by these columns of groups, whose values are crossed."""
    first, *others = groups.values()
    values = to_objects(list(zip(*(each.tolist() for each in groups.values()), strict=True))) if others else first
    return replace(measure(values), by=crossed_name(list(groups)))


def read_rows(
    log: AuditedLog,
    by: Sequence[str] = (),
    inputs: Mapping[str, str] | None = None,
    answered: Callable[[Table], Any] | None = None,
) -> LogRows:
    """All rows of a log, with columns of groups.

    Parameters
    ----------
    inputs : dict of str to str, optional
        The columns that are read besides, by what they are called; by default all that can be shown.
    answered : callable, optional
        Fetches some of the rows, to be shown, with whatever names them; by default all of them are fetched.
    """
    source, words = log.source, isinstance(log.kind, SetColumn) and log.kind.words
    features = {column: feature for feature, column in (source.settings or {}).get("inputs", {}).items()}
    others, ids, texts = dict(inputs or {}), dict[str, str](), set[str]()
    never = () if answered is not None else (*log.inputs, *log.clusters, *log.weights)
    for name in (name for name in log.others if inputs is None and name not in never):
        kind = source.table[name].type()
        plain = kind.is_string() or kind.is_temporal() or kind.is_numeric() or (words and name == DOCUMENT)
        if answered is not None or not plain:
            if shown(source.table[name]) is None:
                continue
            texts.add(name)
        (ids if name in log.ids else others)[features.get(name, name)] = name
    used = {f"g{j}": name for j, name in enumerate(by)}
    places = {f"x{j}": name for j, name in enumerate(others.values())}
    named = {f"i{j}": name for j, name in enumerate(ids.values())}
    rows = log.rows(used, places | named)
    rows = rows.mutate(**{short: shown(rows[short]) for short, name in (places | named).items() if name in texts})
    if answered is None:
        many = fetch_line(rows.aggregate(n=rows.count()))["n"]
        need(_PER_CELL * many * (len(rows.columns) + 1), f"{many:,} rows of a log", "audit a part of the log")
        answer = in_fixed_order(fetch(rows))
    else:
        answer = answered(rows)
    columns = answer.select(list(places)).rename_columns(list(others))
    documents = None
    if words and DOCUMENT in others:
        documents, columns = columns.column(DOCUMENT).to_pylist(), columns.drop_columns([DOCUMENT])
    return LogRows(
        log.read(answer),
        predictions_of(answer, predicted(rows.columns)),
        documents or (columns if columns.num_columns else None),
        weights_of(answer),
        predictions_of(answer, [CLUSTER]) if log.clusters else None,
        {name: as_array(answer.column(place).to_pylist()) for place, name in used.items()},
        columns,
        answer.select(list(named)).rename_columns(list(ids)),
    )
