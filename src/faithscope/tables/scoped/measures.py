"""Sufficiency and necessity in an engine: whom explanations cover, counted where the rows are.

If rows are grouped by the conditions they meet, the interval leaves out every row exactly; else blocks of rows are
left out one at a time. Importances are measured in memory, by the features that they name.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from faithscope.agreements import Agreement, Spread
from faithscope.counting.counted import Coverage, NecessityCounts
from faithscope.counting.coverage import EXACT, count_necessity, cover
from faithscope.discretizers import Original
from faithscope.discretizers.base import steps as parts_of
from faithscope.errors import FaithscopeError
from faithscope.explanations.forms import are_codes, names_all
from faithscope.measures.estimate import FOR_EQUALITY, Estimate, noted
from faithscope.measures.necessity import measure_necessity, necessity_estimate
from faithscope.measures.sufficiency import coverage_estimate, made_otherwise, measure_sufficiency
from faithscope.relations import Alike
from faithscope.tables.log.kinds import NumberColumns, RuleColumn, SetColumn
from faithscope.tables.log_sample import rows_of_log, sample_of_log
from faithscope.tables.measured_log import MeasuredLog
from faithscope.tables.numbers import Numbers
from faithscope.tables.scoped.copied_columns import copied_columns
from faithscope.tables.scoped.patterns import Patterns, RowBlocks, applies, to_counts
from faithscope.tables.scoped.rows import MOST_FETCHED, ScopedRows

_MOST_NAMED = 100_000  # rows of importances


class ScopedMeasures(NamedTuple):
    """What is measured of explanations that say where they apply; notes say why something is not."""

    sufficiency: Estimate | None = None
    necessity: Estimate | None = None
    notes: tuple[str, ...] = ()


class ScopedCounts(NamedTuple):
    """What an engine counted: for sufficiency, and for necessity (None for `Spread`)."""

    coverage: Coverage
    reached: NecessityCounts | None


def scoped_measures(measured: MeasuredLog, *, exact: int = EXACT) -> ScopedMeasures:
    """Sufficiency and necessity, if the explanations say where they apply and the log holds what they speak of."""
    log = measured.log
    words = isinstance(log.kind, SetColumn) and log.kind.words
    if isinstance(log.kind, NumberColumns):
        return _of_importances(measured, log.kind)
    if not isinstance(log.options.discretizer, Original) or not (words or isinstance(log.kind, RuleColumn)):
        return ScopedMeasures()
    scoped = ScopedRows.of(measured)
    if isinstance(scoped, str):
        return _not_measured(scoped)
    if log.clusters:
        return _of_clusters(measured)
    counted = _counted(scoped, measured, exact)
    if isinstance(counted, str):
        return _not_measured(counted)
    asked, confidence, unseen = log.options.interval, log.options.confidence, log.options.unseen
    estimate = coverage_estimate(counted.coverage, "sufficiency", confidence, asked, unseen=unseen)
    estimate = noted(estimate, (*made_otherwise(estimate, asked), *copied_columns(scoped, measured.labels)))
    reached = counted.reached
    return ScopedMeasures(estimate, None if reached is None else necessity_estimate(reached, confidence, unseen=unseen))


def _of_importances(measured: MeasuredLog, kind: NumberColumns) -> ScopedMeasures:
    """Rows alike in the features that importances name (`Alike`), if the log has these columns.

    A discretizer that keeps the largest features says which are named; of any other, the importances themselves do.
    Reason codes are not asked: what counts against a label is not why other rows get it.
    """
    log, options = measured.log, measured.log.options
    known = (log.source.settings or {}).get("inputs", {})
    inputs = {feature: known.get(feature, feature) for feature in kind.names}
    held = {name for name in log.others if name not in (*log.ids, *log.clusters)}
    if kind.order or not kind.named or not held.issuperset(inputs.values()):
        return ScopedMeasures()
    if measured.consistency.n > _MOST_NAMED:
        many = f"rows alike in them are counted in memory, at most {_MOST_NAMED:,}, and the log has"
        return _not_measured(f"{many} {measured.consistency.n:,}: audit a part of it")
    form = " | ".join([kind.form, *map(repr, parts_of(options.discretizer))])
    if are_codes(form):
        return ScopedMeasures()
    if not names_all(form):
        log = replace(log, options=replace(options, discretizer=Original()), stream=None)
    sample, table, _ = rows_of_log(log)
    X = table.select(list(inputs.values())).rename_columns(list(inputs))
    given, relation = replace(sample, X=X), Alike()
    try:
        ruled, _ = given._scoped_by(relation)
        if given.explanations.named()[0].all():  # type: ignore[attr-defined]
            return ScopedMeasures()  # there are no others that might be named
    except FaithscopeError as problem:
        return _not_measured(str(problem))
    asked, confidence, unseen = options.interval, options.confidence, options.unseen
    method = None if asked in FOR_EQUALITY else asked
    estimate = measure_sufficiency(ruled, None, confidence, method, unseen=unseen, named=(given, relation))
    estimate = noted(estimate, made_otherwise(estimate, asked))
    reached = None if isinstance(given.agreement, Spread) else measure_necessity(ruled, None, confidence, unseen=unseen)
    return ScopedMeasures(estimate, reached)


def _of_clusters(measured: MeasuredLog) -> ScopedMeasures:
    """Rows that belong together, fetched and measured in memory."""
    options = measured.log.options
    asked, confidence, unseen = options.interval, options.confidence, options.unseen
    try:
        sample = sample_of_log(measured.log, measured.total)
        estimate = measure_sufficiency(sample, None, confidence, unseen=unseen)
    except FaithscopeError as problem:  # too many rows, or moments that a driver hands over without their zone
        return _not_measured(str(problem))
    reached = measure_necessity(sample, None, confidence, unseen=unseen)
    return ScopedMeasures(noted(estimate, made_otherwise(estimate, asked)), reached)


def _not_measured(why: str) -> ScopedMeasures:
    return ScopedMeasures(notes=(f"sufficiency and necessity were not measured: {why}",))


def _counted(scoped: ScopedRows, measured: MeasuredLog, exact: int) -> ScopedCounts | str:
    """Whom explanations cover, or why it is not counted."""
    if not isinstance(measured.labels, Numbers):
        patterns = scoped.patterns(exact)
        return _by_blocks(scoped, scoped.row_blocks()) if patterns is None else _by_patterns(scoped, patterns)
    if scoped.n > MOST_FETCHED:
        many = f"rows with predicted numbers are fetched, at most {MOST_FETCHED:,} of them, and the log has"
        return f"{many} {scoped.n:,}; audit a part of it"
    return _by_rows(scoped, measured.labels, measured.agreement, exact)


def _by_patterns(scoped: ScopedRows, patterns: Patterns) -> ScopedCounts:
    """Rows grouped by the conditions they meet."""
    given, covered, missed, own = patterns.tables(len(scoped.names))
    counts = to_counts(scoped.distinct, scoped.names, given, covered, missed)
    idle = tuple(str(scoped.parts[0][i]) for i in np.flatnonzero(~patterns.meets.any(axis=0)))
    coverage = Coverage(counts, patterns.code, own, idle, patterns.left_out(counts, own))
    return ScopedCounts(coverage, NecessityCounts(counts, patterns.necessity(counts, own), own, idle))


def _by_blocks(scoped: ScopedRows, blocks: RowBlocks) -> ScopedCounts:
    """Conditional aggregates by block of rows."""
    totals = to_counts(scoped.distinct, scoped.names, *(counts.sum(axis=2) for counts in blocks.tables))
    none = np.empty(0, np.int64)
    coverage = Coverage(totals, none, none.astype(bool), left_out=blocks.left_out())
    return ScopedCounts(coverage, NecessityCounts(totals, blocks.necessity(), none.astype(bool)))


def _by_rows(scoped: ScopedRows, numbers: Numbers, agreement: Agreement, exact: int) -> ScopedCounts:
    """Every row fetched with its number and the conditions it meets, and counted in memory."""
    sample, met = scoped.fetched(numbers, agreement)
    coverage = cover(sample, met, exact=exact)
    coverage = replace(coverage, counts=replace(coverage.counts, relation=applies(scoped.distinct)))
    if isinstance(agreement, Spread):
        return ScopedCounts(coverage, None)
    reached = count_necessity(sample, met, exact=exact)
    return ScopedCounts(coverage, replace(reached, counts=coverage.counts))
