"""Encoding in an engine: rows given an explanation and other rows that it covers, counted where the rows are."""

from faithscope.counting.counted import Encoded
from faithscope.counting.coverage import EXACT, encoded, of_labels
from faithscope.discretizers import Original
from faithscope.errors import BadInput, NotScoped
from faithscope.measures.encoding import Encoding, measure_encoding, to_encoding
from faithscope.measures.estimate import refuse_spread
from faithscope.notes import doubts, of_kind
from faithscope.tables.log.kinds import RuleColumn, SetColumn
from faithscope.tables.log_sample import sample_of_log
from faithscope.tables.measured_log import MeasuredLog
from faithscope.tables.numbers import Numbers
from faithscope.tables.scoped.patterns import Patterns, RowBlocks, to_counts
from faithscope.tables.scoped.rows import MOST_FETCHED, ScopedRows


def encoding(measured: MeasuredLog, *, exact: int = EXACT) -> Encoding:
    """The encoding of the rows of a log."""
    log, confidence = measured.log, measured.log.options.confidence
    refuse_spread(measured.agreement, "encoding")
    words = isinstance(log.kind, SetColumn) and log.kind.words
    if not isinstance(log.options.discretizer, Original) or not (words or isinstance(log.kind, RuleColumn)):
        raise NotScoped(
            "The explanations of this log do not say where they apply, so encoding is undefined: log rules or words, "
            "and audit them without a discretizer."
        )
    scoped = ScopedRows.of(measured)
    if isinstance(scoped, str):
        raise NotScoped(f"Encoding cannot be measured, since {scoped}: keep the inputs in the log.")
    if log.clusters:
        return measure_encoding(sample_of_log(log, measured.total), None, confidence)
    told = measured.consistency.notes
    notes = (*doubts(told), *of_kind(told, "dropped"))
    return to_encoding(_encoded(scoped, measured, exact), confidence, measured.agreement, notes)


def _encoded(scoped: ScopedRows, measured: MeasuredLog, exact: int) -> Encoded:
    if isinstance(measured.labels, Numbers):
        if scoped.n > MOST_FETCHED:
            raise BadInput(
                f"Rows with predicted numbers are fetched, at most {MOST_FETCHED:,} of them, and the log has "
                f"{scoped.n:,}: audit a part of it."
            )
        sample, met = scoped.fetched(measured.labels, measured.agreement)
        return encoded(sample, met, exact=exact)
    patterns = scoped.patterns(exact)
    return _by_blocks(scoped, scoped.row_blocks()) if patterns is None else _by_patterns(scoped, patterns)


def _by_patterns(scoped: ScopedRows, patterns: Patterns) -> Encoded:
    """Leave out one row of every kind."""
    given, covered, missed, own = patterns.tables(len(scoped.names))
    counts = to_counts(scoped.distinct, scoped.names, given, covered, missed)
    return of_labels(counts, patterns.gap(counts, own), float(scoped.n))


def _by_blocks(scoped: ScopedRows, blocks: RowBlocks) -> Encoded:
    """Leave out one block of rows after the other."""
    counts = to_counts(scoped.distinct, scoped.names, *(table.sum(axis=2) for table in blocks.tables))
    return of_labels(counts, blocks.gap(), float(scoped.n))
