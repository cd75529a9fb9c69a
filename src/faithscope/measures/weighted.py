"""Weighted consistency: what a target population would show, even if weights depend on the prediction."""

from dataclasses import replace

from faithscope.counting.counts import Counts, count_rows
from faithscope.counting.leaving_out.leave_out import LeftOut, Sums, leave_out_rows, sum_terms
from faithscope.counting.weights.rows import WeightedRows, WeightedTerms
from faithscope.measures.estimate import Estimate, Method, assemble, estimate, noted
from faithscope.measures.intervals.margins import Bracket, jackknife_margins
from faithscope.sample import Sample

_MATTERS = 0.02  # silence that a reader should know of
NOT_BY_PREDICTION = "assumes that weights do not depend on the prediction, among rows that an explanation covers"


def weighted_consistency(sample: Sample, confidence: float, method: Method | None) -> Estimate:
    """The consistency of weighted rows: thinned by default, or by weighing pairs for ``"jackknife"``.

    Rows that all weigh the same are not weighted at all; their counts are, so that they add up with others.
    """
    counts, even = count_rows(sample), sample.evenly()
    if even.weights is None:
        return replace(estimate(count_rows(even), confidence=confidence, interval=method), counts=counts)
    kinds, terms = counts.kinds(sample), None if method == "jackknife" else weighted_terms(counts, sample)
    if terms is not None:
        return estimate_weighted(counts, sum_terms(kinds), terms, confidence)
    notes = () if method == "jackknife" else (NOT_BY_PREDICTION,)
    margins = jackknife_margins(leave_out_rows(kinds), counts.effective_n, confidence)
    return assemble(counts, sum_terms(kinds), margins, "consistency", confidence, notes=notes)


def weighted_terms(counts: Counts, sample: Sample) -> WeightedTerms | None:
    """The terms of thinned rows; None if there are no weights, or if pairs are weighed instead."""
    if sample.weights is None:
        return None
    cells = counts.locate(sample.explanations, sample.labels)[1]
    return WeightedTerms.of(WeightedRows(counts, cells, sample.weights))


def weighted_left_out(known: Estimate, sample: Sample) -> LeftOut:
    """Consistency without each row, in the order of the rows, by the estimator that a known estimate used."""
    terms = weighted_terms(known.counts, sample) if known.method == "thinned" else None
    return leave_out_rows(known.counts.kinds(sample)) if terms is None else terms.left_out


def estimate_weighted(counts: Counts, pairs: Sums, terms: WeightedTerms, confidence: float) -> Estimate:
    """An estimate from weighed pairs, with the interval of thinned terms."""
    margins = jackknife_margins(terms.left_out, counts.effective_n, confidence)
    kept = assemble(counts, terms.sums, margins, "consistency", confidence, "thinned", terms.notes)
    return about_pairs(kept, pairs)


def about_pairs(kept: Estimate, pairs: Sums) -> Estimate:
    """The value of weighed pairs, M̂_w, with the interval that an estimate from kept rows has about its own bracket."""
    value, silent = min(pairs.agreeing, pairs.total - pairs.silent) / pairs.total, pairs.silent / pairs.total
    verified = None if silent >= 1 else value / (1 - silent)
    low, high = kept.verified_low, kept.verified_high
    if verified is not None and low is not None and high is not None:
        low, high = min(low, verified), max(high, verified)
    bracket = Bracket(kept.value, min(1.0, kept.value + kept.unverifiable))
    told = replace(
        kept,
        value=value,
        unverifiable=silent,
        verified=verified,
        verified_low=low,
        verified_high=high,
        margins=replace(kept.margins, bracket=bracket),
    )
    return noted(told, (*_left_open(told), *_outside(told)))


def _left_open(told: Estimate) -> tuple[str, ...]:
    least, most = told.bracket
    note = f"weights leave as much open as if {most - least:.0%} of rows were unverifiable"
    return (note,) if most - least - told.unverifiable > _MATTERS else ()


def _outside(told: Estimate) -> tuple[str, ...]:
    note = "the value weighs pairs, and is off if weights depend on the prediction: read the interval"
    return () if told.low <= told.value <= told.high or told.low <= told.upper <= told.high else (note,)
