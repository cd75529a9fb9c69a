"""Scopes: the precision and coverage of each explanation on your own rows, and the rows that it wrongly covers."""

from dataclasses import replace
from typing import Any

import numpy as np

from faithscope.agreements import Same, Spread, scaled
from faithscope.counting.counted import Coverage
from faithscope.counting.counts import Counts
from faithscope.counting.cover import Asked
from faithscope.counting.coverage import cover
from faithscope.counting.layout import divided, sums
from faithscope.explanations.base import Explanations
from faithscope.explanations.counterfactuals import Counterfactuals
from faithscope.inputs.array_types import Bools, Floats, Ints
from faithscope.inputs.arrays import to_objects
from faithscope.inputs.checks import check_whole
from faithscope.measures.counterexamples import share_out
from faithscope.measures.intervals.local import agreement_interval, label_interval
from faithscope.measures.intervals.margins import check_confidence
from faithscope.measures.local import Local, Met, commonest_cells, listed, local_columns
from faithscope.measures.local import at_row as local_at_row
from faithscope.measures.numbers.groups import (
    agreeing_by_cell,
    disagree,
    distance,
    mean_agreement,
    shown,
    squared,
    variance,
)
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
    cells = counts.locate_codes(coverage.codes, sample.labels)[1]
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
    others, agreeing, together = met
    return others, agreeing, together


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
        columns = agreement_of_scopes(counts, None if asked is None else asked.per_explanation)
        return listed(counts, columns, ("disagreement", "n"), k)
    together, labels, codes = None, sample.numbered_labels[1], coverage.codes
    cells = counts.locate_codes(codes, sample.labels)[1]
    if sample.clusters is not None:
        together = np.ones(counts.distinct), np.ones(len(counts.labels))
        together[0][codes] = _strangers(sample, relation)[2]
        parts, size = np.unique(counts.label[cells] * sample.n + sample.clusters, return_counts=True)
        np.maximum.at(together[1], parts // sample.n, size)
    columns = _precision(counts, confidence, asked, labels, together)
    if claims is not None and "precision" in (claims.dtype.names or ()):
        # A row claims it for its own prediction, so rows with another label than the one that is measured do not count.
        known = ~np.isnan(claims["precision"]) & (cells == commonest_cells(counts)[codes])
        total, rows = (sums(codes, np.where(known, each, 0), counts.distinct) for each in (claims["precision"], 1))
        claimed, high, low = divided(total, rows, np.nan), columns["precision_high"], columns["precision_low"]
        unknown = np.isnan(claimed) | np.isnan(columns["precision"])
        beside = [unknown, claimed > high + _ROUNDING, claimed < low - _ROUNDING]
        columns |= {
            "claimed": claimed,
            "claim": np.select(beside, list(map(np.array, (None, "too high", "too low"))), "holds"),
        }
    return listed(counts, columns, ("wrongly_covered", "n"), k)


def largest_scopes(counts: Counts, confidence: float, k: int) -> dict[str, Any]:
    """Precision and recall of the k explanations that most rows were given, as columns; of labels only."""
    return listed(counts, _precision(counts, confidence), ("n",), k)


def _precision(
    counts: Counts,
    confidence: float,
    asked: Asked | None = None,
    labels: Ints | None = None,
    together: tuple[Floats, Floats] | None = None,
) -> dict[str, Any]:
    """Precision, recall and coverage of every explanation, by the commonest label of the rows that were given it.

    The interval of the recall is that of the other rows, since an explanation is looked at because a row was given it.
    It holds for any label: recalls of several labels need not add up to 1, so each label has its part of what may be
    wrong. If a judge was not asked about all rows, with these `labels`, those that were `asked` stand for all. Of
    clusters, `together` are the most rows of one that an explanation covers, and that have a label.
    """
    total, top = counts.per_explanation, commonest_cells(counts)
    right, label, many = counts.covered[top], counts.label[top], len(counts.labels)
    every: Ints | int = counts.n
    inside, rows = counts.given[top] > counts.missed[top], counts.per_label[label]
    others = rows - 1
    if asked is not None and labels is not None:
        cells, own = (np.arange(len(top)), label), np.zeros((asked.distinct, many), np.int64)
        own[asked.codes[asked.own], labels[asked.own]] = 1
        every, rows = asked.per_explanation, asked.per_cell(labels, many)[cells]
        others = rows - own[cells]
    covered, alike = (None, None) if together is None else (together[0], together[1][label])
    low, high = label_interval(right, total, confidence, together=covered)
    recall, apart = divided(right, rows, np.nan), 1 - check_confidence(confidence) / many
    least, most = agreement_interval(Same(), right - inside, others, apart, alike) or (recall, recall)
    return {
        "label": to_objects([counts.labels[j] for j in label]),
        "n": counts.rows_given,
        "precision": divided(right, total, np.nan),
        "precision_low": low,
        "precision_high": high,
        "recall": recall,
        "recall_low": np.fmin(least, recall),
        "recall_high": np.fmax(most, recall),
        "coverage": divided(total, every, np.nan),
        "wrongly_covered": total - right,
        **({} if asked is None else {"asked": every}),
    }


def agreement_of_scopes(counts: Counts, asked: Ints | None = None) -> dict[str, Any]:
    """How much the rows given each explanation agree with the other rows that it covers, of all or of those asked."""
    covered, same = counts.per_explanation[counts.explanation], agreeing_by_cell(counts)
    inside = counts.given - counts.missed
    agreeing = inside * (same - counts.agreement.itself) + counts.missed * same
    others = inside * (covered - 1) + counts.missed * covered
    agreeing, pairs = (sums(counts.explanation, column, counts.distinct) for column in (agreeing, others))
    apart = np.maximum(pairs - agreeing, 0.0)
    if isinstance(counts.agreement, Spread):
        apart = squared(2 * agreeing, scaled(counts.values)[1])
    share = mean_agreement(counts.agreement, agreeing, pairs, variance(counts))
    reached = divided(counts.per_explanation, counts.n if asked is None else asked, np.nan)
    columns = {"n": counts.rows_given, "sufficiency": share, "coverage": reached, "disagreement": apart}
    return columns if asked is None else columns | {"asked": asked}


def wrongly_covered(coverage: Coverage, sample: Sample, relation: Relation, k: int = 10) -> dict[str, Any]:
    """Up to k rows that an explanation covers although they get another prediction; one per explanation in turn.

    Returns
    -------
    dict of columns
        ``row_a`` was given the explanation; ``row_b`` is covered by it and has another prediction. Of numbers,
        ``row_a`` is the one that disagrees most with the rows covered; the farthest of these are shown, with their
        ``gap``.
    """
    check_whole(k, "k")
    counts, labels, numbers, codes = coverage.counts, sample.labels, sample.agreement.of_numbers, coverage.codes
    top, cells, place = commonest_cells(counts), counts.locate_codes(codes, labels)[1], sample.numbered_labels[1]
    wrong = agreement_of_scopes(counts)["disagreement"] if numbers else counts.per_explanation - counts.covered[top]
    worst = np.argsort(-wrong, kind="stable")[: min(k, int((wrong > 0).sum()))]
    # Of the rows given it, the first with the commonest label; of numbers, the one that disagrees most.
    score = cells == top[codes]
    if numbers:
        score = agreeing_by_cell(counts)[cells] * (1 if isinstance(counts.agreement, Spread) else -1)
    pairs = []
    for explanation, mask in zip(worst, _masks(counts.explanations.take(worst), sample, relation), strict=True):
        given = np.flatnonzero(codes == explanation)
        row = given[score[given].argmax()]
        others = np.flatnonzero(mask & (place != place[row]))  # equal numbers are not wrong, whatever rounding says
        if numbers:
            others = others[disagree(counts.agreement, labels[np.full(len(others), row)], labels[others])]
            others = others[np.argsort(-distance(labels[others], labels[row][None]), kind="stable")]
        pairs.append(np.column_stack([np.full(len(others), row), others]))
    quota = share_out(np.array(list(map(len, pairs)), np.int64), k)
    taken = [found[:several] for found, several in zip(pairs, quota, strict=True)]
    a, b = np.concatenate([np.empty((0, 2), np.int64), *taken]).T
    columns = {
        "explanation": [counts.explanations.describe(int(which)) for which in np.repeat(worst, quota)],
        "row_a": a,
        "row_b": b,
        "prediction_a": shown(labels[a]),
        "prediction_b": shown(labels[b]),
    }
    return columns | ({"gap": distance(labels[a], labels[b])} if numbers else {})


def at_row(explanation: Explanations, prediction: Any, sample: Sample, relation: Relation, confidence: float) -> Local:
    """Local sufficiency of a row outside the sample: among all rows to which its explanation applies."""
    if isinstance(explanation, Counterfactuals) and isinstance(sample.explanations, Counterfactuals):
        # The distance is the one that was learned from the sample, not from a single row.
        explanation = explanation._with(metric=sample.explanations.metric)
    scope = relation.scopes(explanation)
    covered = _masks(scope, sample, relation)[0]
    return replace(local_at_row(sample, covered, scope, prediction, confidence), measure="sufficiency")


def _masks(scopes: Explanations, sample: Sample, relation: Relation) -> Bools:
    """The rows that each of a few explanations covers."""
    cover = sample.covered_by(scopes, relation)
    if isinstance(cover, Blocks):
        return np.asarray(cover.masks(None)(0, len(scopes))) if len(scopes) else np.empty((0, sample.n), bool)
    return cover.whole(sample.n).T
