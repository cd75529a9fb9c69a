"""Sufficiency and necessity in an engine: whom explanations cover, counted where the rows are.

If rows are grouped by the conditions they meet, the interval leaves out every row exactly; else blocks of rows are
left out one at a time.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from faithscope.agreements import Agreement, Spread
from faithscope.counting.counted import Coverage, NecessityCounts
from faithscope.counting.coverage import EXACT, count_necessity, cover
from faithscope.discretizers import Original
from faithscope.measures.estimate import Estimate, noted
from faithscope.measures.necessity import necessity_estimate
from faithscope.measures.sufficiency import coverage_estimate, made_otherwise
from faithscope.tables.log.kinds import RuleColumn, SetColumn
from faithscope.tables.measured_log import MeasuredLog
from faithscope.tables.numbers.counts import Numbers
from faithscope.tables.scoped.copied_columns import copied_columns
from faithscope.tables.scoped.patterns import Patterns, RowBlocks, applies, to_counts
from faithscope.tables.scoped.rows import MOST_FETCHED, ScopedRows


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
    if not isinstance(log.options.discretizer, Original) or not (words or isinstance(log.kind, RuleColumn)):
        return ScopedMeasures()
    scoped = ScopedRows.of(measured)
    if isinstance(scoped, str):
        return _not_measured(scoped)
    counted = _counted(scoped, measured, exact)
    if isinstance(counted, str):
        return _not_measured(counted)
    asked, confidence, unseen = log.options.interval, log.options.confidence, log.options.unseen
    estimate = coverage_estimate(counted.coverage, "sufficiency", confidence, asked, unseen=unseen)
    estimate = noted(estimate, (*made_otherwise(estimate, asked), *copied_columns(scoped, measured.labels)))
    reached = counted.reached
    return ScopedMeasures(estimate, None if reached is None else necessity_estimate(reached, confidence, unseen=unseen))


def _not_measured(why: str) -> ScopedMeasures:
    return ScopedMeasures(notes=(f"sufficiency and necessity were not measured: {why}",))


def _counted(scoped: ScopedRows, measured: MeasuredLog, exact: int) -> ScopedCounts | str:
    """Whom explanations cover, or why it is not counted."""
    if measured.log.clusters:
        return "no engine counts them for clustered rows; read the rows and call fs.sufficiency(..., clusters=...)"
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
