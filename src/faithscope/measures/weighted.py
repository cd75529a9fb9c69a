"""Weighted consistency: what a target population would show, even if weights depend on the prediction."""

from dataclasses import replace

import numpy as np

from faithscope.counting.counts import Counts, count_rows
from faithscope.counting.leave_out import LeftOut, leave_out_rows, sum_terms
from faithscope.counting.weights.rows import WeightedRows, WeightedTerms
from faithscope.measures.estimate import Estimate, Method, assemble, estimate, noted
from faithscope.measures.intervals.margins import jackknife_margins
from faithscope.sample import Sample

_MATTERS = 0.02  # silence that a reader should know of
NOT_BY_PREDICTION = "assumes that weights do not depend on the prediction, among rows that an explanation covers"


def weighted_consistency(sample: Sample, confidence: float, method: Method | None) -> Estimate:
    """The consistency of weighted rows: thinned or tilted by default, or by weighing pairs for ``"jackknife"``.

    Rows that all weigh the same are not weighted at all; their counts are, so that they add up with others.
    """
    counts, even = count_rows(sample), sample.evenly()
    if even.weights is None:
        return replace(estimate(count_rows(even), confidence=confidence, interval=method), counts=counts)
    terms = None if method == "jackknife" else weighted_terms(counts, sample)
    if terms is not None:
        return estimate_weighted(counts, terms, confidence)
    notes = () if method == "jackknife" else (NOT_BY_PREDICTION,)
    kinds = counts.kinds(sample)
    margins = jackknife_margins(leave_out_rows(kinds), counts.effective_n, confidence)
    return assemble(counts, sum_terms(kinds), margins, "consistency", confidence, notes=notes)


def weighted_terms(counts: Counts, sample: Sample) -> WeightedTerms | None:
    """The terms of weighted rows; None for numbers if weights do not seem to depend on them, nor for equal weights."""
    if sample.weights is None:
        return None
    cells = counts.locate(sample.explanations, sample.labels)[1]
    return WeightedTerms.of(WeightedRows(counts, cells, sample.weights))


def weighted_left_out(known: Estimate, sample: Sample) -> LeftOut:
    """Consistency without each row, in the order of the rows, by the estimator that a known estimate used."""
    terms = weighted_terms(known.counts, sample) if known.method in {"thinned", "tilted"} else None
    return leave_out_rows(known.counts.kinds(sample)) if terms is None else terms.left_out


def estimate_weighted(counts: Counts, terms: WeightedTerms, confidence: float) -> Estimate:
    """An estimate from thinned or tilted terms."""
    margins = jackknife_margins(terms.left_out, counts.effective_n, confidence)
    known = assemble(counts, terms.sums, margins, "consistency", confidence, terms.method, terms.notes)
    alone = counts.masses[0][counts.per_explanation[counts.explanation] == 1]
    return with_silence(known, 1.0 if len(alone) == counts.n else float(np.sum(alone)) / terms.sums.total)


def with_silence(known: Estimate, unverifiable: float) -> Estimate:
    """The estimate with the share of rows alone as `unverifiable`; what the bracket allows for becomes `silence`."""
    silence = known.unverifiable
    note = f"weights leave as much open as if {silence:.0%} of rows were unverifiable"
    told = replace(known, unverifiable=unverifiable, silence=silence)
    return noted(told, (note,) if silence - unverifiable > _MATTERS else ())
