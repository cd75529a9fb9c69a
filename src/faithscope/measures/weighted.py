"""Weighted consistency: what a target population would show, even if weights depend on the prediction."""

from dataclasses import replace

import numpy as np

from faithscope.counting.counts import Counts
from faithscope.counting.weighted import WeightedRows, WeightedTerms
from faithscope.measures.estimate import Estimate, assemble
from faithscope.measures.intervals import jackknife_margins
from faithscope.sample import Sample

NOT_BY_PREDICTION = "assumes that rows with one explanation weigh alike whatever their predictions"


def weighted_terms(counts: Counts, sample: Sample) -> WeightedTerms | None:
    """The terms of weighted rows; None for numbers if weights do not seem to depend on them."""
    weights = sample.weights
    if weights is None:
        raise TypeError("These rows are not weighted.")
    return WeightedTerms.of(WeightedRows(counts, counts.locate(sample.explanations, sample.labels)[1], weights))


def estimate_weighted(counts: Counts, terms: WeightedTerms, confidence: float) -> Estimate:
    """The consistency of weighted rows: `unverifiable` is the weight of rows alone, `silence` what the bracket allows."""
    margins = jackknife_margins(terms.left_out, counts.effective_n, confidence)
    estimate = assemble(counts, terms.sums, margins, "consistency", confidence, terms.method, terms.notes)
    alone = counts.masses[0][counts.per_explanation[counts.explanation] == 1]
    nobody = len(alone) == counts.n
    silent = 1.0 if nobody else float(np.sum(alone)) / terms.sums.total
    return replace(estimate, unverifiable=silent, silence=estimate.unverifiable)
