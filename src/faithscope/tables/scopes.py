"""Explanations of a log that say where they apply: rows are fetched with the inputs that these speak of, and measured.

Rules and words speak of columns of the log; importances by the features that they name (`Alike`).
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from numpy.typing import NDArray

from faithscope.agreements import Spread
from faithscope.discretizers import Original
from faithscope.discretizers.base import steps
from faithscope.errors import FaithscopeError, NotScoped
from faithscope.explanations.forms import are_codes, names_all
from faithscope.measures.comparing.populations import Populations
from faithscope.measures.encoding import Encoding, measure_encoding
from faithscope.measures.estimate import FOR_EQUALITY, Estimate, noted, refuse_spread
from faithscope.measures.necessity import measure_necessity, necessity_by
from faithscope.measures.notes import rules_by_feature
from faithscope.measures.sufficiency import Scoping, made_otherwise, measure_sufficiency, sufficiency_by
from faithscope.notes import Note, doubts, of_kind
from faithscope.relations import Alike
from faithscope.sample import Sample
from faithscope.tables.log.kinds import NumberColumns, PairColumns, RuleColumn, SetColumn
from faithscope.tables.log.writing import DOCUMENT
from faithscope.tables.log_sample import in_groups, rows_of_log, scoped_rows
from faithscope.tables.measured_log import MeasuredLog

_MOST_NAMED = 100_000  # rows of importances
_OF_PAIRS = (
    "sufficiency and necessity were not measured: a log does not say by which distance counterfactuals are near; call "
    "fs.sufficiency(fs.Counterfactuals(points, rows), predictions, rows)"
)


class ScopedMeasures(NamedTuple):
    """What is measured of explanations that say where they apply; notes say why something is not."""

    sufficiency: Estimate | None = None
    necessity: Estimate | None = None
    notes: tuple[str, ...] = ()


def scoped_measures(measured: MeasuredLog) -> ScopedMeasures:
    """Sufficiency and necessity, if the explanations say where they apply and the log holds what they speak of."""
    options, named = measured.log.options, None
    try:
        if isinstance(measured.log.kind, NumberColumns):
            sample, named = _of_importances(measured, measured.log.kind) or (None, None)
        else:
            sample, _ = _of_scopes(measured)
    except NotScoped as problem:
        return ScopedMeasures(notes=(Note(f"sufficiency and necessity were not measured: {problem}", "unasked"),))
    if sample is None:
        pairs = isinstance(measured.log.kind, PairColumns) and isinstance(options.discretizer, Original)
        return ScopedMeasures(notes=(_OF_PAIRS,) if pairs else ())
    method = None if options.interval in FOR_EQUALITY and named is not None else options.interval
    how = Scoping(None, options.confidence, method, unseen=options.unseen)
    found = measure_sufficiency(sample, how, named=named)
    found = noted(found, made_otherwise(found, options.interval))
    if isinstance(sample.agreement, Spread):
        return ScopedMeasures(found)
    return ScopedMeasures(found, measure_necessity(sample, how))


def scoped_by(
    measured: MeasuredLog, columns: Sequence[str], measures: Sequence[str], notes: tuple[str, ...] = ()
) -> dict[str, Populations]:
    """Measures of rules or words by populations; none of other explanations. Raises if their inputs are not there."""
    options = measured.log.options
    sample, groups = _of_scopes(measured, columns)
    if sample is None:
        return {}
    how, rows = Scoping(None, options.confidence, options.interval, unseen=options.unseen), sample.noting(notes)
    asked: dict[str, Callable[[Any], Populations]] = {
        "sufficiency": lambda values: sufficiency_by(rows, values, how),
        "necessity": lambda values: necessity_by(rows, values, how),
    }
    return {measure: in_groups(groups, asked[measure]) for measure in measures}


def encoding(measured: MeasuredLog) -> Encoding:
    """The encoding of the rows of a log."""
    refuse_spread(measured.agreement, "encoding")
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
        sample.noting((*doubts(told), *of_kind(told, "dropped"))), None, measured.log.options.confidence
    )


def _of_scopes(measured: MeasuredLog, by: Sequence[str] = ()) -> tuple[Sample | None, dict[str, NDArray[Any]]]:
    """The rows of rules or words, with what these speak of, and their groups; None of other explanations.

    Raises if what they speak of is not there.
    """
    log, settings = measured.log, measured.log.source.settings or {}
    words = isinstance(log.kind, SetColumn) and log.kind.words
    if not isinstance(log.options.discretizer, Original) or not (words or isinstance(log.kind, RuleColumn)):
        return None, {}
    features: Any = [DOCUMENT]
    if not words:
        counts: Any = measured.consistency.counts
        rules: Any = counts.explanations if measured.fetched is None else measured.fetched.distinct
        features = rules_by_feature(rules)[0]
    inputs = {feature: settings.get("inputs", {}).get(feature, feature) for feature in features}
    held = [name for name in log.others if name not in log.ids]
    for column in (column for column in inputs.values() if column not in held):
        if column in log.ids:
            raise NotScoped(f"the explanations speak of column {column!r}, which was said to identify rows")
        if column in log.source.columns:
            raise NotScoped(f"the explanations speak of column {column!r}, which holds predictions or explanations")
        raise NotScoped(f"the log has no column {column!r}, which the explanations speak of")
    log.source.refuse_wide(inputs.values())
    return scoped_rows(log, measured.consistency.n, inputs, by, measured.missing(by) if by else 0)


def _of_importances(measured: MeasuredLog, kind: NumberColumns) -> tuple[Sample, tuple[Sample, Alike]] | None:
    """The rows of importances as rules on the features that they name, and what these stand for.

    None if the log has not all features, or if all are named, so that there are no others that might be.

    A discretizer that keeps the largest features says which are named; of any other, the importances themselves do.
    Reason codes are not asked: what counts against a label is not why other rows get it.
    """
    log, options = measured.log, measured.log.options
    known = (log.source.settings or {}).get("inputs", {})
    inputs = {feature: known.get(feature, feature) for feature in kind.names}
    held = {name for name in log.others if name not in (*log.ids, *log.clusters)}
    form = " | ".join([kind.form, *map(repr, steps(options.discretizer))])
    if kind.order or not kind.named or are_codes(form):
        return None
    missing = [name for name in inputs.values() if name not in held]
    if missing and any(kind.width > getattr(step, "k", kind.width) for step in steps(options.discretizer)):
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
    if not names_all(form):
        log = replace(log, options=replace(options, discretizer=Original()), stream=None)
    sample, table, _ = rows_of_log(log)
    given = replace(sample, X=table.select(list(inputs.values())).rename_columns(list(inputs)))
    try:
        ruled, _ = given._scoped_by(Alike())
        everything = given.explanations.named()[0].all()  # type: ignore[attr-defined]
    except FaithscopeError as problem:
        raise NotScoped(str(problem)) from None
    return None if everything else (ruled, (given, Alike()))
