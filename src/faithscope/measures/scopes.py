"""Scopes: the precision and coverage of each explanation on your own rows."""

from dataclasses import replace
from typing import Any

import numpy as np

from faithscope.counting.counted import Coverage
from faithscope.counting.coverage import cover
from faithscope.counting.layout import divided, sums
from faithscope.explanations.base import Explanations
from faithscope.explanations.counterfactuals import Counterfactuals
from faithscope.inputs.array_types import Ints
from faithscope.inputs.arrays import to_objects
from faithscope.measures.intervals.local import label_interval
from faithscope.measures.local import Local, Met, commonest_cells, listed, local_columns
from faithscope.measures.local import at_row as local_at_row
from faithscope.measures.numbers import agreeing_by_cell, agreement_of_scopes
from faithscope.relations import Blocks, Relation
from faithscope.sample import Sample

_ROUNDING = 1e-12


def per_row(coverage: Coverage, sample: Sample, relation: Relation, confidence: float) -> dict[str, Any]:
    """Local sufficiency of every row, leaving the row itself out, or its cluster.

    Returns
    -------
    dict of columns
        ``covered`` counts the rows that its explanation covers, ``covered_y`` those of them with its prediction; of
        numbers, ``sufficiency`` is their mean agreement with the row. If a judge was not asked about all rows,
        ``asked`` counts those that the explanation was asked about, of which ``covered`` are a part, and
        ``covers_itself`` is None for rows that were not.
    """
    counts, own, asked = coverage.counts, coverage.own, coverage.asked
    cells = counts.locate_cells(coverage.codes, sample.labels)
    total, same = counts.per_explanation[coverage.codes], agreeing_by_cell(counts)[cells]
    met: Met = total - own, same - counts.agreement.itself * own, None
    met = met if sample.clusters is None else _strangers(sample, relation)
    columns = local_columns("sufficiency", counts, met, confidence)
    columns |= {"covers_itself": own if asked is None else np.where(asked.own, own, np.array(None)), "covered": total}
    columns |= {} if counts.agreement.of_numbers else {"covered_y": same}
    return columns if asked is None else columns | {"asked": asked.per_explanation[coverage.codes]}


def _strangers(sample: Sample, relation: Relation) -> Met:
    """Of clustered rows, what `Kinds.met` is of the rows that their explanations cover; every row counts once."""
    met = cover(replace(sample, weights=None), relation).strangers
    assert met is not None
    return met[0], met[1], met[2]


def per_scope(
    coverage: Coverage, sample: Sample, relation: Relation, confidence: float, k: int | None = None
) -> dict[str, Any]:
    """Every explanation (or the k worst) with its precision and coverage on these rows, most wrongly covered first.

    Returns
    -------
    dict of columns
        ``n`` is the number of rows that were given it, ``coverage`` the share of all rows that it covers. Of labels,
        ``label`` is the commonest prediction of the rows that were given it, and ``precision`` the share of the covered
        rows that get that prediction (NaN if it covers none), with an interval that holds for any label
        (`label_interval`); ``recall`` is the share of the rows with that prediction that it covers. Of numbers,
        ``sufficiency`` is the mean agreement of the rows given it with the other rows that it covers, and
        ``disagreement`` the disagreement summed over these pairs. If a judge was not asked about all
        rows, ``coverage`` and ``recall`` are shares of the ``asked`` rows. If explanations claim a precision of their
        own, ``claimed`` is its mean over the rows with that label that were given the explanation, and ``claim`` tells
        whether it lies within the interval of the precision: "holds", "too high" or "too low".
    """
    counts, asked, claims = coverage.counts, coverage.asked, sample.explanations.claimed
    if counts.agreement.of_numbers:
        of_numbers = agreement_of_scopes(counts, None if asked is None else asked.per_explanation)
        return listed(counts, of_numbers, "disagreement", k)
    together, labels, codes = None, sample.numbered_labels[1], coverage.codes
    if sample.clusters is not None:
        together = np.ones(counts.distinct)
        together[codes] = _strangers(sample, relation)[2]
    total, top = counts.per_explanation, commonest_cells(counts)
    right, label = counts.covered[top], counts.label[top]
    every: Ints | int = counts.n
    rows = counts.per_label[label]
    if asked is not None:  # those that were asked stand for all
        same = labels[asked.row] == label[asked.which]
        every, rows = asked.per_explanation, np.bincount(asked.which[same], minlength=len(top))
    low, high = label_interval(right, total, confidence, together=together)
    precision = divided(right, total, np.nan)
    columns: dict[str, Any] = {
        "label": to_objects([counts.labels[j] for j in label]),
        "n": counts.rows_given,
        "precision": precision,
        "precision_low": low,
        "precision_high": high,
        "recall": divided(right, rows, np.nan),
        "coverage": divided(total, every, np.nan),
        "wrongly_covered": total - right,
        **({} if asked is None else {"asked": every}),
    }
    if claims is not None and "precision" in (claims.dtype.names or ()):
        # A row claims it for its own prediction, so rows with another label than the one that is measured do not count.
        known = ~np.isnan(claims["precision"]) & (labels == label[codes])
        said, times = (sums(codes, np.where(known, each, 0), counts.distinct) for each in (claims["precision"], 1))
        claimed = divided(said, times, np.nan)
        beside = [np.isnan(claimed + precision), claimed > high + _ROUNDING, claimed < low - _ROUNDING]
        columns["claimed"] = claimed
        columns["claim"] = np.select(beside, list(map(np.array, (None, "too high", "too low"))), "holds")
    return listed(counts, columns, "wrongly_covered", k)


def at_row(explanation: Explanations, prediction: Any, sample: Sample, relation: Relation, confidence: float) -> Local:
    """Local sufficiency of a row outside the sample: among all rows to which its explanation applies."""
    if isinstance(explanation, Counterfactuals) and isinstance(sample.explanations, Counterfactuals):
        # The distance is the one that was learned from the sample, not from a single row.
        explanation = explanation._with(metric=sample.explanations.metric)
    scope = relation.scopes(explanation)
    cover = sample.covered_by(scope, relation)
    covered = cover.masks(None)(0, 1)[0] if isinstance(cover, Blocks) else cover.whole(sample.n)[:, 0]
    return replace(local_at_row(sample, covered, scope, prediction, confidence), measure="sufficiency")
